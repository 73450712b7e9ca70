"""Routes that tell whether the service lives and can answer."""

from fastapi import APIRouter, Response
from pydantic import BaseModel

from app.api.deps import ServicesDep
from app.services.health import readiness

router = APIRouter(tags=["health"])


class HealthOut(BaseModel):
    """The process lives."""

    status: str = "ok"


class ReadinessOut(BaseModel):
    """Whether the service can answer, and what each part says."""

    ready: bool
    checks: dict[str, str]


@router.get("/healthz", operation_id="healthz")
def healthz() -> HealthOut:
    """The process lives."""
    return HealthOut()


@router.get("/readyz", operation_id="readyz", responses={503: {"model": ReadinessOut, "description": "Not ready"}})
def readyz(services: ServicesDep, response: Response) -> ReadinessOut:
    """Database, migration level, sentence model and index."""
    checks = readiness(services.database, services.embedder, services.catalog)
    ready = all(check.ok for check in checks)
    response.status_code = 200 if ready else 503
    return ReadinessOut(ready=ready, checks={check.name: check.says for check in checks})
