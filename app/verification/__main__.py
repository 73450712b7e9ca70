"""`python -m app.verification`: judge one candidate or a folder of them, and print run records as JSON."""

import argparse
import json
import sys
from pathlib import Path

from app.errors import EditedBundle, InvalidInput
from app.verification.batch import Job, verify_many
from app.verification.bundle import is_bundle, judge_bundle, open_bundle
from app.verification.candidate import read_candidate
from app.verification.judge import verify
from app.verification.problem import read_problem
from app.verification.protocol import CPU_LIMITS, GPU_LIMITS
from app.verification.record import RunRecord


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when runs were made (whatever their verdict), 1 when something could not be read, 2 for usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.bundle and not (options.problem and options.candidate):
        parser.error("give --problem and --candidate, or --bundle")
    device = "cpu" if options.cpu else f"cuda:{options.gpu}"
    limits = (CPU_LIMITS if options.cpu else GPU_LIMITS).changed(with_compile=not (options.cpu or options.no_compile))
    try:
        if options.bundle and is_bundle(options.bundle):
            records = judge_bundle(open_bundle(options.bundle), device, limits, options.workers)
        elif options.bundle:
            records = verify_many(_jobs(options.bundle), device, limits, workers=options.workers)
        else:
            records = [verify(read_problem(options.problem), read_candidate(options.candidate), device, limits)]
    except (InvalidInput, EditedBundle) as fault:
        print(fault.detail, file=sys.stderr)
        return 1
    except OSError as fault:
        print(f"the results cannot be written: {fault}", file=sys.stderr)
        return 1
    _show(records, as_json=options.json, as_list=bool(options.bundle))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m app.verification", description=__doc__)
    parser.add_argument("--problem", type=Path, help="problem file: Model, get_inputs, get_init_inputs")
    parser.add_argument("--candidate", type=Path, help="candidate file: ModelNew")
    parser.add_argument(
        "--bundle", type=Path, help="exported bundle, or a folder with bundle.json: [{problem, candidate}]"
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument("--gpu", type=int, default=0, help="index of the GPU")
    place.add_argument("--cpu", action="store_true", help="Triton's interpreter: no figures")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out of the comparison")
    parser.add_argument("--workers", type=int, help="runs side by side in a bundle")
    parser.add_argument("--json", action="store_true", help="print whole records")
    return parser


def _jobs(folder: Path) -> list[Job]:
    try:
        entries = json.loads((folder / "bundle.json").read_text(encoding="utf-8"))
        paths = [(folder / entry["problem"], folder / entry["candidate"]) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise InvalidInput(f"no readable bundle.json in {folder.name}: {fault}") from fault
    return [Job(read_problem(problem), read_candidate(candidate)) for problem, candidate in paths]


def _show(records: list[RunRecord], as_json: bool, as_list: bool) -> None:
    if as_json:
        content = [record.to_json() for record in records]
        print(json.dumps(content if as_list else content[0], indent=1))
        return
    for record in records:
        figures = record.figures
        speed = "" if figures is None else f"  {figures.speedup:.2f}x (at least {figures.speedup_lo95:.2f}x)"
        print(f"{record.candidate['name']}: {record.verdict.value}{speed}  {record.detail}".rstrip())


if __name__ == "__main__":
    sys.exit(main())
