"""A child process as the judge sees it: ask it something within a time, learn how it failed, end it."""

import contextlib
import fcntl
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
from typing import Any

from app.verification import processes
from app.verification.cgroup import Cgroup, open_cgroup
from app.verification.protocol import CHUNK_BYTES
from app.verification.sandbox import Cage, command, environment
from app.verification.wire import GarbledRecord, Wire

POLL_S = 0.05
TAIL_BYTES = 8192
WATCH_S = 0.25
"""How often a waiting judge counts the child's processes; a pass over /proc costs milliseconds."""


class ChildFault(Exception):
    """A child did not answer as it should.

    `kind` is one of error, timeout, died, flooded, too_many_processes, out_of_memory, garbled; `error_type` names the
    exception inside the child where there was one.
    """

    def __init__(self, kind: str, detail: str, error_type: str = "") -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail
        self.error_type = error_type


def new_chunk_fd() -> int:
    """A fresh anonymous shared file of CHUNK_BYTES. Its pages take memory only when they are used.

    Its size is sealed: cut short by a candidate, it would end the reference's process at its next access.
    """
    fd = os.memfd_create("chunk", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, CHUNK_BYTES)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    return fd


class Child:
    """One process that answers records, held in a cage."""

    def __init__(self, module: str, cage: Cage, chunk_fd: int) -> None:
        ours, theirs = socket.socketpair()
        self.cage = cage
        self.wire = Wire(ours)
        self.cgroup: Cgroup | None = (
            open_cgroup(cage.limits.host_memory, cage.limits.processes) if cage.isolated else None
        )
        program = [sys.executable, "-m", module, str(theirs.fileno()), str(chunk_fd)]
        self.process = subprocess.Popen(
            command(cage, program, self.cgroup),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(cage),
            pass_fds=(theirs.fileno(), chunk_fd),
            start_new_session=True,
            cwd=cage.scratch,
        )
        theirs.close()
        self.printed = 0
        self._tail = b""
        self._watched = 0.0
        self._drain = threading.Thread(target=self._read_output, daemon=True)
        self._drain.start()

    def ask(self, op: str, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        """Send one request and wait for its one answer. Raises ChildFault."""
        self.send(op, **arguments)
        return self.answer(timeout_s)

    def send(self, op: str, **arguments: Any) -> None:
        """Send one request without waiting. Raises ChildFault when an unasked record is there already."""
        if self.wire.has_leftovers:
            raise ChildFault("garbled", "a record that nobody asked for")
        self._asked = secrets.token_hex(8)
        try:
            self.wire.send({"id": self._asked, "op": op, **arguments})
        except OSError:
            raise self._ended() from None

    def answer(self, timeout_s: float) -> dict[str, Any]:
        """Wait for the answer to the last request. Raises ChildFault."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                record = self.wire.poll()
            except GarbledRecord as fault:
                raise ChildFault("garbled", str(fault)) from None
            if record is not None:
                return self._opened(record)
            self._watch()
            left = deadline - time.monotonic()
            if left <= 0:
                raise ChildFault("timeout", f"no answer within {timeout_s:g} s")
            ready, _, _ = select.select([self.wire.sock], [], [], min(POLL_S, left))
            if ready:
                try:
                    alive = self.wire.fill()
                except OSError:
                    alive = False
                if not alive:
                    raise self._ended()

    def program(self) -> int:
        """Process id of the program itself, inside whatever cages it."""
        chain = [self.process.pid, *processes.descendants(self.process.pid)]
        return next((pid for pid in chain if not _is_cage(pid)), self.process.pid)

    def processes_below(self) -> int:
        """Live processes that the child's program started and that still run."""
        found = set(processes.descendants(self.process.pid)) | set(processes.marked(self.cage.nonce))
        programs = [pid for pid in found | {self.process.pid} if not _is_cage(pid)]
        return max(0, len(programs) - 1)

    def close(self) -> bool:
        """End everything the child started. True when no process is left."""
        gone = processes.end_all(self.process.pid, self.cage.nonce)
        if self.cgroup is not None:
            self.cgroup.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2)
        self._drain.join(timeout=1)
        self.wire.sock.close()
        if self.process.stdout is not None and not self._drain.is_alive():
            self.process.stdout.close()
        return gone

    @property
    def output_tail(self) -> str:
        """The end of what the child printed, for a person to read; nothing is ever parsed from it."""
        return self._tail.decode("utf-8", "replace")[-2000:]

    def _opened(self, record: dict[str, Any]) -> dict[str, Any]:
        if record.get("id") != self._asked:
            raise ChildFault("garbled", "an answer to no question")
        if "error" in record:
            error = record["error"]
            if not isinstance(error, dict):
                raise ChildFault("garbled", "an error without content")
            raise ChildFault("error", str(error.get("text", ""))[:2000], str(error.get("type", ""))[:200])
        value = record.get("ok")
        if not isinstance(value, dict):
            raise ChildFault("garbled", "an answer without content")
        return value

    def _watch(self) -> None:
        limits = self.cage.limits
        if self.printed > limits.output_bytes:
            raise ChildFault("flooded", f"printed more than {limits.output_bytes} bytes")
        if self.cgroup is not None or not self.cage.isolated:
            return  # The kernel counts processes itself, or the program is the evaluator's own.
        now = time.monotonic()
        if now - self._watched < WATCH_S:
            return
        self._watched = now
        if len(processes.descendants(self.process.pid)) > limits.processes:
            raise ChildFault("too_many_processes", f"more than {limits.processes} processes")

    def _ended(self) -> ChildFault:
        """Why the stream ended: read after the process is gone, so that its status is known."""
        try:
            status: int | None = self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            status = None
        if self.cgroup is not None and self.cgroup.was_killed_for_memory():
            return ChildFault("out_of_memory", "ended by the kernel at the memory cap")
        if self.printed > self.cage.limits.output_bytes:
            return ChildFault("flooded", f"printed more than {self.cage.limits.output_bytes} bytes")
        how = "closed its wire" if status is None else f"ended with status {status}"
        return ChildFault("died", f"the process {how} without an answer")

    def _read_output(self) -> None:
        stream = self.process.stdout
        if stream is None:
            return
        while data := os.read(stream.fileno(), 1 << 16):
            self.printed += len(data)
            self._tail = (self._tail + data)[-TAIL_BYTES:]
            if self.printed > self.cage.limits.output_bytes:
                time.sleep(0.01)


def _is_cage(pid: int) -> bool:
    """Whether the process is the sandbox around the program (or gone already)."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[0].endswith(b"bwrap")
    except OSError:
        return True
