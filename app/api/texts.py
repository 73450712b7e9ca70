"""Texts that come in over HTTP; every door refuses the same."""

from app.services.texts import (
    LONGEST_TEXT,
    Clean,
    CodeText,
    ItemText,
    JsonObject,
    Name,
    Note,
    TaskText,
    clean,
    not_blank,
)

__all__ = [
    "LONGEST_TEXT",
    "Clean",
    "CodeText",
    "ItemText",
    "JsonObject",
    "Name",
    "Note",
    "TaskText",
    "clean",
    "not_blank",
]
