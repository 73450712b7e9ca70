"""What the documentation takes from the code is up to date, links lead somewhere, and the site loads nothing else."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.settings import Settings
from tests.conftest import ROOT
from tests.docs.example import output, shown
from tests.docs.reference import PAGES

MARKDOWN = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "bullets" / "README.md"]
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_FENCED = re.compile(r"^ *(`{3,}).*?^ *\1 *$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]+`")


@pytest.mark.parametrize("name", PAGES)
def test_reference_pages_are_what_the_code_says(name: str) -> None:
    written = (ROOT / "docs" / "reference" / f"{name}.md").read_text(encoding="utf-8")
    assert written == PAGES[name](), "run: python -m tests.docs.generate"


def test_every_setting_and_command_is_in_the_reference() -> None:
    from app.cli.main import app

    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert [name for name in Settings.model_fields if f"`PLAYBOOK_{name.upper()}`" not in page] == []
    commands = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    names = [command.name or getattr(command.callback, "__name__", "") for command in app.registered_commands]
    groups = [group.name or "" for group in app.registered_groups]
    assert [name for name in [*names, *groups] if f"`playbook {name}" not in commands] == []


def test_the_example_works_and_the_quickstart_shows_its_output(starter_settings: Settings) -> None:
    assert masked(output(starter_settings)) == masked(shown()), "run: python -m tests.docs.generate"


def masked(text: str) -> str:
    """The output without what moves with the corpus and the ranking: ids, tokens, the items of a context."""
    text = re.sub(r"\d+ tokens, \d+ items: .*", "a context", text)
    return re.sub(r"\b[a-z]+-\d{5}\b", "an id", text)


def test_every_test_that_a_page_names_is_there() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    named = {name for page in MARKDOWN for name in re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8"))}
    assert len(named) > 10
    assert sorted(name for name in named if f"def {name}(" not in sources) == []


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in MARKDOWN:
        for match in _LINK.finditer(_CODE.sub("", _FENCED.sub("", page.read_text(encoding="utf-8")))):
            target, _, anchor = match["target"].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = (page.parent / target).resolve() if target else page
            if not file.exists() or (anchor and anchor not in anchors(file)):
                broken.append(f"{page.relative_to(ROOT)}: {match['target']}")
    assert broken == []


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub and the site make them."""
    titles = re.findall(r"^#{1,6} +(.+?) *$", _FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


class _Loads(HTMLParser):
    """Everything that a page makes a browser load."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in ("script", "img", "iframe", "source"):
            self.urls.append(values.get("src") or "")
        if tag == "link" and values.get("rel") not in ("canonical", "prev", "next"):
            self.urls.append(values.get("href") or "")


def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("material", reason="mkdocs-material is not installed: pip install 'kernel-playbook[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(ROOT / "mkdocs.yml")]
    done = subprocess.run([*command, "-d", str(tmp_path)], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) >= 20
    for page in pages:
        loads = _Loads()
        loads.feed(page.read_text(encoding="utf-8"))
        assert [url for url in loads.urls if re.match(r"(?:https?:)?//", url)] == [], page.name
    styles = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.css"))
    assert re.findall(r"url\((?:\"|')?(?:https?:)?//", styles) == []
