"""A night's report as one HTML page that needs nothing else. Every text is escaped."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from app.memory.plots import Dot, scatter, timeline

_STYLE = (
    "body{font:15px/1.45 sans-serif;max-width:1160px;margin:2em auto;padding:0 1em;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:.5em 0 1.5em}td,th{padding:.25em .8em;border-bottom:1px solid #ddd;"
    "text-align:left}td.n{text-align:right}figure{display:inline-block;margin:.5em 1em .5em 0}svg{max-width:100%}"
)

SECTIONS = (
    ("regressed", "Regressed", "Worse than before in two runs that agree; demoted on that hardware where it broke."),
    ("recovered", "Recovered", "Demoted before, good again."),
    ("doubtful", "In doubt", "Worse than before once; a second run did not confirm it. Nothing was taken away."),
    ("failed", "Failed", "Not correct, or not the kernel's own work."),
    ("new", "New", "Judged on that hardware for the first time."),
    ("verified", "Verified", "Correct, and the kernel's own work."),
    ("unjudged", "Not judged", "Due, but no run told anything; the last verdict stands."),
)


def render(report: Mapping[str, Any]) -> str:
    """The page of a report as `app.services.reporting` makes it."""
    parts = [f"<h1>Night of {escape(report['date'])}</h1>", _opening(report)]
    summary = report["summary"]
    if summary is not None:
        parts += [_counts(summary), *_plots(report)]
        for name, title, about in SECTIONS:
            if summary[name]:
                parts += [f"<h2>{title} ({len(summary[name])})</h2><p>{about}</p>", _kernels(summary[name])]
        parts += [_quarantine(summary["quarantined"]), _faults(summary["infrastructure"])]
    parts.append(_not_judged(report["plan"]["not_judged"]))
    head = f'<meta charset="utf-8"><title>Night of {escape(report["date"])}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>'


def _opening(report: Mapping[str, Any]) -> str:
    evaluators = ", ".join(f"{h} (evaluator {version})" for h, version in report["plan"]["evaluators"].items())
    until = f", closed {report['closed_at']}" if report["closed_at"] else ""
    state = f"State: {report['state']}. Opened {report['opened_at']} by {report['opened_by']}{until}."
    return f"<p>{escape(state)}</p><p>{escape(evaluators)}</p>"


def _counts(summary: Mapping[str, Any]) -> str:
    rows = [[name.replace("_", " "), number] for name, number in summary["counts"].items()]
    rows += [[f"device minutes, {hardware}", spent] for hardware, spent in summary["device_minutes"].items()]
    return _table(["", "number"], rows)


def _plots(report: Mapping[str, Any]) -> Iterable[str]:
    for hardware, points in report["claimed_and_measured"].items():
        dots = [Dot(p["claimed"], p["measured"], p["item_id"], p["low"], p["high"]) for p in points]
        if dots:
            title = f"Claimed and measured speedup on {hardware}"
            yield _figure(scatter(dots, title, "claimed speedup over eager (ratio)", "measured speedup (ratio)"))
        else:
            yield f"<p>No kernel that claims a speedup was timed on {escape(hardware)}: no plot of claims.</p>"
    for entry in report["over_time"]:
        labels = [point["at"][:10] for point in entry["points"]]
        dots = [Dot(n, p["speedup"], p["at"], p["low"], p["high"]) for n, p in enumerate(entry["points"])]
        title = f"{entry['item_id']} on {entry['hardware']}"
        yield _figure(timeline(dots, labels, title, "speedup over eager (ratio)"))


def _kernels(entries: Iterable[Mapping[str, Any]]) -> str:
    head = ["kernel", "problem", "hardware", "why", "verdict", "speedup", "before"]
    rows = []
    for entry in entries:
        before = entry["before"]
        told = "" if before is None else f"{before['verdict']} {_ratio(before['speedup'])}"
        rows.append(
            [
                entry["item_id"],
                entry["problem"],
                entry["hardware"],
                entry["reason"],
                entry["verdict"] or "",
                _ratio(entry["speedup"]),
                told,
            ]
        )
    return _table(head, rows)


def _quarantine(entries: Iterable[Mapping[str, Any]]) -> str:
    rows = [[entry["problem"], entry["hardware"], "; ".join(entry["complaints"])] for entry in entries]
    if not rows:
        return ""
    about = "A control failed: the kernels of these problems keep their last verdict (* stands for all of them)."
    return f"<h2>Quarantined problems ({len(rows)})</h2><p>{about}</p>" + _table(["problem", "hardware", "why"], rows)


def _faults(entries: Iterable[Mapping[str, Any]]) -> str:
    rows = [[entry["about"], entry["hardware"], entry["verdict"], entry["detail"]] for entry in entries]
    if not rows:
        return ""
    head = f"<h2>Infrastructure faults ({len(rows)})</h2><p>They say nothing about a kernel.</p>"
    return head + _table(["run of", "hardware", "verdict", "detail"], rows)


def _not_judged(entries: Iterable[Mapping[str, Any]]) -> str:
    rows = [[entry["item_id"], entry["why"]] for entry in entries]
    return f"<h2>Cannot be judged here ({len(rows)})</h2>" + _table(["kernel", "why"], rows) if rows else ""


def _table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _cell(value: Any) -> str:
    is_number = isinstance(value, int | float)
    return f'<td class="n">{value:g}</td>' if is_number else f"<td>{escape(str(value))}</td>"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}x"


def _figure(svg: str) -> str:
    return f"<figure>{svg}</figure>"
