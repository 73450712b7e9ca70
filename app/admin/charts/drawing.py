"""Pieces of SVG. Positions are pixels from the upper left corner; looks are classes of the style sheet."""

from collections.abc import Iterable

from markupsafe import Markup, escape


def element(name: str, content: str = "", **attributes: object) -> Markup:
    """An element; an underscore in an attribute's name stands for a hyphen, one at its end for nothing."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _short(value)) for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(escape(name)), written, content)


def text(x: float, y: float, words: str, class_: str = "tick", anchor: str = "start") -> Markup:
    """Words at a point."""
    return element("text", words, x=x, y=y, class_=class_, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def drawing(width: float, height: float, label: str, parts: Iterable[Markup]) -> Markup:
    """A whole picture; `label` is read to those who do not see it."""
    return element(
        "svg",
        Markup("").join(parts),
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
        class_="chart",
    )


def _short(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
