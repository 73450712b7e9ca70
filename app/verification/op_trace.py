"""Which operators of torch compute something in a call: who runs all of the reference's needs no kernel for it."""

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from app.verification.launches import tensors_in

_MOVES = frozenset({
    "_reshape_alias", "_to_copy", "alias", "arange", "as_strided", "clone", "contiguous", "copy", "detach", "empty",
    "empty_like", "empty_permuted", "empty_strided", "expand", "fill", "full", "full_like", "lift_fresh", "new_empty",
    "new_empty_strided", "new_full", "new_ones", "new_zeros", "ones", "ones_like", "reshape", "resize",
    "scalar_tensor", "set", "view", "zero", "zeros", "zeros_like",
})  # fmt: skip

_MOST = 2000


class TooManyOperators(RuntimeError):
    """A call that would hide operators among thousands of others."""


class OpTrace(TorchDispatchMode):
    """Counts calls of operators, by name, shapes of tensors and values of other arguments, in whatever order; views,
    copies and allocations do not count.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counted: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run the operator and count it."""
        result = self._run(func, args, kwargs or {})
        name = str(func.overloadpacket.__name__).rstrip("_")
        if func.namespace == "aten" and not func.is_view and name not in _MOVES:
            named = [value for key, value in (kwargs or {}).items() if key != "out"]
            self.counted[f"{name}({', '.join(sorted(map(_word, (*args, *named))))})"] += 1
        return result

    def most(self) -> dict[str, int]:
        """The operators that were counted. Raises TooManyOperators beyond what a model can call."""
        if len(self.counted) > _MOST:
            raise TooManyOperators(f"more than {_MOST} different calls of operators in one call of forward")
        return dict(self.counted)

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """The operator's result. What an operator of somebody's own calls is traced as well: its kernel for the device
        is run with the trace on.
        """
        if func.namespace == "aten":
            return func(*args, **kwargs)
        is_on_gpu = any(tensor.device.type == "cuda" for tensor in tensors_in((args, kwargs)))
        key = torch._C.DispatchKey.CUDA if is_on_gpu else torch._C.DispatchKey.CPU
        if not torch._C._dispatch_has_computed_kernel_for_dispatch_key(func.name(), key.name):
            return func(*args, **kwargs)
        with self:
            return func.redispatch(torch._C.DispatchKeySet(key), *args, **kwargs)


def _word(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return str(list(value.shape))
    return f"({', '.join(map(_word, value))})" if isinstance(value, list | tuple) else str(value)


# torch wraps the method so that its first call imports torch._dynamo, which takes seconds and serves nothing here.
setattr(OpTrace, "__torch_dispatch__", getattr(OpTrace.__torch_dispatch__, "__wrapped__", OpTrace.__torch_dispatch__))  # noqa: B010
