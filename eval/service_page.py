"""Sections of the benchmark page about the service as a whole: back ends, load, soak, the curator's desk. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from eval.tables import table

Result = Mapping[str, Any]

_TIMES = ("p50_ms", "p95_ms", "p99_ms")


def backends(result: Result) -> Iterator[str]:
    """Both back ends side by side, and whether they rank alike."""
    yield "## Back ends\n"
    yield "The same items behind the same HTTP, one server process, in one run.\n"
    rows = [
        (size["items"], engine["engine"], cell["task"], cell["clients"], *map(cell.get, _TIMES), _rate(cell))
        for size in result["sizes"]
        for engine in size["engines"]
        for cell in engine["searches"]
    ]
    yield from table(("items", "back end", "task", "clients", "p50 ms", "p95 ms", "p99 ms", "queries/s"), rows)
    yield ""
    about = [
        (
            size["items"],
            engine["engine"],
            engine["start_seconds"],
            engine["resident_memory_mb"],
            engine["write_to_visible"]["write_ms"],
            engine["write_to_visible"]["first_search_ms"],
        )
        for size in result["sizes"]
        for engine in size["engines"]
    ]
    yield from table(("items", "back end", "start s", "memory MB", "write ms", "first search after it ms"), about)
    yield "\nThe first ten of both:\n"
    alike = [
        (size["items"], kind, found["questions"], found["equal"], f"{found['overlap']:.4f}")
        for size in result["sizes"]
        for kind, found in size["agreement"].items()
    ]
    yield from table(("items", "questions", "asked", "equal in order", "mean overlap of the ten"), alike)


def load(result: Result) -> Iterator[str]:
    """Requests behind a key, from few and from many clients."""
    yield "## Load\n"
    yield "One server process with the starter corpus, keys on, no rate limits; the load comes from the same machine.\n"
    rows = [
        (
            cell["request"],
            cell["clients"],
            *map(cell.get, _TIMES),
            _rate(cell),
            cell["faults"],
            cell["resident_memory"]["before_mb"],
            cell["resident_memory"]["after_mb"],
        )
        for cell in result["cells"]
    ]
    head = ("request", "clients", "p50 ms", "p95 ms", "p99 ms", "requests/s", "faults", "MB before", "MB after")
    yield from table(head, rows)


def soak(result: Result) -> Iterator[str]:
    """A long time under load."""
    yield "## Soak\n"
    asked = ", ".join(f"{count:,} {kind}" for kind, count in result["requests"].items())
    exact = "equal the answered votes" if result["counters_exact"] else "DIFFER from the answered votes"
    faults = sum(result["faults"].values())
    yield f"{result['minutes']:g} minutes, {result['clients']} clients: {asked}; {faults} faults."
    yield f"Counters {exact} ({result['votes_counted']:,})."
    looks = result["memory_mb"]
    yield (
        f"Resident memory {looks[len(looks) // 4]:.0f} MB after the first quarter, {looks[-1]:.0f} MB at the end "
        f"(growth {result['memory_growth']:.3f}, medians of five looks)."
    )


def admin_pages(result: Result) -> Iterator[str]:
    """Server time of the desk's pages."""
    yield "## The curator's desk\n"
    yield f"Server time of each page at {result['items']:,} items and {result['open_findings']:,} open findings;"
    yield f"the target is {result['target_ms']} ms.\n"
    rows = [
        (page["page"], page["p50_ms"], page["p95_ms"], page["max_ms"], page["first_ms"]) for page in result["pages"]
    ]
    yield from table(("page", "p50 ms", "p95 ms", "longest ms", "first one ms"), rows)


def _rate(cell: Result) -> float:
    return float(cell["queries_per_second"])
