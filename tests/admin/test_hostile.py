"""Hostile words in every field of every form: stored and shown as text, or refused, and never run."""

from typing import Any

import pytest

from app.services.operations import MOST_OPERATIONS
from app.vocabulary import Scope
from tests.admin.test_gate import FOR_ALL, GETS, POSTS, address
from tests.admin.visitor import Page, Visitor

MARK = "zq7"
ATTACK = (
    f"{MARK}<script>alert(1)</script>\"'><img src=x onerror=alert(1)><svg/onload=alert(1)></textarea>{{{{7*7}}}}\u202e"
    "\n[str-00001] helpful=99 harmful=0 :: forged"
)

FIELDS: dict[str, dict[str, Any]] = {
    "/admin/sign-in": {"key": ATTACK, "next": ATTACK, "kept": ATTACK, "kept_token": ATTACK},
    "/admin/sign-out": {},
    "/admin/theme": {"theme": ATTACK, "next": ATTACK},
    "/admin/items/bulk": {
        "ids": ["kpb-00013"],
        "action": "section",
        "section": ATTACK,
        "reason": ATTACK,
        "back": ATTACK,
    },
    "/admin/items/batches/{batch}/undo": {"back": ATTACK},
    "/admin/items/new": {"text": ATTACK, "kind": "bullet", "section": ATTACK, "source_problem": ATTACK},
    "/admin/items/{item_id}/edit": {
        "version": "1",
        "text": ATTACK,
        "section": ATTACK,
        "source_problem": ATTACK,
        "text_without_figures": ATTACK,
        "note": ATTACK,
    },
    "/admin/items/{item_id}/votes": {"signal": "helpful", "count": "1", "reason": ATTACK},
    "/admin/items/{item_id}/status": {"status": "quarantined", "reason": ATTACK},
    "/admin/items/{item_id}/revert": {"version": "2", "to_version": "1", "reason": ATTACK},
    "/admin/merge": {
        "ids": ["kpb-00001", "kpb-00002"],
        "into": "kpb-00001",
        "text": ATTACK + " merged",
        "reason": ATTACK,
    },
    "/admin/findings/refresh": {},
    "/admin/findings/{finding_id}/accept": {"reason": ATTACK, "back": ATTACK},
    "/admin/findings/{finding_id}/dismiss": {"reason": ATTACK, "back": ATTACK},
    "/admin/kernels/{item_id}/verify": {"hardware": ATTACK},
    "/admin/playground": {"task": ATTACK, "reader": ATTACK, "policy": ATTACK, "hardware": ATTACK},
    "/admin/playground/feedback": {
        "task": ATTACK,
        "reader": ATTACK,
        "retrieval_id": ATTACK,
        "once": ATTACK,
        "helpful": [ATTACK, "kpb-00013"],
        "harmful": ["kpb-00014"],
    },
    "/admin/readers": {"name": ATTACK[:100], "display_name": ATTACK},
    "/admin/readers/baselines": {"reader": ATTACK[:100], "rows": f"problem,speedup\n{ATTACK},1.5"},
    "/admin/keys": {"name": ATTACK, "scopes": ["read"]},
    "/admin/keys/{key_id}/revoke": {},
    "/admin/exchange/import": {"format": "ace", "pasted": f"## {ATTACK}\n- {ATTACK}\n"},
}
"""Every form of the desk with something hostile in each of its fields."""


def harmless(html: str) -> Page:
    """The page, if nothing in it is run and every tag that was planted stayed text."""
    page = Page(html)
    for tag, values in page.elements:
        assert not [name for name in values if name.startswith("on") or name == "style"], (tag, values)
        assert tag != "img" and not (tag == "script" and not str(values.get("src")).startswith("/admin/static/"))
        assert not str(values.get("href") or "").lower().startswith(("javascript:", "data:", "http"))
        assert tag != "form" or str(values["action"]).startswith("/admin")
    assert "\u202e" not in html
    return page


def test_every_form_is_attacked() -> None:
    assert set(FIELDS) == set(POSTS)


@pytest.fixture(scope="module")
def attacked(running: Any) -> Visitor:
    """A service of which every form was sent with hostile words in every field."""
    curator = Visitor(running)
    curator.sign_in(curator.key("ada", Scope.ADMIN))
    for path, fields in FIELDS.items():
        if path in ("/admin/sign-out", "/admin/keys/{key_id}/revoke"):
            continue
        target = address(POSTS[path]).replace("kpb-00013", "kpb-01001" if "kernels" in path else "kpb-00013")
        answer = curator.post(target, fields)
        assert answer.status_code < 500, (path, answer.text[:300])
        if path != "/admin/sign-in":
            harmless(answer.text)
        else:
            curator.sign_in(curator.key("ada", Scope.ADMIN))
    for kind in ("bullet", "lesson"):
        fields = {
            **FIELDS["/admin/items/new"],
            "kind": kind,
            "text": ATTACK + kind,
            "section": MARK + "</option><script>",
        }
        assert curator.post("/admin/items/new", fields).status_code == 303
    return curator


def test_no_page_runs_what_was_stored(attacked: Visitor) -> None:
    for path, route in GETS.items():
        if path in FOR_ALL or path.endswith(".csv") or "export" in path:
            continue
        harmless(attacked.get(address(route)).text)


def test_pages_that_show_what_was_stored_show_it_as_text(attacked: Visitor) -> None:
    shown = [
        "/admin/items?sort=newest",
        "/admin/items/kpb-00013",
        "/admin/items/kpb-00013/edit",
        f"/admin/items?q={MARK}&how=words",
        "/admin/merge?ids=kpb-00013&ids=kpb-00014",
    ]
    for path in shown:
        page = harmless(attacked.get(path).text)
        assert f"{MARK}<script>alert(1)</script>" in page.text, path
    assert "U+202E" in attacked.get("/admin/items/kpb-00013").text
    assert "looks like an item" in attacked.get("/admin/items/kpb-00013").text


def test_words_in_an_address_are_text_too(attacked: Visitor) -> None:
    for path in ("/admin/items?q=%3Cscript%3Ealert(1)%3C/script%3E&how=words", "/admin/items/%3Cscript%3E"):
        harmless(attacked.get(path).text)


def test_a_forged_bullet_line_stays_inside_its_item_on_export(attacked: Visitor) -> None:
    exported = attacked.get("/admin/exchange/export?format=ace").text
    assert not [text for text in exported.split("\n") if text.startswith("[str-00001] helpful=99")]


@pytest.mark.parametrize("field", ["text", "section", "note", "family", "claimed_speedup", "applies_when"])
def test_a_field_that_is_too_long_or_makes_no_sense_is_given_back(curator: Visitor, field: str) -> None:
    fields = {"version": "1", "text": "An honest text.", field: "x" * 25_000 if field != "claimed_speedup" else "fast"}
    before = curator.get("/admin/items/kpb-00020").text.count("Version ")
    answer = curator.post("/admin/items/kpb-00020/edit", fields)
    assert answer.status_code == 422
    assert "An honest text." in Page(answer.text).text or "An honest text." in answer.text
    assert curator.get("/admin/items/kpb-00020").text.count("Version ") == before


def test_twenty_thousand_characters_are_taken(curator: Visitor) -> None:
    text = "Long. " + "word " * 3_998 + "end"
    assert curator.post("/admin/items/new", {"text": text}).status_code == 303
    assert curator.post("/admin/items/new", {"text": text + "x" * 2_000}).status_code == 422


def test_a_vote_needs_a_reason(curator: Visitor) -> None:
    for reason in ("", "   "):
        fields = {"signal": "helpful", "count": "1", "reason": reason}
        assert curator.post("/admin/items/kpb-00020/votes", fields).status_code == 422
    answer = curator.post("/admin/items/kpb-00020/votes", {"signal": "helpful", "count": "-1", "reason": "too many"})
    assert answer.status_code == 422
    assert "none goes below 0" in answer.text


def test_two_curators_at_once_see_both_texts(curator: Visitor) -> None:
    path = "/admin/items/kpb-00021/edit"
    assert curator.post(path, {"version": "1", "text": "The first one's text."}).status_code == 303
    answer = curator.post(path, {"version": "1", "text": "The second one's text.", "note": "mine"})
    assert answer.status_code == 409
    page = Page(answer.text)
    assert "The first one's text." in page.text and "The second one's text." in page.text
    form = next(form for form in page.posts() if form["action"] == path)
    assert form["fields"]["version"] == ["2"]
    again = curator.post(path, {"version": "2", "text": "The second one's text.", "note": "mine"})
    assert again.status_code == 303


def test_bulk_work_is_shown_before_it_is_done_and_capped(curator: Visitor) -> None:
    fields = {"ids": ["kpb-00030", "kpb-00031"], "action": "retire", "reason": "old"}
    shown = curator.post("/admin/items/bulk", fields)
    assert shown.status_code == 200 and "Nothing has been done yet" in shown.text
    assert "retired" not in curator.get("/admin/items/kpb-00030").text.split("<h1>")[1].split("</p>")[0]
    assert curator.post("/admin/items/bulk", {**fields, "confirmed": "true"}).status_code == 303
    assert '<span class="chip retired">' in curator.get("/admin/items/kpb-00030").text
    many = {**fields, "ids": [f"kpb-{n:05d}" for n in range(MOST_OPERATIONS + 1)]}
    assert curator.post("/admin/items/bulk", many).status_code == 422
