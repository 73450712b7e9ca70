"""What OpenAPI says beside what the routes say themselves: groups, an example for each body, types of problems."""

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from app import errors
from app.api.problem_details import MEDIA_TYPE
from app.errors import PlaybookError

ABOUT = (
    "Curated knowledge for agents that write GPU kernels. A key travels as `X-API-Key` or `Authorization: Bearer`. "
    "Every error is a problem document (RFC 9457); every response carries `X-Request-ID`; speedups are over eager."
)

EXAMPLES: dict[str, dict[str, Any]] = {
    "search": {"query": "convT3d bn avgpool", "top_k": 5},
    "render_context": {"task": {"text": "fuse a linear layer, swish and group norm"}, "reader": "my-model"},
    "give_feedback": {"reader": "my-model", "items": [{"id": "kpb-00013", "signal": "helpful"}]},
    "create_item": {"text": "Rows under 512 elements: one warp a row was faster.", "proposed_by": "builder-1"},
    "edit_item": {"version": 1, "status": "retired", "note": "no longer true"},
    "revert_item": {"version": 2, "to_version": 1},
    "add_kernel": {
        "source_problem": "softmax_temperature",
        "source": "import triton\n\n\nclass ModelNew:\n    ...\n",
        "text": "Softmax of logits divided by a temperature: one program a row.",
    },
    "verify_kernel": {"hardware": ["NVIDIA H200"]},
    "apply_operations": {"dry_run": True, "operations": [{"op": "TAG", "id": "kpb-00013", "signal": "helpful"}]},
    "decide_finding": {"action": "dismiss", "reason": "both hold, in different regimes"},
    "put_reader": {"display_name": "My Model"},
    "put_baselines": {"baselines": [{"problem": "L2_020", "speedup": 1.31, "runs": 3}]},
    "create_key": {"name": "builder-1", "scopes": ["read", "feedback"]},
}
"""operation_id -> an example of its JSON body; a test sends each of them."""


def install(app: FastAPI) -> None:
    """Has the service describe itself so."""
    plain: Callable[[], dict[str, Any]] = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = plain()
            schema["info"]["description"] = ABOUT
            for methods in schema["paths"].values():
                for operation in methods.values():
                    _complete(operation)
        return plain()

    app.openapi = described  # type: ignore[method-assign]


def _complete(operation: dict[str, Any]) -> None:
    """Adds the example of an operation, and the types of problems to each status that is an error."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None and operation["operationId"] in EXAMPLES:
        body["example"] = EXAMPLES[operation["operationId"]]
    for status, answer in operation["responses"].items():
        if MEDIA_TYPE in answer.get("content", {}):
            answer["content"][MEDIA_TYPE]["x-problem-types"] = _types(int(status))


def _types(status: int) -> list[str]:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PlaybookError)]
    return sorted(kind("").type for kind in kinds if kind.status == status and kind is not PlaybookError)
