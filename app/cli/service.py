"""Commands that run the service and prepare its database."""

from typing import Annotated

import typer
import uvicorn

from app.api.logs import log_config
from app.api.patience import HeadInTime
from app.cli.output import AsJson, say, say_json
from app.services.migrate import migrate as bring_up_to_date
from app.services.start import require_guarded
from app.settings import Settings
from app.store import migrations
from app.store.database import Database

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
) -> None:
    """Runs the HTTP service."""
    settings = Settings()
    require_guarded(settings.model_copy(update={"host": host or settings.host}))
    uvicorn.run(
        "app.main:create_app",
        factory=True,
        host=host or settings.host,
        port=settings.port if port is None else port,
        log_config=log_config(settings.log_level, settings.log_format),
        http=HeadInTime.within(settings.patience_seconds),
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
