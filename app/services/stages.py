"""How long the stages of one answer take. Whoever wants to know opens a sheet; without one, nothing is measured."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_sheet: ContextVar[dict[str, float] | None] = ContextVar("stages", default=None)


def open_sheet() -> dict[str, float]:
    """A sheet for the present request: stage -> seconds, filled in while the request is answered."""
    sheet: dict[str, float] = {}
    _sheet.set(sheet)
    return sheet


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Adds the time of the block to the present sheet, if there is one."""
    sheet = _sheet.get()
    if sheet is None:
        yield
        return
    began = time.perf_counter()
    try:
        yield
    finally:
        sheet[name] = sheet.get(name, 0.0) + time.perf_counter() - began
