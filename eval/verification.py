"""Makes the committed results of what `eval.on_gpu` measured: compact JSON files and the page h200.md.

    python -m eval.verification RAW_FOLDER [--add]
        # seeds-1.jsonl, seeds-2.jsonl, ..., repeated.jsonl, own, own-part, gallery, gallery-part, controls, crashes

Every raw file is of one state of the evaluator, which its result names; a file that mixes states is refused. Results
whose raw file is missing stay as they are committed; `--add` puts the seeds' batches behind the committed ones. The
kernels of own-part.jsonl take the places of the committed ones, and name their evaluator each.
"""

import argparse
import json
import math
from datetime import datetime
from pathlib import Path
from typing import Any

from eval.provenance import RESULTS, ROOT
from eval.raw_records import read_raw
from eval.verification_page import page

FOLDER = RESULTS / "verification"
_RESULT_OF = {
    "own": "own-kernels-h200",
    "repeated": "repeated-h200",
    "gallery": "gallery-h200",
    "gallery-part": "gallery-part-h200",
    "controls": "controls-h200",
    "crashes": "crashes-h200",
}
STEPS = tuple(_RESULT_OF)
_GALLERY = ROOT / "tests" / "verification" / "gallery" / "manifest.json"
_FINGERPRINT = ("gpu", "driver", "cuda", "torch", "triton", "python", "sandbox", "evaluator", "switches")
_DIGITS = 4


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 when a raw file is not of one evaluator."""
    parser = argparse.ArgumentParser(prog="python -m eval.verification", description=__doc__)
    parser.add_argument("raw", type=Path)
    parser.add_argument("--add", action="store_true", help="keep the committed batches of the seeds")
    options = parser.parse_args(arguments)
    raw = {step: _read(path) for step in STEPS if (path := options.raw / f"{step}.jsonl").exists()}
    batches = [_batch(_read(path)) for path in sorted(options.raw.glob("seeds-*.jsonl"))]
    results = _committed()
    if options.add or not batches:
        batches = results["seed-kernels-h200"]["batches"] + batches
    results["seed-kernels-h200"] = {"batches": batches}
    results |= {_RESULT_OF[step]: _result(step, part) for step, part in raw.items()}
    if (path := options.raw / "own-part.jsonl").exists():
        part = _read(path)
        state = part["records"][0]["fingerprint"]["evaluator"]
        own = results[_RESULT_OF["own"]]
        results[_RESULT_OF["own"]] = {**own, "rows": renewed(own["rows"], _rows(part["records"]), state)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in results.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    (FOLDER / "h200.md").write_text(page(results), encoding="utf-8")
    return 0


def _committed() -> dict[str, Any]:
    """What is committed; a result that was never measured is left out."""
    files = {name: FOLDER / f"{name}.json" for name in ("seed-kernels-h200", *_RESULT_OF.values())}
    found = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items() if path.exists()}
    return {"seed-kernels-h200": {"batches": []}, **found}


def _result(step: str, part: dict[str, Any]) -> dict[str, Any]:
    """The committed form of one raw file."""
    rows = {"own": _rows, "repeated": _rows, "controls": _controls, "crashes": _briefs}
    return {**_about(part), "rows": rows.get(step, _gallery)(part["records"])}


def _rows(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_row(record) for record in records]


def renewed(rows: list[dict[str, Any]], measured: list[dict[str, Any]], evaluator: str) -> list[dict[str, Any]]:
    """Committed rows, with those that were measured anew in their places and under the name of their evaluator."""
    anew = {row["id"]: {**row, "evaluator": evaluator} for row in measured}
    return [anew.get(row["id"], row) for row in rows]


def _briefs(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_brief(record) for record in records]


def _read(path: Path) -> dict[str, Any]:
    part = read_raw(path)
    states = {record["fingerprint"]["evaluator"] for record in part["records"]}
    if len(states) != 1:
        raise SystemExit(f"{path.name} is of several evaluators: {', '.join(sorted(states))}")
    return part


def _about(part: dict[str, Any]) -> dict[str, Any]:
    """Where the runs of one raw file come from, and how long all of them took."""
    first = min(part["records"], key=lambda record: str(record["started_at"]))
    provenance = {name: first["fingerprint"].get(name) for name in _FINGERPRINT} | {"date": first["started_at"]}
    return {"devices": part["devices"], "seconds": part["seconds"], "provenance": provenance}


def _batch(part: dict[str, Any]) -> dict[str, Any]:
    """One start of the evaluator: how long its runs took together, and the kernels as often as each was judged."""
    repeat = part.get("repeat", 1)
    count = len(part["records"]) // repeat
    ends = _ends(part["records"])
    last = max(range(len(ends)), key=lambda index: ends[index])
    name = part["records"][last]["candidate"]["name"]
    others = [end for record, end in zip(part["records"], ends, strict=True) if record["candidate"]["name"] != name]
    return {
        **_about(part),
        "judged": len(part["records"]),
        "last": {"id": name, "after_s": ends[last], "all_others_after_s": max(others)},
        "runs": [_run(part, part["records"][start : start + count]) for start in range(0, count * repeat, count)],
    }


def _run(part: dict[str, Any], records: list[dict[str, Any]]) -> dict[str, Any]:
    """Every kernel once, with the geometric means over those that have figures."""
    rows = [{"claimed": part["claimed"].get(record["candidate"]["name"])} | _row(record) for record in records]
    measured = [row["figures"] for row in rows if row["figures"]]
    means = {
        name: round(math.exp(sum(math.log(f[name]) for f in measured if f[name]) / len(measured)), _DIGITS)
        for name in ("speedup", "speedup_vs_compile")
    }
    return {"geometric_means": means, "rows": sorted(rows, key=lambda row: str(row["id"]))}


def _ends(records: list[dict[str, Any]]) -> list[float]:
    """Seconds from the first start until each run was over (starts are known to the second)."""
    starts = [datetime.fromisoformat(record["started_at"]) for record in records]
    first = min(starts)
    return [
        round((start - first).total_seconds() + record["seconds"], 1)
        for start, record in zip(starts, records, strict=True)
    ]


def _row(record: dict[str, Any]) -> dict[str, Any]:
    """One run, with its figures rounded and without its raw readings."""
    figures = record["figures"]
    errors = [case["worst"] for case in record["evidence"].get("cases", [])]
    return {
        "id": record["candidate"]["name"],
        "problem": record["problem"],
        "candidate_sha256": record["candidate"]["sha256"],
        "language": record["candidate"]["language"],
        "verdict": record["verdict"],
        "flags": record["flags"],
        "detail": record["detail"],
        "figures": None if figures is None else {name: _rounded(value) for name, value in figures.items()},
        "largest_error_in_tolerances": _rounded(max(errors, default=0.0)),
        "outside_clock_ms": _rounded((record["evidence"].get("timing") or {}).get("outside_ms")),
        "device": record["device"],
        "seconds": record["seconds"],
        "started_at": record["started_at"],
    }


def _rounded(value: Any) -> Any:
    return round(value, _DIGITS) if isinstance(value, float) else value


def _brief(record: dict[str, Any]) -> dict[str, Any]:
    return {"candidate": record["candidate"]["name"], "verdict": record["verdict"], "seconds": record["seconds"]}


def _gallery(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The verdict of each fixture that was judged, beside the one that the manifest asks for."""
    judged = {f"{record['candidate']['name']}.py": record for record in records}
    manifest = json.loads(_GALLERY.read_text(encoding="utf-8"))
    return [
        {
            "file": entry["file"],
            "expected": entry["verdict"],
            "verdict": record["verdict"],
            "as_expected": record["verdict"] in entry["verdict"]
            and (not entry["file"].startswith("good_") or flags_fit(record["flags"], entry.get("gpu_flags", []))),
            "flags": record["flags"],
            "seconds": record["seconds"],
        }
        for entry in manifest
        if (record := judged.get(entry["file"])) is not None
    ]


def flags_fit(found: list[str], listed: list[str]) -> bool:
    """Whether an honest fixture has the flags that the manifest lists. `launch_bound` may be missing: it depends on the
    host's speed.
    """
    return set(listed) - {"launch_bound"} <= set(found) <= set(listed)


def _controls(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Reference and zeros of each problem, in pairs as they were judged."""
    rows = []
    for reference, zeros in zip(records[::2], records[1::2], strict=True):
        figures = reference["figures"] or {}
        rows.append(
            {
                "problem": reference["problem"]["name"],
                "reference": reference["verdict"],
                "zeros": zeros["verdict"],
                "ratio": _rounded(figures.get("speedup")),
                "lo95": _rounded(figures.get("speedup_lo95")),
                "hi95": _rounded(figures.get("speedup_hi95")),
                "eager_ms": _rounded(figures.get("eager_ms")),
                "trials": figures.get("trials"),
            }
        )
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
