"""Everything that can go wrong and be explained to a caller.

    PlaybookError
    |-- InvalidInput            422  what was sent cannot be understood or is out of range
    |   |-- UnknownPolicy       422
    |   |-- UnknownProblem      422
    |   |-- BudgetTooSmall      422
    |   `-- UnreadableImport    422  the file as a whole is missing, empty, binary or of no known format
    |-- Unauthorized            401  no key, or one that is not known, was revoked or has expired
    |-- Forbidden               403  the key does not have the scope that the call needs
    |-- UnknownItem             404
    |-- UnknownRun              404
    |-- UnknownNight            404
    |-- UnknownKey              404
    |-- Conflict                409
    |   |-- StaleVersion        409
    |   |-- DuplicateItem       409
    |   |-- EditedBundle        409
    |   `-- NoWorker            409
    |-- TooSlow                 408  the body did not come in time
    |-- BodyTooLarge            413
    |-- TooManyRequests         429  the key has used up its requests of this minute
    `-- Unavailable             503  the service cannot answer now; the text says what to do
        |-- Overloaded          503  as many requests as fit are being answered
        |-- Unguarded           503  keys are off on a host that others can reach
        |-- DatabaseUnavailable 503
        |-- WrongMigration      503
        |-- WrongEmbedder       503
        |-- EmbedderMissing     503
        `-- PgvectorMissing     503

Each class owns its HTTP status and title. The problem type is derived from the class name.
"""

import re
from typing import Any, ClassVar


class PlaybookError(Exception):
    """Base of all explained faults. `detail` tells what happened and what to do; `extra` joins the problem document."""

    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"

    def __init__(self, detail: str, **extra: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.extra = extra

    @property
    def type(self) -> str:
        """URN of the problem type, such as `urn:kernel-playbook:unknown-policy`."""
        return "urn:kernel-playbook:" + re.sub(r"(?<!^)(?=[A-Z])", "-", type(self).__name__).lower()


class InvalidInput(PlaybookError):
    """What was sent cannot be understood or is out of range."""

    status = 422
    title = "Invalid input"


class UnknownPolicy(InvalidInput):
    """No policy has that name; `known` lists the names."""

    title = "Unknown policy"


class UnknownProblem(InvalidInput):
    """No problem has that id, and no text or code came with it."""

    title = "Unknown problem"


class BudgetTooSmall(InvalidInput):
    """The token budget does not hold even the head of the context."""

    title = "Token budget too small"


class UnreadableImport(InvalidInput):
    """A file to import is missing, empty, binary or of no known format."""

    title = "Unreadable import"


class Unauthorized(PlaybookError):
    """The request carries no key that opens anything."""

    status = 401
    title = "A key is needed"


class Forbidden(PlaybookError):
    """The key does not have the scope that the call needs; `scopes` lists those that would do."""

    status = 403
    title = "Scope is missing"


class UnknownItem(PlaybookError):
    """No item has that id."""

    status = 404
    title = "Unknown item"


class UnknownRun(PlaybookError):
    """No verification run has that id."""

    status = 404
    title = "Unknown run"


class UnknownNight(PlaybookError):
    """There was no night of that date."""

    status = 404
    title = "Unknown night"


class UnknownKey(PlaybookError):
    """No key has that id."""

    status = 404
    title = "Unknown key"


class Conflict(PlaybookError):
    """The request contradicts the present state."""

    status = 409
    title = "Conflict"


class StaleVersion(Conflict):
    """The item was changed since the version that the request edits."""

    title = "Stale version"


class DuplicateItem(Conflict):
    """An item with that id or that very text exists; `id` names it."""

    title = "Duplicate item"


class EditedBundle(Conflict):
    """A verification bundle or its results are not what was exported, or contradict the database."""

    title = "Edited bundle"


class NoWorker(Conflict):
    """No worker lives that could judge, and the request names no hardware to wait for."""

    title = "No worker"


class TooSlow(PlaybookError):
    """The client did not send its body in time."""

    status = 408
    title = "Too slow"


class BodyTooLarge(PlaybookError):
    """The request body is over the limit."""

    status = 413
    title = "Body too large"


class TooManyRequests(PlaybookError):
    """The key has used up its requests of this minute; the header Retry-After says when to come back."""

    status = 429
    title = "Too many requests"


class Unavailable(PlaybookError):
    """The service cannot answer now."""

    status = 503
    title = "Unavailable"


class Overloaded(Unavailable):
    """As many requests as fit are being answered."""

    title = "Overloaded"


class Unguarded(Unavailable):
    """Keys are off although the service listens where others can reach it."""

    title = "Unguarded service"


class DatabaseUnavailable(Unavailable):
    """The database cannot be opened, is read-only, or stays busy."""

    title = "Database unavailable"


class WrongMigration(Unavailable):
    """The database's schema is of another migration level."""

    title = "Wrong migration level"


class WrongEmbedder(Unavailable):
    """The stored vectors come from another sentence model or have another dimension."""

    title = "Wrong embedder"


class EmbedderMissing(Unavailable):
    """The chosen sentence model is not installed."""

    title = "Embedder missing"


class PgvectorMissing(Unavailable):
    """pgvector was asked for by name, and the database cannot offer it."""

    title = "pgvector missing"
