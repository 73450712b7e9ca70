"""The curators' door: every page of the desk under /admin."""

from fastapi import APIRouter

from app.admin.pages import (
    editing,
    entrance,
    exchange,
    findings,
    home,
    item,
    items,
    kernels,
    keys,
    merging,
    nights,
    playground,
    readers,
    runs,
)
from app.admin.sessions import Signer, secret_of
from app.settings import Settings

PAGES = (
    entrance,
    home,
    items,
    editing,
    item,
    merging,
    kernels,
    runs,
    nights,
    findings,
    playground,
    readers,
    keys,
    exchange,
)
"""In the order in which their routes are tried: `/admin/items/new` comes before `/admin/items/{item_id}`."""


router = APIRouter(include_in_schema=False)
for page in PAGES:
    router.include_router(page.router)


def signer(settings: Settings) -> Signer:
    """Signs the sessions of this installation."""
    secret = settings.session_secret.get_secret_value() or secret_of(settings.var_dir)
    return Signer(secret, round(settings.session_minutes * 60))
