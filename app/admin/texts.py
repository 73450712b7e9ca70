"""Texts of items as pages show them: escaped, isolated, with every character that could deceive made visible."""

import re
import unicodedata
from functools import lru_cache

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.c_cpp import CppLexer
from pygments.lexers.python import PythonLexer

from app.admin.links import item_path

_HIDDEN = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Controls, zero-width characters, and marks that turn the direction of what follows."""

_PART = re.compile(
    r"(?P<fence>^```[^\n]*\n(?P<body>.*?)\n```$)|(?P<tick>`(?P<inner>[^`\n]+)`)"
    r"|(?P<id>\b[a-z]{2,8}-\d{3,6}\b)|(?P<blank>\n[ \t]*\n+)",
    re.DOTALL | re.MULTILINE,
)
_FAKE_LINE = re.compile(r"^\s*(?:[-*] )?(?:\[[a-z]{2,8}-\d+\]|## )", re.MULTILINE)
_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True, classprefix="hl-")


def visible(text: object) -> Markup:
    """The text, escaped and isolated from its surroundings, with hidden characters written out."""
    return Markup('<bdi dir="auto">{}</bdi>').format(_written_out(str(text)))


def line(text: object, most: int = 240) -> Markup:
    """The beginning of a text on one line."""
    whole = " ".join(str(text).split())
    return visible(whole if len(whole) <= most else whole[: most - 1].rstrip() + "…")


def prose(text: str) -> Markup:
    """A text with its paragraphs, code and references; a line that poses as an item of its own is marked."""
    shown, place = Markup("<p>"), 0
    for part in _PART.finditer(text):
        shown += _plain(text[place : part.start()]) + _special(part)
        place = part.end()
    return Markup('<div class="prose" dir="auto">') + shown + _plain(text[place:]) + Markup("</p></div>")


def poses(text: str) -> bool:
    """Whether a later line of the text looks like a bullet or a section title of a playbook."""
    _, _, rest = text.partition("\n")
    return bool(_FAKE_LINE.search(rest))


@lru_cache(maxsize=512)
def code(source: str, language: str = "triton") -> Markup:
    """Source code with its syntax told by classes."""
    lexer = CppLexer(stripnl=False) if language == "cpp" else PythonLexer(stripnl=False)
    marked = Markup(highlight(source, lexer, _FORMATTER))
    # Pygments escapes; hidden characters are replaced afterwards, since no tag of its own holds one.
    return Markup('<pre class="code" tabindex="0" dir="ltr"><code>{}</code></pre>').format(
        Markup(_HIDDEN.sub(lambda found: str(_name(found[0])), str(marked)))
    )


def _plain(text: str) -> Markup:
    return _written_out(text).replace("\n", Markup("<br>"))


def _special(part: re.Match[str]) -> Markup:
    if part["fence"]:
        return Markup("</p>") + code(part["body"]) + Markup("<p>")
    if part["tick"]:
        return Markup("<code>{}</code>").format(_written_out(part["inner"]))
    if part["id"]:
        return Markup('<a class="ref" href="{}">{}</a>').format(item_path(part["id"]), part["id"])
    return Markup("</p><p>")


def _written_out(text: str) -> Markup:
    """Escaped, and every hidden character in its place by name."""
    shown, place = Markup(""), 0
    for found in _HIDDEN.finditer(text):
        shown += escape(text[place : found.start()]) + _name(found[0])
        place = found.end()
    return shown + escape(text[place:])


def _name(character: str) -> Markup:
    number = f"U+{ord(character):04X}"
    title = unicodedata.name(character, "CONTROL CHARACTER")
    return Markup('<span class="hidden-character" title="{}">{}</span>').format(title, number)
