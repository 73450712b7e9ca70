"""How the service logs: one line a record, as text or as JSON, with the id of the request that it belongs to.

Nothing that a client sent but the path is logged: no header, no query, no body, so no key and no text of an item.
"""

import json
import logging
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from app.vocabulary import LogFormat, LogLevel

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)


class JsonLines(logging.Formatter):
    """One JSON object a record; `fields` given as `extra` join it."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True, default=str)


class TextLines(logging.Formatter):
    """One line a record for a person; control characters cannot forge another one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as a line, and the traceback of an exception below it."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(sep=" ", timespec="milliseconds")
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        message = f"{record.getMessage()} {fields}".strip()
        line = f"{moment} {record.levelname.lower()} {record.name}: {_one_line(message)}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def log_config(level: LogLevel, form: LogFormat) -> dict[str, Any]:
    """Configuration of Python's logging, for uvicorn and for the program alike; everything goes to standard error."""
    formatter = JsonLines if form is LogFormat.JSON else TextLines
    quiet = {"level": "WARNING"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": formatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines", "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["stderr"], "level": level.upper()},
        "loggers": {
            "uvicorn": {"level": level.upper(), "propagate": True, "handlers": []},
            # Requests are logged by app.api.observing, with their ids.
            "uvicorn.access": {"level": "CRITICAL", "propagate": False, "handlers": []},
            **dict.fromkeys(("alembic", "httpx", "httpcore", "sentence_transformers", "transformers"), quiet),
        },
    }


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    given: Mapping[str, Any] = getattr(record, "fields", {})
    present = request_id.get()
    return {**({"request_id": present} if present else {}), **given}


def _one_line(text: str) -> str:
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
