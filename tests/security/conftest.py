"""Fixtures: a service that asks for keys, and keys of every kind."""

from collections.abc import Callable, Iterator

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.services.keys import create_key
from app.settings import Settings
from app.store.database import Database
from app.vocabulary import AuthMode, Scope

Keys = Callable[..., dict[str, str]]


@pytest.fixture
def guarded_settings(starter_settings: Settings) -> Settings:
    """The starter corpus behind keys."""
    return starter_settings.model_copy(update={"auth": AuthMode.KEYS})


@pytest.fixture
def guarded(guarded_settings: Settings) -> Iterator[TestClient]:
    """The service over the starter corpus, which asks for keys."""
    with TestClient(create_app(guarded_settings), raise_server_exceptions=False) as running:
        yield running


@pytest.fixture
def keys(guarded_settings: Settings) -> Iterator[Keys]:
    """Makes a key with some scopes, and returns the headers that carry it."""
    database = Database(guarded_settings)

    def made(*scopes: Scope, name: str = "") -> dict[str, str]:
        created = create_key(database, name or f"holder of {' and '.join(scopes)}", scopes)
        return {"X-API-Key": created.key}

    yield made
    database.dispose()
