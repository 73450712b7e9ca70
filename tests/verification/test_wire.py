"""Whatever bytes a child writes, the judge gets a record of plain text, or calls them garbled."""

import json
import os
import socket
import struct
from collections.abc import Iterator

import pytest

from app.verification.wire import GarbledRecord, Wire


@pytest.fixture
def ends() -> Iterator[tuple[Wire, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Wire(ours), theirs


def framed(body: bytes) -> bytes:
    return struct.pack(">4sI", b"KPB1", len(body)) + body


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"a":' * 20_000, b"[]", b"3", b"", b"\xff\xfe", b'{"a": 1', b"NaN of a kind"]
)
def test_bytes_that_are_no_record_are_garbled(ends: tuple[Wire, socket.socket], body: bytes) -> None:
    wire, theirs = ends
    theirs.sendall(framed(body))
    with pytest.raises(GarbledRecord):
        wire.receive()


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_stays(ends: tuple[Wire, socket.socket]) -> None:
    wire, theirs = ends
    theirs.sendall(framed(json.dumps({"half": "a\ud800b", "whole": "\U0001f600", "\udc00": 1}).encode()))
    record = wire.receive()
    assert record == {"half": "a?b", "whole": "\U0001f600", "?": 1}
    assert json.dumps(record, ensure_ascii=False).encode()


def test_a_record_arrives_as_it_was_sent(ends: tuple[Wire, socket.socket]) -> None:
    wire, theirs = ends
    sent = {"text": "ü", "numbers": [1, 2.5, None], "path": os.sep}
    Wire(theirs).send(sent)
    assert wire.receive() == sent


def test_what_is_put_into_the_place_of_jsons_functions_later_writes_no_record(
    ends: tuple[Wire, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    wire, theirs = ends
    for owner, name in ((json, "dumps"), (json.encoder, "c_make_encoder"), (json.JSONEncoder, "iterencode")):
        monkeypatch.setattr(owner, name, lambda *_, **__: '{"forged": true}')
    wire.send({"launches": 3, "text": "\u00e9\u20ac", "share": 0.5, "nothing": None})
    monkeypatch.undo()
    head = theirs.recv(8)
    assert json.loads(theirs.recv(struct.unpack(">4sI", head)[1])) == {
        "launches": 3, "text": "\u00e9\u20ac", "share": 0.5, "nothing": None
    }  # fmt: skip


def test_a_value_that_has_no_form_in_json_is_refused(ends: tuple[Wire, socket.socket]) -> None:
    with pytest.raises(TypeError, match="set has no form in JSON"):
        ends[0].send({"a": {1}})
