"""Tables: one file each; columns and constraints, no behaviour."""

from app.models.api_key import ApiKeyRow
from app.models.audit_entry import AuditEntryRow
from app.models.baseline import BaselineRow
from app.models.context_record import ContextRecordRow
from app.models.corpus_state import CorpusStateRow
from app.models.counter_event import CounterEventRow
from app.models.derived_record import DerivedRecordRow
from app.models.embedding import EmbeddingRow
from app.models.feedback import FeedbackRow
from app.models.finding import FindingRow
from app.models.id_sequence import IdSequenceRow
from app.models.item import ItemRow
from app.models.item_revision import ItemRevisionRow
from app.models.kernel import KernelRow
from app.models.night import NightRow
from app.models.problem import ProblemRow
from app.models.reader import ReaderRow
from app.models.recorded_ranking import RecordedRankingRow
from app.models.redirect import RedirectRow
from app.models.verification_run import VerificationRunRow
from app.models.wording import WordingRow
from app.models.worker import WorkerRow

__all__ = [
    "ApiKeyRow",
    "AuditEntryRow",
    "BaselineRow",
    "ContextRecordRow",
    "CorpusStateRow",
    "CounterEventRow",
    "DerivedRecordRow",
    "EmbeddingRow",
    "FeedbackRow",
    "FindingRow",
    "IdSequenceRow",
    "ItemRevisionRow",
    "ItemRow",
    "KernelRow",
    "NightRow",
    "ProblemRow",
    "ReaderRow",
    "RecordedRankingRow",
    "RedirectRow",
    "VerificationRunRow",
    "WordingRow",
    "WorkerRow",
]
