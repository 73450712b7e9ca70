"""A bundle leaves, is judged by a bare Python elsewhere, and comes back: whole, once, and only as it was written."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from app.errors import Conflict, EditedBundle, InvalidInput, UnreadableImport
from app.retrieval.hashing import HashingEmbedder
from app.services import curation
from app.services.bundle_export import export_bundle
from app.services.bundle_import import import_bundle
from app.services.curation import Curator
from app.settings import Settings
from app.store import corpus, facts, items
from app.store.database import Database
from app.verification import Figures, RunRecord
from app.verification.bundle import MANIFEST, RESULTS, open_bundle, read_manifest, sealed
from app.verification.facts import CaseFact, CheckFact, Facts, LaunchFact, TimingFact
from app.verification.rejudge import contradiction, facts_of
from app.verification.verdict import figures_of
from app.vocabulary import Verdict
from tests.conftest import ROOT
from tests.service.processes import command
from tests.verification.conftest import PROBLEMS

pytestmark = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("triton")), reason="torch or triton is not installed"
)

ADDED = "softmax_temperature"
"""Problem of the kernel that the bundle orders."""


@pytest.fixture
def starter(starter_settings: Settings) -> Iterator[Database]:
    opened = Database(starter_settings)
    yield opened
    opened.dispose()


def kernel_of(database: Database, problem: str = ADDED) -> str:
    with database.read() as session:
        found = [item for item in corpus.items_since(session, -1) if item.kernel and item.source_problem == problem]
    return found[0].id


def run_alone(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Starts run.sh with a bare environment, as a host has that holds nothing of this project."""
    bare = {"PATH": os.environ["PATH"], "PYTHON": sys.executable}
    return subprocess.run(
        ["sh", str(folder / "run.sh"), "--cpu", "--workers", "1", *options],
        env=bare,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def judged(_starter_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of one kernel that was exported, judged by its own copy of the evaluator, and not yet imported."""
    folder = tmp_path_factory.mktemp("judged") / "bundle"
    var = tmp_path_factory.mktemp("exporting") / "var"
    shutil.copytree(_starter_folder, var)
    database = Database(Settings(var_dir=var))
    export_bundle(database, folder, [kernel_of(database)], [PROBLEMS])
    database.dispose()
    done = run_alone(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def bundle(judged: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may spoil."""
    return Path(shutil.copytree(judged, tmp_path / "bundle"))


def rewritten(bundle: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """The result with something changed by somebody who knows how to seal it."""
    manifest = read_manifest((bundle / MANIFEST).read_bytes())
    line = json.loads((bundle / RESULTS).read_bytes())
    change(line["record"])
    record = RunRecord.from_json(line["record"])
    (bundle / RESULTS).write_bytes(sealed(manifest.digest, line["item_id"], record))


def stored(database: Database) -> list[Any]:
    with database.read() as session:
        return facts.runs(session)


def test_a_run_comes_back_with_all_figures_and_evidence_and_only_once(starter: Database, bundle: Path) -> None:
    record = json.loads((bundle / RESULTS).read_bytes())["record"]
    first, again = import_bundle(starter, bundle), import_bundle(starter, bundle)
    (run,) = stored(starter)
    assert (len(first.stored), first.known, len(again.stored), again.known) == (1, 0, 0, 1)
    assert (run.item_id, run.verdict, run.hardware) == (kernel_of(starter), "verified", "cpu-interpreter")
    kept = {name: record[name] for name in ("figures", "flags", "detail", "evidence", "phases", "seconds")}
    assert (run.figures, run.fingerprint) == (kept, record["fingerprint"])
    with starter.read() as session:
        assert corpus.facts(session).measurements["cpu-interpreter"][run.item_id].verdict == "verified"


def test_a_second_start_judges_nothing_again_and_goes_on_after_a_torn_line(bundle: Path) -> None:
    whole = (bundle / RESULTS).read_bytes()
    (bundle / RESULTS).write_bytes(whole + whole[:100])
    assert open_bundle(bundle).waiting == []
    assert (bundle / RESULTS).read_bytes() == whole
    assert run_alone(bundle).returncode == 0
    assert (bundle / RESULTS).read_bytes() == whole
    (bundle / RESULTS).write_bytes(whole[:-20])
    assert [work.problem_id for work in open_bundle(bundle).waiting] == [ADDED]


def test_a_full_disk_ends_a_run_with_its_reason_and_counts_nothing_as_judged(bundle: Path) -> None:
    opened = open_bundle(bundle)
    record = opened.judged.popitem()[1]
    (bundle / RESULTS).unlink()
    (bundle / RESULTS).symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        opened.keep(opened.manifest.work[0], record)
    assert len(opened.waiting) == 1


def test_the_bundle_runs_the_evaluator_that_it_carries(bundle: Path) -> None:
    with (bundle / "app/verification/protocol.py").open("a") as file:
        file.write("\n")
    done = run_alone(bundle)
    assert done.returncode == 1
    assert "app/verification/protocol.py was edited since the export" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda record: record.update(verdict="incorrect_value"), "it says incorrect_value, its evidence verified"),
        (lambda record: record["evidence"]["cases"][0].update(mismatch="value"), "its evidence incorrect_value"),
        (lambda record: record["evidence"].pop("cases"), "cannot be judged"),
        (lambda record: record.update(flags=["x"]), "flags"),
        (lambda record: record.update(device="cuda:0"), "its device"),
        (lambda record: record["candidate"].update(sha256="0" * 64), "another code"),
        (lambda record: record["problem"].update(sha256="0" * 64), "another problem"),
        (lambda record: record["fingerprint"].update(evaluator="1-000000000000"), "another evaluator"),
        (lambda record: record.update(started_at="yesterday"), "when it was made"),
    ],
)
def test_a_run_that_contradicts_itself_or_its_order_is_refused_however_well_it_is_sealed(
    starter: Database, bundle: Path, change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    rewritten(bundle, change)
    with pytest.raises(EditedBundle, match=reason):
        import_bundle(starter, bundle)
    assert stored(starter) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        (RESULTS, b'"seconds": ', b'"seconds": 1', "its seal does not fit"),
        (RESULTS, b'"record"', b'"recort"', "is no result of a run"),
        (MANIFEST, b"softmax_temperature", b"layer_norm_silu", "belongs to another bundle"),
        (MANIFEST, b'"evaluator": "2-', b'"evaluator": "1-', "Runs of different evaluators do not compare"),
    ],
)
def test_an_edited_bundle_is_refused_with_a_clear_message(
    starter: Database, bundle: Path, file: str, old: bytes, new: bytes, reason: str
) -> None:
    content = (bundle / file).read_bytes()
    assert old in content
    (bundle / file).write_bytes(content.replace(old, new))
    with pytest.raises(EditedBundle, match=reason):
        import_bundle(starter, bundle)
    assert stored(starter) == []


def edited_kernel(database: Database, item_id: str, **changes: Any) -> None:
    curator = Curator(database, HashingEmbedder(), "ada")
    with database.read() as session:
        item = items.get(session, item_id)
    assert item is not None and item.kernel is not None
    curation.edit(curator, item_id, item.version, changes or {"kernel_source": item.kernel.source + "\n# faster\n"})


def test_a_run_of_code_that_was_changed_since_is_kept_reported_and_counts_for_nothing(
    starter: Database, bundle: Path
) -> None:
    item_id = kernel_of(starter)
    edited_kernel(starter, item_id)
    done = import_bundle(starter, bundle)
    assert "code is that of version 1, the kernel is at version 2" in done.apart[item_id]
    (run,) = stored(starter)
    assert (run.verdict, bool(run.figures["evidence"])) == ("verified", True)
    with starter.read() as session:
        assert corpus.facts(session).measurements == {}


def test_a_run_of_another_problem_than_the_kernel_has_now_is_kept_apart(starter: Database, bundle: Path) -> None:
    item_id = kernel_of(starter)
    edited_kernel(starter, item_id, source_problem="rms_norm_residual")
    assert "belonged to softmax_temperature" in import_bundle(starter, bundle).apart[item_id]
    (run,) = stored(starter)
    assert (run.verdict, run.speedup) == ("cancelled", None)
    assert run.figures["on_former_problem"]["verdict"] == "verified"
    with starter.read() as session:
        assert corpus.facts(session).measurements == {}


def test_a_bundle_of_another_playbook_is_refused(database: Database, bundle: Path) -> None:
    with pytest.raises(EditedBundle, match="another one than this playbook knows"):
        import_bundle(database, bundle)


def test_an_archive_travels_like_a_folder_and_nothing_of_it_is_unpacked(
    starter: Database, bundle: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "back.tar"
    with tarfile.open(archive, "w") as out:
        out.add(bundle, "bundle")
        evil = tarfile.TarInfo("../evil")
        out.addfile(evil)
    assert len(import_bundle(starter, archive).stored) == 1
    assert not (tmp_path.parent / "evil").exists()


def test_an_exported_archive_holds_what_the_folder_holds(starter: Database, tmp_path: Path) -> None:
    exported = export_bundle(starter, tmp_path / "out.tar", None, [PROBLEMS])
    with tarfile.open(tmp_path / "out.tar") as archive:
        names = {member.name for member in archive}
        assert {name.partition("/")[0] for name in names} == {"out"}
        archive.extractall(tmp_path, filter="data")
    work = open_bundle(tmp_path / "out").waiting
    assert [entry.item_id for entry in work] == exported.item_ids
    assert len(work) >= 14
    assert exported.left_out == []
    assert os.access(tmp_path / "out" / "run.sh", os.X_OK)
    with pytest.raises(UnreadableImport, match="was the bundle run"):
        import_bundle(starter, tmp_path / "out.tar")
    with pytest.raises(Conflict, match="is there already"):
        export_bundle(starter, tmp_path / "out.tar", None, [PROBLEMS])


def test_without_problem_files_there_is_no_bundle(starter: Database, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--problems"):
        export_bundle(starter, tmp_path / "out", None, [tmp_path])
    assert not (tmp_path / "out").exists()


def test_the_commands_do_the_same(starter_settings: Settings, bundle: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "another")
    exported = command(starter_settings, "verify-bundle", "export", target, "--kernel", "kpb-99999")
    assert (exported.returncode, b"There is no kernel kpb-99999" in exported.stderr) == (1, True)
    assert command(starter_settings, "verify-bundle", "export", target, "--all").returncode == 0
    ran = command(starter_settings, "verify-bundle", "run", str(bundle), "--cpu", "--json")
    assert [record["verdict"] for record in json.loads(ran.stdout).values()] == ["verified"]
    back = json.loads(command(starter_settings, "verify-bundle", "import", str(bundle), "--json").stdout)
    assert ([run["verdict"] for run in back["stored"]], back["known"]) == (["verified"], 0)
    nothing = command(starter_settings, "verify-bundle", "import", target)
    assert (nothing.returncode, b"Run it first" in nothing.stderr) == (1, True)


def timed_record() -> RunRecord:
    """A record as a GPU gives one."""
    timing = TimingFact([2.0, 2.1, 1.9], [], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], 0.0, 1.0, 0.0, [CheckFact()])
    launch = LaunchFact(True, 900.0, 1000.0, {"k": 900.0}, {"k": 1}, 1, False)
    cases = [CaseFact("initial weights", worst=0.5)]
    evidence = Facts(declared_kernels=["k"], cases=cases, launch=launch, timing=timing, on_gpu=True)
    return RunRecord(
        problem={}, candidate={}, device="cuda:0", verdict=Verdict.VERIFIED, detail="", flags=[],
        figures=figures_of(evidence), evidence={**asdict(evidence), "printed": ""}, fingerprint={},
        started_at="2026-11-30T00:00:00+00:00", seconds=1.0,
    )  # fmt: skip


def test_figures_have_to_follow_from_the_readings() -> None:
    record = timed_record()
    travelled = RunRecord.from_json(json.loads(json.dumps(record.to_json())))
    assert facts_of(travelled.evidence) == facts_of(record.evidence)
    assert contradiction(travelled) == ""
    assert record.figures is not None
    better = replace(record.figures, speedup=3.0, speedup_hi95=3.0, score=3.0)
    assert "figures do not follow" in contradiction(replace(record, figures=Figures(**asdict(better))))
    assert "figures do not follow" in contradiction(replace(record, figures=None))


def test_the_bundle_carries_all_that_the_evaluator_needs(judged: Path) -> None:
    carried = {path.relative_to(judged / "app") for path in (judged / "app").rglob("*.py")}
    package = {path.relative_to(ROOT / "app") for path in (ROOT / "app" / "verification").glob("*.py")}
    assert carried == package | {Path("__init__.py"), Path("errors.py"), Path("vocabulary.py")}
