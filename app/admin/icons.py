"""Small drawings, 20 units square, drawn in the colour of the text beside them."""

from markupsafe import Markup

_PATHS = {
    "home": "M3 9.5 10 3.5l7 6M5 8.5V16h4v-4h2v4h4V8.5",
    "items": "M4 5h12M4 10h12M4 15h8",
    "kernels": "M6 6h8v8H6zM8 3v3M12 3v3M8 14v3M12 14v3M3 8h3M3 12h3M14 8h3M14 12h3",
    "nights": "M16 11.5A6.5 6.5 0 1 1 8.5 4 5 5 0 0 0 16 11.5z",
    "findings": "M5 17V3.5M5 4h9l-2 3 2 3H5",
    "playground": "M8 3h4M9 3v5l-4.5 7.5A1 1 0 0 0 5.4 17h9.2a1 1 0 0 0 .9-1.5L11 8V3M6.8 12.5h6.4",
    "readers": "M10 5.5C8.5 4.3 6 4 3 4v11c3 0 5.5.3 7 1.5 1.5-1.2 4-1.5 7-1.5V4c-3 0-5.5.3-7 1.5v11",
    "keys": "M12.5 7.5a2.5 2.5 0 1 0-5 0 2.5 2.5 0 0 0 5 0zM10 10v7M10 14h3",
    "exchange": "M6 16V4M3 7l3-3 3 3M14 4v12M11 13l3 3 3-3",
    "search": "M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4",
    "up": "M10 16V4M5 9l5-5 5 5",
    "down": "M10 4v12M5 11l5 5 5-5",
    "menu": "M3 5h14M3 10h14M3 15h14",
}


def icon(name: str) -> Markup:
    """A drawing; it says nothing that the words beside it do not say."""
    return Markup(
        '<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d="{}"/></svg>'
    ).format(_PATHS[name])
