"""The page h200.md: tables of the results that eval/verification.py makes. Pure."""

from typing import Any

NOISE = 0.02
AGREEMENT = 0.05
_MEANS = ("speedup", "speedup_vs_compile")
_REST = ("vs compile", "own time", "trials", "candidate ms", "verdict")


def page(results: dict[str, Any]) -> str:
    """Markdown of the four result files."""
    runs = results["seed-kernels-h200"]["runs"]
    return "\n".join(
        [
            *_head(runs[0]["provenance"]),
            *_seeds(*runs),
            *_own(results["own-kernels-h200"]),
            *_controls(results["controls-h200"]),
            *_gallery(results["gallery-h200"]),
            "",
        ]
    )


def _head(provenance: dict[str, Any]) -> list[str]:
    machine = ", ".join(
        [
            str(provenance["gpu"]),
            *(f"{name} {provenance[name]}" for name in ("driver", "cuda", "torch", "triton", "sandbox", "evaluator")),
            f"{str(provenance['date'])[:10]} (UTC)",
        ]
    )
    return [
        "# Verification on an NVIDIA H200",
        "",
        f"{machine}.",
        "Everything below was measured with that state of the evaluator; nothing is estimated.",
        "torch's default switches: tf32 off for matrix products, on for cuDNN convolutions, on both sides.",
        "Source: the JSON files beside this one, made by `python -m eval.on_gpu` and `python -m eval.verification`.",
        "",
    ]


def _seeds(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    again = {row["id"]: row for row in second["rows"]}
    pairs = [(row, again[row["id"]]) for row in first["rows"]]
    apart = [a["id"] for a, b in pairs if not _agree(a, b)]
    correct = sum(bool(a["figures"] and b["figures"]) for a, b in pairs)
    rate = (len(second["rows"]) / second["seconds"]) / (len(first["rows"]) / first["seconds"])
    eager, compiled = ([run["geometric_means"][name] for run in (first, second)] for name in _MEANS)
    lines = [
        f"## The {len(pairs)} seed kernels, twice",
        "",
        f"With eager and torch.compile: {first['seconds']} s on {_devices(first)}, then {second['seconds']} s on",
        f"{_devices(second)} of the same host: {rate:.2f} times the kernels a second.",
        f"{correct} of {len(pairs)} are correct in both runs. Geometric mean against eager {eager[0]:.3f}x and",
        f"{eager[1]:.3f}x; against torch.compile {compiled[0]:.3f}x and {compiled[1]:.3f}x.",
        f"{len(pairs) - len(apart)} of {len(pairs)} agree within 5 %{'; not ' if apart else ''}{', '.join(apart)}.",
        "",
        *_table("kernel", "claimed", "measured", "lower bound", "second run", *_REST),
    ]
    return lines + [_seed_line(a, b) for a, b in pairs] + [""]


def _table(*columns: str) -> list[str]:
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]


def _devices(run: dict[str, Any]) -> str:
    count = len(run["devices"])
    return "one GPU" if count == 1 else f"{count} GPUs"


def _agree(first: dict[str, Any], second: dict[str, Any]) -> bool:
    if not (first["figures"] and second["figures"]):
        return False
    ratio = first["figures"]["speedup"] / second["figures"]["speedup"]
    return bool(max(ratio, 1 / ratio) <= 1 + AGREEMENT)


def _seed_line(row: dict[str, Any], again: dict[str, Any]) -> str:
    second = again["figures"]["speedup"] if again["figures"] else None
    return f"| {row['id']} | {row['claimed']} | {_figures(row, second)} |"


def _figures(row: dict[str, Any], second: float | None = None, with_second: bool = True) -> str:
    figures = row["figures"]
    verdict = row["verdict"] + (f" ({', '.join(row['flags'])})" if row["flags"] else "")
    if figures is None:
        return " | ".join(["-"] * (7 if with_second else 6) + [verdict])
    values = [
        _number(figures["speedup"]),
        _number(figures["speedup_lo95"]),
        *([_number(second)] if with_second else []),
        _number(figures["speedup_vs_compile"]),
        _number(figures["own_kernel_time_frac"]),
        str(figures["trials"]),
        _number(figures["candidate_ms"]),
        verdict,
    ]
    return " | ".join(values)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _own(part: dict[str, Any]) -> list[str]:
    lines = [
        "## Own kernels (full size)",
        "",
        f"{len(part['rows'])} kernels in {part['seconds']} s. Nothing is claimed beforehand.",
        "",
        *_table("kernel", "problem", "language", "measured", "lower bound", *_REST),
    ]
    for row in part["rows"]:
        figures = _figures(row, with_second=False)
        lines.append(f"| {row['id']} | {row['problem']['name']} | {row['language']} | {figures} |")
    return [*lines, ""]


def _controls(part: dict[str, Any]) -> list[str]:
    rows = part["rows"]
    within = sum(row["ratio"] is not None and abs(row["ratio"] - 1) <= NOISE for row in rows)
    failed = sum(row["zeros"].startswith("incorrect") for row in rows)
    crashes = ", ".join(f"{c['candidate']} `{c['verdict']}` ({c['seconds']:.1f} s)" for c in part["crashes_in_a_row"])
    lines = [
        "## Controls",
        "",
        "A/A: the reference as candidate, eager against eager in another process, one run at a time. Ratios within "
        f"1.00 +/- 0.02: {within} of {len(rows)}. Zeros failed on {failed} of {len(rows)}.",
        "",
        *_table("problem", "eager ms", "ratio", "95 % bounds", "reference", "zeros"),
    ]
    for row in rows:
        bounds = f"{_number(row['lo95'])} to {_number(row['hi95'])}"
        numbers = f"{_number(row['eager_ms'])} | {_number(row['ratio'])} | {bounds}"
        lines.append(f"| {row['problem']} | {numbers} | {row['reference']} | {row['zeros']} |")
    return [*lines, "", f"In a row: {crashes}.", ""]


def _gallery(part: dict[str, Any]) -> list[str]:
    rows = part["rows"]
    wrong = [row for row in rows if not row["as_expected"]]
    lines = [
        "## Gallery",
        "",
        f"{len(rows) - len(wrong)} of {len(rows)} fixtures got their verdict on the GPU, in {part['seconds']} s.",
    ]
    return lines + [f"- {row['file']}: {row['verdict']} {row['flags']}, expected {row['expected']}" for row in wrong]
