"""The command `playbook`. Exit status: 0 done, 1 a fault, 2 wrong usage."""

import sys

import typer

from app.cli import agents, ask, backup, bundle, corpus, curate, fleet, keys, readers, service, verify
from app.cli.output import complain
from app.errors import InvalidInput, PlaybookError, UnreadableImport

app = typer.Typer(
    name="playbook",
    help="A curated, re-verified playbook for agents that write GPU kernels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (service, backup, corpus, ask, curate, verify, bundle, fleet, readers, keys, agents):
    module.register(app)


def run() -> None:
    """Runs the command line; an explained fault becomes one message and an exit status."""
    try:
        app()
    except PlaybookError as fault:
        complain(f"{fault.title}: {fault.detail}")
        usage = isinstance(fault, InvalidInput) and not isinstance(fault, UnreadableImport)
        sys.exit(2 if usage else 1)


if __name__ == "__main__":
    run()
