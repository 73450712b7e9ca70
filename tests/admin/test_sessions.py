"""Sessions: opened by a key, ended with it, and nothing typed is lost when one ends."""

import stat
from pathlib import Path

from fastapi.testclient import TestClient

from app.admin.sessions import secret_of
from app.main import create_app
from app.services.keys import list_keys, revoke_key
from app.settings import Settings
from app.vocabulary import AuthMode, Scope
from tests.admin.visitor import Page, Visitor


def test_a_wrong_key_opens_nothing_and_is_not_echoed(visitor: Visitor) -> None:
    answer = visitor.sign_in("kpb_000000000000_" + "x" * 43)
    assert answer.status_code == 401
    assert "x" * 43 not in answer.text
    assert visitor.client.get("/admin", follow_redirects=False).status_code == 303


def test_the_session_cookie_is_out_of_reach_of_scripts_and_of_other_sites(visitor: Visitor) -> None:
    answer = visitor.sign_in(visitor.key("ada", Scope.ADMIN))
    cookie = answer.headers["set-cookie"].lower()
    assert all(word in cookie for word in ("httponly", "samesite=strict", "path=/admin", "max-age="))
    assert "secure" not in cookie
    visitor.client.cookies.clear()
    visitor.client.base_url = "https://testserver"  # type: ignore[assignment]
    assert "secure" in visitor.client.get("/admin/sign-in").headers["set-cookie"].lower()


def test_signing_in_gives_the_session_another_name(visitor: Visitor) -> None:
    visitor.token("/admin/sign-in")
    planted = visitor.client.cookies["playbook_session"]
    visitor.sign_in(visitor.key("ada", Scope.ADMIN))
    assert visitor.client.cookies["playbook_session"] != planted


def test_a_revoked_key_ends_its_sessions(curator: Visitor) -> None:
    database = curator.services.database
    assert curator.get("/admin").status_code == 200
    revoke_key(database, list_keys(database)[-1].id)
    assert curator.client.get("/admin", follow_redirects=False).status_code == 303


def test_signing_out_ends_the_session(curator: Visitor) -> None:
    assert curator.post("/admin/sign-out").status_code == 303
    assert curator.client.get("/admin", follow_redirects=False).status_code == 303


def test_what_was_typed_survives_the_end_of_the_session(curator: Visitor) -> None:
    key = curator.key("bea", Scope.ADMIN)
    curator.client.cookies.clear()
    curator.sign_in(key)
    token = curator.token("/admin/items/kpb-00013/edit")
    curator.client.cookies.clear()
    typed = {"csrf": token, "version": "1", "text": "Typed for an hour.\nSecond <b>line</b>.", "note": "because"}
    asked = curator.client.post("/admin/items/kpb-00013/edit", data=typed)
    assert asked.status_code == 401
    form = next(form for form in Page(asked.text).posts() if form["action"] == "/admin/sign-in")
    fields = {name: values[0] for name, values in form["fields"].items()}
    kept = curator.client.post("/admin/sign-in", data={**fields, "key": key})
    assert kept.status_code == 200
    page = Page(kept.text)
    assert typed["text"] in page.text
    again = next(form for form in page.posts() if form["action"] == "/admin/items/kpb-00013/edit")
    sent = {name: values[0] for name, values in again["fields"].items()}
    curator.client.post(again["action"], data={**sent, "text": typed["text"]})
    assert "Typed for an hour." in curator.get("/admin/items/kpb-00013").text


def test_what_another_key_typed_is_not_given_to_whoever_signs_in_next(curator: Visitor) -> None:
    other = curator.key("bea", Scope.ADMIN)
    token = curator.token("/admin/items/kpb-00013/edit")
    curator.client.cookies.clear()
    typed = {"csrf": token, "version": "1", "text": "A secret draft."}
    form = next(
        form
        for form in Page(curator.client.post("/admin/items/kpb-00013/edit", data=typed).text).posts()
        if form["action"] == "/admin/sign-in"
    )
    fields = {name: values[0] for name, values in form["fields"].items()}
    answer = curator.client.post("/admin/sign-in", data={**fields, "key": other}, follow_redirects=False)
    assert answer.status_code == 303


def test_a_forged_form_is_not_kept_over_the_sign_in(visitor: Visitor) -> None:
    answer = visitor.client.post("/admin/items/kpb-00013/votes", data={"csrf": "forged", "reason": "planted words"})
    assert answer.status_code == 401
    assert "planted words" not in answer.text


def test_a_session_ends_when_its_time_is_over(starter_settings: Settings) -> None:
    short = starter_settings.model_copy(update={"session_minutes": 1e-6})
    with TestClient(create_app(short)) as running:
        visitor = Visitor(running)
        visitor.client.get("/admin/sign-in")
        signer = running.app.state.signer  # type: ignore[attr-defined]
        signer.lifetime = -1
        assert visitor.client.get("/admin", follow_redirects=False).status_code == 303


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    secret = secret_of(tmp_path / "var")
    assert len(secret) == 64
    assert secret_of(tmp_path / "var") == secret
    assert stat.S_IMODE((tmp_path / "var" / "session-secret").stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "var").iterdir()] == ["session-secret"]


def test_where_keys_are_off_nobody_signs_in_and_forms_still_need_their_token(starter_settings: Settings) -> None:
    open_settings = starter_settings.model_copy(update={"auth": AuthMode.OFF})
    with TestClient(create_app(open_settings)) as running:
        visitor = Visitor(running)
        assert visitor.get("/admin").status_code == 200
        fields = {"signal": "helpful", "count": "1", "reason": "seen to work"}
        assert visitor.client.post("/admin/items/kpb-00013/votes", data=fields).status_code == 403
        assert visitor.post("/admin/items/kpb-00013/votes", fields).status_code == 303
