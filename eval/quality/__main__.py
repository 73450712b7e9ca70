"""Command: ``python -m eval.quality --json OUT``. Prints a table and writes every figure."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from eval.provenance import provenance
from eval.quality import rankings
from eval.quality.data import KINDS, WORDINGS, find_shared, load
from eval.quality.readings import measure_readings
from eval.quality.report import Measured, as_json, as_table, families_table, measure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison; exit status 0."""
    parser = argparse.ArgumentParser(prog="python -m eval.quality", description=__doc__)
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--queries", type=Path, help="other queries of the same form")
    parser.add_argument("--labels", type=Path, help="other grades of the same form")
    parser.add_argument("--no-model", action="store_true", help="leave out whatever needs the sentence model")
    options = parser.parse_args(arguments)
    embed = None
    if not options.no_model:
        from eval.quality.embedding import sentence_model

        embed = sentence_model()
    found = compare(embed, options.queries, options.labels)
    readings = measure_readings(embed)
    print(as_table(found))
    print("\n" + families_table([one for one in found if one.ranking.startswith("ours")]))
    print("\nReadings of freshly worded tasks (batch, wording, tasks, exact, family, first operation, F1)")
    for reading in readings:
        print(f"{reading.batch:16} {reading.wording:11} {reading.tasks:3} {reading.exact:6.2f} {reading.family:6.2f} "
              f"{reading.first:6.2f} {reading.f1:6.2f}")  # fmt: skip
    if options.json:
        report = {
            "provenance": provenance(),
            "rankings": as_json(found),
            "readings": [asdict(reading) for reading in readings],
        }
        options.json.write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0


def compare(embed: rankings.Embed | None, queries: Path | None = None, labels: Path | None = None) -> list[Measured]:
    """Measure the baselines and our ranking for bullets and memories."""
    collection = load(find_shared(), queries, labels)
    asked = [
        rankings.ask(query, wording, embed)
        for query in collection.queries
        for wording in WORDINGS
        if wording in query.wordings
    ]
    records = {source: rankings.records(collection, source) for source in rankings.RECORD_SOURCES}
    found: list[Measured] = []
    for kind, prefix in KINDS.items():
        items = [item for item in collection.items if item.id.startswith(prefix)]
        words = rankings.by_words(items)
        compared = {"counters": rankings.by_counters(items), "BM25, whole item": words}
        if embed is not None:
            compared["MiniLM, whole item"] = rankings.by_sentences(items, embed)
            compared["operations + BM25 + MiniLM"] = rankings.by_operations(items, embed)
        for source, chosen in records.items():
            compared[f"ours, {source} records"] = rankings.ours(items, chosen)
        compared["ours, both records, with BM25"] = rankings.ours(items, records["both"], words)
        found += [measure(name, kind, ranking, asked, collection) for name, ranking in compared.items()]
    return found


if __name__ == "__main__":
    raise SystemExit(main())
