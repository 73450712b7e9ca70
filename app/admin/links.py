"""Addresses of pages."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode


def link(path: str, query: Mapping[str, Any], **changes: Any) -> str:
    """A path with a query; `changes` replace values of it, and empty ones are left out."""
    chosen = {**query, **changes}
    pairs = [(name, value) for name, value in chosen.items() if value not in (None, "", [], ())]
    return path + ("?" + urlencode(pairs, doseq=True) if pairs else "")


def item_path(item_id: str, *rest: str) -> str:
    """The page of an item."""
    return "/".join(("/admin/items", quote(item_id, safe=""), *rest))


def finding_path(finding_id: str, *rest: str) -> str:
    """Where a finding is decided."""
    return "/".join(("/admin/findings", quote(finding_id, safe=""), *rest))


def local(address: str) -> str:
    """The address, if it is one of the desk's own pages; the home page otherwise."""
    own = address == "/admin" or address.startswith(("/admin/", "/admin?"))
    return address if own and "\\" not in address and "\n" not in address and "\r" not in address else "/admin"
