"""Rules files: every list item and paragraph is a pending item, in its section, and nothing is dropped silently."""

from hypothesis import given
from hypothesis import strategies as st

from app.memory.formats import rules
from app.vocabulary import ItemStatus

FILE = """---
globs: "*.py"
---
# Project

Kernels are written in Triton.

## Numerics

When you reduce:
- accumulate in float32;
  cast once, at the end
  - nested detail
- mask the last block

```python
tl.load(p, mask=m)
```

1. Number one
2. [x] Number two

<!-- not
a rule -->
@docs/more.md

### Speed
* Time with events.
* Time with events.
"""


def test_items_paragraphs_and_headings_are_read_as_a_person_means_them() -> None:
    draft = rules.read(FILE, "CLAUDE.md")
    assert [(item.section, item.text) for item in draft.items] == [
        ("Project", "Kernels are written in Triton."),
        ("Numerics", "When you reduce: accumulate in float32;\ncast once, at the end\n- nested detail"),
        ("Numerics", "When you reduce: mask the last block"),
        ("Numerics", "```python\ntl.load(p, mask=m)\n```"),
        ("Numerics", "Number one"),
        ("Numerics", "Number two"),
        ("Speed", "Time with events."),
    ]
    assert {item.status for item in draft.items} == {ItemStatus.PENDING}
    assert [item.line for item in draft.items] == [6, 11, 14, 16, 20, 21, 28]
    assert draft.items[-1].provenance["heading"] == "Project > Numerics > Speed"


def test_references_and_repeats_are_named_with_their_line() -> None:
    faults = rules.read(FILE, "CLAUDE.md").faults
    assert [(fault.line, fault.taken) for fault in faults] == [(25, True), (29, True)]
    assert "@docs/more.md" in faults[0].reason
    assert "says the same" in faults[1].reason


def test_a_file_without_any_rule_says_so() -> None:
    assert "no list item" in rules.read("# Title\n\n", "AGENTS.md").faults[0].reason


@given(st.text())
def test_no_text_at_all_makes_reading_fail_and_no_word_is_lost(text: str) -> None:
    draft = rules.read(text, "rules.md")
    assert draft.items or draft.faults
    assert all(item.text.strip() for item in draft.items)


@given(
    st.lists(
        st.text("abc def", min_size=3).filter(str.strip),
        min_size=1,
        max_size=6,
        unique_by=lambda text: tuple(text.split()),
    )
)
def test_every_plain_list_item_comes_out(texts: list[str]) -> None:
    texts = [" ".join(text.split()) for text in texts]
    draft = rules.read("".join(f"- {text}\n" for text in texts), "AGENTS.md")
    assert [item.text for item in draft.items] == list(dict.fromkeys(texts))
