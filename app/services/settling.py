"""What finished runs do to a kernel's standing: it is demoted, or restored, on one kind of hardware.

Both leave a revision of the item behind, so a curator sees them in its history and can take them back there.
"""

from collections.abc import Sequence
from dataclasses import replace

from app.records import Item, Revision, Run
from app.standing import demotion, is_restored
from app.store import clock, corpus, history, items, runs
from app.store.database import Session
from app.vocabulary import RevisionReason

ACTOR = "verification"
"""Who demotes and restores, in the history."""


def settle(session: Session, item_id: str, hardware: str) -> str | None:
    """Demotes or restores a kernel as its last runs on some hardware have it; says what was done, if anything was.

    Call it in the transaction that keeps the run, after `corpus.lock`.
    """
    item = items.get(session, item_id)
    if item is None or item.kernel is None:
        return None
    told = runs.telling(session, item_ids=[item_id], hardware=hardware)
    entries = dict(item.demotions or {})
    held, found = entries.get(hardware), demotion(told, item.claimed_speedup)
    if held is not None and is_restored(told):
        del entries[hardware]
        done = f"restored on {hardware}: {told[-1].verdict}"
    elif held is None and found is not None and _is_pardoned(session, item_id, hardware, told):
        return None
    elif found is not None and (held is None or held.get("verdict") != found["verdict"]):
        entries[hardware] = found
        figure = "" if found["speedup"] is None else f", measured {float(found['speedup']):.2f}x"
        done = f"demoted on {hardware}: {found['verdict']}{figure}, two runs agree ({', '.join(found['runs'])})"
    else:
        return None
    _change(session, replace(item, demotions=entries or None), done)
    return done


def _is_pardoned(session: Session, item_id: str, hardware: str, told: Sequence[Run]) -> bool:
    """Whether a person took a demotion back after the last run but one: two runs after that must agree anew."""
    pardoned, was_demoted = None, False
    for revision in history.revisions(session, item_id):
        is_demoted = hardware in (revision.state.get("demotions") or {})
        if was_demoted and not is_demoted:
            pardoned = None if revision.actor == ACTOR else revision.at
        was_demoted = is_demoted
    earlier = told[-2].finished_at
    return pardoned is not None and (earlier is None or earlier <= pardoned)


def _change(session: Session, item: Item, note: str) -> None:
    now = clock.now(session)
    item = replace(item, version=item.version + 1, updated_at=now)
    items.change(session, item, changed_in=corpus.advance(session))
    state = history.state_of(item)
    history.add_revision(session, Revision(item.id, item.version, RevisionReason.EDIT, ACTOR, now, state, note))
    session.flush()
