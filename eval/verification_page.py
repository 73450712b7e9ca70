"""The page h200.md: tables of the results that eval/verification.py makes. Pure."""

import itertools
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

NOISE = 0.02
AGREEMENT = 0.05
_MEANS = ("speedup", "speedup_vs_compile")
_REST = ("vs compile", "own time", "trials", "candidate ms", "verdict")


def page(results: dict[str, Any]) -> str:
    """Markdown of all result files."""
    return "\n".join(
        [
            *_head(results["seed-kernels-h200"]["batches"][-1]["provenance"]),
            *_seeds(results["seed-kernels-h200"]["batches"]),
            *(line for name, part in _PARTS.items() if name in results for line in part(results[name])),
            "",
        ]
    )


def last_run(seeds: Mapping[str, Any]) -> list[str]:
    """The seed kernels of the last batch, claimed and measured: the part of the benchmark page that tells of them."""
    batch = seeds["batches"][-1]
    lines = [
        "## Kernels on an NVIDIA H200",
        "",
        *_prose(
            f"The kernels that the seed documents claim, judged on {str(batch['provenance']['date'])[:10]}:",
            f"{_where(batch)}.",
            "Further runs, own kernels, controls and the gallery: [h200.md](results/verification/h200.md).",
        ),
        "",
        *_table("kernel", "claimed", "measured", "lower bound", *_REST),
    ]
    for row in sorted(batch["runs"][-1]["rows"], key=lambda row: str(row["id"])):
        measured = _number(row["figures"]["speedup"] if row["figures"] else None)
        lines.append(f"| {row['id']} | {row['claimed']} | {measured} | {_rest(row)} |")
    return lines


def _head(provenance: dict[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {provenance[name]}" for name in ("driver", "cuda", "torch", "triton", "sandbox"))
    return [
        "# Verification on an NVIDIA H200",
        "",
        *_prose(
            f"{provenance['gpu']}, {versions}, {str(provenance['date'])[:10]} (UTC).",
            "Everything below was measured; each part names the state of the evaluator that measured it.",
            "torch's default switches: tf32 off for matrix products, on for cuDNN convolutions, on both sides.",
            "Source: the JSON files here, made by `python -m eval.on_gpu` and `python -m eval.verification`.",
        ),
        "",
    ]


def _seeds(batches: list[dict[str, Any]]) -> list[str]:
    runs = [run for batch in batches for run in batch["runs"]]
    rows = [{row["id"]: row for row in run["rows"]} for run in runs]
    names = sorted(rows[0])
    correct = sum(all(part[name]["figures"] for part in rows) for name in names)
    evaluators = [batch["provenance"]["evaluator"] for batch in batches for _ in batch["runs"]]
    present = _alike_at_the_end([evaluator.split("-")[0] for evaluator in evaluators])
    same = _alike_at_the_end(evaluators)
    shown = range(len(runs) - present, len(runs))
    flagged = [name for name in names if any("launch_bound" in part[name]["flags"] for part in rows)]
    return [
        f"## The {len(names)} seed kernels, {len(runs)} times",
        "",
        "With eager and torch.compile.",
        "",
        *_throughput(batches),
        "",
        *_prose(
            f"{correct} of {len(names)} are correct in every run.",
            f"The largest and the smallest speedup are within 5 % over all runs {_agreement(rows, names)},",
            f"over the last {present}, which are of the present protocol, {_agreement(rows[-present:], names)},",
            f"and over the last {same}, which are of one evaluator, {_agreement(rows[-same:], names)}.",
            f"Launch-bound, so that the ratio depends on the host: {', '.join(flagged) or 'none'}.",
            "The table has the runs of the present protocol.",
        ),
        "",
        *_table("kernel", "claimed", *(f"run {n + 1}" for n in shown), "lower bound", *_REST),
        *(_seed_line([rows[n][name] for n in shown]) for name in names),
        "",
    ]


def _throughput(batches: list[dict[str, Any]]) -> list[str]:
    """One line for each batch, and by how much more each judges in a second than the first does."""
    lines = _table("runs", "evaluator", "on", "judged", "seconds", "rate", "last", "all others after", *_MEANS)
    number = 0
    first = batches[0]["judged"] / batches[0]["seconds"]
    for batch in batches:
        numbers = ", ".join(str(number + 1 + index) for index in range(len(batch["runs"])))
        number += len(batch["runs"])
        rate = f"{batch['judged'] / batch['seconds'] / first:.2f}x"
        means = [", ".join(f"{run['geometric_means'][name]:.3f}x" for run in batch["runs"]) for name in _MEANS]
        cells = [numbers, batch["provenance"]["evaluator"], _devices(batch), batch["judged"], batch["seconds"], rate]
        last = batch["last"]
        lines.append(f"| {' | '.join(map(str, [*cells, last['id'], last['all_others_after_s'], *means]))} |")
    return lines


def _alike_at_the_end(names: list[str]) -> int:
    """How many of the last names are the same one."""
    return len(list(itertools.takewhile(lambda name: name == names[-1], reversed(names))))


def _agreement(rows: list[dict[str, Any]], names: list[str]) -> str:
    """In how many kernels runs agree, and in which they do not, with largest over smallest."""
    apart = [f"{name} ({_spread(rows, name):.2f})" for name in names if _spread(rows, name) > 1 + AGREEMENT]
    return f"in {len(names) - len(apart)}{' (not ' if apart else ''}{', '.join(apart)}{')' if apart else ''}"


def _spread(rows: list[dict[str, Any]], name: str) -> float:
    """Largest over smallest speedup of a kernel; infinite where a run gave none."""
    values = [part[name]["figures"]["speedup"] if part[name]["figures"] else 0.0 for part in rows]
    return float(max(values) / min(values)) if min(values) else float("inf")


def _devices(run: dict[str, Any]) -> str:
    count = len(run["devices"])
    return "one GPU" if count == 1 else f"{count} GPUs"


def _seed_line(found: list[dict[str, Any]]) -> str:
    """The bound and what follows are the last run's."""
    last = found[-1]
    measured = [_number(row["figures"]["speedup"] if row["figures"] else None) for row in found]
    return f"| {last['id']} | {last['claimed']} | {' | '.join(measured)} | {_rest(last)} |"


def _rest(row: dict[str, Any]) -> str:
    figures = row["figures"]
    verdict = row["verdict"] + (f" ({', '.join(row['flags'])})" if row["flags"] else "")
    if figures is None:
        return " | ".join(["-"] * 5 + [verdict])
    names = ("speedup_lo95", "speedup_vs_compile", "own_kernel_time_frac")
    return " | ".join(
        [*(_number(figures[name]) for name in names), str(figures["trials"]), _number(figures["candidate_ms"]), verdict]
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _prose(*sentences: str) -> list[str]:
    return textwrap.wrap(" ".join(sentences), 120)


def _where(part: dict[str, Any]) -> str:
    return f"{part['seconds']} s on {_devices(part)}, evaluator {part['provenance']['evaluator']}"


def _table(*columns: str) -> list[str]:
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]


def _repeated(part: dict[str, Any]) -> list[str]:
    """Runs of the same kernels one after the other, for those whose ratio the host moves."""
    ids = sorted({row["id"] for row in part["rows"]})
    lines = ["## Launch-bound kernels, repeated", "", *_prose(f"{_where(part)}."), ""]
    lines += _table("kernel", "speedups", "largest over smallest")
    for name in ids:
        values = [row["figures"]["speedup"] for row in part["rows"] if row["id"] == name and row["figures"]]
        lines.append(f"| {name} | {', '.join(map(_number, values))} | {max(values) / min(values):.3f} |")
    return [*lines, ""]


def _crashes(part: dict[str, Any]) -> list[str]:
    told = ", ".join(f"{c['candidate']} `{c['verdict']}` ({c['seconds']:.1f} s)" for c in part["rows"])
    return ["## Crashes in a row", "", *_prose(f"{told}; evaluator {part['provenance']['evaluator']}."), ""]


def _own(part: dict[str, Any]) -> list[str]:
    lines = [
        "## Own kernels (full size)",
        "",
        *_prose(f"{len(part['rows'])} kernels in {_where(part)}.", *_of_other_evaluators(part["rows"])),
        "",
        *_table("kernel", "problem", "language", "measured", "lower bound", *_REST),
    ]
    for row in part["rows"]:
        measured = _number(row["figures"]["speedup"] if row["figures"] else None)
        lines.append(f"| {row['id']} | {row['problem']['name']} | {row['language']} | {measured} | {_rest(row)} |")
    return [*lines, ""]


def _of_other_evaluators(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{row['id']} was judged anew by {row['evaluator']}." for row in rows if "evaluator" in row]


def _controls(part: dict[str, Any]) -> list[str]:
    rows = part["rows"]
    within = sum(row["ratio"] is not None and abs(row["ratio"] - 1) <= NOISE for row in rows)
    failed = sum(row["zeros"].startswith("incorrect") for row in rows)
    lines = [
        "## Controls",
        "",
        "A/A: the reference as candidate, eager against eager in another process, "
        f"evaluator {part['provenance']['evaluator']}. Ratios within "
        f"1.00 +/- 0.02: {within} of {len(rows)}. Zeros failed on {failed} of {len(rows)}.",
        "",
        *_table("problem", "eager ms", "ratio", "95 % bounds", "reference", "zeros"),
    ]
    for row in rows:
        bounds = f"{_number(row['lo95'])} to {_number(row['hi95'])}"
        numbers = f"{_number(row['eager_ms'])} | {_number(row['ratio'])} | {bounds}"
        lines.append(f"| {row['problem']} | {numbers} | {row['reference']} | {row['zeros']} |")
    return [*lines, ""]


def _gallery(part: dict[str, Any]) -> list[str]:
    return _fixtures("## Gallery", part)


def _gallery_part(part: dict[str, Any]) -> list[str]:
    return _fixtures("## A part of the gallery", part)


def _fixtures(title: str, part: dict[str, Any]) -> list[str]:
    rows = part["rows"]
    wrong = [row for row in rows if not row["as_expected"]]
    lines = [
        title,
        "",
        *_prose(f"{len(rows) - len(wrong)} of {len(rows)} fixtures got their verdict, in {_where(part)}."),
    ]
    lines += [""] * bool(wrong)
    lines += [f"- {row['file']}: {row['verdict']} {row['flags']}, expected {row['expected']}" for row in wrong]
    return [*lines, "", *(_prose(part["note"]) if part.get("note") else [])]


_PARTS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "repeated-h200": _repeated,
    "own-kernels-h200": _own,
    "controls-h200": _controls,
    "crashes-h200": _crashes,
    "gallery-h200": _gallery,
    "gallery-part-h200": _gallery_part,
}
