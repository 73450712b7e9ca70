"""playbook verify: real kernels of the starter corpus, judged in the interpreter by real child processes."""

import json
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from app.records import Run
from app.settings import Settings
from app.store import corpus, facts
from app.store.database import Database
from tests.conftest import ROOT
from tests.service.processes import command, started

pytestmark = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("triton")), reason="torch or triton is not installed"
)

SOFTMAX = ("softmax_temperature.py", "softmax-temperature.md")


def test_a_kernel_is_judged_and_its_run_kept(starter_settings: Settings) -> None:
    database = Database(starter_settings)
    with database.read() as session:
        kernels = [item for item in corpus.items_since(session, -1) if item.kernel]
    kernel = next(item for item in kernels if item.source_problem == "softmax_temperature")
    done = command(starter_settings, "verify", "--kernel", kernel.id, "--cpu", "--json")
    assert done.returncode == 0, done.stderr.decode()
    assert f"1 of 1: {kernel.id} verified".encode() in done.stderr
    record = json.loads(done.stdout)[0]["run"]
    assert (record["verdict"], record["figures"], record["device"]) == ("verified", None, "cpu-interpreter")
    with database.read() as session:
        runs = facts.runs(session)
        measured = corpus.facts(session).measurements["cpu-interpreter"]
    assert [(run.item_id, run.verdict, run.speedup) for run in runs] == [(kernel.id, "verified", None)]
    assert measured[kernel.id].verdict == "verified"
    database.dispose()


def test_a_batch_that_is_killed_keeps_the_runs_that_were_finished(starter_settings: Settings) -> None:
    database = Database(starter_settings)
    with database.read() as session:
        kernels = [item.id for item in corpus.items_since(session, -1) if item.kernel]
    process = started(starter_settings, "verify", "--cpu", *(part for name in kernels for part in ("--kernel", name)))
    deadline = time.monotonic() + 100
    found: list[Run] = []
    while not found and time.monotonic() < deadline:
        time.sleep(0.1)
        with database.read() as session:
            found = facts.runs(session)
    process.kill()
    process.wait()
    assert 0 < len(found) < len(kernels)
    assert all(run.verdict == "verified" for run in found)
    database.dispose()


def test_a_kernel_whose_problem_is_not_at_hand_is_not_judged(starter_settings: Settings, tmp_path: Path) -> None:
    database = Database(starter_settings)
    with database.read() as session:
        kernel = next(item for item in corpus.items_since(session, -1) if item.kernel)
    changed = tmp_path / f"{kernel.source_problem}.py"
    changed.write_text("# another file under the same name\n")
    done = command(starter_settings, "verify", "--kernel", kernel.id, "--cpu", "--problems", str(tmp_path))
    assert b"not judged" in done.stdout
    with database.read() as session:
        assert facts.runs(session) == []
    database.dispose()


def test_a_file_is_judged_without_a_database(settings: Settings, tmp_path: Path) -> None:
    problem, kernel = ROOT / "bullets" / "problems" / SOFTMAX[0], ROOT / "bullets" / "kernels" / SOFTMAX[1]
    good, zeros = tmp_path / "good.py", tmp_path / "zeros.py"
    good.write_text(kernel.read_text(encoding="utf-8").split("```python\n")[1].split("\n```")[0])
    zeros.write_text(
        "import torch\nimport torch.nn as nn\n\n\nclass ModelNew(nn.Module):\n"
        "    def __init__(self, *args):\n        super().__init__()\n\n"
        "    def forward(self, x):\n        return torch.zeros_like(x)\n"
    )
    verdicts = [
        json.loads(
            command(settings, "verify", "--problem", str(problem), "--candidate", str(path), "--cpu", "--json").stdout
        )["verdict"]
        for path in (good, zeros)
    ]
    assert verdicts[0] == "verified"
    assert verdicts[1] in ("incorrect_value", "no_custom_kernel")
    assert not settings.var_dir.exists()


@pytest.mark.parametrize("arguments", [[], ["--kernel", "ker-99999", "--cpu"], ["--all", "--kernel", "x"]])
def test_wrong_usage_is_explained(starter_settings: Settings, arguments: list[str]) -> None:
    done = command(starter_settings, "verify", *arguments)
    assert done.returncode in (1, 2)
    assert b"Traceback" not in done.stderr
    assert b"error" in done.stderr
