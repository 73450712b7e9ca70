"""Commands of a curator: lint and recount."""

from dataclasses import asdict
from typing import Annotated

import typer

from app.cli.output import AsJson, complain, say, say_json
from app.services.assembly import assembled
from app.services.deriving import derive_missing
from app.services.findings import lint as find_all
from app.services.migrate import ensure_migrated
from app.services.recounting import recount as count_again
from app.settings import Settings


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command()(lint)
    app.command()(recount)


def lint(as_json: AsJson = False) -> None:
    """Reports what a curator should look at: duplicates, contradictions, damage, dangling references and the like."""
    services = assembled(Settings())
    ensure_migrated(services.database)
    derive_missing(services.database, services.embedder)
    found = find_all(services.database, services.catalog)
    if as_json:
        say_json([asdict(finding) for finding in found])
        return
    for finding in found:
        proposal = f" [{finding.operation['op']} proposed]" if finding.operation else ""
        say(f"{finding.kind}  {', '.join(finding.item_ids[:6])}{proposal}\n    {finding.evidence}")
    say(f"{len(found)} findings")


def recount(
    check: Annotated[bool, typer.Option("--check", help="Only tell; change nothing.")] = False, as_json: AsJson = False
) -> None:
    """Sets every counter to the sum of its events; with --check, only tells which differ (exit status 1)."""
    services = assembled(Settings())
    ensure_migrated(services.database)
    differences = count_again(services.database, mend=not check)
    if as_json:
        say_json([asdict(difference) for difference in differences])
    else:
        for wrong in differences:
            complain(f"{wrong.item_id} counts {wrong.counters}, its events sum to {wrong.sums}")
        say(f"{len(differences)} counters differ" + ("" if check or not differences else "; they were set right"))
    if check and differences:
        raise typer.Exit(1)
