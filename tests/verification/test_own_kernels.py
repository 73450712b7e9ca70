"""Our own kernels and problems: well-formed files, and every Triton kernel verified in the interpreter."""

import re
from pathlib import Path
from typing import Any

import pytest

from app.verification import CPU_LIMITS, Candidate, Job, verify_many
from app.verification.static_check import check_source
from app.vocabulary import KernelLanguage
from tests.verification.conftest import PROBLEMS, problem_named

KERNELS = sorted((PROBLEMS.parent / "kernels").glob("*.md"))
FIELDS = ("id", "kind", "section", "family", "source_problem", "language", "entry_point", "evidence")


def parts_of(path: Path) -> tuple[dict[str, str], str, str]:
    """Front matter, description and source."""
    text = path.read_text(encoding="utf-8")
    found = re.fullmatch(r"---\n(.*?)\n---\n(.*?)\n\n```python\n(.*?)```\n", text, re.DOTALL)
    assert found, path.name
    return dict(line.split(": ", 1) for line in found[1].splitlines()), found[2], found[3]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_kernel_file_is_complete_and_breaks_no_rule(path: Path) -> None:
    head, description, source = parts_of(path)
    assert tuple(head) == FIELDS
    assert re.fullmatch(r"kpb-01\d{3}", head["id"])
    assert len(description) > 200
    report = check_source(source.encode(), head["entry_point"])
    assert (report.rejections, report.flags, report.language) == ([], [], head["language"])
    assert (PROBLEMS / f"{head['source_problem']}.py").exists()


def test_there_are_enough_kernels_and_no_id_twice() -> None:
    heads = [parts_of(path)[0] for path in KERNELS]
    assert len({head["id"] for head in heads}) == len(heads) >= 12
    assert sum(head["language"] == KernelLanguage.CUDA for head in heads) >= 2
    assert len({head["family"] for head in heads}) >= 6


def test_every_problem_has_a_kernel() -> None:
    assert {path.stem for path in PROBLEMS.glob("*.py")} == {parts_of(path)[0]["source_problem"] for path in KERNELS}


@pytest.mark.timeout(300)
def test_every_triton_kernel_is_verified_at_small_size() -> None:
    chosen = [(path, *parts_of(path)) for path in KERNELS]
    triton: list[tuple[Any, ...]] = [entry for entry in chosen if entry[1]["language"] == KernelLanguage.TRITON]
    jobs = [Job(problem_named(head["source_problem"]), Candidate(source.encode())) for _, head, _, source in triton]
    records = verify_many(jobs, "cpu", CPU_LIMITS, workers=2)
    failed = {entry[0].stem: record.detail for entry, record in zip(triton, records, strict=True) if not record.success}
    assert not failed
    assert not [record.flags for record in records if record.flags]
