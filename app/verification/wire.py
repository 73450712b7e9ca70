"""Framed records between the judge and a child: a magic word, a length, then JSON. Nothing else is ever parsed."""

import json
import socket
import struct
from collections.abc import Callable
from typing import Any

MAX_FRAME = 16 * 2**20
"""Bytes in one record; a length above it is garbage, not a record."""

_HALF_PAIR = b"\\ud"
"""How half of a surrogate pair is written: no encoding takes it, so it is replaced before it can get into a record."""

_MAGIC = b"KPB1"
_HEAD = struct.Struct(">4sI")


def _bound_encoder() -> Callable[[Any], str]:
    """JSON by the C encoder as it is now: what is put into the place of json's functions later writes no record."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return json.dumps
    encode = make(None, _refuse, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, True)
    join = "".join
    return lambda record: join(encode(record, 0))


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} has no form in JSON")


class GarbledRecord(Exception):
    """Bytes on the wire that are no record."""


_encoded = _bound_encoder()


class Wire:
    """One end of a socket pair that carries records."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._pending = b""

    @classmethod
    def from_fd(cls, fd: int) -> "Wire":
        """The end that was inherited as a file descriptor."""
        return cls(socket.socket(fileno=fd))

    def send(self, record: dict[str, Any]) -> None:
        """Write one record. Raises OSError when the other end is gone."""
        body = _encoded(record).encode()
        self.sock.sendall(_HEAD.pack(_MAGIC, len(body)) + body)

    def receive(self) -> dict[str, Any] | None:
        """Block for one record; None at the end of the stream. Raises GarbledRecord."""
        while True:
            record = self.poll()
            if record is not None:
                return record
            if not self.fill():
                return None

    def fill(self) -> bool:
        """Read what has arrived, blocking if nothing has. False at the end of the stream."""
        data = self.sock.recv(1 << 20)
        self._pending += data
        return bool(data)

    def poll(self) -> dict[str, Any] | None:
        """The next complete record among what was read, if there is one. Raises GarbledRecord."""
        if len(self._pending) < _HEAD.size:
            return None
        magic, size = _HEAD.unpack_from(self._pending)
        if magic != _MAGIC:
            raise GarbledRecord("no record")
        if size > MAX_FRAME:
            raise GarbledRecord(f"a length of {size} bytes")
        end = _HEAD.size + size
        if len(self._pending) < end:
            return None
        body, self._pending = self._pending[_HEAD.size : end], self._pending[end:]
        try:
            record = json.loads(body)
            if _HALF_PAIR in body.lower():
                record = json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError) as fault:
            raise GarbledRecord("no JSON") from fault
        if not isinstance(record, dict):
            raise GarbledRecord("no object")
        return record

    @property
    def has_leftovers(self) -> bool:
        """Whether bytes wait that nobody asked for: a doubled or forged record."""
        if self._pending:
            return True
        self.sock.setblocking(False)
        try:
            return bool(self.sock.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        except OSError:
            return False
        finally:
            self.sock.setblocking(True)
