"""All contexts of the documents come out byte for byte after a round trip, on both databases, through the service."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.records import Task
from app.retrieval.hashing import HashingEmbedder
from app.services.assembly import assembled
from app.services.context import ContextWish
from app.services.export import export_jsonl
from app.services.load import load
from app.services.migrate import ensure_migrated
from app.settings import Settings


def leaves(documents: list[dict[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    for document in documents:
        for policy, readers in document.items():
            for reader, contexts in readers.items():
                for problem, text in contexts.items():
                    yield policy, reader, problem, text


def test_all_contexts_come_out_after_export_and_import(
    seeded_settings: Settings, any_settings: Settings, seed_documents: list[dict[str, Any]], tmp_path: Path
) -> None:
    source = assembled(seeded_settings)
    file = tmp_path / "corpus.jsonl"
    file.write_text("".join(export_jsonl(source.catalog, source.database)), encoding="utf-8")
    copy = assembled(any_settings.model_copy(update={"var_dir": tmp_path / "copy"}))
    ensure_migrated(copy.database)
    assert load(copy.database, HashingEmbedder(), [file]).complete
    wrong: Counter[str] = Counter()
    asked = 0
    for policy, reader, problem, text in leaves(seed_documents):
        rendered = copy.contexts.render(ContextWish(Task(problem_id=problem), reader, policy))
        wrong[policy] += rendered.text != text
        asked += 1
    assert (asked, +wrong) == (1660, Counter())
    for services in (source, copy):
        services.recorder.close()
        services.database.dispose()
