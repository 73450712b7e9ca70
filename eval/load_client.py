"""A client that puts load on a server: so many threads, one kept-alive connection each, as little work as possible.

It shares the machine with the server that it measures, so it uses http.client and reads no more of an answer than it
must.
"""

import http.client
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eval.percentiles import percentile

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a load came to; latencies in seconds, in the order in which the answers came."""

    latencies: list[float]
    wall: float
    faults: int

    def summary(self) -> dict[str, float]:
        """Percentiles in milliseconds and queries per second."""
        shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}
        figures = {name: round(percentile(self.latencies, share) * 1000, 3) for name, share in shares.items()}
        rate = round(len(self.latencies) / self.wall, 1)
        return {**figures, "queries_per_second": rate, "queries": len(self.latencies), "faults": self.faults}


def load(
    port: int,
    path: str,
    bodies: Iterable[Body],
    *,
    clients: int,
    seconds: float,
    most: int,
    headers: Mapping[str, str] | None = None,
) -> Measured:
    """Posts bodies to 127.0.0.1 until `most` were answered, the bodies or the seconds ran out."""
    waiting = _Shared(bodies, most)
    latencies: list[float] = []
    faults: list[int] = []
    deadline = time.perf_counter() + seconds

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.perf_counter() < deadline and (body := waiting.take()) is not None:
            began = time.perf_counter()
            status, _ = post(connection, path, body, headers)
            latencies.append(time.perf_counter() - began)
            if status != 200:
                faults.append(status)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(clients)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Measured(latencies, time.perf_counter() - began, len(faults))


def post(
    connection: http.client.HTTPConnection, path: str, body: bytes | Body, headers: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    """Status and body of the answer to one POST."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, body=sent, headers={"Content-Type": "application/json", **(headers or {})})
    answer = connection.getresponse()
    return answer.status, answer.read()


class _Shared:
    """Bodies that several threads take from; each is taken once. They are encoded beforehand."""

    def __init__(self, bodies: Iterable[Body], most: int) -> None:
        self._lock = threading.Lock()
        self._bodies: Iterator[bytes] = iter(
            [json.dumps(body).encode() for _, body in zip(range(most), bodies, strict=False)]
        )

    def take(self) -> bytes | None:
        with self._lock:
            return next(self._bodies, None)
