"""The gate before every page: no page without a session and its scope, no change without a form's own token."""

from collections.abc import Iterator

import pytest
from fastapi import APIRouter

from app.admin.gate import SHOWN_TO_ALL, DeskRoute
from app.admin.routes import PAGES
from app.store import corpus
from app.vocabulary import Scope
from tests.admin.visitor import Page, Visitor

FOR_ALL = {"/admin/sign-in", "/admin/static/{name}", "/admin/theme"}
PLACES = {
    "{item_id}": "kpb-00013",
    "{finding_id}": "none",
    "{batch}": "none",
    "{key_id}": "none",
    "{name}": "admin.css",
    "{run_id}": "none",
    "{date}": "2026-11-30",
    "{kind}": "html",
}


def routes(method: str) -> Iterator[DeskRoute]:
    for module in PAGES:
        for route in module.router.routes:
            assert isinstance(route, DeskRoute), route
            if method in (route.methods or ()):
                yield route


def address(route: DeskRoute) -> str:
    path = route.path
    for place, value in PLACES.items():
        path = path.replace(place, value)
    assert "{" not in path, f"say in PLACES what stands for the parameter of {path}"
    return path


GETS = {route.path: route for route in routes("GET")}
POSTS = {route.path: route for route in routes("POST")}


def test_there_are_pages_and_forms_to_check() -> None:
    assert len(GETS) > 15
    assert len(POSTS) > 15
    assert {path for path, route in (GETS | POSTS).items() if route.needs == SHOWN_TO_ALL} <= FOR_ALL


def test_a_page_that_does_not_say_who_may_use_it_cannot_be_made() -> None:
    router = APIRouter(route_class=DeskRoute)
    with pytest.raises(AttributeError):

        @router.get("/forgotten")
        def forgotten() -> None: ...


@pytest.mark.parametrize("path", sorted(set(GETS) - FOR_ALL))
def test_no_page_is_shown_to_whoever_is_not_signed_in(visitor: Visitor, path: str) -> None:
    answer = visitor.client.get(address(GETS[path]), follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/admin/sign-in")


@pytest.mark.parametrize("path", sorted(set(POSTS) - FOR_ALL))
def test_no_form_is_taken_from_whoever_is_not_signed_in(visitor: Visitor, path: str) -> None:
    token = visitor.token("/admin/sign-in")
    answer = visitor.client.post(address(POSTS[path]), data={"csrf": token}, follow_redirects=False)
    assert answer.status_code == 401
    assert "Sign in" in answer.text


@pytest.mark.parametrize("path", sorted(POSTS))
def test_no_form_is_taken_without_a_token_of_this_session(curator: Visitor, path: str) -> None:
    own = curator.token()
    cookies = dict(curator.client.cookies)
    curator.client.cookies.clear()
    of_another = curator.token("/admin/sign-in")
    curator.client.cookies.clear()
    for name, value in cookies.items():
        curator.client.cookies.set(name, value, path="/admin")
    before = corpus.version(curator.services.database)
    for forged in ("", own[:-12] + own[-1:-13:-1], of_another):
        answer = curator.client.post(address(POSTS[path]), data={"csrf": forged}, follow_redirects=False)
        assert answer.status_code == 403, forged
        assert "out of date" in answer.text
    assert corpus.version(curator.services.database) == before


@pytest.mark.parametrize("path", sorted((set(GETS) | set(POSTS)) - FOR_ALL))
def test_a_key_without_the_scope_is_refused(visitor: Visitor, path: str) -> None:
    route = GETS.get(path) or POSTS[path]
    if route.needs == Scope.READ:
        scopes = [Scope.VERIFY]
    else:
        scopes = [scope for scope in Scope if scope not in (route.needs, Scope.ADMIN)]
    visitor.sign_in(visitor.key("limited", *scopes))
    if path in GETS:
        answer = visitor.client.get(address(route), follow_redirects=False)
    else:
        token = visitor.token("/admin/sign-in" if Scope.READ not in scopes else "/admin")
        answer = visitor.client.post(address(route), data={"csrf": token}, follow_redirects=False)
    assert answer.status_code == 403, answer.text
    assert "Nothing was done" in answer.text
    if path in GETS and path in POSTS and GETS[path].needs != POSTS[path].needs:
        assert POSTS[path].needs in Scope


def test_every_answer_says_what_a_browser_may_load(curator: Visitor) -> None:
    for path in ("/admin", "/admin/items/kpb-00013", "/admin/none-such", "/admin/static/admin.css"):
        headers = curator.get(path).headers
        if path != "/admin/none-such":
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
    assert curator.get("/admin").headers["cache-control"] == "no-store"
    assert "immutable" in curator.get("/admin/static/admin.css").headers["cache-control"]


def test_every_form_of_every_page_carries_its_token_and_leads_to_a_page_of_ours(curator: Visitor) -> None:
    seen = 0
    for path, route in GETS.items():
        if path in FOR_ALL or path.endswith(".csv") or "export" in path:
            continue
        for form in Page(curator.get(address(route)).text).posts():
            assert form["fields"].get("csrf"), (path, form)
            assert str(form["action"]).startswith("/admin/"), (path, form)
            seen += 1
    assert seen > 20
