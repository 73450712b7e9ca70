"""The loop of a child process: take a request, run its handler, answer with the result or with the exception."""

import linecache
import os
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from app.verification.wire import GarbledRecord, Wire

Handler = Callable[..., dict[str, Any]]
TEXT_LIMIT = 1900
"""Characters of an exception's description. The judge's record holds 2000, with words of its own before them."""

_LAST_LIMIT = 300
_CUT = "\n[...]\n"
_PARENT_CHECK_S = 1.0


def end_with_parent() -> None:
    """Let this process end when the one that started it is gone, whatever it is doing then."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_CHECK_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def serve(wire: Wire, handlers: dict[str, Handler]) -> None:
    """Answer requests until the judge closes the wire.

    This is the one place that catches everything: a candidate may raise anything, SystemExit included, and its answer
    must still be a record.
    """
    while True:
        try:
            request = wire.receive()
        except (GarbledRecord, OSError):
            return
        if request is None:
            return
        identity, op = request.pop("id"), request.pop("op")
        try:
            answer = {"id": identity, "ok": handlers[op](**request)}
        except BaseException as fault:  # noqa: BLE001
            answer = {"id": identity, "error": _described(fault)}
        try:
            wire.send(answer)
        except OSError:
            return


def _described(fault: BaseException) -> dict[str, str]:
    *frames, last = traceback.format_exception(fault)[-6:]
    # The last part says the message again, and must not take the place of the frames.
    text = "".join([f"{fault}\n", *frames, _whole_statement(fault), _without_middle(last, _LAST_LIMIT)])
    return {"type": type(fault).__name__, "text": _without_middle(text, TEXT_LIMIT)}


def _whole_statement(fault: BaseException) -> str:
    """The innermost statement in one line, where it has several: a traceback shows only the first of them."""
    frames = traceback.extract_tb(fault.__traceback__, limit=-1)
    if not frames or frames[0].lineno is None or frames[0].end_lineno is None:
        return ""
    numbers = range(frames[0].lineno, frames[0].end_lineno + 1)
    lines = [linecache.getline(frames[0].filename, number).strip() for number in numbers]
    return f"    {' '.join(lines)[:_LAST_LIMIT]}\n" if len(lines) > 1 else ""


def _without_middle(text: str, limit: int) -> str:
    """At most `limit` characters of a text: its head and its tail."""
    half = (limit - len(_CUT)) // 2
    return text if len(text) <= limit else f"{text[:half]}{_CUT}{text[-half:]}"
