"""Opening the database, and the one place where transactions begin, commit and roll back."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session, create_engine

from app.errors import DatabaseUnavailable
from app.settings import Settings

__all__ = ["Database", "Session", "explained"]


class Database:
    """One database, SQLite or PostgreSQL, shared by all threads of a process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._writing = threading.Lock()
        try:
            self.url = make_url(settings.sqlalchemy_url)
            self.engine = _open(settings)
        except ArgumentError as fault:
            raise DatabaseUnavailable(f"PLAYBOOK_DATABASE_URL cannot be read: {fault}") from fault
        except ModuleNotFoundError as fault:
            raise DatabaseUnavailable(
                f"The database driver {fault.name!r} is not installed: pip install 'kernel-playbook[postgres]'."
            ) from fault

    @property
    def is_sqlite(self) -> bool:
        """Whether the truth is kept in a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session that sees one state of the database and writes nothing."""
        with self._session(write=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session whose changes are committed together at the end, or not at all.

        On SQLite the write lock is taken at the beginning, so that two writers wait for one another instead of failing
        when they try to turn a read into a write. Writers of one process take turns before that: SQLite lets waiters
        sleep and look again, and the unlucky one of many would wait for seconds.
        """
        with self._turn(), self._session(write=True) as session:
            yield session
            session.commit()

    def scalar(self, statement: str) -> Any:
        """The one value that a plain SQL statement asks for, without a session or a transaction around it.

        For the one question that every answer begins with; a session would cost more than the question.
        """
        # A raw connection raises the driver's own faults, also where none can be made.
        try:
            with (
                explained(self.settings),
                closing(self.engine.raw_connection()) as connection,
                closing(connection.cursor()) as cursor,
            ):
                cursor.execute(statement)
                row = cursor.fetchone()
        except self.engine.dialect.loaded_dbapi.Error as fault:
            raise DatabaseUnavailable(_advice_on(str(fault), self.settings)) from fault
        return row[0] if row else None

    def dispose(self) -> None:
        """Closes all connections."""
        self.engine.dispose()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self.is_sqlite:
            yield
            return
        if not self._writing.acquire(timeout=self.settings.busy_timeout_ms / 1000):
            raise DatabaseUnavailable("Other writers keep the database busy. Try again in a moment.")
        try:
            yield
        finally:
            self._writing.release()

    @contextmanager
    def _session(self, *, write: bool) -> Iterator[Session]:
        engine = self.engine.execution_options(begin_immediate=write)
        if not write and not self.is_sqlite:
            # All queries of one read see one state; SQLite's transactions do so by themselves.
            engine = engine.execution_options(isolation_level="REPEATABLE READ")
        # Rows stay readable after the commit: what a service returns must not need another query.
        with explained(self.settings), Session(engine, expire_on_commit=False) as session:
            yield session


@contextmanager
def explained(settings: Settings) -> Iterator[None]:
    """Turns the driver's faults about a missing, read-only or busy database into one that says what to do."""
    try:
        yield
    except (OperationalError, InterfaceError) as fault:
        raise DatabaseUnavailable(_advice(fault, settings)) from fault
    except PoolTimeout as fault:
        raise DatabaseUnavailable("All connections to the database are in use. Try again in a moment.") from fault


def _open(settings: Settings) -> Engine:
    url = make_url(settings.sqlalchemy_url)
    if url.get_backend_name() != "sqlite":
        return create_engine(url, pool_size=16, max_overflow=16, pool_pre_ping=True)
    _make_folder(url.database)
    engine = create_engine(
        url,
        pool_size=16,
        max_overflow=32,
        connect_args={"check_same_thread": False, "timeout": settings.busy_timeout_ms / 1000},
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        # The driver must not open transactions of its own: `_begin` below does it, as early as a writer needs.
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute(f"PRAGMA busy_timeout = {settings.busy_timeout_ms}")
        connection.execute("PRAGMA journal_mode = WAL")
        # FULL: what was answered as stored survives even a power cut; NORMAL would not promise that.
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def _begin(connection: Any) -> None:
        immediate = connection.get_execution_options().get("begin_immediate", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")

    return engine


def _make_folder(database: str | None) -> None:
    if not database or database == ":memory:":
        raise DatabaseUnavailable("An in-memory SQLite database is lost between connections; name a file.")
    if database.startswith("file:"):
        return  # A URI of SQLite's, which may ask for a mode that makes nothing.
    folder = Path(database).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise DatabaseUnavailable(
            f"The folder {folder} cannot be made ({fault.strerror}). Make it writable or set PLAYBOOK_VAR_DIR."
        ) from fault


def _advice(fault: DBAPIError, settings: Settings) -> str:
    return _advice_on(str(fault.orig) if fault.orig else "", settings)


def _advice_on(message: str, settings: Settings) -> str:
    reason = next(iter(message.strip().splitlines()), "no reason given")
    lowered = reason.lower()
    if "locked" in lowered or "busy" in lowered:
        return f"The database stayed busy for {settings.busy_timeout_ms} ms ({reason}). Try again."
    if "readonly" in lowered or "read-only" in lowered or "unable to open" in lowered:
        return f"The database cannot be written ({reason}). Make it and its folder writable, or set PLAYBOOK_VAR_DIR."
    if "disk" in lowered and "full" in lowered:
        return f"The disk is full ({reason}). Free some room; nothing was half-written."
    if "no such table" in lowered or "does not exist" in lowered:
        return f"The database has no such table ({reason}). Run `playbook migrate`."
    return f"The database does not answer ({reason}). Check PLAYBOOK_DATABASE_URL and that the server runs."
