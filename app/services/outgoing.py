"""Where the service may send something: a URL is resolved once, checked, and called by the address that was checked."""

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Target:
    """A checked address. `url` names the address, `host` what the caller meant."""

    url: str
    host: str
    host_header: str


def checked_target(url: str, *, allow_private: bool) -> Target:
    """The address behind a URL; InvalidInput for another scheme, credentials, or an address that is not public.

    Every address that the name has must be public, or none is used. `allow_private` lets private and loopback ones
    pass, never those that no host has (multicast, unspecified, reserved) nor link-local ones, where clouds keep
    secrets.

    Raises OSError where the name does not resolve.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as fault:
        raise InvalidInput(f"{url!r} is no URL: {fault}.") from fault
    if parts.scheme not in ("https", "http") or (parts.scheme == "http" and not allow_private):
        raise InvalidInput("The URL must begin with https:// (http:// only where private addresses are allowed).")
    if not host or parts.username is not None or parts.password is not None:
        raise InvalidInput("The URL needs a host, and may hold no user or password.")
    port = port or (443 if parts.scheme == "https" else 80)
    found = [ipaddress.ip_address(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for address in found:
        _require_allowed(address, allow_private)
    chosen = f"[{found[0]}]" if found[0].version == 6 else str(found[0])
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    named = f"[{host}]" if ":" in host else host
    return Target(f"{parts.scheme}://{chosen}:{port}{path}", host, f"{named}:{port}" if parts.port else named)


def _require_allowed(address: ipaddress.IPv4Address | ipaddress.IPv6Address, allow_private: bool) -> None:
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    never = address.is_multicast or address.is_unspecified or address.is_link_local
    if never or (address.is_reserved and not address.is_loopback):
        raise InvalidInput(f"{address} is no address that may be called.")
    if not address.is_global and not allow_private:
        raise InvalidInput(f"{address} is a private address; set PLAYBOOK_WEBHOOK_PRIVATE to call it.")
