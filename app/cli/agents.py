"""The command that speaks MCP over standard input and output."""

import typer

from app.mcp.entry import by_settings
from app.mcp.server import built
from app.services.assembly import assembled
from app.services.deriving import derive_missing
from app.services.migrate import ensure_migrated
from app.settings import Settings
from app.version import VERSION


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(mcp)


def mcp() -> None:
    """Serves agents by MCP over stdin and stdout. PLAYBOOK_API_KEY decides what they may do."""
    settings = Settings()
    services = assembled(settings)
    ensure_migrated(services.database)
    if settings.api_key.get_secret_value():
        services.keyring.identify(settings.api_key.get_secret_value())
    derive_missing(services.database, services.embedder)
    try:
        built(lambda: services, by_settings(settings, lambda: services), VERSION).run("stdio")
    finally:
        services.close()
