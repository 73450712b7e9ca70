"""Every call as a value: what is sent, how the answer is read, and whether it may be sent again. Nothing is sent here.

Both clients are made from these functions, so that neither can do what the other cannot.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote

import httpx

from playbook_client.answers import Context, Feedback, Imported, Item, Kernel, Run, SearchAnswer

T = TypeVar("T")
Signal = Literal["helpful", "harmful", "neutral"]
Votes = Mapping[str, Signal]
"""Item id -> what the reader says of it."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One request."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    repeatable: bool = True
    """Whether sending it again does no more than sending it once."""
    json: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def search(
    text: str | None = None,
    *,
    code: str | None = None,
    problem_id: str | None = None,
    top_k: int = 10,
    threshold: float | None = None,
    filters: Mapping[str, Any] | None = None,
    reader: str | None = None,
    hardware: str | None = None,
    token_budget: int | None = None,
    explain: bool = False,
) -> Call[SearchAnswer]:
    """The items that help with a task in words, with a PyTorch module (read, never executed) or with a problem."""
    body = {
        "task": _task(text, code, problem_id),
        "top_k": top_k,
        "threshold": threshold,
        "filters": filters,
        "reader": reader,
        "hardware": hardware,
        "token_budget": token_budget,
        "explain": explain,
    }
    return Call("POST", "/v1/search", _json(SearchAnswer.of), json=_said(body))


def context(
    text: str | None = None,
    *,
    reader: str,
    code: str | None = None,
    problem_id: str | None = None,
    policy: str = "search",
    token_budget: int | None = None,
    hardware: str | None = None,
    exclude_source_problem: bool = False,
) -> Call[Context]:
    """The text that a policy gives a reader for a task."""
    body = {
        "task": _task(text, code, problem_id),
        "reader": reader,
        "policy": policy,
        "token_budget": token_budget,
        "hardware": hardware,
        "exclude_source_problem": exclude_source_problem,
    }
    return Call("POST", "/v1/context", _json(Context.of), json=_said(body))


def feedback(
    votes: Votes | None = None,
    *,
    context_id: str | None = None,
    retrieval_id: str | None = None,
    reader: str | None = None,
    answer: str | None = None,
    success: bool | None = None,
    speedup: float | None = None,
    idempotency_key: str | None = None,
) -> Call[Feedback]:
    """Votes on shown items, by id or as an answer that cites them; counted once, however often it is sent."""
    outcome = _said({"success": success, "speedup": speedup})
    body = {
        "items": [{"id": item_id, "signal": signal} for item_id, signal in (votes or {}).items()],
        "context_id": context_id,
        "retrieval_id": retrieval_id,
        "reader": reader,
        "answer": answer,
        "outcome": outcome or None,
    }
    key = {"Idempotency-Key": idempotency_key or uuid.uuid4().hex}
    return Call("POST", "/v1/feedback", _json(Feedback.of), json=_said(body), headers=key)


def propose(
    text: str,
    *,
    kind: str = "bullet",
    proposed_by: str | None = None,
    section: str | None = None,
    family: str | None = None,
    source_problem: str | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Call[Item]:
    """A new item. From a key without the scope curate, or with `proposed_by`, it waits for a curator."""
    body = {
        "text": text,
        "kind": kind,
        "proposed_by": proposed_by,
        "section": section,
        "family": family,
        "source_problem": source_problem,
        "provenance": provenance,
    }
    return Call("POST", "/v1/bullets", _json(Item.of), repeatable=False, json=_said(body))


def item(item_id: str) -> Call[Item]:
    """One item in whatever status."""
    return Call("GET", f"/v1/bullets/{_part(item_id)}", _json(Item.of))


def kernels(
    *, source_problem: str | None = None, family: str | None = None, limit: int = 50, cursor: str | None = None
) -> Call[list[Kernel]]:
    """Kernels in id order, without their code."""
    params = {"source_problem": source_problem, "family": family, "limit": limit, "cursor": cursor}
    return Call("GET", "/v1/kernels", _listed(Kernel.of), params=_said(params))


def kernel(item_id: str) -> Call[Kernel]:
    """One kernel with its code and what was measured of it."""
    return Call("GET", f"/v1/kernels/{_part(item_id)}", _json(Kernel.of))


def add_kernel(
    source_problem: str,
    source: str,
    text: str,
    *,
    claimed_speedup: float | None = None,
    proposed_by: str | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Call[Kernel]:
    """Adds a kernel; the same code for the same problem is one kernel, however often it is sent."""
    body = {
        "source_problem": source_problem,
        "source": source,
        "text": text,
        "claimed_speedup": claimed_speedup,
        "proposed_by": proposed_by,
        "provenance": provenance,
    }
    return Call("POST", "/v1/kernels", _json(Kernel.of), json=_said(body))


def verify_kernel(item_id: str, hardware: Iterable[str] = ()) -> Call[list[Run]]:
    """Orders verification runs of a kernel; `run` tells how far one is. One that waits already is not ordered twice."""
    body = {"hardware": list(hardware)}
    return Call("POST", f"/v1/kernels/{_part(item_id)}/verify", _listed(Run.of), json=body)


def run(run_id: str) -> Call[Run]:
    """One verification run."""
    return Call("GET", f"/v1/runs/{_part(run_id)}", _json(Run.of))


def import_file(content: bytes, *, name: str, format: str = "auto", dry_run: bool = False) -> Call[Imported]:
    """Imports a file of any known format: ACE text, mem0 or skillbook JSON, rules files, JSON lines."""
    params = {"name": name, "format": format, "dry_run": dry_run}
    return Call("POST", "/v1/import", _json(Imported.of), params=params, content=content)


def export(format: Literal["ace", "jsonl", "markdown"] = "jsonl") -> Call[str]:
    """The corpus as text."""
    return Call("GET", "/v1/export", lambda answer: answer.text, params={"format": format})


def _task(text: str | None, code: str | None, problem_id: str | None) -> dict[str, Any]:
    return _said({"text": text, "code": code, "problem_id": problem_id})


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _part(text: str) -> str:
    """A part of a path in which no character can lead elsewhere."""
    return quote(text, safe="")


def _json(made: Callable[[Mapping[str, Any]], T]) -> Callable[[httpx.Response], T]:
    return lambda answer: made(answer.json())


def _listed(made: Callable[[Mapping[str, Any]], T]) -> Callable[[httpx.Response], list[T]]:
    return lambda answer: [made(entry) for entry in answer.json()["items"]]
