"""The package stands alone, the judge needs no torch, and the document knows every constant."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import app.verification
from app.verification import protocol
from app.verification.__main__ import main
from tests.verification.conftest import GALLERY, PROBLEMS

PACKAGE = Path(app.verification.__file__).parent
ROOT = PACKAGE.parents[1]
ALLOWED = {"app.errors", "app.vocabulary", "app.verification", "torch", "numpy", "triton"}


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.stem)
def test_a_module_imports_the_standard_library_torch_and_two_modules_of_app(path: Path) -> None:
    for name in imports_of(path):
        top = name.split(".")[0]
        assert top in sys.stdlib_module_names or any(name == a or name.startswith(a + ".") for a in ALLOWED), name


def test_the_judge_does_not_import_torch() -> None:
    probe = "import sys, app.verification, app.verification.controls; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=False).returncode == 0


def test_the_document_gives_every_constant_with_its_present_value() -> None:
    text = (ROOT / "docs" / "verification.md").read_text(encoding="utf-8")
    for name, value in vars(protocol).items():
        if name.isupper() and isinstance(value, int | float):
            assert f"`{name}` = {value:,}".replace(",", " ") in text or f"`{name}` = {value}" in text, name


def test_the_file_form_prints_one_record_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    problem, candidate = PROBLEMS / "scaled_gelu_residual.py", GALLERY / "no_entry_point.py"
    assert main(["--problem", str(problem), "--candidate", str(candidate), "--cpu", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "static_rejected"


def test_a_bundle_prints_a_list_of_records(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    entry = {"problem": str(PROBLEMS / "row_argmax.py"), "candidate": str(GALLERY / "class_named_model.py")}
    (tmp_path / "bundle.json").write_text(json.dumps([entry, entry]))
    assert main(["--bundle", str(tmp_path), "--cpu", "--json"]) == 0
    assert [record["verdict"] for record in json.loads(capsys.readouterr().out)] == ["static_rejected"] * 2


def test_a_missing_file_is_status_1_and_missing_arguments_are_status_2(tmp_path: Path) -> None:
    assert main(["--problem", str(tmp_path / "no.py"), "--candidate", str(tmp_path / "no.py"), "--cpu"]) == 1
    with pytest.raises(SystemExit) as ending:
        main(["--cpu"])
    assert ending.value.code == 2


def test_a_bundle_on_all_gpus_without_any_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"problem": str(PROBLEMS / "row_argmax.py"), "candidate": str(GALLERY / "class_named_model.py")}
    (tmp_path / "bundle.json").write_text(json.dumps([entry]))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--bundle", str(tmp_path), "--gpu", "all"]) == 1
    assert "no GPU" in capsys.readouterr().err
