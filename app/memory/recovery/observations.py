"""The contexts of a document, parsed, each with the policy, reader and problem that it was rendered for."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from app.memory.formats.contexts import NotAContext, ParsedContext, parse_context
from app.memory.policies import POLICIES, Layout, Policy
from app.records import LineFault, Problem

Document = Mapping[str, Mapping[str, Mapping[str, str]]]
"""policy -> reader -> problem id -> rendered context."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One parsed kernel memory."""

    policy: Policy
    reader: str
    problem: Problem
    context: ParsedContext


@dataclass(slots=True)
class Observations:
    """Everything that a document shows, by kind of context."""

    memories: list[Observation] = field(default_factory=list)
    """Kernel memories, in the document's order."""
    texts: dict[Layout, dict[tuple[str, str, str], str]] = field(default_factory=lambda: defaultdict(dict))
    """Contexts of the other layouts: (policy, reader, problem id) -> text."""
    readers: list[str] = field(default_factory=list)
    faults: list[LineFault] = field(default_factory=list)

    def of(self, *policies: str) -> Iterator[Observation]:
        """The kernel memories of the named policies."""
        return (seen for seen in self.memories if seen.policy.name in policies)

    def by_place(self, policy: str) -> dict[tuple[str, str], Observation]:
        """(reader, problem id) -> the kernel memory that the policy shows there."""
        return {(seen.reader, seen.problem.id): seen for seen in self.of(policy)}


def observe(document: Document, problems: Mapping[str, Problem], file: str) -> Observations:
    """Parses every context; what cannot be read is a fault that names policy, reader and problem."""
    found = Observations()
    for policy_name, reader, problem_id, text in _leaves(document):
        place = f"{policy_name} / {reader} / {problem_id}"
        policy, problem = POLICIES.get(policy_name), problems.get(problem_id)
        if policy is None or problem is None:
            missing = f"policy {policy_name!r}" if policy is None else f"problem {problem_id!r}"
            found.faults.append(LineFault(file, 0, f"{place}: unknown {missing}; the context was not read"))
            continue
        if reader not in found.readers:
            found.readers.append(reader)
        if policy.layout is not Layout.KERNEL_MEMORY:
            found.texts[policy.layout][policy_name, reader, problem_id] = text
            continue
        try:
            found.memories.append(Observation(policy, reader, problem, parse_context(text)))
        except NotAContext as fault:
            found.faults.append(LineFault(file, 0, f"{place}: {fault}"))
    return found


def _leaves(document: Document) -> Iterable[tuple[str, str, str, str]]:
    for policy, readers in document.items():
        for reader, contexts in readers.items():
            for problem, text in contexts.items():
                yield policy, reader, problem, text
