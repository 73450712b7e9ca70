"""Recognises operations that a module spells out in several steps, e.g. ``x * torch.sigmoid(x)`` as ``swish``.

Works on the trace as a graph: each use knows the tensors it consumed, so the order of statements and the names of
variables do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from app.memory.task.trace import Use

_PRODUCTS = frozenset(
    {
        "batched_matmul",
        "matmul_transposed_a",
        "matmul_transposed_both",
        "matmul",
        "matmul_transposed_b",
        "einsum_contraction",
        "tensor3d_matmul",
        "tensor4d_matmul",
    }
)
_POINTWISE = frozenset(
    {"scalar_multiply", "scalar_add", "sigmoid", "tanh", "softplus", "clamp", "relu6", "hardtanh", "hardsigmoid",
    "~exp",
     "~log", "~pow", "~square", "~erf", "residual_add", "elementwise_multiply", "~abs", "~reciprocal", "relu",
     "elementwise_minmax"}
)  # fmt: skip
_BETWEEN_SCORES = frozenset(
    {"scalar_multiply", "masked_fill", "bias_add", "residual_add", "dropout", "scalar_add", "elementwise_multiply",
     "channel_scale", "softmax", "relu", "~reciprocal"}
)  # fmt: skip
_STATISTICS = frozenset({"~abs", "~square", "~pow", "~sqrt", "~rsqrt", "sum_reduce", "mean_reduce", "scalar_add",
                         "~norm", "~exp",
                         "elementwise_minmax", "clamp", "~reciprocal", "elementwise_multiply", "scalar_multiply",
                         "max_reduce", "~var"})  # fmt: skip


class Graph:
    """The uses by index, with the producer of each tensor; rewriting replaces and removes uses."""

    def __init__(self, uses: Sequence[Use]) -> None:
        """Index the uses by the tensor they make."""
        self.uses: list[Use | None] = list(uses)
        self.producer = {use.output: index for index, use in enumerate(uses)}

    def made(self, tensor: int) -> Use | None:
        """Return the use that made a tensor, None for inputs and parameters."""
        index = self.producer.get(tensor)
        return None if index is None else self.uses[index]

    def back(self, tensor: int, through: frozenset[str], limit: int = 12) -> list[Use]:
        """Return the uses met walking back from a tensor through operations of one set, nearest first."""
        found: list[Use] = []
        front = [tensor]
        seen: set[int] = set()
        while front and len(found) < limit:
            use = self.made(front.pop(0))
            if use is not None and use.output not in seen and use.operation in through:
                seen.add(use.output)
                found.append(use)
                front.extend(use.inputs)
        return found

    def replace(self, use: Use, operation: str, remove: Iterable[Use]) -> None:
        """Give a use another name and remove the steps that it absorbs."""
        for step in remove:
            if step.output != use.output:
                self.uses[self.producer[step.output]] = None
        self.uses[self.producer[use.output]] = replace(use, operation=operation)


def recognise(uses: Sequence[Use]) -> list[Use]:
    """Return the uses with spelled-out operations joined and arithmetic steps (``~x``) dropped."""
    graph = Graph(uses)
    for rule in _RULES:
        for use in list(graph.uses):
            if use is not None and graph.made(use.output) is not None:
                rule(graph, use)
    return [use for use in graph.uses if use is not None and not use.operation.startswith("~")]


def _self_gate(graph: Graph, use: Use) -> None:
    """Join ``x * gate(x)`` for swish, mish, hardswish and both GELU forms."""
    if use.operation != "elementwise_multiply" or len(use.inputs) != 2 or use.detail.get("operator") == "Div":
        return
    for value, gate in (use.inputs, use.inputs[::-1]):
        steps = graph.back(gate, _POINTWISE)
        base = graph.back(value, frozenset({"scalar_multiply"}))
        sources = {value, *(tensor for step in base for tensor in step.inputs)}
        between = [step for step in steps if _leads_to(graph, step, sources)]
        name = _gate_name({step.operation for step in between})
        if name and between:
            graph.replace(use, name, [*between, *base])
            return


def _leads_to(graph: Graph, step: Use, sources: set[int]) -> bool:
    front = list(step.inputs)
    seen: set[int] = set()
    while front and len(seen) < 24:
        tensor = front.pop()
        if tensor in sources:
            return step.output not in sources
        seen.add(tensor)
        made = graph.made(tensor)
        if made is not None and made.operation in _POINTWISE:
            front.extend(made.inputs)
    return False


def _gate_name(operations: set[str]) -> str:
    if "~erf" in operations:
        return "gelu"
    if "tanh" in operations:
        if "softplus" in operations or {"~exp", "~log"} <= operations:
            return "mish"
        return "gelu_tanh" if operations & {"~pow", "elementwise_multiply"} else ""
    if "sigmoid" in operations or "~exp" in operations:
        return "hardswish" if "scalar_add" in operations and "sigmoid" in operations else "swish"
    return "hardswish" if operations & {"clamp", "relu6", "hardsigmoid", "hardtanh"} else ""


def _attention(graph: Graph, use: Use) -> None:
    """Join scores, optional mask, softmax or ReLU, and the product with the values."""
    if use.operation not in _PRODUCTS or not use.inputs:
        return
    for tensor in use.inputs:
        steps = graph.back(tensor, _BETWEEN_SCORES | _PRODUCTS)
        names = [step.operation for step in steps]
        scores = next((step for step in steps if step.operation in _PRODUCTS), None)
        if scores is None or not {"softmax", "relu"} & set(names):
            continue
        steps = steps[: steps.index(scores) + 1]
        names = [step.operation for step in steps]
        made_by_norm = any((made := graph.made(t)) is not None and made.operation == "l2_norm" for t in scores.inputs)
        if "softmax" not in names and "relu" not in names:
            continue
        if "softmax" not in names:
            name = "relu_attention"
        elif made_by_norm:
            name = "window_attention"
        else:
            name = "causal_attention" if "masked_fill" in names else "scaled_dot_product_attention"
        graph.replace(use, name, steps)
        return


def _normalised(graph: Graph, use: Use) -> None:
    """Join ``x / statistic(x)`` for the norms without a layer of their own, softsign and a spelled-out softmax."""
    if use.operation != "elementwise_multiply" or len(use.inputs) != 2:
        return
    steps = graph.back(use.inputs[1], _STATISTICS)
    names = {step.operation for step in steps}
    divides = use.detail.get("operator") == "Div" or "~rsqrt" in names or "~reciprocal" in names
    name = _norm_name(names, steps) if divides else ""
    if name:
        graph.replace(use, name, steps)


def _norm_name(names: set[str], steps: Sequence[Use]) -> str:
    whole = any(step.detail.get("axes", ()) is None for step in steps if step.operation in {"~norm", "sum_reduce"})
    if "~norm" in names:
        power = next((step.detail.get("power") for step in steps if step.operation == "~norm"), 2)
        return "l1_norm" if power == 1 else "frobenius_norm" if whole else "l2_norm"
    if "~abs" in names:
        return "l1_norm" if names & {"sum_reduce", "mean_reduce"} else "softsign"
    if names & {"~square", "~pow", "elementwise_multiply"} and names & {"~sqrt", "~rsqrt"}:
        if "mean_reduce" in names:
            return "rms_norm"
        return "frobenius_norm" if whole else "l2_norm" if "sum_reduce" in names else ""
    return "softmax" if {"~exp", "sum_reduce"} <= names else ""


def _centred(graph: Graph, use: Use) -> None:
    if (
        use.operation not in {"mean_subtract", "residual_add"}
        or use.detail.get("operator") != "Sub"
        or len(use.inputs) != 2
    ):
        return
    mean = graph.made(use.inputs[1])
    if mean is not None and mean.operation == "mean_reduce" and use.inputs[0] in mean.inputs:
        graph.replace(use, "mean_subtract", [mean])


def _loss(graph: Graph, use: Use) -> None:
    if use.operation != "mean_reduce" or use.detail.get("axes") is not None:
        return
    steps = graph.back(
        use.inputs[0],
        frozenset(
            {"~square", "~pow", "residual_add", "relu", "elementwise_minmax", "scalar_add", "elementwise_multiply"}
        ),
    )
    names = {step.operation for step in steps}
    if names & {"~square", "~pow"} and any(step.detail.get("operator") == "Sub" for step in steps):
        graph.replace(use, "mse_loss", steps)
    elif {"relu", "scalar_add", "elementwise_multiply"} <= names and any(step.detail.get("swapped") for step in steps):
        graph.replace(use, "hinge_loss", steps)


def _scan(graph: Graph, use: Use) -> None:
    if use.operation != "cumsum":
        return
    before = graph.made(use.inputs[0])
    if use.detail.get("flipped"):
        graph.replace(use, "reverse_cumsum", [])
    elif before is not None and before.operation == "elementwise_multiply":
        graph.replace(use, "masked_cumsum", [before])
    elif use.detail.get("exclusive") or (before is not None and before.operation == "concat"):
        graph.replace(use, "exclusive_cumsum", [before] if before is not None else [])


def _log_sum_exp(graph: Graph, use: Use) -> None:
    if use.operation != "~log":
        return
    total = graph.made(use.inputs[0])
    if total is not None and total.operation == "sum_reduce":
        inner = graph.made(total.inputs[0])
        if inner is not None and inner.operation == "~exp":
            graph.replace(use, "logsumexp", [total, inner])


_RULES: tuple[Callable[[Graph, Use], None], ...] = (
    _attention, _normalised, _self_gate, _centred, _loss, _log_sum_exp, _scan,
)  # fmt: skip
