"""Words that every layer shares: the closed sets of the glossary."""

from enum import StrEnum


class ItemKind(StrEnum):
    """What an item is; one id space and one ranking hold them all."""

    BULLET = "bullet"
    LESSON = "lesson"
    PITFALL = "pitfall"
    RECIPE = "recipe"
    MEMORY = "memory"
    KERNEL = "kernel"

    @property
    def id_prefix(self) -> str:
        """Prefix of the ids that are given to items of this kind when their source has none."""
        return {"bullet": "str", "memory": "mem"}.get(self.value, self.value[:3])


class ItemStatus(StrEnum):
    """Where an item stands. Only active items are ranked or shown."""

    PENDING = "pending"
    ACTIVE = "active"
    RETIRED = "retired"
    QUARANTINED = "quarantined"


class Signal(StrEnum):
    """One vote on an item."""

    HELPFUL = "helpful"
    HARMFUL = "harmful"
    NEUTRAL = "neutral"


class RevisionReason(StrEnum):
    """Why an item has a new state."""

    IMPORT = "import"
    CREATE = "create"
    EDIT = "edit"
    RETIRE = "retire"
    MERGE = "merge"
    REVERT = "revert"


class KernelLanguage(StrEnum):
    """What the device code of a kernel is written in."""

    TRITON = "triton"
    CUDA = "cuda"


class AuthMode(StrEnum):
    """Whether requests need a key."""

    KEYS = "keys"
    OFF = "off"


class LogLevel(StrEnum):
    """What is logged."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    DEBUG = "debug"


class LogFormat(StrEnum):
    """How it is written."""

    TEXT = "text"
    JSON = "json"


class Scope(StrEnum):
    """What a key allows. Each stands for itself; admin implies all."""

    READ = "read"
    FEEDBACK = "feedback"
    CONTRIBUTE = "contribute"
    CURATE = "curate"
    VERIFY = "verify"
    ADMIN = "admin"


class EmbedderName(StrEnum):
    """The sentence models that can be chosen by a setting."""

    MINILM = "minilm"
    ONNX = "onnx"
    HASH = "hash"


class VectorIndexName(StrEnum):
    """Where the nearest vectors are looked up; `auto` takes pgvector where the database offers it."""

    AUTO = "auto"
    FAISS = "faiss"
    PGVECTOR = "pgvector"


DEFAULT_SECTIONS: dict[ItemKind, str] = {
    ItemKind.BULLET: "strategies",
    ItemKind.LESSON: "lessons",
    ItemKind.PITFALL: "pitfalls",
    ItemKind.RECIPE: "recipes",
    ItemKind.MEMORY: "memories",
    ItemKind.KERNEL: "kernels",
}
"""Section of an item whose source names none."""

MEM0 = "mem0"
"""Source name of the recorded rankings that come from mem0."""


class LeftOutReason(StrEnum):
    """Why an item that was considered is not in an answer."""

    THRESHOLD = "threshold"
    BUDGET = "budget"
    DUPLICATE = "duplicate"
    LEAKAGE = "leakage"
    GATE = "gate"
    DAMAGE = "damage"
    VERIFICATION = "verification"


class RunState(StrEnum):
    """How far a verification run is."""

    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"


class OrderReason(StrEnum):
    """Why a verification run was ordered; those of a night in the order in which they come first."""

    NEW = "new"
    EDITED = "edited"
    FLAKY = "flaky"
    EVALUATOR = "evaluator"
    OLDEST = "oldest"
    CONFIRMATION = "confirmation"
    CONTROL = "control"
    REQUEST = "request"


class NightState(StrEnum):
    """How far a night is; it moves on when every run that it ordered so far is finished."""

    CONTROLS = "controls"
    KERNELS = "kernels"
    CONFIRMING = "confirming"
    CLOSED = "closed"


class FindingState(StrEnum):
    """What became of a finding."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DISMISSED = "dismissed"
    GONE = "gone"


class OperationKind(StrEnum):
    """What a curator can do to items in a batch; the names are ACE's."""

    ADD = "ADD"
    UPDATE = "UPDATE"
    MERGE = "MERGE"
    DELETE = "DELETE"
    TAG = "TAG"


class FindingKind(StrEnum):
    """What a curator should look at; in the order in which findings are listed."""

    DAMAGE = "damage"
    CONTRADICTION = "contradiction"
    STALE_CLAIM = "stale_claim"
    DEMOTED_KERNEL = "demoted_kernel"
    DANGLING_REFERENCE = "dangling_reference"
    EXACT_DUPLICATE = "exact_duplicate"
    ONE_RULE = "one_rule"
    NEAR_DUPLICATE = "near_duplicate"
    HARMFUL_LEANING = "harmful_leaning"
    PROSE_REFERENCE = "prose_reference"
    BLOATED = "bloated"
    GRAB_BAG = "grab_bag"
    NEVER_USED = "never_used"


class Verdict(StrEnum):
    """What a verification run found. Kernel faults may demote a kernel, infrastructure faults never."""

    VERIFIED = "verified"
    VERIFIED_SLOWER = "verified_slower"
    INCORRECT_STRUCTURE = "incorrect_structure"
    INCORRECT_SHAPE = "incorrect_shape"
    INCORRECT_DTYPE = "incorrect_dtype"
    INCORRECT_VALUE = "incorrect_value"
    INCORRECT_NONFINITE = "incorrect_nonfinite"
    WEIGHTS_MISMATCH = "weights_mismatch"
    NONDETERMINISTIC = "nondeterministic"
    MUTATED_INPUT = "mutated_input"
    ALIASED_OUTPUT = "aliased_output"
    STALE_OUTPUT = "stale_output"
    NO_CUSTOM_KERNEL = "no_custom_kernel"
    DECOY = "decoy"
    STATIC_REJECTED = "static_rejected"
    COMPILE_ERROR = "compile_error"
    COMPILE_TIMEOUT = "compile_timeout"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    SUSPICIOUS = "suspicious"
    DEGENERATE_PROBLEM = "degenerate_problem"
    PROFILER_FAULT = "profiler_fault"
    GPU_UNHEALTHY = "gpu_unhealthy"
    INFRA_ERROR = "infra_error"
    CANCELLED = "cancelled"

    @property
    def is_success(self) -> bool:
        """Whether the kernel is correct and its own, whatever its speed."""
        return self in (Verdict.VERIFIED, Verdict.VERIFIED_SLOWER)

    @property
    def is_infrastructure(self) -> bool:
        """Whether the run says nothing about the kernel: its last verdict stands."""
        return self in (Verdict.PROFILER_FAULT, Verdict.GPU_UNHEALTHY, Verdict.INFRA_ERROR, Verdict.CANCELLED)
