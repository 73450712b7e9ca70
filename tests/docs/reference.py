"""Reference pages, made from the code that they describe. `python -m tests.docs.generate` writes them."""

import asyncio
import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer

from app import errors
from app.cli.main import app as command_line
from app.errors import PlaybookError
from app.main import create_app
from app.mcp.entry import LOCAL
from app.mcp.server import built
from app.memory.policies import POLICIES
from app.settings import Settings
from app.vocabulary import AuthMode
from tests.security.test_routes import SCOPES

MADE = "<!-- Made from the code by `python -m tests.docs.generate`; edit the code instead. -->\n\n"


def settings_page() -> str:
    """Every setting with its default."""
    lines = [
        f"{MADE}# Settings\n",
        "Read from the environment by `app/settings.py` alone; [Operations](../operations.md)",
    ]
    lines += ["says more about each.\n", "| variable | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.get_default()
        shown = getattr(default, "get_secret_value", lambda value=default: value)()
        lines.append(
            f"| `PLAYBOOK_{name.upper()}` | {f'`{shown}`' if str(shown) else 'empty'} | {_cell(field.description)} |"
        )
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Every command with its arguments and options."""
    root = typer.main.get_command(command_line)
    return "\n".join([f"{MADE}# Commands\n", f"{root.help}\n", *_commands(root, "playbook")])


def _commands(command: Any, name: str) -> Iterator[str]:
    for child_name, child in getattr(command, "commands", {}).items():
        full = f"{name} {child_name}"
        if getattr(child, "commands", None):
            yield from _commands(child, full)
            continue
        yield f"## `{full}`\n"
        yield f"{inspect.cleandoc(child.help or '')}\n"
        rows = [_parameter(parameter) for parameter in child.params if parameter.name != "help"]
        if rows:
            yield "\n".join(["| argument | meaning |", "|---|---|", *rows]) + "\n"


def _parameter(parameter: Any) -> str:
    names = ", ".join(f"`{option}`" for option in parameter.opts if option.startswith("-"))
    shown = names or f"`{(parameter.metavar or parameter.name).upper()}`"
    needed = " Required." if parameter.required else ""
    return f"| {shown} | {_cell(getattr(parameter, 'help', '') or '')}{needed} |"


def routes_page() -> str:
    """Every route with its scope, its parameters and the statuses of its answers."""
    described = create_app(Settings(auth=AuthMode.KEYS)).openapi()
    lines = [
        f"{MADE}# Routes\n",
        "`GET /openapi.json` says all of this for machines, with the shape of every answer.\n",
    ]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            scopes = " or ".join(f"`{scope}`" for scope in sorted(SCOPES.get(operation["operationId"], ()))) or "none"
            lines += [f"## `{method.upper()} {path}`\n", f"{_cell(operation.get('description', ''))}\n"]
            lines.append(
                f"`{operation['operationId']}` · scope: {scopes} · answers {', '.join(operation['responses'])}\n"
            )
            rows = [*_query(operation), *_body(operation, described["components"]["schemas"])]
            if rows:
                lines += ["| takes | where | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _query(operation: dict[str, Any]) -> Iterator[str]:
    for parameter in operation.get("parameters", []):
        needed = ", required" if parameter.get("required") else ""
        meaning = parameter.get("description") or parameter["schema"].get("description", "")
        yield f"| `{parameter['name']}` | {parameter['in']}{needed} | {_cell(meaning)} |"


def _body(operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    named = next(iter(re.findall(r"#/components/schemas/(\w+)", str(schema))), None)
    schema = schemas.get(named, schema) if named else schema
    for name, field in schema.get("properties", {}).items():
        needed = ", required" if name in schema.get("required", []) else ""
        yield f"| `{name}` | body{needed} | {_cell(field.get('description', ''))} |"
    if "application/json" not in content and content:
        yield f"| the file | body, required | {_cell(operation['requestBody'].get('description', ''))} |"


def tools_page() -> str:
    """Every MCP tool as an agent reads it."""
    server = built(lambda: None, lambda _call: LOCAL, "")  # type: ignore[arg-type, return-value]
    lines = [
        f"{MADE}# MCP tools\n",
        "Served by `playbook mcp` and at `/mcp`; [Connect an agent](../howto/agents.md).\n",
    ]
    for tool in asyncio.run(server.list_tools()):
        kind = "reads" if tool.annotations and tool.annotations.read_only_hint else "writes"
        lines += [f"## `{tool.name}`\n", f"{tool.description} ({kind})\n", "| argument | meaning |", "|---|---|"]
        required = tool.input_schema.get("required", [])
        arguments = tool.input_schema.get("properties", {})
        for name, field in arguments.items():
            lines.append(
                f"| `{name}` | {_cell(field.get('description', ''))}{' Required.' if name in required else ''} |"
            )
        lines = lines if arguments else lines[:-2]
        lines.append("")
    return "\n".join(lines)


def policies_page() -> str:
    """Every context policy."""
    rows = [f"| `{policy.name}` | {_cell(policy.shows)} |" for policy in POLICIES.values()]
    head = [f"{MADE}# Policies\n", "[Context policies](../policies.md) tells what each one costs.\n"]
    return "\n".join([*head, "| policy | shows |", "|---|---|", *rows]) + "\n"


def errors_page() -> str:
    """Every type of problem document."""
    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, PlaybookError)]
    rows = {kind("").type: (kind.status, kind.title, kind.__doc__ or "") for kind in kinds if kind is not PlaybookError}
    urn = "urn:kernel-playbook:"
    rows[f"{urn}malformed-json"] = (400, "Malformed JSON", "The body is not JSON.")
    rows[f"{urn}not-found"] = (404, "Not Found", "No route has that path.")
    rows[f"{urn}method-not-allowed"] = (405, "Method Not Allowed", "The path has no such method.")
    rows[f"{urn}internal-error"] = (500, "Internal error", "A fault of the service; the log has it under X-Request-ID.")
    lines = [
        f"{MADE}# Errors\n",
        "Every error is `application/problem+json` (RFC 9457): type, title, status, detail, and",
    ]
    lines += ["members of its own. The command line prints title and detail.\n"]
    lines += ["| type | status | title | when |", "|---|---|---|---|"]
    for kind, (status, title, text) in sorted(rows.items(), key=lambda row: (row[1][0], row[0])):
        lines.append(f"| `{kind}` | {status} | {title} | {_cell(text)} |")
    return "\n".join(lines) + "\n"


PAGES = {
    "settings": settings_page,
    "commands": commands_page,
    "routes": routes_page,
    "tools": tools_page,
    "policies": policies_page,
    "errors": errors_page,
}


def _cell(text: str | None) -> str:
    """Text that stays inside a table cell and is no HTML."""
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")
