"""Writes what the documentation takes from the code: `python -m tests.docs.generate`. A test compares."""

import tempfile
from pathlib import Path

from app.settings import Settings
from app.vocabulary import EmbedderName
from tests.conftest import ROOT, STARTER, _filled
from tests.docs.example import output, put
from tests.docs.reference import PAGES


def main() -> None:
    """The reference pages, then the output of the example."""
    for name, page in PAGES.items():
        (ROOT / "docs" / "reference" / f"{name}.md").write_text(page(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        _filled(Path(folder), [STARTER])
        put(output(Settings(var_dir=Path(folder), embedder=EmbedderName.HASH)))


if __name__ == "__main__":
    main()
