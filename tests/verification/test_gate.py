"""One run is timed at a time, alone; whatever imports or compiles meanwhile stands still."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

from app.verification.gate import GpuGate


def reaches(pid: int, state: str) -> bool:
    """Whether the process is soon in that state: a signal is handled when its process is next scheduled."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == state:
            return True
        time.sleep(0.01)
    return False


def test_every_enrolled_process_but_the_timed_ones_stands_still_with_its_children() -> None:
    gate = GpuGate()
    command = ["/bin/sh", "-c", "sleep 30 & echo $!; wait"]
    shells = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    children = [int(shell.stdout.readline()) for shell in shells if shell.stdout is not None]
    try:
        for shell in shells:
            with gate.between_timings():
                gate.enrol(shell.pid)
        with gate.exclusive(shells[1].pid):
            assert reaches(shells[0].pid, "T")
            assert reaches(children[0], "T")
            assert reaches(shells[1].pid, "S")
            assert reaches(children[1], "S")
        for pid in (shells[0].pid, children[0]):
            assert reaches(pid, "S")
    finally:
        for child, shell in zip(children, shells, strict=True):
            os.kill(child, signal.SIGKILL)
            shell.kill()
            shell.communicate()


def test_no_process_starts_or_ends_while_a_run_is_timed() -> None:
    gate, order = GpuGate(), []
    timing, release = threading.Event(), threading.Event()

    def measure() -> None:
        with gate.exclusive():
            timing.set()
            release.wait(5)
            order.append("timed")

    def start() -> None:
        with gate.between_timings():
            order.append("started")

    def end() -> None:
        with gate.shared():
            order.append("ended")

    threads = [threading.Thread(target=measure)]
    threads[0].start()
    assert timing.wait(5)
    for target in (start, end):
        threads.append(threading.Thread(target=target))
        threads[-1].start()
    time.sleep(0.2)
    assert order == []
    release.set()
    for thread in threads:
        thread.join(5)
    assert (order[0], set(order[1:])) == ("timed", {"started", "ended"})


def test_timing_waits_for_preparations_and_goes_before_new_ones() -> None:
    gate, order = GpuGate(), []
    preparing = threading.Event()
    release = threading.Event()

    def prepare() -> None:
        with gate.shared():
            preparing.set()
            release.wait(5)
            order.append("prepared")

    def measure() -> None:
        with gate.exclusive():
            order.append("timed")

    def prepare_later() -> None:
        with gate.shared():
            order.append("prepared later")

    threads = [threading.Thread(target=prepare)]
    threads[0].start()
    assert preparing.wait(5)
    for target in (measure, prepare_later):
        threads.append(threading.Thread(target=target))
        threads[-1].start()
        time.sleep(0.2)
    release.set()
    for thread in threads:
        thread.join(5)
    assert order == ["prepared", "timed", "prepared later"]


def test_preparations_share_the_gpu() -> None:
    gate, inside = GpuGate(), threading.Barrier(3)

    def prepare() -> None:
        with gate.shared():
            inside.wait(5)

    threads = [threading.Thread(target=prepare) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not inside.broken
