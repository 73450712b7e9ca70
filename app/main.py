"""Builds the service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app.api import (
    bullets,
    context,
    exchange,
    facts,
    feedback,
    findings,
    health,
    imports,
    kernels,
    keys,
    operations,
    problem_details,
    runs,
    search,
    vocabulary,
)
from app.api.guard import Guard
from app.api.middleware import BodyLimit, RequestId
from app.api.problem_details import answers
from app.mcp import door
from app.services.assembly import assembled
from app.services.start import prepare
from app.settings import Settings
from app.version import VERSION

__all__ = ["VERSION", "create_app"]

_GUARDED = (
    search,
    context,
    feedback,
    bullets,
    kernels,
    runs,
    operations,
    findings,
    facts,
    vocabulary,
    exchange,
    imports,
    keys,
)
"""Modules of the routes that need a key."""


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service for these settings, or for those of the environment."""
    chosen = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services = assembled(chosen)
        prepare(services)
        app.state.services = services
        try:
            async with door.opened(services, VERSION) as app.state.mcp:
                yield
        finally:
            services.close()

    app = FastAPI(title="Kernel Playbook", version=VERSION, lifespan=lifespan)
    problem_details.install(app)
    for module in _GUARDED:
        app.include_router(module.router, responses=answers(401, 403))
    app.include_router(health.router)
    app.router.routes.append(door.route)
    streamed = {"/v1/import": chosen.max_import_bytes}
    app.add_middleware(BodyLimit, limit=chosen.max_body_bytes, streamed=streamed)
    app.add_middleware(Guard, auth=chosen.auth)
    app.add_middleware(RequestId)
    return app
