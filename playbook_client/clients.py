"""The two clients. Their methods are the calls of `playbook_client.calls`; here is only how a call is sent."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx

from playbook_client import calls
from playbook_client.calls import Call
from playbook_client.faults import Unreachable, fault_of
from playbook_client.retrying import Retries, again_after

P = ParamSpec("P")
T = TypeVar("T")


def _sync(make: Callable[P, Call[T]]) -> "Callable[Concatenate[Playbook, P], T]":
    @wraps(make)
    def method(self: "Playbook", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.send(make(*args, **kwargs))

    return method


def _async(make: Callable[P, Call[T]]) -> "Callable[Concatenate[AsyncPlaybook, P], Awaitable[T]]":
    @wraps(make)
    async def method(self: "AsyncPlaybook", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.send(make(*args, **kwargs))

    return method


class Playbook:
    """A playbook over HTTP. `url` and `key` are read from PLAYBOOK_URL and PLAYBOOK_API_KEY where they are left out."""

    search = _sync(calls.search)
    context = _sync(calls.context)
    feedback = _sync(calls.feedback)
    propose = _sync(calls.propose)
    item = _sync(calls.item)
    kernels = _sync(calls.kernels)
    kernel = _sync(calls.kernel)
    add_kernel = _sync(calls.add_kernel)
    verify_kernel = _sync(calls.verify_kernel)
    run = _sync(calls.run)
    import_file = _sync(calls.import_file)
    export = _sync(calls.export)

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(**_options(url, key, timeout), transport=transport)
        self._retries = retries or Retries()

    def send(self, call: Call[T]) -> T:
        """Sends a call, again where that is safe, and returns what it answers; PlaybookFault or Unreachable."""
        for number in range(1, self._retries.times + 2):
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._http.request(call.method, call.path, **_request(call))
            except httpx.TransportError as fault:
                outcome = fault
            if number > self._retries.times or not again_after(call, outcome):
                return _read(call, outcome)
            time.sleep(self._retries.wait(number, outcome if isinstance(outcome, httpx.Response) else None))
        raise AssertionError("the last try returns or raises")

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncPlaybook:
    """The same as Playbook, to be awaited."""

    search = _async(calls.search)
    context = _async(calls.context)
    feedback = _async(calls.feedback)
    propose = _async(calls.propose)
    item = _async(calls.item)
    kernels = _async(calls.kernels)
    kernel = _async(calls.kernel)
    add_kernel = _async(calls.add_kernel)
    verify_kernel = _async(calls.verify_kernel)
    run = _async(calls.run)
    import_file = _async(calls.import_file)
    export = _async(calls.export)

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(**_options(url, key, timeout), transport=transport)
        self._retries = retries or Retries()

    async def send(self, call: Call[T]) -> T:
        """Sends a call, again where that is safe, and returns what it answers; PlaybookFault or Unreachable."""
        for number in range(1, self._retries.times + 2):
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = await self._http.request(call.method, call.path, **_request(call))
            except httpx.TransportError as fault:
                outcome = fault
            if number > self._retries.times or not again_after(call, outcome):
                return _read(call, outcome)
            wait = self._retries.wait(number, outcome if isinstance(outcome, httpx.Response) else None)
            await asyncio.sleep(wait)
        raise AssertionError("the last try returns or raises")

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _options(url: str | None, key: str | None, timeout: float) -> dict[str, Any]:
    chosen = url or os.environ.get("PLAYBOOK_URL") or "http://127.0.0.1:8080"
    presented = key or os.environ.get("PLAYBOOK_API_KEY")
    headers = {"X-API-Key": presented} if presented else {}
    return {"base_url": chosen.rstrip("/"), "headers": headers, "timeout": timeout}


def _request(call: Call[Any]) -> dict[str, Any]:
    return {"json": call.json, "content": call.content, "params": call.params, "headers": call.headers}


def _read(call: Call[T], outcome: httpx.Response | httpx.TransportError) -> T:
    if isinstance(outcome, httpx.TransportError):
        raise Unreachable(f"{call.method} {call.path}: {outcome or type(outcome).__name__}") from outcome
    if outcome.is_error:
        raise fault_of(outcome)
    return call.read(outcome)
