"""What a page's handler works with: the session, the services, and the ways to answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from app.admin.charts.figure import Figure
from app.admin.sessions import Session, Signer, new_session
from app.admin.templating import rendered, rendered_in_parts
from app.errors import PlaybookError, Unauthorized
from app.records import Caller
from app.services.assembly import Services
from app.services.curation import Curator
from app.services.overview import Badges, badges
from app.services.sessions import caller_with
from app.vocabulary import AuthMode, Scope

NOTE = "playbook_note"
THEME = "playbook_theme"
THEMES = ("auto", "light", "dark")
ANYBODY = Caller(None, "anonymous", frozenset(Scope))
"""Whoever comes, where keys are off."""


@dataclass(slots=True)
class Desk:
    """One request of a curator."""

    request: Request
    services: Services
    signer: Signer
    session: Session
    caller: Caller | None
    is_new: bool
    """Whether the session begins with this answer."""
    sent: list[tuple[str, str]] = field(default_factory=list)
    """The fields of the form that was sent, so that a refusal can give them back."""

    @property
    def is_https(self) -> bool:
        """Whether the browser came over TLS."""
        return self.request.url.scheme == "https"

    @property
    def token(self) -> str:
        """What every form of this page carries."""
        return self.signer.token(self.session)

    @property
    def theme(self) -> str:
        """auto, light or dark."""
        chosen = self.request.cookies.get(THEME, "auto")
        return chosen if chosen in THEMES else "auto"

    @property
    def name(self) -> str:
        """Who makes the changes; kept in the history."""
        return self.caller.name if self.caller else "nobody"

    @property
    def curator(self) -> Curator:
        """Who curates, with what."""
        return Curator(self.services.database, self.services.embedder, actor=self.name)

    def may(self, scope: Scope) -> bool:
        """Whether the key that signed in has a scope."""
        return self.caller is not None and self.caller.may(scope)

    def lacks(self, scope: Scope) -> str:
        """Why the caller may not do something."""
        return f"The key {self.name!r} lacks the scope {scope.value!r}. Sign in with one that has it. Nothing was done."

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        """A page."""
        told = self._told(values)
        response = HTMLResponse(rendered(template, told), status)
        if told["said"] is not None:
            response.delete_cookie(NOTE, path="/admin")
        return response

    def page_in_parts(self, template: str, **values: Any) -> Iterator[str]:
        """A page that is sent as it comes about."""
        return rendered_in_parts(template, self._told(values))

    def _told(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What every template knows beside its own values."""
        said = self.signer.read_note(self.request.cookies.get(NOTE, ""))
        return {**values, "desk": self, "said": said, "badges": self._badges(), "Scope": Scope}

    def _badges(self) -> Badges | None:
        """What waits for a curator; None for a visitor, and where the database does not answer."""
        try:
            return badges(self.services.database) if self.caller is not None else None
        except PlaybookError:
            return None

    def to(self, path: str, said: str | None = None, undo: str | None = None) -> Response:
        """Leads to another page, which says what was done and offers to undo the batch."""
        response = RedirectResponse(path, 303)
        if said is not None:
            note = self.signer.note({"text": said[:1000], "undo": undo})
            response.set_cookie(
                NOTE, note, max_age=60, path="/admin", httponly=True, samesite="strict", secure=self.is_https
            )
        return response

    def to_sign_in(self) -> Response:
        """Leads to the sign-in page, and from there back here."""
        here = self.request.url.path + (f"?{self.request.url.query}" if self.request.url.query else "")
        return self.to("/admin/sign-in?" + urlencode({"next": here}) if here != "/admin" else "/admin/sign-in")

    def sign_in_first(self, token: str) -> Response:
        """Asks for a key, and keeps what was typed into a form of a session that is over."""
        kept = self.typed if self.signer.key_of_token(token) is not None else []
        self.begin_anew()
        return self.page(
            "sign_in.html", 401, next=self.request.url.path, kept=kept, kept_token=token, fault=None, expired=True
        )

    def refused(self, status: int, title: str, detail: str) -> Response:
        """Says why nothing was done, and gives back what was typed."""
        values = {"title": title, "detail": detail, "action": self.request.url.path}
        return self.page("refused.html", status, typed=self.typed, **values)

    def begin_anew(self) -> None:
        """A visitor's session in place of one that is over."""
        self.session, self.caller, self.is_new = new_session(), None, True

    @property
    def typed(self) -> list[tuple[str, str]]:
        """The fields that were sent, the form's token and secrets aside."""
        return [(name, value) for name, value in self.sent if name not in ("csrf", "key")]


def desk_of(request: Request) -> Desk:
    """The desk of a request: whom its cookie names, if the key still holds."""
    services: Services = request.app.state.services
    signer: Signer = request.app.state.signer
    found = signer.session_of(request)
    desk = Desk(request, services, signer, found or new_session(), None, is_new=found is None)
    if services.settings.auth is AuthMode.OFF:
        desk.caller = ANYBODY
    elif desk.session.key_id is not None:
        try:
            desk.caller = caller_with(services.database, desk.session.key_id)
        except Unauthorized:
            desk.begin_anew()
    return desk


def _desk(request: Request) -> Desk:
    desk: Desk = request.state.desk
    return desk


DeskDep = Annotated[Desk, Depends(_desk)]


def as_csv(name: str, figure: Figure) -> Response:
    """A chart's data as a file."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(figure.csv(), media_type="text/csv; charset=utf-8", headers=headers)
