"""Judges many kernels on a GPU host and keeps whole records; needs torch and triton only.

    python -m eval.on_gpu OUT seeds --bundle FOLDER [--devices cuda:0,cuda:1] [--repeat 2] [--without-compile]
    python -m eval.on_gpu OUT own | gallery | controls | crashes [--only NAME,NAME]

FOLDER/bundle.json is a list of {problem, candidate, claimed?}, paths in the folder. Every step writes OUT/<label>.jsonl
as its runs end; `python -m eval.verification OUT` makes the committed results of them.
"""

import argparse
import json
import re
import time
from dataclasses import replace
from pathlib import Path

from app.verification import GPU_LIMITS, Candidate, Job, RunRecord, read_candidate, read_problem, verify_many
from app.verification.controls import reference_as_candidate, zeros_as_candidate
from app.verification.problem import Problem
from eval.raw_records import RawRecords

ROOT = Path(__file__).resolve().parents[1]
PROBLEMS = ROOT / "bullets" / "problems"
GALLERY = ROOT / "tests" / "verification" / "gallery"
CRASHES = ("endless_loop_on_device", "illegal_access", "fork_bomb", "good_scaled_gelu")
_CRASH_SECONDS = 10
_CODE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_PROBLEM = re.compile(r"^source_problem: *(\S+)$", re.MULTILINE)
_UNCOMPARED = GPU_LIMITS.changed(with_compile=False)


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when every run was made, whatever its verdict."""
    parser = argparse.ArgumentParser(prog="python -m eval.on_gpu", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("step", choices=["seeds", "own", "gallery", "controls", "crashes"])
    parser.add_argument("--bundle", type=Path, help="folder of the step `seeds`")
    parser.add_argument("--devices", default="cuda:0", help="comma-separated")
    parser.add_argument("--repeat", type=int, default=1, help="how often each run is made")
    parser.add_argument("--without-compile", action="store_true", help="leave torch.compile out of the comparison")
    parser.add_argument("--only", help="names of candidates, comma-separated; all of the step's where it is left out")
    parser.add_argument("--label", help="name of the result; the step's own where it is left out")
    options = parser.parse_args(arguments)
    if options.step == "seeds" and options.bundle is None:
        parser.error("the step `seeds` needs --bundle")
    devices = options.devices.split(",")
    label = options.label or options.step
    jobs = _only(_jobs(options.step, options.bundle), options.only) * options.repeat
    if options.without_compile:
        jobs = [replace(job, limits=_UNCOMPARED) for job in jobs]
    claimed = _claims(options.bundle) if options.bundle else {}
    heading = {
        "step": options.step,
        "devices": devices,
        "repeat": options.repeat,
        "claimed": claimed,
        "runs": len(jobs),
    }
    raw = RawRecords(options.out / f"{label}.jsonl", heading)

    def keep(index: int, record: RunRecord) -> None:
        raw.add(index, record)
        _tell(record)

    started = time.monotonic()
    verify_many(jobs, devices, workers=1 if options.step == "crashes" else None, on_record=keep)
    seconds = time.monotonic() - started
    raw.end(seconds)
    print(f"{label}: {len(jobs)} runs on {', '.join(devices)} in {seconds:.1f} s", flush=True)
    return 0


def _jobs(step: str, bundle: Path | None) -> list[Job]:
    if step == "seeds" and bundle is not None:
        entries = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
        return [Job(read_problem(bundle / e["problem"]), read_candidate(bundle / e["candidate"])) for e in entries]
    if step == "own":
        return _own_kernels()
    if step == "gallery":
        return _gallery()
    if step == "controls":
        problems = [read_problem(path) for path in sorted(PROBLEMS.glob("*.py"))]
        makers = (reference_as_candidate, zeros_as_candidate)
        return [Job(problem, make(problem), _UNCOMPARED) for problem in problems for make in makers]
    limits = _UNCOMPARED.changed(correctness_s=_CRASH_SECONDS)
    problem = read_problem(PROBLEMS / "scaled_gelu_residual.py")
    return [Job(problem, read_candidate(GALLERY / f"{name}.py"), limits) for name in CRASHES]


def _only(jobs: list[Job], names: str | None) -> list[Job]:
    """The jobs of the named candidates. Raises SystemExit for a name that the step does not have."""
    if names is None:
        return jobs
    wanted = set(names.split(","))
    if unknown := wanted - {job.candidate.name for job in jobs}:
        raise SystemExit(f"--only names what this step does not judge: {', '.join(sorted(unknown))}")
    return [job for job in jobs if job.candidate.name in wanted]


def _own_kernels() -> list[Job]:
    """The starter corpus' kernels: the code block of each file, and the problem that its front matter names."""
    jobs = []
    for path in sorted((ROOT / "bullets" / "kernels").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        source, problem = _CODE.search(text), _PROBLEM.search(text)
        if source is None or problem is None:
            raise SystemExit(f"{path.name} names no problem, or holds no code")
        jobs.append(Job(read_problem(PROBLEMS / f"{problem[1]}.py"), Candidate(source[1].encode(), path.stem)))
    return jobs


def _gallery() -> list[Job]:
    jobs = []
    for entry in json.loads((GALLERY / "manifest.json").read_text(encoding="utf-8")):
        limits = _UNCOMPARED.changed(**entry.get("limits", {}))
        jobs.append(Job(_gallery_problem(entry["problem"]), read_candidate(GALLERY / entry["file"]), limits))
    return jobs


def _gallery_problem(name: str) -> Problem:
    return read_problem(GALLERY.parent / name if name.endswith(".py") else PROBLEMS / f"{name}.py")


def _tell(record: RunRecord) -> None:
    speed = "" if record.figures is None else f"{record.figures.speedup:.3f}x"
    name = record.candidate["name"]
    print(f"{name} {record.verdict.value} {speed} {record.seconds:.1f} s {record.device}", flush=True)


def _claims(bundle: Path) -> dict[str, str]:
    """What a bundle's entries claim, by the candidate's name."""
    entries = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    return {Path(entry["candidate"]).stem: entry["claimed"] for entry in entries if "claimed" in entry}


if __name__ == "__main__":
    raise SystemExit(main())
