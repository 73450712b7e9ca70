"""Readers and what they reach alone."""

from typing import Annotated

from fastapi import APIRouter, File, Form, UploadFile
from pydantic import Field
from starlette.responses import Response

from app.admin.desk import DeskDep
from app.admin.forms import AdminForm
from app.admin.gate import DeskRoute, needs
from app.errors import InvalidInput
from app.services import readers
from app.services.texts import Name
from app.vocabulary import Scope

router = APIRouter(prefix="/admin/readers", route_class=DeskRoute)


@router.get("")
@needs(Scope.READ)
def readers_page(desk: DeskDep, reader: str | None = None) -> Response:
    """Every reader with its averages; the one that is chosen with its baselines by problem."""
    known = readers.every_reader(desk.services.database)
    chosen = next((entry for entry in known if entry[0].name == reader), None)
    return desk.page("readers.html", readers=known, chosen=chosen)


class ReaderForm(AdminForm):
    """A reader."""

    name: Annotated[Name, Field(max_length=100)]
    display_name: Name | None = None


@router.post("")
@needs(Scope.CURATE)
def put_reader(desk: DeskDep, form: Annotated[ReaderForm, Form()]) -> Response:
    """Adds a reader, or names a known one."""
    readers.put_reader(desk.services.database, form.name, form.display_name)
    return desk.to("/admin/readers", f"The reader {form.name} is known now.")


@router.post("/baselines")
@needs(Scope.CURATE)
def put_baselines(
    desk: DeskDep,
    reader: Annotated[Name, Form(max_length=100)],
    rows: Annotated[str, Form(max_length=1_000_000)] = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Sets solo baselines from CSV, typed or as a file."""
    uploaded = file.file.read() if file is not None and file.filename else b""
    try:
        text = uploaded.decode("utf-8-sig") if uploaded else rows
    except UnicodeDecodeError as fault:
        raise InvalidInput("The file is not UTF-8 text; save it as UTF-8.") from fault
    found = readers.put_baselines(desk.services.database, reader, readers.rows_of_csv(text))
    return desk.to("/admin/readers", f"{reader} has {len(found.measured)} solo baselines now.")
