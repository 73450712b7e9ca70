"""Exports the corpus: an ACE playbook, Markdown, or JSON lines of our own."""

from collections.abc import Iterator

from app.memory.formats import jsonl, markdown
from app.memory.rendering import render_playbook
from app.records import Corpus, Item
from app.services.catalog import Catalog
from app.store import facts, history, items, redirects
from app.store.database import Database
from app.vocabulary import ItemKind


def bullets_in_order(corpus: Corpus) -> list[Item]:
    """The active bullets in the playbook's order."""
    bullets = [item for item in corpus.items.values() if item.kind is ItemKind.BULLET and item.shown]
    return sorted(bullets, key=lambda item: (item.position, item.id))


def section_order(corpus: Corpus) -> list[str]:
    """Titles of the playbook's sections as its source ordered them, empty ones too."""
    titles = corpus.wording.get("playbook_sections", "")
    return titles.split("\n") if titles else []


def export_ace(catalog: Catalog) -> str:
    """The active bullets as ACE playbook text; what was imported unchanged comes out byte for byte."""
    corpus = catalog.current().corpus
    text = render_playbook(corpus.wording.get("playbook_head", ""), section_order(corpus), bullets_in_order(corpus))
    return text + corpus.wording.get("playbook_end", "")


def export_markdown(catalog: Catalog) -> Iterator[str]:
    """The active items of every kind as Markdown."""
    corpus = catalog.current().corpus
    return markdown.write([item for item in corpus.items.values() if item.shown], corpus.version)


def export_jsonl(catalog: Catalog, database: Database) -> Iterator[str]:
    """Everything, retired items and the history of each one too, as lines that end in a newline."""
    corpus = catalog.current().corpus
    with database.read() as session:
        past = jsonl.Past(
            source_hashes=items.source_hashes(session),
            revisions=list(history.every_revision(session)),
            events=list(history.every_event(session)),
            redirects=redirects.every(session),
            runs=facts.runs(session),
        )
    return jsonl.write(corpus, past)
