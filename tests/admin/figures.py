"""Runs and a night as workers would have left them, so that pages have something to show."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from app.records import Item, Run, StoredFinding
from app.services.readers import SoloRuns, put_baselines
from app.store import corpus, facts, findings, nights
from app.store.database import Database
from app.vocabulary import NightState

H200 = "NVIDIA H200"
NIGHT = "2026-11-29"


def leave_runs(database: Database) -> list[str]:
    """Three runs of each of the first kernels, over three days, and a closed night; the ids of the kernels."""
    with database.read() as session:
        kernels = [item for item in corpus.items_since(session, -1) if item.kernel is not None][:6]
    put_baselines(database, "model-a", [SoloRuns("L2_072", Decimal("1.31"), 5), SoloRuns("L1_001", Decimal("0.97"))])
    with database.write() as session:
        nights.begin(session, NIGHT, "scheduler", [H200], {"due": {H200: []}})
        nights.move_on(session, NIGHT, NightState.CONTROLS, NightState.CLOSED)
        nights.close(session, NIGHT, _summary(kernels))
        now = datetime.now(UTC)
        merge = {"op": "MERGE", "ids": ["kpb-00001", "kpb-00002"], "into": "kpb-00001"}
        alike = StoredFinding(
            "f1", "near_duplicate", ("kpb-00001", "kpb-00002"), "They share 9 words of 10.", merge, "open", now
        )
        never = StoredFinding("f2", "never_used", ("kpb-00003",), "It has no vote.", None, "open", now)
        findings.put(session, [alike, never], now)
        facts.put_runs(session, [_run(item, place, day) for place, item in enumerate(kernels) for day in range(3)])
        corpus.advance(session, facts=True)
    return [item.id for item in kernels]


def _run(item: Item, place: int, day: int) -> Run:
    speedup = 1.1 + 0.4 * place + 0.02 * day
    at = datetime.now(UTC) - timedelta(days=3 - day)
    figures = {
        "speedup": speedup,
        "speedup_lo95": speedup * 0.97,
        "speedup_hi95": speedup * 1.04,
        "speedup_vs_compile": speedup * 0.8,
        "own_kernel_time_frac": 0.93,
        "trials": 100,
        "eager_ms": 1.25,
        "compile_ms": 0.9,
        "candidate_ms": 1.25 / speedup,
    }
    return Run(
        id=f"run-{place:04d}{day:04d}",
        item_id=item.id,
        state="finished",
        hardware=H200,
        verdict="verified",
        speedup=Decimal(f"{speedup:.4f}"),
        figures={"figures": figures, "flags": [], "detail": "", "evidence": {"cases": 5}, "phases": {}, "seconds": 6.5},
        fingerprint={"evaluator": "1-test", "gpu": H200},
        content_hash=item.kernel.content_hash if item.kernel else None,
        night=NIGHT if day == 2 else None,
        worker="gpu-host:0",
        queued_at=at - timedelta(minutes=1),
        finished_at=at,
    )


def _summary(kernels: list[Item]) -> dict[str, object]:
    lines = [{"item_id": item.id, "problem": item.source_problem, "hardware": H200} for item in kernels]
    counts = {"verified": len(lines), "regressed": 1, "recovered": 0, "controls": 4, "runs": len(lines) + 4}
    return {"verified": lines, "regressed": lines[:1], "counts": counts, "device_minutes": {H200: 3.2}}
