"""No secret lies in the repository: neither in the files nor, where git is at hand, in its history."""

import re
import shutil
import subprocess

import pytest

from tests.conftest import ROOT

SECRETS = re.compile(
    r"kpb_[0-9a-f]{12}_[A-Za-z0-9_-]{43}"
    r"|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{40,}|xox[baprs]-[\w-]{10,}|sk-[A-Za-z0-9_-]{32,}"
    r"|hf_[A-Za-z]{30,}|glpat-[\w-]{20}|AIza[\w-]{35}|eyJ[\w-]{20,}\.eyJ[\w-]{20,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?i:(?:password|passwd|secret|token|api_?key))\s*[:=]\s*['\"][^'\"\s{}$<]{12,}['\"]"
    r"|[a-z]+://[^\s/:@'\"{}$<]+:(?!password@|PASSWORD@)[^\s/:@'\"{}$<]{4,}@"
)

ALLOWED = re.compile(r"user:password@")
"""What an example of a URL says."""


def test_no_file_of_the_repository_holds_a_secret() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    found = []
    for name in listed.decode().split("\0"):
        path = ROOT / name
        if not name or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            match = SECRETS.search(line)
            if match and not ALLOWED.search(match[0]):
                found.append(f"{name}:{number}: {match[0][:24]}...")
    assert found == []


def test_no_commit_ever_held_a_key_of_a_playbook_or_a_private_key() -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    pattern = "kpb_[0-9a-f]{12}_[A-Za-z0-9_-]{43}|BEGIN [A-Z ]*PRIVATE KEY-----$|AKIA[0-9A-Z]{16}"
    log = subprocess.run(
        ["git", "log", "--all", "--oneline", "--pickaxe-regex", f"-S{pattern}"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert log.stdout.decode() == ""


def test_a_secret_would_be_found() -> None:
    for text in ("kpb_" + "0" * 12 + "_" + "a" * 43, "AKIA" + "A" * 16, "password = " + '"' + "x" * 12 + '"'):
        assert SECRETS.search(text)
