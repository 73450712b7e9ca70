"""Rules of the house that a machine can check."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from app.memory.formats import corpus_file
from app.settings import Settings
from tests.conftest import ROOT

LONGEST_FILE = 300
LONGEST_FUNCTION = 45
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_files_have_one_subject_and_functions_one_screen() -> None:
    too_long = []
    for path in sources("app", "eval"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > LONGEST_FILE:
            too_long.append(f"{path.relative_to(ROOT)}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                length = node.end_lineno - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    too_long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {length} lines")
    assert too_long == []


def test_no_module_is_named_after_nothing() -> None:
    assert [path for path in sources("app", "eval", "tests") if path.stem in FORBIDDEN_NAMES] == []


def test_broad_excepts_stand_only_where_child_processes_are_guarded() -> None:
    broad = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sources("app")
        if "verification" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
    ]
    assert broad == []


def test_the_environment_is_read_by_settings_alone() -> None:
    readers = [
        str(path.relative_to(ROOT))
        for path in sources("app")
        # A judged process finds its own folder there; it has no settings.
        if "verification" not in path.parts
        and re.search(r"os\.environ\[|os\.getenv|environ\.get", path.read_text(encoding="utf-8"))
    ]
    assert readers == []


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    missing = [name for name in Settings.model_fields if f"PLAYBOOK_{name.upper()}" not in page]
    assert missing == []


def test_every_command_is_documented() -> None:
    from app.cli.main import app

    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    commands = [
        command.name or (command.callback.__name__ if command.callback else "") for command in app.registered_commands
    ]
    assert [name for name in commands if f"playbook {name}" not in page] == []


def test_every_policy_is_documented() -> None:
    from app.memory.policies import POLICIES

    page = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8")
    assert [name for name in POLICIES if f"`{name}`" not in page] == []


def test_the_schema_of_corpus_files_is_the_one_that_is_read() -> None:
    written = json.loads((ROOT / "bullets" / "schema.json").read_text(encoding="utf-8"))
    assert written == corpus_file.schema()


def test_every_starter_file_fits_the_schema() -> None:
    import jsonschema
    import yaml

    schema = corpus_file.schema()
    files = [path for path in sorted((ROOT / "bullets").rglob("*.md")) if path.name != "README.md"]
    assert len(files) >= 15
    for path in files:
        front = path.read_text(encoding="utf-8").split("---\n")[1]
        jsonschema.validate(yaml.safe_load(front), schema)


def test_the_project_speaks_of_itself_alone() -> None:
    banned = re.compile(r"/tmp/[a-z]|/work/|/root/|\bsession'?s? (?:time|budget)|this workplace|index-url", re.I)
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for pattern in ("app/**/*.py", "docs/*.md", "*.md", "eval/**/*.py", "bullets/**/*.md", "Makefile")
        for path in ROOT.glob(pattern)
        if (match := banned.search(path.read_text(encoding="utf-8")))
    ]
    assert found == []
