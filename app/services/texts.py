"""Texts that come in from outside: what is refused, and how long they may be."""

import math
import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

LONGEST_TEXT = 200_000
"""Characters of one task text or code."""

LONGEST_ITEM = 20_000
"""Characters of one item's text."""


LARGEST_OBJECT = 50_000
"""Characters and values of a free JSON object, such as a provenance."""

DEEPEST_OBJECT = 32


def clean(text: str) -> str:
    """The text, unless no database or tokenizer could hold it."""
    if "\0" in text:
        raise ValueError("the text holds a NUL character; remove it")
    return text


def not_blank(text: str) -> str:
    """The text, unless it says nothing."""
    if not text.strip():
        raise ValueError("the text is blank; say something")
    return text


def one_line(text: str) -> str:
    """The text, unless it has a second line, which an exported playbook would show as a line of its own."""
    if len(text.splitlines()) > 1:
        raise ValueError("the text has more than one line; a name has one")
    return text


_LINE_ENDS = re.compile("[\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
"""What some readers take for the end of a line, beside the line feed."""


def plain_lines(text: str) -> str:
    """The text with one kind of line end, so that none hides a line that looks like a bullet of its own."""
    return _LINE_ENDS.sub("\n", text)


def clean_object(given: dict[str, Any]) -> dict[str, Any]:
    """The object, unless a database could not hold it, or it is so large or deep that it can only be meant badly."""
    waiting: list[tuple[Any, int]] = [(given, 1)]
    size = 0
    while waiting:
        value, depth = waiting.pop()
        size += 1
        if isinstance(value, dict | list):
            inner = [*value, *value.values()] if isinstance(value, dict) else value
            waiting.extend((part, depth + 1) for part in inner)
        elif isinstance(value, str):
            size += len(value)
            if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
                raise ValueError("the object holds a NUL character or half of a surrogate pair; remove it")
        elif isinstance(value, float) and not math.isfinite(value):
            raise ValueError("the object holds a number that JSON does not have")
        if depth > DEEPEST_OBJECT or size > LARGEST_OBJECT:
            raise ValueError(f"at most {DEEPEST_OBJECT} levels and {LARGEST_OBJECT} characters")
    return given


Clean = AfterValidator(clean)
TaskText = Annotated[str, Field(max_length=LONGEST_TEXT), Clean, AfterValidator(not_blank)]
ItemText = Annotated[str, Field(max_length=LONGEST_ITEM), Clean, AfterValidator(plain_lines), AfterValidator(not_blank)]
CodeText = Annotated[str, Field(max_length=1_000_000), Clean, AfterValidator(not_blank)]
Name = Annotated[str, Field(min_length=1, max_length=200), Clean, AfterValidator(not_blank), AfterValidator(one_line)]
Note = Annotated[str, Field(max_length=2_000), Clean]
JsonObject = Annotated[dict[str, Any], AfterValidator(clean_object)]
