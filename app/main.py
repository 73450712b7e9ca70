"""Builds the service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from app.admin import routes as desk
from app.admin.faults import FaultPages, with_pages
from app.api import (
    bullets,
    context,
    described,
    docs,
    exchange,
    facts,
    feedback,
    findings,
    health,
    imports,
    kernels,
    keys,
    metrics,
    operations,
    problem_details,
    runs,
    search,
    vocabulary,
)
from app.api.guard import Guard
from app.api.headers import SecurityHeaders
from app.api.middleware import BodyLimit, RequestId
from app.api.observing import Observed
from app.api.patience import BackPressure, SlowClients
from app.api.problem_details import answers
from app.api.rates import RateLimit
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
    metrics,
)
"""Modules of the routes that need a key."""


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service for these settings, or for those of the environment."""
    chosen = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, float]]:
        services = assembled(chosen)
        try:
            prepare(services)
            app.state.services = services
            app.state.signer = desk.signer(chosen)
            async with door.opened(services, VERSION) as app.state.mcp:
                yield {"patience_seconds": chosen.patience_seconds}
        finally:
            services.close()

    app = FastAPI(title="Kernel Playbook", version=VERSION, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.metrics = metrics.Metrics()
    problem_details.install(app, with_pages)
    for module in _GUARDED:
        app.include_router(module.router, responses=answers(401, 403, 408, 429))
    app.include_router(health.router)
    app.include_router(docs.router)
    app.include_router(desk.router)
    app.router.routes.append(door.route)
    described.install(app)
    _add_middleware(app, chosen)
    return app


def _add_middleware(app: FastAPI, settings: Settings) -> None:
    """What every request passes through; the last one added comes first."""
    streamed = {"/v1/import": settings.max_import_bytes}
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes, streamed=streamed)
    app.add_middleware(SlowClients, seconds=settings.patience_seconds)
    app.add_middleware(RateLimit, reads=settings.rate_limit, writes=settings.rate_limit_writes)
    app.add_middleware(Guard, auth=settings.auth)
    app.add_middleware(BackPressure, most=settings.max_requests)
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.strip() for origin in settings.cors_origins.split(",")],
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "X-API-Key", "X-Request-ID"],
        )
    app.add_middleware(FaultPages)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Observed, metrics=app.state.metrics)
    app.add_middleware(RequestId)
