"""All sides of a round are launched from one core, and from a quick one where there is one."""

import os
import subprocess
from collections.abc import Iterator

import pytest

from app.verification import cores
from app.verification.cores import OneCore

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
ALL = os.sched_getaffinity(0)


@pytest.fixture
def sleepers() -> Iterator[list[int]]:
    processes = [subprocess.Popen(["sleep", "60"]) for _ in range(2)]
    yield [process.pid for process in processes]
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture(autouse=True)
def locks_of_its_own(tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores.tempfile, "gettempdir", lambda: str(tmp_path))


def make_slow(monkeypatch: pytest.MonkeyPatch, slow: set[int]) -> None:
    """Lets the short loop take twice as long on some cores. The set may change later."""
    monkeypatch.setattr(cores, "_loop_seconds", lambda: 2e-3 if os.sched_getaffinity(0) <= slow else 1e-3)


def test_processes_share_one_core_while_it_is_held_and_are_put_back_after(sleepers: list[int]) -> None:
    with OneCore(sleepers) as core:
        assert not core.is_held
        core.renew()
        first, second = map(os.sched_getaffinity, sleepers)
        assert core.is_held
        assert first == second
        assert len(first) == 1
        assert os.sched_getaffinity(0) == ALL
    assert [os.sched_getaffinity(pid) for pid in sleepers] == [ALL, ALL]


def test_a_core_that_has_become_slow_is_left(sleepers: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    slow: set[int] = set()
    make_slow(monkeypatch, slow)
    with OneCore(sleepers) as core:
        core.renew()
        (before,) = os.sched_getaffinity(sleepers[0])
        core.renew()
        assert os.sched_getaffinity(sleepers[0]) == {before}
        slow.add(before)
        core.renew()
        assert os.sched_getaffinity(sleepers[0]) != {before}
        assert os.sched_getaffinity(sleepers[0]) == os.sched_getaffinity(sleepers[1])


def test_where_all_cores_are_slow_the_processes_are_on_one_all_the_same(
    sleepers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow: set[int] = set()
    make_slow(monkeypatch, slow)
    with OneCore(sleepers) as core:
        core.renew()
        slow |= ALL
        core.renew()
        assert core.is_held
        assert len(os.sched_getaffinity(sleepers[0])) == 1


def test_two_timings_of_one_host_never_hold_the_same_core(sleepers: list[int]) -> None:
    with OneCore(sleepers[:1]) as one, OneCore(sleepers[1:]) as other:
        for _ in range(20):
            one.renew()
            other.renew()
            assert os.sched_getaffinity(sleepers[0]).isdisjoint(os.sched_getaffinity(sleepers[1]))


def test_a_core_is_free_again_when_its_timing_is_over(sleepers: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    for _ in range(4):
        with OneCore(sleepers) as core:
            core.renew()
            assert core.is_held


@pytest.mark.parametrize("fault", [PermissionError, ProcessLookupError])
def test_where_processes_may_not_be_placed_timing_goes_on_without(
    fault: type[OSError], sleepers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_pid: int, _cores: set[int]) -> None:
        raise fault

    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    with OneCore(sleepers) as core:
        core.renew()
        assert not core.is_held


def test_a_process_that_is_gone_already_is_no_fault() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with OneCore([process.pid]) as core:
        core.renew()
        assert not core.is_held


def test_a_process_that_has_ended_no_longer_keeps_the_other_from_moving(
    sleepers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    slow: set[int] = set()
    make_slow(monkeypatch, slow)
    with subprocess.Popen(["sleep", "60"]) as ended, OneCore([sleepers[0], ended.pid]) as core:
        core.renew()
        (before,) = os.sched_getaffinity(sleepers[0])
        ended.kill()
        ended.wait()
        core.leave(ended.pid)
        slow.add(before)
        core.renew()
        assert core.is_held
        assert os.sched_getaffinity(sleepers[0]) != {before}


def test_where_one_process_cannot_be_placed_none_is(sleepers: list[int]) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    core = OneCore(sleepers)
    with core:
        core.renew()
        core._pids = [sleepers[0], ended.pid]
        core._move()
        assert not core.is_held
        assert os.sched_getaffinity(sleepers[0]) == ALL
