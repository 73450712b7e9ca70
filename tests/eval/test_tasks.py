"""Tasks for benchmarks: no two alike, understood in the wordings that name operations."""

import ast
import itertools

from app.memory.task import read_task
from eval.tasks import problems, tasks


def test_no_two_tasks_are_alike_and_a_seed_gives_the_same_ones() -> None:
    first, second = (list(itertools.islice(tasks(seed=5), 300)) for _ in range(2))
    assert first == second
    for wording in ("code", "prose", "terse", "paraphrase"):
        assert len({getattr(task, wording) for task in first}) == 300


def test_modules_parse_and_are_read_as_what_they_compute() -> None:
    for task in itertools.islice(tasks(seed=6), 40):
        ast.parse(task.code)
        profile = read_task(None, task.code)
        assert profile.confidence >= 0.8, task.code
        assert len(profile.operations) >= 2


def test_problems_have_ids_and_names_of_their_own() -> None:
    made = problems(20)
    assert len({problem.id for problem in made}) == 20
    assert all("(" not in problem.name for problem in made)
