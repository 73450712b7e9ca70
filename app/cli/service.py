"""Commands that run the service and prepare its database."""

from typing import Annotated

import typer
import uvicorn

from app.api.logs import log_config
from app.api.patience import HeadInTime
from app.cli.output import AsJson, say, say_json
from app.services.migrate import migrate as bring_up_to_date
from app.services.start import prepare_for_workers, require_guarded
from app.settings import Settings
from app.store import migrations
from app.store.database import Database

LONGEST_START = 600
"""Seconds that a worker may take until it is heard of."""

MOST_CONNECTIONS = 1000
"""Beyond it, new requests are turned away before anything is read of them."""

GRACE_SECONDS = 30
"""How long requests that are being answered may still take when the service is told to stop."""


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(serve)
    app.command()(migrate)


def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind; PLAYBOOK_HOST or 127.0.0.1 by default.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to bind; PLAYBOOK_PORT or 8080 by default.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes; PLAYBOOK_WORKERS or 1 by default.")
    ] = None,
) -> None:
    """Runs the HTTP service, in several processes behind one port if asked."""
    settings = Settings()
    require_guarded(settings.model_copy(update={"host": host or settings.host}))
    processes = workers or settings.workers
    if processes > 1:
        prepare_for_workers(settings)
    uvicorn.run(
        "app.main:create_app",
        factory=True,
        host=host or settings.host,
        port=settings.port if port is None else port,
        workers=processes,
        # A worker says nothing while it loads a large corpus; five seconds, the default, would end it meanwhile.
        timeout_worker_healthcheck=LONGEST_START,
        log_config=log_config(settings.log_level, settings.log_format),
        http=HeadInTime,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def migrate(as_json: AsJson = False) -> None:
    """Brings the database to the present schema."""
    database = Database(Settings())
    changed = bring_up_to_date(database)
    if as_json:
        say_json({"migration": migrations.head(), "changed": changed})
    else:
        say(f"The database is at migration {migrations.head()}" + ("." if changed else "; nothing to do."))
