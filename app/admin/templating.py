"""Templates of the pages. Whatever a template shows is escaped; nothing here marks a text of an item as safe."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.admin import texts
from app.admin.flags import meaning
from app.admin.icons import icon
from app.admin.links import finding_path, item_path, link

HERE = Path(__file__).parent
STATIC = {path.name: path.read_bytes() for path in sorted((HERE / "static").iterdir()) if path.is_file()}
_MARKS = {name: hashlib.sha256(content).hexdigest()[:12] for name, content in STATIC.items()}


def asset(name: str) -> str:
    """Address of a file that pages are made of; it changes with the file's content, so browsers may keep it."""
    return f"/admin/static/{name}?v={_MARKS[name]}"


def ago(at: datetime | None, now: datetime | None = None) -> str:
    """How long ago something was, in words."""
    if at is None:
        return "never"
    passed = (now or datetime.now(UTC)) - at
    if passed < timedelta(minutes=1):
        return "just now" if passed >= timedelta(0) else "in " + _span(-passed)
    return _span(passed) + " ago"


def _span(passed: timedelta) -> str:
    seconds = int(passed.total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def moment(at: datetime | None) -> str:
    """A time to the minute, UTC."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if at else "never"


def ratio(value: Decimal | float | None) -> str:
    """A speedup as people write it."""
    return "–" if value is None else f"{value:.2f}×"


def number(value: float) -> str:
    """A number with thin groups of thousands."""
    return f"{value:,}".replace(",", "\u2009")


def words(name: object) -> str:
    """The name of a kind, verdict or regime in words."""
    return str(name).replace("_", " ")


def as_json(value: Any) -> str:
    """A value of JSON for people to read."""
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)


_environment = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters.update(
    ago=ago,
    code=texts.code,
    json=as_json,
    line=texts.line,
    meaning=meaning,
    moment=moment,
    named=texts.named,
    number=number,
    prose=texts.prose,
    ratio=ratio,
    visible=texts.visible,
    words=words,
)
_environment.globals.update(asset=asset, icon=icon, item_path=item_path, finding_path=finding_path, link=link)


def rendered(template: str, values: Mapping[str, Any]) -> str:
    """A page."""
    return _environment.get_template(template).render(values)


def rendered_in_parts(template: str, values: Mapping[str, Any]) -> Iterator[str]:
    """A page as it comes about, piece by piece."""
    return _environment.get_template(template).generate(values)
