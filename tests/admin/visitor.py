"""A curator without a browser: signs in, fills in forms, and reads pages as a parser does."""

import itertools
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

import httpx
from fastapi.testclient import TestClient

from app.services.assembly import Services
from app.services.keys import create_key
from app.vocabulary import Scope

_NUMBERS = itertools.count(1)
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


class Visitor:
    """One browser's worth of cookies on a service in this process."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.client.cookies.clear()
        self.client.base_url = "http://testserver"  # type: ignore[assignment]

    @property
    def services(self) -> Services:
        services: Services = self.client.app.state.services  # type: ignore[attr-defined]
        return services

    def key(self, name: str, *scopes: Scope) -> str:
        """A new key; its name gets a number, since living keys cannot share one."""
        return create_key(self.services.database, f"{name}-{next(_NUMBERS)}", scopes).key

    def sign_in(self, key: str) -> httpx.Response:
        token = self.token("/admin/sign-in")
        return self.client.post("/admin/sign-in", data={"csrf": token, "key": key}, follow_redirects=False)

    def token(self, path: str = "/admin") -> str:
        found = _TOKEN.search(self.client.get(path).text)
        assert found is not None, f"{path} has no form"
        return found[1]

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path)

    def post(self, path: str, fields: Mapping[str, Any] | None = None, **more: Any) -> httpx.Response:
        return self.client.post(path, data={"csrf": self.token(), **(fields or {})}, follow_redirects=False, **more)


class Page(HTMLParser):
    """What a browser would make of a page: its elements with their attributes, its forms with their fields."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.forms: list[dict[str, Any]] = []
        self.words: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.elements.append((tag, values))
        if tag == "form":
            self.forms.append({**values, "fields": {}})
        elif tag in ("input", "textarea", "select", "button") and self.forms and values.get("name"):
            self.forms[-1]["fields"].setdefault(values["name"], []).append(values.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.forms.append({"method": "none", "action": None, "fields": {}})

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)

    def posts(self) -> list[dict[str, Any]]:
        return [form for form in self.forms if form.get("method") == "post"]

    def links(self) -> list[str]:
        return [values["href"] for tag, values in self.elements if tag == "a" and values.get("href")]  # type: ignore[misc]
