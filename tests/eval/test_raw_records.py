"""The file of raw records: nothing that was judged is lost when a step is cut off, and no part passes for the whole."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.verification import RunRecord
from app.vocabulary import Verdict
from eval.raw_records import RawRecords, read_raw

RECORD = RunRecord({}, {}, "cuda:0", Verdict.TIMEOUT, "", [], None, {}, {}, "2026-01-01T00:00:00+00:00", 1.0)


def begun(path: Path, runs: int) -> RawRecords:
    return RawRecords(path, {"step": "gallery", "devices": ["cuda:0"], "repeat": 1, "claimed": {}, "runs": runs})


def test_records_come_back_in_the_order_of_the_jobs(tmp_path: Path) -> None:
    raw = begun(tmp_path / "gallery.jsonl", 2)
    raw.add(1, replace(RECORD, detail="second"))
    raw.add(0, replace(RECORD, detail="first"))
    raw.end(2.04)
    part = read_raw(tmp_path / "gallery.jsonl")
    assert [record["detail"] for record in part["records"]] == ["first", "second"]
    assert (part["seconds"], part["devices"]) == (2.0, ["cuda:0"])


def test_a_run_judged_again_replaces_its_first_record(tmp_path: Path) -> None:
    raw = begun(tmp_path / "gallery.jsonl", 1)
    raw.add(0, RECORD)
    raw.add(0, replace(RECORD, verdict=Verdict.INFRA_ERROR))
    raw.end(2.0)
    assert [record["verdict"] for record in read_raw(tmp_path / "gallery.jsonl")["records"]] == ["infra_error"]


@pytest.mark.parametrize("judged", [0, 1, 2])
def test_a_step_that_was_cut_off_is_no_result(tmp_path: Path, judged: int) -> None:
    raw = begun(tmp_path / "gallery.jsonl", 2)
    for index in range(judged):
        raw.add(index, RECORD)
    with pytest.raises(SystemExit, match=f"cut off: it holds {judged} of 2 runs"):
        read_raw(tmp_path / "gallery.jsonl")
