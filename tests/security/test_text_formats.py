"""Every text format with made-up content: read, or refused with a reason; never another exception."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.errors import PlaybookError
from app.memory.formats import jsonl
from app.memory.formats.contexts import parse_context
from app.memory.formats.memories import read_memories
from app.services.documents import ImportFormat, read_document
from app.services.keys import identify
from app.services.readers import rows_of_csv
from app.store.database import Database

FEW = settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))

PIECES = st.sampled_from(
    [
        "[str-00001] helpful=1 harmful=0 :: ",
        "## section",
        "- ",
        "\n",
        "\r\n",
        "\ufeff",
        "---\n",
        "kind: bullet\n",
        "{",
        '{"type": "item", "id": "str-00001"}',
        "<memory>",
        "[mem-00001] ",
        "### ",
        "```python\n",
        "helpful=99999999999999999999",
        ",",
        '"',
        "\x00",
        "\u2028",
        "&a *a !!python/object/apply:os.system ['true']",
        "1e999",
        "NaN",
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=12).map("".join)


@pytest.mark.parametrize("wanted", list(ImportFormat))
@FEW
@given(content=TEXTS)
def test_every_import_format_reads_or_refuses(wanted: ImportFormat, tmp_path: Path, content: str) -> None:
    for name in ("file.txt", "file.jsonl", "file.json", "file.csv", "file.md"):
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8", "surrogatepass"))
        with suppress(PlaybookError):
            assert all(part.reason for part in read_document(path, wanted, {}, {}).faults)


@FEW
@given(content=TEXTS)
def test_the_readers_of_texts_read_anything(content: str) -> None:
    parse_context(content)
    read_memories(content)
    jsonl.read(content.splitlines(), "file")
    for text in (content, f"problem,speedup\n{content}"):
        with suppress(PlaybookError):
            rows_of_csv(text)


def test_a_csv_that_no_csv_reader_takes_is_refused_with_its_line(client: TestClient) -> None:
    for body in (b"problem,speedup\nL2_001," + b"1" * 200_000 + b"\n", b'problem,speedup\n"a\rb,1\n', b"\r\x00"):
        answer = client.put("/v1/readers/r/baselines", content=body, headers={"content-type": "text/csv"})
        assert answer.status_code == 422, answer.text


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@FEW
@given(kind=st.sampled_from(["item", "event", "revision", "problem", "reader", "baseline", "run", "x"]), more=JSON)
def test_every_line_of_json_is_taken_or_named(kind: str, more: object) -> None:
    line = json.dumps({"type": kind, **(more if isinstance(more, dict) else {"id": more})})
    draft = jsonl.read([line], "file")
    assert not draft.faults or draft.faults[0].line == 1


@FEW
@given(presented=st.text(max_size=80))
def test_no_made_up_key_opens_anything(database: Database, presented: str) -> None:
    with pytest.raises(PlaybookError):
        identify(database, presented)
