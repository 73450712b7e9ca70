"""A typed client of Kernel Playbook's HTTP API, sync and async. It needs httpx and nothing of the service.

from playbook_client import Playbook
with Playbook("http://127.0.0.1:8080", key="kpb_...") as playbook:
    print(playbook.context(text="fuse a linear layer, swish and group norm", reader="my-model").text)
"""

from playbook_client.answers import (
    Context,
    Counters,
    Feedback,
    Imported,
    Item,
    Kernel,
    Measured,
    Run,
    SearchAnswer,
    SearchResult,
)
from playbook_client.clients import AsyncPlaybook, Playbook
from playbook_client.faults import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    PlaybookFault,
    Unauthorized,
    Unavailable,
    Unreachable,
)

__all__ = [
    "AsyncPlaybook",
    "Conflict",
    "Context",
    "Counters",
    "Feedback",
    "Forbidden",
    "Imported",
    "InvalidRequest",
    "Item",
    "Kernel",
    "Measured",
    "NotFound",
    "Playbook",
    "PlaybookFault",
    "Run",
    "SearchAnswer",
    "SearchResult",
    "Unauthorized",
    "Unavailable",
    "Unreachable",
]
