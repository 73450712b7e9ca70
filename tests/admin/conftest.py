"""A signed-in visitor in this process; a real server with a real browser, one for each module."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.services.keys import create_key
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import EmbedderName, Scope
from tests.admin.visitor import Visitor
from tests.service.processes import servers

CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if os.path.exists(path)), None)


@pytest.fixture(scope="module")
def running(_starter_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The service over the starter corpus in this process; the tests of a module share it."""
    folder = tmp_path_factory.mktemp("desk") / "var"
    shutil.copytree(_starter_folder, folder)
    settings = Settings(var_dir=folder, embedder=EmbedderName.HASH)
    with TestClient(create_app(settings), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def visitor(running: TestClient) -> Visitor:
    """Somebody without a key."""
    return Visitor(running)


@pytest.fixture
def curator(visitor: Visitor) -> Visitor:
    """Somebody signed in with every scope."""
    answer = visitor.sign_in(visitor.key("ada", Scope.ADMIN))
    assert answer.status_code == 303, answer.text
    return visitor


@dataclass
class Served:
    """A real server, with a key to it."""

    url: str
    key: str
    settings: Settings


@pytest.fixture(scope="module")
def served(_starter_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server process over the starter corpus."""
    folder = tmp_path_factory.mktemp("desk") / "var"
    shutil.copytree(_starter_folder, folder)
    settings = Settings(var_dir=folder, embedder=EmbedderName.HASH)
    database = Database(settings)
    key = create_key(database, "ada", [Scope.ADMIN]).key
    database.dispose()
    with servers(settings) as urls:
        yield Served(urls[0], key, settings)


@dataclass
class Watch:
    """What a browser's page complained about, and where it reached out to."""

    complaints: list[str] = field(default_factory=list)
    external: list[str] = field(default_factory=list)

    def follow(self, page: Any, url: str) -> None:
        """Listens to a page from now on."""
        page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        page.on("request", lambda asked: None if asked.url.startswith(url) else self.external.append(asked.url))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running
        running.close()
