"""Who is at the desk: a signed cookie that names a session and the key that opened it, and the tokens of its forms."""

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

COOKIE = "playbook_session"
PATH = "/admin"
SECRET_FILE = "session-secret"
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Session:
    """One browser's session. Without a key it is a visitor's: good for the sign-in form and nothing else."""

    sid: str
    key_id: str | None = None


class Signer:
    """Signs cookies and form tokens with the secret of this installation."""

    def __init__(self, secret: str, lifetime: int) -> None:
        self._sessions = URLSafeTimedSerializer(secret, salt="session")
        self._tokens = URLSafeTimedSerializer(secret, salt="form token")
        self._notes = URLSafeTimedSerializer(secret, salt="note")
        self.lifetime = lifetime
        """Seconds from sign-in to the end of a session."""

    def session_of(self, request: Request) -> Session | None:
        """The session that the request's cookie names; None where it is missing, forged or over."""
        try:
            sid, key_id = self._sessions.loads(request.cookies.get(COOKIE, ""), max_age=self.lifetime)
        except (BadData, TypeError, ValueError):
            return None
        return Session(sid, key_id)

    def keep(self, response: Response, session: Session, *, https: bool) -> None:
        """Sets the session's cookie."""
        response.set_cookie(
            COOKIE,
            self._sessions.dumps([session.sid, session.key_id]),
            max_age=self.lifetime,
            path=PATH,
            secure=https,
            httponly=True,
            samesite="strict",
        )

    def token(self, session: Session) -> str:
        """What every form of the session has to carry."""
        return self._tokens.dumps([session.sid, session.key_id])

    def is_token_of(self, session: Session, token: str) -> bool:
        """Whether a form was made for this very session."""
        try:
            sid, key_id = self._tokens.loads(token, max_age=self.lifetime)
        except (BadData, TypeError, ValueError):
            return False
        return secrets.compare_digest(sid, session.sid) and key_id == session.key_id

    def key_of_token(self, token: str) -> str | None:
        """The key that a form was once made for, though its session may be over; None for a forged token.

        What was typed into such a form is given back to the same key after a new sign-in, and to no other.
        """
        try:
            _, key_id = self._tokens.loads(token)
        except (BadData, TypeError, ValueError):
            return None
        return str(key_id) if key_id is not None else None

    def note(self, content: Any) -> str:
        """A short message to the next page."""
        return str(self._notes.dumps(content))

    def read_note(self, signed: str) -> Any:
        """The message of the page before; None where there is none."""
        try:
            return self._notes.loads(signed, max_age=60)
        except BadData:
            return None


def new_session(key_id: str | None = None) -> Session:
    """A session with a name that cannot be guessed."""
    return Session(secrets.token_urlsafe(24), key_id)


def secret_of(folder: Path) -> str:
    """The secret of this installation, kept in a file that its owner alone can read; made where there is none."""
    path = folder / SECRET_FILE
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f"{SECRET_FILE}.{secrets.token_hex(8)}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(secrets.token_hex(SECRET_BYTES))
        # A link appears whole or not at all, so that processes that start together agree on one secret.
        with suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_text(encoding="ascii")
