"""Texts that come in from outside: what is refused, and how long they may be."""

from typing import Annotated

from pydantic import AfterValidator, Field

LONGEST_TEXT = 200_000
"""Characters of one task text or code."""

LONGEST_ITEM = 20_000
"""Characters of one item's text."""


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


Clean = AfterValidator(clean)
TaskText = Annotated[str, Field(max_length=LONGEST_TEXT), Clean, AfterValidator(not_blank)]
ItemText = Annotated[str, Field(max_length=LONGEST_ITEM), Clean, AfterValidator(not_blank)]
CodeText = Annotated[str, Field(max_length=1_000_000), Clean, AfterValidator(not_blank)]
Name = Annotated[str, Field(min_length=1, max_length=200), Clean, AfterValidator(not_blank), AfterValidator(one_line)]
Note = Annotated[str, Field(max_length=2_000), Clean]
