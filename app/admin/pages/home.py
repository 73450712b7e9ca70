"""The first page: where things stand."""

from datetime import UTC, datetime

from fastapi import APIRouter
from starlette.responses import Response

from app.admin.charts import votes_by_day
from app.admin.desk import DeskDep, as_csv
from app.admin.gate import DeskRoute, needs
from app.services.overview import look_over
from app.vocabulary import Scope

router = APIRouter(prefix="/admin", route_class=DeskRoute)


@router.get("")
@needs(Scope.READ)
def home(desk: DeskDep) -> Response:
    """Items, votes, findings, the last night, index and queue."""
    overview = look_over(desk.services, datetime.now(UTC))
    return desk.page("home.html", overview=overview, votes=votes_by_day(overview.votes))


@router.get("/votes.csv")
@needs(Scope.READ)
def votes_csv(desk: DeskDep) -> Response:
    """The votes of the week by day."""
    return as_csv("votes.csv", votes_by_day(look_over(desk.services, datetime.now(UTC)).votes))
