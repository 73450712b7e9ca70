"""One item a file: YAML front matter between `---` lines, then the text; a kernel ends in a python code block."""

import re
from typing import Any

import yaml
from pydantic import ConfigDict, Field, ValidationError

from app.memory.drafts import ItemDraft
from app.memory.formats.lines import ItemLine
from app.vocabulary import DEFAULT_SECTIONS, ItemKind

_FILE = re.compile(r"\A\ufeff?---\n(?P<front>.*?)\n---\n(?P<body>.*)\Z", re.DOTALL)
_CODE = re.compile(r"\n*^(?P<fence>`{3,})python\n(?P<code>.*?)\n(?P=fence)\s*\Z", re.DOTALL | re.MULTILINE)


class FrontMatter(ItemLine):
    """The front matter of a corpus file. The text, and a kernel's source, stand below it."""

    model_config = ConfigDict(extra="forbid", title="Front matter of a corpus file")

    section: str = Field(default="", max_length=200)
    text: str = Field(default="", exclude=True)
    kernel_source: str | None = Field(default=None, exclude=True)
    version: int | None = Field(default=None, exclude=True)
    source_hash: str | None = Field(default=None, exclude=True)
    demotions: dict[str, dict[str, Any]] | None = Field(default=None, exclude=True)
    evidence: str | None = Field(default=None, max_length=300, description="Where the advice was measured or found.")
    language: str | None = Field(default=None, description="triton or cuda; read off the code when left out.")
    entry_point: str | None = Field(default=None, description="Class that the kernel defines.")


def read(content: str, provenance: dict[str, Any]) -> ItemDraft:
    """The item that a corpus file holds; ValueError says what is wrong with it."""
    parts = _FILE.match(content.replace("\r\n", "\n"))
    if parts is None:
        raise ValueError("the file does not begin with front matter between two '---' lines")
    try:
        front = FrontMatter.model_validate(yaml.safe_load(parts["front"]))
    except yaml.YAMLError as fault:
        raise ValueError(f"the front matter is not YAML: {str(fault).splitlines()[0]}") from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        raise ValueError(f"front matter, {'.'.join(map(str, first['loc']))}: {first['msg']}") from fault
    text, code = parts["body"].strip(), None
    if front.kind is ItemKind.KERNEL:
        block = _CODE.search(text)
        if block is None:
            raise ValueError("a kernel's file ends in a ```python block")
        text, code = text[: block.start()].strip(), block["code"]
    if not text:
        raise ValueError("the file has no text below its front matter")
    values = front.model_dump(exclude={"type", "evidence", "language", "entry_point", "section", "text"})
    if front.evidence is not None:
        provenance = {**provenance, "evidence": front.evidence}
    return ItemDraft(
        **{
            **values,
            "kind": front.kind,
            "status": front.status,
            "section": front.section or DEFAULT_SECTIONS[front.kind],
            "text": text,
            "kernel_source": code,
            "provenance": {**provenance, **front.provenance},
        }
    )


def schema() -> dict[str, Any]:
    """JSON schema of the front matter; bullets/schema.json is this, and a test compares."""
    written = FrontMatter.model_json_schema()
    for name in ("text", "kernel_source", "type", "version", "source_hash", "demotions"):
        written["properties"].pop(name, None)
    return written
