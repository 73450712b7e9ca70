"""The report of a night: its summary with the figures behind it, as JSON and as a page, kept under the var folder."""

import json
import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.memory.night_page import render
from app.records import Item, Night, Run
from app.services.nights import get_night
from app.standing import bound
from app.store import corpus, runs
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a night, as JSON has it."""

    content: dict[str, Any]


def report_of(database: Database, date: str) -> Report:
    """The report of a night, also while it is under way; UnknownNight where there was none."""
    night = get_night(database, date)
    with database.read() as session:
        kernels = {item.id: item for item in corpus.items_since(session, -1) if item.kernel is not None}
        of_night = runs.of_night(session, date)
        chosen = {entry["item_id"] for due in night.plan["due"].values() for entry in due}
        told = runs.telling(session, item_ids=sorted(chosen)) if chosen else []
    until = night.closed_at
    timed = [r for r in told if r.speedup is not None and (until is None or (r.finished_at or until) <= until)]
    return Report({**_head(night), **_figures(night, kernels, timed), "runs": [_brief(run) for run in of_night]})


def as_html(report: Report) -> str:
    """The report as one page with its plots."""
    return render(report.content)


def write(database: Database, date: str) -> tuple[Path, Path]:
    """Keeps a night's report as HTML and JSON under the var folder, each replaced as a whole; their paths."""
    report = report_of(database, date)
    folder = database.settings.var_dir / "nights"
    folder.mkdir(parents=True, exist_ok=True)
    page, data = folder / f"{date}.html", folder / f"{date}.json"
    _replace(page, as_html(report))
    _replace(data, json.dumps(report.content, indent=1, ensure_ascii=False))
    return page, data


def _head(night: Night) -> dict[str, Any]:
    return {
        "date": night.date,
        "state": night.state,
        "hardware": list(night.hardware),
        "opened_by": night.opened_by,
        "opened_at": night.opened_at.isoformat(timespec="seconds"),
        "closed_at": None if night.closed_at is None else night.closed_at.isoformat(timespec="seconds"),
        "plan": dict(night.plan),
        "summary": None if night.summary is None else dict(night.summary),
    }


def _figures(night: Night, kernels: dict[str, Item], timed: list[Run]) -> dict[str, Any]:
    """Claimed against measured of this night by hardware, and the speedup over time of each kernel on each."""
    points: dict[str, list[dict[str, Any]]] = {hardware: [] for hardware in night.hardware}
    series: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in timed:
        series[run.item_id or "", run.hardware].append(run)
    for (item_id, hardware), history in sorted(series.items()):
        last, item = history[-1], kernels.get(item_id)
        if last.night == night.date and item is not None and item.claimed_speedup:
            claimed = float(item.claimed_speedup)
            points.setdefault(hardware, []).append(
                {"item_id": item_id, "claimed": claimed, "measured": float(last.speedup or 0), **_bounds(last)}
            )
    over_time = [
        {
            "item_id": item_id,
            "hardware": hardware,
            "points": [
                {
                    "at": run.finished_at.isoformat(timespec="seconds") if run.finished_at else "",
                    "speedup": float(run.speedup or 0),
                    **_bounds(run),
                }
                for run in history
            ],
        }
        for (item_id, hardware), history in sorted(series.items())
    ]
    return {"claimed_and_measured": points, "over_time": over_time}


def _bounds(run: Run) -> dict[str, float]:
    return {"low": bound(run, "lo"), "high": bound(run, "hi")}


def _brief(run: Run) -> dict[str, Any]:
    names = ("id", "item_id", "control", "problem", "hardware", "reason", "state", "verdict", "attempts", "worker")
    speedup = None if run.speedup is None else float(run.speedup)
    return {**{name: getattr(run, name) for name in names}, "speedup": speedup}


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
