"""Changes to items inside one transaction: each leaves a revision or an event, and what is derived follows the text."""

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from app.errors import Conflict, DuplicateItem, InvalidInput, StaleVersion, UnknownItem
from app.memory.damage import damage
from app.memory.echo import bare
from app.memory.identity import normalised, text_hash
from app.memory.kernels import kernel_code
from app.records import CounterEvent, Item, Revision
from app.retrieval.embedder import Embedder, Vectors
from app.services.deriving import keep, vector_of
from app.store import corpus, history, items, redirects
from app.store.database import Session
from app.vocabulary import DEFAULT_SECTIONS, ItemKind, ItemStatus, RevisionReason


@dataclass(slots=True)
class Changes:
    """The changes of one request. `vectors` holds those of texts that are known before the transaction begins."""

    session: Session
    embedder: Embedder
    actor: str
    vectors: Mapping[str, Vectors] = field(default_factory=dict)
    batch: str | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    _version: int | None = None

    def __post_init__(self) -> None:
        corpus.lock(self.session)

    @property
    def version(self) -> int:
        """The corpus version that these changes make; it is taken at the first one."""
        if self._version is None:
            self._version = corpus.advance(self.session)
        return self._version

    def known(self, item_id: str) -> Item:
        """The item of that id in whatever status, or UnknownItem."""
        item = items.get(self.session, item_id)
        if item is None:
            raise UnknownItem(f"There is no item {item_id!r}.")
        return item

    def create(self, kind: ItemKind, text: str, fields: Mapping[str, Any]) -> Item:
        """A new item at the end of its kind; DuplicateItem where the text is there already, as such or as shown."""
        values = dict(fields)
        source = values.pop("kernel_source", None)
        if (kind is ItemKind.KERNEL) != (source is not None):
            raise InvalidInput("A kernel needs kernel_source; no other kind has one.")
        section = values.pop("section", None) or DEFAULT_SECTIONS[kind]
        clean = normalised(text)
        if source is None:
            self._refuse_duplicate(kind, clean)
        item = Item(
            id=items.next_id(self.session, kind.id_prefix),
            kind=kind,
            section=section,
            position=items.last_position(self.session, kind) + 1,
            text=clean,
            content_hash=text_hash(clean),
            damage=damage(clean),
            created_at=self.now,
            updated_at=self.now,
            kernel=kernel_code(source) if source is not None else None,
            **values,
        )
        items.add(self.session, item, changed_in=self.version)
        self.session.flush()
        self._derive(item)
        self._remember(item, RevisionReason.CREATE)
        return item

    def change(
        self,
        item_id: str,
        changed: Callable[[Item], Item],
        reason: RevisionReason,
        *,
        version: int | None = None,
        note: str | None = None,
        reverts: int | None = None,
    ) -> Item:
        """The item as `changed` makes it; StaleVersion where it is no longer at the `version` that the caller edits."""
        before = self.known(item_id)
        if version is not None and before.version != version:
            raise StaleVersion(
                f"{item_id} is at version {before.version}, the request edits version {version}. Read it again.",
                current_version=before.version,
            )
        item = changed(before)
        if item == before:
            return before
        if item.status is not ItemStatus.RETIRED and before.status is ItemStatus.RETIRED:
            self._refuse_merged(item_id)
        if item.text != before.text:
            if item.kernel is None:
                self._refuse_duplicate(item.kind, item.text, but=item_id)
            item = replace(item, content_hash=text_hash(item.text), damage=damage(item.text))
        item = replace(item, version=before.version + 1, updated_at=self.now)
        items.change(self.session, item, changed_in=self.version)
        self.session.flush()
        if item.text != before.text or item.family != before.family or item.source_problem != before.source_problem:
            self._derive(item)
        self._remember(item, reason, note=note, reverts=reverts)
        return item

    def vote(
        self,
        item_id: str,
        helpful: int,
        harmful: int,
        *,
        reader: str | None = None,
        reason: str | None = None,
        feedback_id: str | None = None,
        reverts: str | None = None,
    ) -> tuple[int, int]:
        """Appends an event and moves the counters with it; the counters afterwards."""
        event = CounterEvent(
            uid=str(uuid.uuid4()),
            item_id=item_id,
            helpful=helpful,
            harmful=harmful,
            actor=self.actor,
            at=self.now,
            reader=reader,
            reason=reason,
            feedback_id=feedback_id,
            batch=self.batch,
            reverts=reverts,
        )
        history.add_event(self.session, event)
        self.session.flush()
        return items.move_counters(self.session, item_id, helpful=helpful, harmful=harmful, changed_in=self.version)

    def merge(self, item_ids: Sequence[str], into: str, text: str | None, note: str | None) -> Item:
        """One item out of several: counters add up, old ids lead to it, and texts that refer to them follow."""
        survivor = self.known(into)
        gone = [self.known(item_id) for item_id in dict.fromkeys(item_ids) if item_id != into]
        if not gone:
            raise InvalidInput("A merge needs at least two different items.")
        for item in (survivor, *gone):
            if item.kind is not survivor.kind or item.status is ItemStatus.RETIRED:
                raise Conflict(f"{item.id} is {item.status} and a {item.kind}; only items of one kind that live merge.")
        for item in gone:
            self.change(item.id, _retired, RevisionReason.MERGE, note=note or f"merged into {into}")
            redirects.add(self.session, item.id, into, self.batch)
            self._add_votes_of(item, into)
        self._follow({item.id for item in gone}, into)
        merged = self.known(into)
        if text is None:
            return merged
        new = normalised(text)
        return self.change(into, lambda item: replace(item, text=new), RevisionReason.MERGE, note=note)

    def _add_votes_of(self, item: Item, into: str) -> None:
        """An item's counters as events of the one it is merged into: one for each reader, one for all other votes."""
        by_reader = history.by_reader(self.session, item.id)
        rest = (
            item.helpful - sum(helpful for helpful, _ in by_reader.values()),
            item.harmful - sum(harmful for _, harmful in by_reader.values()),
        )
        for reader, votes in [*by_reader.items(), (None, rest)]:
            if any(votes):
                self.vote(into, *votes, reader=reader, reason=f"merged from {item.id}")

    def _refuse_merged(self, item_id: str) -> None:
        """An item that was merged away comes back by undoing the merge: its votes are counted where its id leads."""
        leads = redirects.resolved(self.session, [item_id]).get(item_id)
        if leads is not None:
            raise Conflict(f"{item_id} was merged into {leads}. Undo the merge, which gives its votes back as well.")

    def _follow(self, gone: set[str], into: str) -> None:
        """References to the ids that are gone, in the texts of other living items, lead to the one that stays."""
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(gone)))})\b")
        for item_id in items.mentioning(self.session, gone):
            if item_id not in gone and item_id != into:
                self.change(
                    item_id,
                    lambda item: replace(item, text=pattern.sub(into, item.text)),
                    RevisionReason.MERGE,
                    note=f"reference follows to {into}",
                )

    def _refuse_duplicate(self, kind: ItemKind, text: str, but: str | None = None) -> None:
        twin = items.with_text(self.session, kind, text_hash(text))
        if twin is not None and twin != but:
            raise DuplicateItem(f"{twin} has this very text. Edit it, or vote for it, instead.", id=twin)
        shown = bare(text)
        echoed = items.with_text(self.session, None, text_hash(shown)) if shown != text else None
        if echoed is not None and echoed != but:
            raise DuplicateItem(f"This is {echoed} as the playbook shows it, not a new item. Vote for it.", id=echoed)

    def _derive(self, item: Item) -> None:
        vector = self.vectors.get(item.text)
        keep(self.session, self.embedder, item, vector_of(self.embedder, item.text) if vector is None else vector)

    def _remember(
        self, item: Item, reason: RevisionReason, note: str | None = None, reverts: int | None = None
    ) -> None:
        history.add_revision(
            self.session,
            Revision(
                item_id=item.id,
                version=item.version,
                reason=reason,
                actor=self.actor,
                at=self.now,
                state=history.state_of(item),
                note=note,
                batch=self.batch,
                reverts=reverts,
            ),
        )


def with_state(item: Item, state: Mapping[str, Any]) -> Item:
    """The item as a revision kept it; fields that the revision does not know stay."""
    values = {name: state[name] for name in history.EDITABLE if name in state}
    claimed, source = state.get("claimed_speedup"), state.get("kernel_source")
    return replace(
        item,
        **values,
        status=ItemStatus(state["status"]),
        claimed_speedup=None if claimed is None else Decimal(claimed),
        applies_when=state.get("applies_when"),
        kernel=kernel_code(source) if source else item.kernel,
    )


def _retired(item: Item) -> Item:
    return replace(item, status=ItemStatus.RETIRED)
