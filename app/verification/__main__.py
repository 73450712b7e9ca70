"""`python -m app.verification`: judge one candidate or a folder of them, and print run records as JSON."""

import argparse
import json
import sys
import time
from pathlib import Path

from app.errors import EditedBundle, InvalidInput
from app.verification.batch import Job, verify_many
from app.verification.bundle import is_bundle, judge_bundle, open_bundle
from app.verification.candidate import read_candidate
from app.verification.gpus import gpu_names
from app.verification.judge import verify
from app.verification.problem import read_problem
from app.verification.protocol import CPU_LIMITS, GPU_LIMITS, Limits
from app.verification.record import RunRecord

ALL = "all"
"""In place of a GPU's index: every GPU that nvidia-smi shows."""


def main(arguments: list[str] | None = None) -> int:
    """Exit status 0 when runs were made (whatever their verdict), 1 when something could not be read, 2 for usage."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.bundle and not (options.problem and options.candidate):
        parser.error("give --problem and --candidate, or --bundle")
    if options.gpu == ALL and not options.bundle:
        parser.error("--gpu all is for bundles; name one GPU for one candidate")
    limits = (CPU_LIMITS if options.cpu else GPU_LIMITS).changed(with_compile=not (options.cpu or options.no_compile))
    try:
        devices = _devices(options)
        if options.bundle:
            records = _judge_bundle(options.bundle, devices, limits, options.workers)
        else:
            records = [verify(read_problem(options.problem), read_candidate(options.candidate), devices[0], limits)]
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
    place.add_argument("--gpu", type=_gpu, default=0, help="index of the GPU; a bundle may also say `all`")
    place.add_argument("--cpu", action="store_true", help="Triton's interpreter: no figures")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out of the comparison")
    parser.add_argument("--workers", type=int, help="runs side by side on each GPU in a bundle")
    parser.add_argument("--json", action="store_true", help="print whole records")
    return parser


def _gpu(text: str) -> int | str:
    if text == ALL or text.isdigit():
        return text if text == ALL else int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither an index nor `{ALL}`")


def _devices(options: argparse.Namespace) -> list[str]:
    if options.cpu:
        return ["cpu"]
    if options.gpu != ALL:
        return [f"cuda:{options.gpu}"]
    found = [f"cuda:{index}" for index in gpu_names()]
    if not found:
        raise InvalidInput("nvidia-smi shows no GPU here; --cpu judges without figures")
    return found


def _judge_bundle(folder: Path, devices: list[str], limits: Limits, workers: int | None) -> list[RunRecord]:
    """Judges a bundle and tells on standard error how far it is and how long it took."""
    started, done = time.monotonic(), 0
    exported = open_bundle(folder) if is_bundle(folder) else None
    jobs = [] if exported is not None else _jobs(folder)
    total = len(jobs) if exported is None else len(exported.waiting)

    def tell(_place: object, record: RunRecord) -> None:
        nonlocal done
        done += 1
        name = record.candidate["name"]
        print(f"{done} of {total}: {name} {record.verdict.value} on {record.device}", file=sys.stderr, flush=True)

    if exported is None:
        records = verify_many(jobs, devices, limits, workers=workers, on_record=tell)
    else:
        records = judge_bundle(exported, devices, limits, workers, tell)
    print(f"{done} runs on {', '.join(devices)} in {time.monotonic() - started:.1f} s", file=sys.stderr)
    return records


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
