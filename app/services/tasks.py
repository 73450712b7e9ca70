"""Reads what is asked: a known problem, prose, code, or several of them."""

import threading
from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from app.errors import UnknownProblem
from app.memory.families import name_tokens
from app.memory.identity import content_hash
from app.memory.lexicon import load_lexicon
from app.memory.parsing import PARSING
from app.memory.selection import Target
from app.memory.task import TaskProfile, read_task
from app.memory.task.fallback import prepare
from app.records import Corpus, Problem, Task
from app.retrieval.embedder import Embedder, Vectors

T = TypeVar("T")

REMEMBERED = 4096
"""Tasks and texts whose reading and vector are kept, so that a repeated one costs no encoding."""

UNKNOWN_FAMILY = "general"
"""Family of a task whose operations were not understood; no item belongs to it."""

UNKNOWN_LEVEL = 2
"""Level of a task that names none: a few operations in a row, the commonest kind."""


@dataclass(frozen=True, slots=True)
class ReadTask:
    """A task as it was understood."""

    profile: TaskProfile
    target: Target
    problem: Problem | None
    words: str
    """The words that the lexical index is asked for."""
    notes: tuple[str, ...] = ()

    def described(self) -> dict[str, Any]:
        """What was read out of the task, as JSON can keep it."""
        return {
            "problem": self.target.problem_id,
            "operations": list(self.profile.chain),
            "family": self.target.family,
            "level": self.target.level,
            "confidence": round(self.profile.confidence, 3),
        }


class TaskReader:
    """Reads tasks; remembers the last ones."""

    def __init__(self, embedder: Embedder) -> None:
        # One callable for the reader's whole life: the vocabulary's vectors are kept per callable, and a bound method
        # that is looked up anew for every task would be a new one each time.
        self._encode = embedder.encode
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()
        self._profiles: OrderedDict[str, TaskProfile] = OrderedDict()

    def warm_up(self) -> None:
        """Loads the sentence model and embeds the vocabulary, so that the first task need not wait for it."""
        prepare(self._encode, load_lexicon())

    def read(self, task: Task, corpus: Corpus) -> ReadTask:
        """The task as understood; UnknownProblem where only an unknown id was given."""
        problem = corpus.problems.get(task.problem_id) if task.problem_id else None
        if task.problem_id is not None and problem is None and task.text is None and task.code is None:
            raise UnknownProblem(
                f"There is no problem {task.problem_id!r} here. Send the task's text or code, or import the problem."
            )
        profile = self._profile(task, problem)
        notes = []
        if task.problem_id is not None and problem is None:
            notes.append(f"The problem {task.problem_id} is not known here; its text or code was read instead.")
        if problem is None and profile.confidence < 0.5:
            notes.append("The task was hardly understood; name its operations or send its PyTorch module.")
        return ReadTask(profile, _target(task, problem, profile), problem, _words(task, problem, profile), tuple(notes))

    def vector(self, text: str) -> Vectors:
        """The text's unit vector of shape (dimension,)."""
        key = content_hash(text)
        with self._lock:
            known = self._vectors.get(key)
        if known is None:
            known = self._encode([text])[0]
        with self._lock:
            _remember(self._vectors, key, known)
        return known

    def _profile(self, task: Task, problem: Problem | None) -> TaskProfile:
        key = content_hash(task.text or "", task.code or "", problem.id if problem else "")
        with self._lock:
            known = self._profiles.get(key)
        if known is None:
            holds_code = task.code is not None or "import " in (task.text or "") or "def " in (task.text or "")
            with PARSING if holds_code else nullcontext():
                known = read_task(
                    task.text,
                    task.code,
                    problem_name=problem.name if problem else None,
                    level=problem.level if problem else None,
                    family=problem.family if problem else None,
                    embed=self._encode,
                )
        with self._lock:
            _remember(self._profiles, key, known)
        return known


def _remember(kept: OrderedDict[str, T], key: str, value: T) -> None:
    """Keeps a value under the hash of its text, so that no long text stays in memory; the oldest one goes."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > REMEMBERED:
        kept.popitem(last=False)


def _target(task: Task, problem: Problem | None, profile: TaskProfile) -> Target:
    """The problem that policies select for. A task without a name is likened to others by its operations' words."""
    if problem is not None:
        return Target(problem.id, name_tokens(problem.name), problem.family, problem.level)
    return Target(
        task.problem_id,
        _operation_tokens(profile),
        profile.family or UNKNOWN_FAMILY,
        profile.level or UNKNOWN_LEVEL,
    )


def _operation_tokens(profile: TaskProfile) -> frozenset[str]:
    """Operations as problem names spell them: `conv_transpose3d` is `ConvTranspose3d`, `group_norm` is `GroupNorm`."""
    spelled = set()
    for name in profile.chain:
        spelled.add(SPELLINGS.get(name) or "".join(part[:1].upper() + part[1:] for part in name.split("_")))
    return frozenset(spelled)


SPELLINGS = {
    "gelu": "GELU",
    "relu": "ReLU",
    "leaky_relu": "LeakyReLU",
    "logsumexp": "LogSumExp",
    "hardswish": "HardSwish",
    "linear": "Gemm",
    "max_pool2d": "MaxPool",
    "max_pool3d": "MaxPool",
    "avg_pool2d": "AvgPool",
    "avg_pool3d": "AvgPool",
    "global_avg_pool": "GlobalAvgPool",
    "bias_add": "BiasAdd",
    "residual_add": "ResidualAdd",
    "scalar_multiply": "Scaling",
    "max_reduce": "Max",
    "min_reduce": "Min",
    "sum_reduce": "Sum",
    "mean_reduce": "Mean",
}
"""Operations whose spelling in problem names does not follow from their name in the vocabulary."""


def _words(task: Task, problem: Problem | None, profile: TaskProfile) -> str:
    """Words for the lexical index: the task's own, or its name; of code only the operations that were read from it."""
    parts = [task.text or "", problem.name.replace("_", " ") if problem else ""]
    parts.extend(name.replace("_", " ") for name in profile.chain)
    return " ".join(part for part in parts if part)
