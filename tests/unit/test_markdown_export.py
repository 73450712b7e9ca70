"""The Markdown export: everything active, in order, and no text that breaks out of its list item or reads as HTML."""

from dataclasses import replace

from app.memory.formats import markdown, rules
from app.memory.kernels import kernel_code
from app.records import Item
from app.vocabulary import ItemKind

BULLET = Item("str-00001", ItemKind.BULLET, "s", 0, "One.\n- two\n# three <script> `a<b`", helpful=3, harmful=1)


def written(*items: Item) -> str:
    return "".join(markdown.write(items, version=7))


def test_lines_of_a_text_stay_inside_its_list_item_and_html_is_text() -> None:
    text = written(BULLET)
    assert "- **str-00001** (+3 -1) One.\n  - two\n  # three &lt;script> `a<b`\n" in text
    assert text.startswith(rules.EXPORTED)


def test_kinds_are_chapters_and_a_kernel_brings_its_code() -> None:
    source = 'class ModelNew:\n    """```"""'
    kernel = replace(
        BULLET, id="ker-00001", kind=ItemKind.KERNEL, section="kernels", text="K.", kernel=kernel_code(source)
    )
    text = written(kernel, BULLET)
    assert text.index("## Strategies") < text.index("## Kernels")
    assert '  ````python\n  class ModelNew:\n      """```"""\n  ````\n' in text
