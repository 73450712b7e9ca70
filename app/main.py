"""Builds the service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from app.api import (
    bullets,
    context,
    exchange,
    facts,
    feedback,
    findings,
    health,
    kernels,
    keys,
    metrics,
    operations,
    problem_details,
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
from app.services.assembly import assembled
from app.services.start import prepare
from app.settings import Settings

VERSION = "0.1.0"

_GUARDED = (
    search,
    context,
    feedback,
    bullets,
    kernels,
    operations,
    findings,
    facts,
    vocabulary,
    exchange,
    keys,
    metrics,
)
"""Modules of the routes that need a key."""


def create_app(settings: Settings | None = None) -> FastAPI:
    """The service for these settings, or for those of the environment."""
    chosen = settings or Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services = assembled(chosen)
        try:
            prepare(services)
            app.state.services = services
            yield
        finally:
            services.close()

    app = FastAPI(title="Kernel Playbook", version=VERSION, lifespan=lifespan)
    app.state.metrics = metrics.Metrics()
    problem_details.install(app)
    for module in _GUARDED:
        app.include_router(module.router, responses=answers(401, 403, 408, 429))
    app.include_router(health.router)
    _add_middleware(app, chosen)
    return app


def _add_middleware(app: FastAPI, settings: Settings) -> None:
    """What every request passes through; the last one added comes first."""
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes)
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
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Observed, metrics=app.state.metrics)
    app.add_middleware(RequestId)
