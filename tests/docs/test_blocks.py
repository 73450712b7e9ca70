"""Every code block of README and docs/ is run against a real server, parsed, or says why it cannot be."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from app.services.keys import create_key
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import EmbedderName, Scope
from tests.conftest import ROOT
from tests.docs.blocks import Block, blocks_of
from tests.service.processes import environment, servers

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WITH_CODE = [page for page in PAGES if any(block.language != "text" for block in blocks_of(page))]
NOT_RUN = {
    "README.md": 1,
    "docs/howto/gpu-hosts.md": 3,
    "docs/operations.md": 2,
    "docs/quickstart.md": 3,
    "docs/verification.md": 2,
}
"""Page -> blocks that say why they are not run. A new one has to be counted here."""


@dataclass(frozen=True)
class Workplace:
    """A server, and what a reader of the documentation has at hand."""

    url: str
    folder: Path
    variables: Mapping[str, str]

    def run(self, block: Block) -> str:
        """What a block prints; it has to end well."""
        code = block.code.replace("127.0.0.1:8080", self.url.removeprefix("http://")).replace(".venv/bin/", "")
        if block.language == "python":
            return self._run_python(block, code)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code],
            cwd=self.folder,
            env=dict(self.variables),
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
        assert done.returncode == 0, f"{block.page}:{block.line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def _run_python(self, block: Block, code: str) -> str:
        """Runs a block in this process, which spares the start of another one."""
        printed = io.StringIO()
        with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
            for name in ("PLAYBOOK_URL", "PLAYBOOK_API_KEY"):
                patch.setenv(name, self.variables[name])
            exec(compile(code, f"{block.page.name}:{block.line}", "exec"), {"__name__": "__main__"})
        return printed.getvalue()


@pytest.fixture(scope="module")
def workplace(_starter_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    folder = tmp_path_factory.mktemp("reader")
    settings = Settings(var_dir=folder / "var", embedder=EmbedderName.HASH)
    subprocess.run(["cp", "-r", str(_starter_folder), str(folder / "var")], check=True)
    for name in ("bullets", "examples"):
        (folder / name).symlink_to(ROOT / name)
    tools = folder / "tools"
    tools.mkdir()
    for name, line in (
        ("playbook", f'exec "{sys.executable}" -m app.cli.main "$@"'),
        ("python", f'exec "{sys.executable}" "$@"'),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{line}\n")
        (tools / name).chmod(0o755)
    (folder / ".curlrc").write_text("fail-with-body\nmax-time = 60\n")
    database = Database(settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAYBOOK_AUTH", "keys")
        with servers(settings) as urls:
            key = create_key(database, "reader of the documentation", [Scope.ADMIN]).key
            own = {"KEY": key, "PLAYBOOK_API_KEY": key, "PLAYBOOK_URL": urls[0], "CURL_HOME": str(folder)}
            path = f"{tools}{os.pathsep}{os.environ['PATH']}"
            yield Workplace(urls[0], folder, environment(settings, **own, PATH=path))
    database.dispose()


def test_every_block_says_what_it_is() -> None:
    """A block without a language, or with an unknown one, would be neither run nor seen."""
    found = [
        f"{block.page.relative_to(ROOT)}:{block.line}: {block.language!r}"
        for page in PAGES
        for block in blocks_of(page)
        if block.language not in ("bash", "python", "json", "text")
    ]
    assert found == []


def test_blocks_that_cannot_be_run_are_counted() -> None:
    marked = Counter(str(page.relative_to(ROOT)) for page in PAGES for block in blocks_of(page) if block.reason)
    assert dict(marked) == NOT_RUN


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_work_one_after_the_other(workplace: Workplace, page: Path) -> None:
    printed = ""
    for block in blocks_of(page):
        if block.reason or block.language == "text":
            printed = ""
        elif block.language == "json":
            said = json.loads(block.code)
            if printed.startswith("{"):
                assert shape(said) == shape(json.loads(printed)), f"{page}:{block.line}: not what the call answers"
            printed = ""
        else:
            printed = workplace.run(block).strip()


def shape(value: Any) -> Any:
    """Keys and nesting of an answer, without its values. A mapping of reasons to counts may have other reasons."""
    if isinstance(value, dict):
        return {key: shape(member) if key != "left_out" else "counts" for key, member in value.items()}
    if isinstance(value, list):
        return [shape(value[0])] if value and isinstance(value[0], dict) else []
    return None
