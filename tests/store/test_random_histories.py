"""Any sequence of operations: no vote is lost, no id given twice, index and SQL never apart."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from app.errors import Conflict, DuplicateItem, PlaybookError
from app.records import Task
from app.retrieval.hashing import HashingEmbedder
from app.services import curation, operations
from app.services.assembly import assembled
from app.services.curation import Curator
from app.services.feedback import FeedbackWish, Vote, give
from app.services.migrate import ensure_migrated
from app.services.operations import Operation
from app.services.ranking import Wish
from app.settings import Settings
from app.store import corpus, history, redirects
from app.vocabulary import EmbedderName, ItemKind, ItemStatus, OperationKind, Signal

TEXTS = st.text("abc de\n[]#:", min_size=1, max_size=30).filter(lambda text: text.strip())


class Playbook(RuleBasedStateMachine):
    """Drives the services and keeps its own books beside them."""

    items = Bundle("items")
    batches = Bundle("batches")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="playbook-test-"))
        self.services = assembled(Settings(var_dir=self.folder, embedder=EmbedderName.HASH, database_url=""))
        ensure_migrated(self.services.database)
        self.curator = Curator(self.services.database, HashingEmbedder(), "tester")
        self.votes = 0
        self.ids: set[str] = set()

    def teardown(self) -> None:
        self.services.recorder.close()
        self.services.database.dispose()
        shutil.rmtree(self.folder, ignore_errors=True)

    @rule(target=items, text=TEXTS)
    def create(self, text: str) -> object:
        try:
            item = curation.create(self.curator, ItemKind.BULLET, text, {})
        except DuplicateItem:
            return multiple()
        assert item.id not in self.ids
        self.ids.add(item.id)
        return item.id

    @rule(item=items, signal=st.sampled_from([Signal.HELPFUL, Signal.HARMFUL]))
    def vote(self, item: str, signal: Signal) -> None:
        given = give(self.services.database, HashingEmbedder(), FeedbackWish([Vote(item, signal)], actor="m"))
        assert len(given.applied) == 1
        self.votes += 1

    @rule(item=items, text=TEXTS)
    def edit(self, item: str, text: str) -> None:
        with self.services.database.read() as session:
            version = next(i.version for i in corpus.items_since(session, -1) if i.id == item)
        try:
            curation.edit(self.curator, item, version, {"text": text})
        except DuplicateItem:
            return

    @rule(item=items)
    def retire(self, item: str) -> None:
        curation.retire(self.curator, item)

    @rule(item=items)
    def revert_to_the_first_state(self, item: str) -> None:
        with self.services.database.read() as session:
            version = next(i.version for i in corpus.items_since(session, -1) if i.id == item)
        try:
            curation.revert(self.curator, item, version, 1)
        except Conflict:
            return

    @rule(target=batches, one=items, other=items, text=st.none() | TEXTS)
    def merge(self, one: str, other: str, text: str | None) -> object:
        try:
            merge = Operation(OperationKind.MERGE, ids=[one, other], into=one, text=text)
            return operations.apply(self.curator, [merge]).batch
        except PlaybookError:
            return multiple()

    @rule(batch=consumes(batches))
    def undo(self, batch: str) -> None:
        try:
            operations.undo(self.curator, batch)
        except Conflict:
            return

    @rule(one=items, text=TEXTS)
    def a_batch_that_fails_at_its_end(self, one: str, text: str) -> None:
        before = self._state()
        doomed = [
            Operation(OperationKind.TAG, id=one, signal=Signal.HELPFUL),
            Operation(OperationKind.ADD, text=text + " doomed"),
            Operation(OperationKind.DELETE, id="str-99999"),
        ]
        try:
            operations.apply(self.curator, doomed)
            raise AssertionError("the batch should have failed")
        except PlaybookError:
            assert self._state() == before

    @invariant()
    def counters_are_the_sums_of_their_events(self) -> None:
        with self.services.database.read() as session:
            sums = history.sums(session)
            for item in corpus.items_since(session, -1):
                assert (item.helpful, item.harmful) == sums.get(item.id, (0, 0))

    @invariant()
    def no_vote_is_lost(self) -> None:
        """Each vote is counted by exactly one item whose id leads nowhere else, through merges and their undoing."""
        with self.services.database.read() as session:
            gone = set(redirects.every(session))
            events = [event for event in history.every_event(session) if event.feedback_id is not None]
            standing = [item for item in corpus.items_since(session, -1) if item.id not in gone]
        assert len(events) == self.votes
        assert sum(item.helpful + item.harmful for item in standing) == self.votes

    @invariant()
    def index_and_sql_say_the_same(self) -> None:
        with self.services.database.read() as session:
            active = {i.id for i in corpus.items_since(session, -1) if i.status is ItemStatus.ACTIVE and not i.damage}
        snapshot = self.services.catalog.current()
        assert set(snapshot.indexes.places) == active
        found = self.services.search.find(Task(text="softmax"), Wish(top_k=200, threshold=0, diversify=False))
        assert {entry.item.id for entry in found.results} == active

    def _state(self) -> object:
        with self.services.database.read() as session:
            return corpus.items_since(session, -1), list(history.every_event(session))


Playbook.TestCase.settings = settings(
    max_examples=8,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),  # shrinking runs real databases for minutes
)
TestRandomHistories = Playbook.TestCase
