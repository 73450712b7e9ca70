"""A complete export carries the history: counters, redirects and every state come back in a fresh database."""

from pathlib import Path
from typing import Any

from app.retrieval.hashing import HashingEmbedder
from app.services import curation, operations
from app.services.catalog import Catalog
from app.services.curation import Curator
from app.services.export import export_jsonl
from app.services.feedback import FeedbackWish, Vote, give
from app.services.load import load
from app.services.migrate import ensure_migrated
from app.services.operations import Operation
from app.settings import Settings
from app.store import corpus, history, redirects
from app.store.database import Database
from app.vocabulary import ItemKind, OperationKind, Signal

EMBEDDER = HashingEmbedder()


def exported(database: Database, folder: Path) -> list[str]:
    return list(export_jsonl(Catalog(database, EMBEDDER, folder / "vectors.npz"), database))


def lived_through(database: Database) -> None:
    """Edits, votes, a merge, a revert and a retirement."""
    curator = Curator(database, EMBEDDER, "ada")
    first, second, third = (
        curation.create(curator, ItemKind.BULLET, f"Text number {number}.", {"family": "conv"}) for number in range(3)
    )
    curation.edit(curator, first.id, 1, {"text": "Another text."}, note="clearer")
    curation.revert(curator, first.id, 2, 1)
    give(database, EMBEDDER, FeedbackWish([Vote(second.id, Signal.HELPFUL)], actor="m", reader="m"))
    merge = Operation(OperationKind.MERGE, ids=[first.id, second.id], into=first.id)
    operations.apply(curator, [merge])
    curation.retire(curator, third.id)


def test_the_whole_history_survives_export_and_import(
    starter_settings: Settings, any_settings: Any, tmp_path: Path
) -> None:
    source = Database(starter_settings)
    lived_through(source)
    lines = exported(source, tmp_path / "a")
    file = tmp_path / "corpus.jsonl"
    file.write_text("".join(lines), encoding="utf-8")
    other = Database(any_settings.model_copy(update={"var_dir": tmp_path / "other"}))
    ensure_migrated(other)
    assert load(other, EMBEDDER, [file]).complete
    assert sorted(exported(other, tmp_path / "b")) == sorted(lines)
    with source.read() as here, other.read() as there:
        assert dict(redirects.every(here)) == dict(redirects.every(there))
        assert dict(history.sums(here)) == dict(history.sums(there))
    again = load(other, EMBEDDER, [file])
    assert (again.written, again.embedded, again.faults) == (0, 0, [])
    source.dispose()
    other.dispose()


def test_an_edited_item_is_not_doubled_by_importing_its_source_afterwards(
    database: Database, tmp_path: Path, settings: Settings
) -> None:
    source = tmp_path / "playbook.txt"
    source.write_text("## s\n[str-00001] helpful=2 harmful=0 :: As the source says.\n")
    load(database, EMBEDDER, [source])
    curator = Curator(database, EMBEDDER, "ada")
    curation.edit(curator, "str-00001", 1, {"text": "As a curator says."})
    copy = tmp_path / "corpus.jsonl"
    copy.write_text("".join(exported(database, tmp_path)), encoding="utf-8")
    other = Database(settings.model_copy(update={"var_dir": tmp_path / "other"}))
    ensure_migrated(other)
    load(other, EMBEDDER, [copy])
    assert load(other, EMBEDDER, [source]).written <= 1  # the frame's last line end
    with other.read() as session:
        assert [(i.text, i.helpful, i.version) for i in corpus.items_since(session, -1)] == [
            ("As a curator says.", 2, 2)
        ]
    other.dispose()


def test_an_older_export_takes_nothing_back(database: Database, tmp_path: Path) -> None:
    curator = Curator(database, EMBEDDER, "ada")
    item = curation.create(curator, ItemKind.BULLET, "First.", {})
    old = tmp_path / "old.jsonl"
    old.write_text("".join(exported(database, tmp_path)), encoding="utf-8")
    curation.edit(curator, item.id, 1, {"text": "Second."})
    give(database, EMBEDDER, FeedbackWish([Vote(item.id, Signal.HARMFUL)], actor="m"))
    assert load(database, EMBEDDER, [old]).written == 0
    with database.read() as session:
        assert [(i.text, i.harmful) for i in corpus.items_since(session, -1)] == [("Second.", 1)]
