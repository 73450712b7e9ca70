"""Who calls a tool, what they may do, and faults that an agent can act on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from app.errors import PlaybookError, Unauthorized, UnknownItem, UnknownPolicy
from app.records import Caller
from app.services.assembly import Services
from app.settings import Settings
from app.vocabulary import Scope

Call = Context[Any, Any]
Entrance = Callable[[Call], Caller]
"""Finds out who calls; Unauthorized where a key is wrong."""

LOCAL = Caller(None, "local agent", frozenset({Scope.READ, Scope.FEEDBACK, Scope.CONTRIBUTE}))
"""Who calls over stdio without a key: somebody who can run commands here. The tools ask for no other scope."""

_HINTS: dict[type[PlaybookError], str] = {
    UnknownItem: "search_playbook lists ids that exist.",
    UnknownPolicy: "stats lists the policies.",
}


class Desk:
    """Where every tool call comes in."""

    def __init__(self, services: Callable[[], Services], entrance: Entrance) -> None:
        self._services = services
        self._entrance = entrance

    @contextmanager
    def admitted(self, call: Call, scope: Scope) -> Iterator[tuple[Services, Caller]]:
        """The services and the caller, who has the scope; explained faults become answers that say what to do."""
        try:
            caller = self._entrance(call)
            if not caller.may(scope):
                raise ToolError(
                    f"The key {caller.name!r} lacks the scope {scope!s}, which this tool needs. "
                    f"Ask whoever runs the playbook for one: playbook keys create --name NAME --scope {scope!s}"
                )
            yield self._services(), caller
        except PlaybookError as fault:
            hint = next((text for kind, text in _HINTS.items() if isinstance(fault, kind)), "")
            raise ToolError(f"{fault.title}: {fault.detail} {hint}".rstrip()) from fault


def by_request(call: Call) -> Caller:
    """Over HTTP: whoever the door let in."""
    request = call.request_context.request
    caller: Caller | None = getattr(request.state, "caller", None) if request is not None else None
    if caller is None:
        raise Unauthorized("Nobody was let in by the door; this call did not come over HTTP.")
    return caller


def by_settings(settings: Settings, services: Callable[[], Services]) -> Entrance:
    """Over stdio: the holder of PLAYBOOK_API_KEY, asked anew at each call, or LOCAL where none is set."""
    key = settings.api_key.get_secret_value()

    def entrance(_call: Call) -> Caller:
        return services().keyring.identify(key) if key else LOCAL

    return entrance
