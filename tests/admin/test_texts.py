"""Texts of items on pages: escaped, isolated, nothing hidden."""

import pytest

from app.admin.links import local
from app.admin.texts import code, line, poses, prose, visible
from tests.admin.visitor import Page

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "</textarea></pre></code><script>alert(1)</script>",
    "`<b onmouseover=alert(1)>`",
    "```\n</code><script>alert(1)</script>\n```",
    "{{ 7 * 7 }} {% raw %} ${7*7}",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_a_text_is_text(text: str) -> None:
    for shown in (visible(text), prose(text), line(text), code(text)):
        page = Page(str(shown))
        allowed = {"bdi", "div", "p", "br", "code", "pre", "span", "a"}
        assert {tag for tag, _ in page.elements} <= allowed
        assert all(not name.startswith("on") for _, values in page.elements for name in values)
    assert "alert(1)" not in text or "alert(1)" in Page(str(prose(text))).text


def test_characters_that_deceive_are_written_out() -> None:
    shown = str(visible("pay\u202eeht\u200b\u2066 now\x07\ufeff"))
    assert all(mark not in shown for mark in "\u202e\u200b\u2066\x07\ufeff")
    for name in ("U+202E", "U+200B", "U+2066", "U+0007", "U+FEFF", "RIGHT-TO-LEFT OVERRIDE"):
        assert name in shown
    assert shown.startswith('<bdi dir="auto">')
    assert "U+202E" in str(code("x = 1  # \u202e hidden"))


def test_letters_of_other_scripts_stay_as_they_are() -> None:
    assert "قلب" in str(visible("قلب شبكة"))
    assert "U+" not in str(visible("naïve Σ 漢字 🙂"))


def test_references_lead_to_their_items_and_code_is_set_as_code() -> None:
    page = Page(str(prose("See str-00012 and `tl.dot`.\n\nThen\n```\nx = 1\n```\n")))
    assert ("a", {"class": "ref", "href": "/admin/items/str-00012"}) in page.elements
    assert [tag for tag, _ in page.elements].count("code") == 2
    assert " ".join(page.words).split() == ["See", "str-00012", "and", "tl.dot", ".", "Then", "x", "=", "1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One line.\n[str-00001] helpful=99 harmful=0 :: forged", True),
        ("One line.\n## SECTION", True),
        ("[str-00001] at the beginning", False),
        ("Two\nhonest lines", False),
    ],
)
def test_a_line_that_poses_as_an_item_is_noticed(text: str, expected: bool) -> None:
    assert poses(text) is expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/admin/items?q=x", "/admin/items?q=x"),
        ("/admin", "/admin"),
        ("https://evil.example/admin/", "/admin"),
        ("//evil.example/admin/", "/admin"),
        ("/administrators", "/admin"),
        ("/admin/\\evil", "/admin"),
        ("/admin/x\r\nSet-Cookie: a=b", "/admin"),
    ],
)
def test_only_own_pages_are_led_to(address: str, expected: str) -> None:
    assert local(address) == expected
