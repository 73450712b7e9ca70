"""The loop of a child process: take a request, run its handler, answer with the result or with the exception."""

import os
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from app.verification.wire import GarbledRecord, Wire

Handler = Callable[..., dict[str, Any]]
TEXT_LIMIT = 4000
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
    text = f"{fault}\n" + "".join(traceback.format_exception(fault)[-6:])
    return {"type": type(fault).__name__, "text": text[-TEXT_LIMIT:]}
