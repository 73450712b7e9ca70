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


def test_a_pausable_process_and_its_children_stand_still_while_another_run_is_timed() -> None:
    gate = GpuGate()
    with subprocess.Popen(["/bin/sh", "-c", "sleep 30 & echo $!; wait"], stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        child = int(shell.stdout.readline())
        try:
            with gate.pausable(shell.pid):
                with gate.exclusive():
                    assert reaches(shell.pid, "T")
                    assert reaches(child, "T")
                assert reaches(shell.pid, "S")
                assert reaches(child, "S")
        finally:
            os.kill(child, signal.SIGKILL)
            shell.kill()


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
