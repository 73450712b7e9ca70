"""Bad problems, odd candidates, missing tools: a verdict every time, and the next kernel is judged fairly."""

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.verification import (
    CPU_LIMITS,
    Candidate,
    Job,
    RunRecord,
    read_candidate,
    read_problem,
    sandbox,
    verify,
    verify_many,
)
from app.verification.child import ChildFault
from app.verification.controls import run_controls
from app.verification.processes import marked
from app.verification.reference import Reference, ReferenceFault
from app.vocabulary import Verdict
from tests.verification.conftest import GALLERY, problem_named

pytestmark = pytest.mark.timeout(180)
OWN = f"tests-{uuid.uuid4().hex}"
GOOD = read_candidate(GALLERY / "good_scaled_gelu.py")
LIMITS = CPU_LIMITS.changed(reference_s=25.0)
HEAD = "import time, torch\nimport torch.nn as nn\n"
ADD_ONE = Candidate(
    b"import torch, triton\nimport torch.nn as nn\nimport triton.language as tl\n"
    b"@triton.jit\ndef add_one(x, out, BLOCK: tl.constexpr):\n"
    b"    place = tl.arange(0, BLOCK)\n    tl.store(out + place, tl.load(x + place) + 1.0)\n"
    b"class ModelNew(nn.Module):\n    def forward(self, x):\n"
    b"        out = torch.empty_like(x)\n        add_one[(1,)](x, out, BLOCK=8)\n        return out\n"
)
MODEL = "class Model(nn.Module):\n    def forward(self, x):\n        return x + 1\n"
INPUTS = "def get_inputs():\n    return [torch.rand(8)]\ndef get_init_inputs():\n    return []\n"
BAD_PROBLEMS = {
    "does not import": (HEAD + "import nothing_of_this_name\n", {}),
    "has a syntax error": ("def get_inputs(:\n", {}),
    "has no Model": (HEAD + INPUTS, {}),
    "has no get_inputs": (HEAD + MODEL + "def get_init_inputs():\n    return []\n", {}),
    "has a Model that is no module": (HEAD + "class Model:\n    pass\n" + INPUTS, {}),
    "allocates 500 GB": (HEAD + MODEL + INPUTS.replace("torch.rand(8)", "torch.ones(125_000_000_000)"), {}),
    "sleeps for ever": (HEAD + "time.sleep(1e6)\n" + MODEL + INPUTS, {"reference_s": 8.0}),
    "fails in forward": (HEAD + MODEL.replace("x + 1", "x @ x[:3]") + INPUTS, {}),
    "leaves the process": (HEAD + "import os\n" + MODEL.replace("x + 1", "os._exit(0)") + INPUTS, {}),
}


@pytest.fixture(autouse=True)
def mark_own_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH is passed on to an evaluator's children, so that a folder in it tells whose they are."""
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/{OWN}")


@pytest.fixture(scope="module")
def judged_problems(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RunRecord]:
    """The same sound candidate on every bad problem, two at a time."""
    folder = tmp_path_factory.mktemp("problems")
    jobs = []
    for number, (source, limits) in enumerate(BAD_PROBLEMS.values()):
        path = folder / f"problem_{number}.py"
        path.write_text(source)
        jobs.append(Job(read_problem(path), ADD_ONE, LIMITS.changed(**limits)))
    return dict(zip(BAD_PROBLEMS, verify_many(jobs, "cpu", LIMITS, workers=2), strict=True))


@pytest.mark.parametrize("fault", BAD_PROBLEMS)
def test_a_problem_at_fault_says_nothing_about_the_kernel(fault: str, judged_problems: dict[str, RunRecord]) -> None:
    record = judged_problems[fault]
    assert record.verdict is Verdict.INFRA_ERROR, record.detail
    assert record.detail.startswith(("problem: ", "reference: "))


def test_the_same_candidate_passes_once_the_problem_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    path.write_text(HEAD + MODEL + INPUTS)
    assert verify(read_problem(path), ADD_ONE, "cpu", LIMITS).verdict is Verdict.VERIFIED


ODD_SOURCES = {
    "empty": (b"", Verdict.STATIC_REJECTED),
    "utf-16": (GOOD.raw.decode().encode("utf-16"), Verdict.STATIC_REJECTED),
    "latin-1": (b"# caf\xe9\n" + GOOD.raw, Verdict.STATIC_REJECTED),
    "2.4 MB": (b"x = 1\n" * 400_000, Verdict.STATIC_REJECTED),
    "zero bytes": (b"\0" * 100, Verdict.COMPILE_ERROR),
    "1 MB": (GOOD.raw + b"\n# a long comment" * 60_000, Verdict.VERIFIED),
    "crlf": (GOOD.raw.replace(b"\n", b"\r\n"), Verdict.VERIFIED),
}


def test_odd_sources_get_a_verdict() -> None:
    jobs = [Job(problem_named("scaled_gelu_residual"), Candidate(raw, name)) for name, (raw, _) in ODD_SOURCES.items()]
    found = {record.candidate["name"]: record.verdict for record in verify_many(jobs, "cpu", LIMITS, workers=2)}
    assert found == {name: verdict for name, (_, verdict) in ODD_SOURCES.items()}


def test_a_good_kernel_right_after_a_fork_bomb_passes_and_nothing_is_left() -> None:
    problem = problem_named("scaled_gelu_residual")
    bomb = Job(problem, read_candidate(GALLERY / "fork_bomb.py"), LIMITS.changed(correctness_s=15))
    before = _program_count()
    bad, good = verify_many([bomb, Job(problem, GOOD, LIMITS)], "cpu", LIMITS, workers=1)
    assert bad.verdict in (Verdict.RUNTIME_ERROR, Verdict.TIMEOUT)
    assert good.verdict is Verdict.VERIFIED
    assert _program_count() == before


def test_a_killed_reference_is_no_fault_of_the_kernel_and_the_next_one_is_judged_fairly() -> None:
    slow = Candidate(b"import time\ntime.sleep(2)\n" + GOOD.raw, "slow")
    problem, killed = problem_named("scaled_gelu_residual"), threading.Event()

    def kill_the_reference() -> None:
        _wait_for(lambda: _programs("app.verification.reference_process"))
        for pid in _programs("app.verification.reference_process"):
            os.kill(pid, signal.SIGKILL)
        killed.set()

    killer = threading.Thread(target=kill_the_reference)
    killer.start()
    bad, good = verify_many([Job(problem, slow), Job(problem, GOOD)], "cpu", LIMITS, workers=1)
    killer.join()
    assert killed.is_set()
    assert (bad.verdict, good.verdict) == (Verdict.INFRA_ERROR, Verdict.VERIFIED)
    assert bad.detail.startswith("reference: the process ended")


def test_a_full_disk_is_no_fault_of_the_kernel_and_the_next_one_is_judged_fairly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    roomy, asked = tempfile.TemporaryDirectory, []

    def full_at_first(prefix: str, **options: bool) -> object:
        asked.append(prefix)
        if asked.count("kpb-candidate-") == 1 and prefix == "kpb-candidate-":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return roomy(prefix=prefix, **options)

    monkeypatch.setattr("app.verification.candidate.tempfile.TemporaryDirectory", full_at_first)
    problem = problem_named("scaled_gelu_residual")
    bad, good = verify_many([Job(problem, GOOD), Job(problem, GOOD)], "cpu", LIMITS, workers=1)
    assert (bad.verdict, good.verdict) == (Verdict.INFRA_ERROR, Verdict.VERIFIED)
    assert bad.detail == "host: [Errno 28] No space left on device"


@pytest.mark.parametrize(
    ("detail", "error_type", "is_lost"),
    [
        ("CUDA error: unspecified launch failure", "RuntimeError", True),
        ("No CUDA GPUs are available", "RuntimeError", True),
        ("CUDA error: out of memory", "OutOfMemoryError", False),
        ("mat1 and mat2 shapes cannot be multiplied", "RuntimeError", False),
    ],
)
def test_a_lost_gpu_is_told_from_a_problem_that_is_wrong(detail: str, error_type: str, is_lost: bool) -> None:
    assert ReferenceFault(ChildFault("error", detail, error_type)).is_device_fault is is_lost


def test_a_gpu_that_is_lost_under_the_reference_is_unhealthy_and_the_kernel_is_not_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    detail = "CUDA error: unspecified launch failure"

    def lost(self: Reference, seed: int) -> None:
        self.is_usable = False
        raise ReferenceFault(ChildFault("error", detail, "RuntimeError"))

    monkeypatch.setattr(Reference, "load", lost)
    record = verify(problem_named("scaled_gelu_residual"), GOOD, "cpu", LIMITS)
    assert (record.verdict, record.detail) == (Verdict.GPU_UNHEALTHY, f"reference: {detail}")


def test_a_cancelled_batch_begins_nothing_more() -> None:
    cancelled = threading.Event()
    cancelled.set()
    (record,) = verify_many([Job(problem_named("scaled_gelu_residual"), GOOD)], "cpu", LIMITS, cancelled=cancelled)
    assert record.verdict is Verdict.CANCELLED


def test_controls_pass_the_reference_and_fail_zeros() -> None:
    sound, degenerate = run_controls(
        [problem_named("rms_norm_residual"), problem_named("gallery/problems/tiny_outputs.py")], "cpu", LIMITS
    )
    assert (sound.reference.success, sound.zeros.success, sound.complaints) == (True, False, [])
    assert degenerate.zeros.verdict is Verdict.DEGENERATE_PROBLEM


def test_without_a_gpu_the_record_says_so() -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    record = verify(problem_named("scaled_gelu_residual"), GOOD, "cuda:0")
    assert record.verdict is Verdict.INFRA_ERROR
    assert "no CUDA device" in record.detail


def test_cuda_sources_without_a_gpu_are_no_fault_of_the_kernel() -> None:
    cuda = read_candidate(GALLERY / "good_shared_name.py")
    record = verify(problem_named("scaled_gelu_residual"), cuda, "cpu", LIMITS)
    assert record.verdict is Verdict.INFRA_ERROR
    assert "needs a GPU" in record.detail


def test_a_process_that_ends_before_it_was_given_the_candidate_is_no_fault_of_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("app.verification.candidate._MODULE", "this")
        record = verify(problem_named("scaled_gelu_residual"), GOOD, "cpu", LIMITS)
    assert record.verdict is Verdict.INFRA_ERROR
    assert "did not start" in record.detail


@pytest.fixture
def no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sandbox.shutil, "which", lambda program: None)
    sandbox.sandbox_kind.cache_clear()
    yield
    sandbox.sandbox_kind.cache_clear()


@pytest.mark.usefixtures("no_bubblewrap")
def test_without_bubblewrap_the_record_says_so_and_the_rest_holds() -> None:
    problem = problem_named("scaled_gelu_residual")
    names = ("good_scaled_gelu", "endless_loop_ignoring_signals", "grandchild")
    limits = LIMITS.changed(correctness_s=15)
    jobs = [Job(problem, read_candidate(GALLERY / f"{name}.py"), limits) for name in names]
    before = _program_count()
    records = verify_many(jobs, "cpu", limits, workers=2)
    expected = [Verdict.VERIFIED, Verdict.TIMEOUT, Verdict.SUSPICIOUS]
    assert [record.verdict for record in records] == expected
    assert {record.fingerprint["sandbox"] for record in records} == {"process-group"}
    assert _program_count() == before


@pytest.mark.usefixtures("no_bubblewrap")
def test_without_triton_the_record_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'triton':\n"
        "            raise ModuleNotFoundError('No module named triton', name='triton')\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    plain = sandbox.environment
    monkeypatch.setattr(
        "app.verification.child.environment",
        lambda cage: {**plain(cage), "PYTHONPATH": f"{tmp_path}:{plain(cage)['PYTHONPATH']}"},
    )
    record = verify(problem_named("scaled_gelu_residual"), GOOD, "cpu", LIMITS)
    assert record.verdict is Verdict.INFRA_ERROR
    assert "triton is not installed" in record.detail


needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@needs_bubblewrap
def test_a_listening_socket_of_the_host_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reach = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=3)\n"
        record = verify(problem_named("scaled_gelu_residual"), Candidate(reach.encode() + GOOD.raw), "cpu", LIMITS)
    assert record.verdict is Verdict.COMPILE_ERROR
    assert "ConnectionRefused" in record.detail


@needs_bubblewrap
def test_nothing_of_the_host_can_be_written_and_its_secrets_are_not_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PLAYBOOK_SECRET", "hunter2")
    target = Path(__file__).with_name("written_by_candidate")
    probe = (
        "import os\n"
        "if 'PLAYBOOK_SECRET' in os.environ:\n    raise RuntimeError('a secret')\n"
        f"for path in ({str(target)!r}, '/usr/written', '/dev/written', '/etc/written'):\n"
        "    try:\n        open(path, 'w')\n    except OSError:\n        continue\n"
        "    raise RuntimeError('wrote ' + path)\n"
    )
    record = verify(problem_named("scaled_gelu_residual"), Candidate(probe.encode() + GOOD.raw), "cpu", LIMITS)
    assert record.verdict is Verdict.VERIFIED, record.detail
    assert not target.exists()


def test_a_killed_judge_leaves_no_process_behind(tmp_path: Path) -> None:
    script = tmp_path / "judge.py"
    script.write_text(
        "from pathlib import Path\n"
        "from app.verification import CPU_LIMITS, read_candidate, read_problem, verify\n"
        f"problem = read_problem(Path({str(problem_named('scaled_gelu_residual').path)!r}))\n"
        f"candidate = read_candidate(Path({str(GALLERY / 'endless_loop_on_host.py')!r}))\n"
        "verify(problem, candidate, 'cpu', CPU_LIMITS)\n"
    )
    before = _program_count()
    judge = subprocess.Popen([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": str(sandbox.APP_ROOT)})
    _wait_for(lambda: _program_count() >= before + 2)
    judge.send_signal(signal.SIGKILL)
    judge.wait()
    _wait_for(lambda: _program_count() == before)


def _program_count() -> int:
    """Live processes that an evaluator of these tests started."""
    return len(_programs(""))


def _programs(word: str) -> list[int]:
    """Such processes whose command line has `word`; those of evaluators beside these tests do not count."""
    named = []
    for pid in marked(""):
        folder = Path(f"/proc/{pid}")
        with contextlib.suppress(OSError):
            is_own = OWN.encode() in (folder / "environ").read_bytes()
            if is_own and word.encode() in (folder / "cmdline").read_bytes():
                named.append(pid)
    return named


def _wait_for(condition: object, patience_s: float = 30.0) -> None:
    assert callable(condition)
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)
