"""Counters against their events."""

from dataclasses import dataclass

from app.store import corpus, history, items
from app.store.database import Database


@dataclass(frozen=True, slots=True)
class Difference:
    """An item whose counters are not the sums of its events; (helpful, harmful) each."""

    item_id: str
    counters: tuple[int, int]
    sums: tuple[int, int]


def recount(database: Database, *, mend: bool) -> list[Difference]:
    """Items whose counters differ from the sums of their events; with `mend`, the counters are set to the sums."""
    with database.write() as session:
        corpus.lock(session)
        sums = history.sums(session)
        found = [
            Difference(item.id, (item.helpful, item.harmful), sums.get(item.id, (0, 0)))
            for item in corpus.items_since(session, -1)
            if (item.helpful, item.harmful) != sums.get(item.id, (0, 0))
        ]
        if mend and found:
            version = corpus.advance(session)
            for wrong in found:
                helpful, harmful = (right - now for right, now in zip(wrong.sums, wrong.counters, strict=True))
                items.move_counters(session, wrong.item_id, helpful=helpful, harmful=harmful, changed_in=version)
    return found
