"""The webhook: signed, retried, and never led into a network that it has no business in."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app.errors import InvalidInput
from app.services.outgoing import checked_target
from app.services.telling import SIGNATURE, TIMESTAMP, deliver, signature
from app.settings import Settings

NEWS = {"id": "night-2026-11-30", "event": "night.regressed"}


@contextmanager
def receiver(*statuses: int, location: str = "") -> Iterator[tuple[str, list[tuple[dict[str, str], bytes]]]]:
    """A real server that answers with these statuses in turn and keeps what it got."""
    got: list[tuple[dict[str, str], bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((dict(self.headers), body))
            self.send_response(statuses[min(len(got), len(statuses)) - 1])
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}/hook?x=1", got
        finally:
            server.shutdown()
            thread.join()


def sent(url: str, pauses: list[float], private: bool = True) -> bool:
    settings = Settings(webhook_url=url, webhook_secret="a secret", webhook_private=private)
    return deliver(settings, NEWS, pauses.append)


def test_a_message_is_signed_over_its_moment_and_its_body() -> None:
    with receiver(204) as (url, got):
        assert sent(url, [])
    headers, body = got[0]
    assert json.loads(body) == NEWS
    assert headers[SIGNATURE] == "sha256=" + signature("a secret", headers[TIMESTAMP], body)
    assert headers["Host"].startswith("localhost:")
    assert signature("a secret", headers[TIMESTAMP], body + b" ") not in headers[SIGNATURE]
    assert signature("another", headers[TIMESTAMP], body) not in headers[SIGNATURE]


def test_a_receiver_that_fails_is_tried_again_with_growing_pauses() -> None:
    pauses: list[float] = []
    with receiver(503, 429, 200) as (url, got):
        assert sent(url, pauses)
    assert (len(got), pauses) == (3, [1.0, 5.0])
    pauses.clear()
    with receiver(500) as (url, got):
        assert not sent(url, pauses)
    assert (len(got), pauses) == (4, [1.0, 5.0, 25.0])


def test_a_refusal_is_taken_at_its_word_and_a_redirect_is_not_followed() -> None:
    with receiver(410) as (url, got):
        assert not sent(url, [])
        assert len(got) == 1
    with receiver(200) as (elsewhere, stolen), receiver(307, location=elsewhere) as (url, got):
        assert not sent(url, [])
        assert (len(got), len(stolen)) == (1, 0)


def test_a_private_address_is_refused_unless_it_is_allowed() -> None:
    with receiver(200) as (url, got):
        assert not sent(url, [], private=False)
        assert not sent(url.replace("http://", "https://"), [], private=False)
        assert got == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://127.0.0.1/",
        "https://127.0.0.1/",
        "https://10.0.0.8/hook",
        "https://192.168.1.1/",
        "https://172.16.0.1/",
        "https://100.64.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://0.0.0.0/",
        "https://[::1]/",
        "https://[fe80::1]/",
        "https://[fd00::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://user:password@93.184.216.34/",
        "https:///nothing",
        "https://93.184.216.34:99999/",
        "",
    ],
)
def test_what_is_no_public_https_address_is_refused(url: str) -> None:
    with pytest.raises((InvalidInput, OSError)):
        checked_target(url, allow_private=False)


def test_where_clouds_keep_secrets_is_refused_even_where_private_addresses_are_allowed() -> None:
    for url in ("http://169.254.169.254/", "http://[fe80::1]/", "http://0.0.0.0/", "http://[::ffff:169.254.169.254]/"):
        with pytest.raises(InvalidInput):
            checked_target(url, allow_private=True)


def test_the_checked_address_is_the_one_that_is_called() -> None:
    target = checked_target("https://93.184.216.34:8443/hook?a=b", allow_private=False)
    assert (target.url, target.host) == ("https://93.184.216.34:8443/hook?a=b", "93.184.216.34")
    local = checked_target("http://localhost/x", allow_private=True)
    assert local.url in ("http://127.0.0.1:80/x", "http://[::1]:80/x")
    assert local.host_header == "localhost"
