"""Runs the example against a server of its own, and puts its output into the quickstart."""

import os
import re
import subprocess
import sys

from app.settings import Settings
from tests.conftest import ROOT
from tests.service.processes import environment, servers

QUICKSTART = ROOT / "docs" / "quickstart.md"
_BLOCK = re.compile(
    r"(<!-- begin output of examples/scripted_agent.py -->\n)(.*?)(<!-- end output of examples/scripted_agent.py -->)",
    re.DOTALL,
)


def output(settings: Settings) -> str:
    """What the example prints, given a database that holds the starter corpus."""
    os.environ["PLAYBOOK_AUTH"] = "off"
    with servers(settings) as urls:
        done = subprocess.run(
            [sys.executable, "examples/scripted_agent.py", "--url", urls[0]],
            env=environment(settings, PLAYBOOK_AUTH="off"),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


def shown() -> str:
    """The output as the quickstart shows it."""
    block = _BLOCK.search(QUICKSTART.read_text(encoding="utf-8"))
    assert block is not None
    return block[2].removeprefix("```text\n").removesuffix("```\n")


def put(text: str) -> None:
    """Writes the output into the quickstart."""
    page = QUICKSTART.read_text(encoding="utf-8")
    fenced = f"```text\n{text}```\n"
    QUICKSTART.write_text(_BLOCK.sub(lambda block: block[1] + fenced + block[3], page), encoding="utf-8")
