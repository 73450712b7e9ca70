"""What goes wrong before or behind the routes of the desk is a page too, and stays JSON everywhere else."""

import pytest

from tests.admin.visitor import Visitor


def test_an_address_that_no_page_has_is_a_page(visitor: Visitor) -> None:
    answer = visitor.get("/admin/no/such/page")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "Not Found" in answer.text
    assert "script-src 'self'" in answer.headers["content-security-policy"]


def test_a_form_that_is_too_large_is_refused_by_a_page(curator: Visitor) -> None:
    answer = curator.post("/admin/items/new", {"text": "x" * 9_000_000})
    assert (answer.status_code, answer.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "bytes" in answer.text


def test_a_fault_that_nobody_foresaw_is_a_page_without_its_inside(
    curator: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("app.admin.pages.nights.nights.list_nights", broken)
    answer = curator.client.get("/admin/nights", headers={"x-request-id": "mine-8"})
    assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert answer.headers["x-request-id"] == "mine-8"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "Internal error" in answer.text
    assert "secret detail" not in answer.text


def test_the_api_keeps_its_problem_documents(visitor: Visitor) -> None:
    assert visitor.get("/v1/nothing").headers["content-type"] == "application/problem+json"
