"""Which operators of torch compute something in a call: who runs all of the reference's needs no kernel for it."""

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_MOVES = frozenset({
    "_reshape_alias", "_to_copy", "alias", "arange", "as_strided", "clone", "contiguous", "copy", "detach", "empty",
    "empty_like", "empty_permuted", "empty_strided", "expand", "fill", "full", "full_like", "lift_fresh", "new_empty",
    "new_empty_strided", "new_full", "new_ones", "new_zeros", "ones", "ones_like", "reshape", "resize",
    "scalar_tensor", "set", "view", "zero", "zeros", "zeros_like",
})  # fmt: skip

_MOST = 2000


class OpTrace(TorchDispatchMode):
    """Counts calls of operators, by name, shapes of tensors and values of other arguments; views, copies and
    allocations do not count.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counted: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operator and count it."""
        result = func(*args, **(kwargs or {}))
        name = str(func.overloadpacket.__name__).rstrip("_")
        if func.namespace == "aten" and not func.is_view and name not in _MOVES:
            words = [_word(value) for value in (*args, *(kwargs or {}).values())]
            self.counted[f"{name}({', '.join(words)})"] += 1
        return result

    def most(self) -> dict[str, int]:
        """The operators that were counted, the most frequent ones first, and not more than a few thousand."""
        return dict(self.counted.most_common(_MOST))


def _word(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return str(list(value.shape))
    return f"({', '.join(map(_word, value))})" if isinstance(value, list | tuple) else str(value)


# torch wraps the method so that its first call imports torch._dynamo, which takes seconds and serves nothing here.
setattr(OpTrace, "__torch_dispatch__", getattr(OpTrace.__torch_dispatch__, "__wrapped__", OpTrace.__torch_dispatch__))  # noqa: B010
