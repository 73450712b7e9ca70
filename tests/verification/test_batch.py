"""Several devices share one batch: everything is judged once, and runs of one problem stay on one device."""

import json
from pathlib import Path

import pytest

from app.verification import Job, read_candidate, verify_many
from app.verification.__main__ import main
from app.verification.gpus import gpu_names
from tests.verification.conftest import GALLERY, PROBLEMS, problem_named

REJECTED = GALLERY / "class_named_model.py"
"""Decided by reading alone, so that no device is needed."""


def _host_with_gpus(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{answer}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_every_job_of_several_devices_is_judged_once_and_answers_in_its_place() -> None:
    names = ["row_argmax", "gru_gates", "row_argmax", "softmax_temperature", "gru_gates", "row_argmax"]
    told: list[int] = []
    records = verify_many(
        [Job(problem_named(name), read_candidate(REJECTED)) for name in names],
        ["cuda:0", "cuda:1", "cuda:2"],
        workers=2,
        on_record=lambda index, _: told.append(index),
    )
    assert [record.problem["name"] for record in records] == names
    assert sorted(told) == list(range(len(names)))
    devices = {name: {r.device for r in records if r.problem["name"] == name} for name in names}
    assert all(len(found) == 1 for found in devices.values()), "runs of one problem share its reference"


def test_all_gpus_are_those_that_nvidia_smi_shows_narrowed_by_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _host_with_gpus(tmp_path, monkeypatch, "0, NVIDIA H200\\n1, NVIDIA H200\\n2, NVIDIA L4\\n")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert gpu_names() == {0: "NVIDIA H200", 1: "NVIDIA H200", 2: "NVIDIA L4"}
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,0")
    assert list(gpu_names()) == [2, 0]
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert gpu_names() == {}


def test_a_bundle_may_use_all_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _host_with_gpus(tmp_path, monkeypatch, "0, NVIDIA H200\\n1, NVIDIA H200\\n")
    problems = sorted(PROBLEMS.glob("*.py"))[:6]
    entries = [{"problem": str(problem), "candidate": str(REJECTED)} for problem in problems]
    (tmp_path / "bundle.json").write_text(json.dumps(entries))
    assert main(["--bundle", str(tmp_path), "--gpu", "all", "--json"]) == 0
    printed = capsys.readouterr()
    assert [record["problem"]["name"] for record in json.loads(printed.out)] == [path.stem for path in problems]
    assert "6 runs on cuda:0, cuda:1 in " in printed.err
