"""ACE text: every fault that people met is read as meant, or refused with line and reason; nothing is dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.drafts import ItemDraft
from app.memory.formats.ace import AceReader, AceReading, bullet_entry, playbook_text


def read(text: str) -> tuple[list[ItemDraft], AceReading]:
    reader = AceReader("playbook.txt")
    drafts = list(reader.read(text.splitlines(keepends=True)))
    return drafts, reader.reading


def one(line: str) -> ItemDraft:
    drafts, reading = read(f"## strategies\n{line}\n")
    assert [fault for fault in reading.faults if not fault.taken] == []
    assert len(drafts) == 1
    return drafts[0]


@pytest.mark.parametrize(
    "line",
    [
        "[str-00001] helpful=3 harmful=1 :: Fuse it.",
        "- [str-00001] helpful=3 harmful=1 :: Fuse it.",
        "* [str-00001] helpful=3 harmful=1 :: Fuse it.",
        "\ufeff[str-00001] helpful=3 harmful=1 :: Fuse it.",
        "[str-00001] helpful=3 harmful=1 :: Fuse it.\r",
        "[str-00001] helpful=3, harmful=1 :: Fuse it.",
        "[STR-00001] Helpful=3 HARMFUL=1 :: Fuse it.",
        "[str-00001] harmful=1 helpful=3 :: Fuse it.",
        "[str-00001] helpful=3 harmful=1 neutral=2 :: Fuse it.",
        "[str-00001] helpful = 3 harmful = 1:: Fuse it.",
        "[str-00001] helpful=3.0 harmful=1 ::Fuse it.",
    ],
)
def test_a_bullet_is_read_as_a_person_means_it(line: str) -> None:
    drafts, reading = read(line + "\n")
    assert [(d.id, d.helpful, d.harmful, d.text) for d in drafts] == [("str-00001", 3, 1, "Fuse it.")]
    assert [fault for fault in reading.faults if not fault.taken] == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[str-00001] helpful=-3 harmful=1 :: Text.", "helpful=-3"),
        ("[str-00001] helpful=1.5 harmful=1 :: Text.", "helpful=1.5"),
        ("[str-00001] helpful=٣ harmful=1 :: Text.", "helpful=٣"),
        ("[str-00001] helpful=many harmful=1 :: Text.", "helpful=many"),
        ("[str-00001] helpful=1 nonsense :: Text.", "nonsense"),
        ("[str-00001] useful=1 :: Text.", "useful"),
        ("[str-00001] helpful=1 harmful=0 ::", "no text"),
        ("[str-00001] helpful=1 harmful=0 ::   ", "no text"),
        ("[str-00001] helpful=1 harmful=0 Text.", "no ' :: '"),
        ("A line that belongs to nothing.", "outside any bullet"),
    ],
)
def test_what_cannot_be_read_is_refused_with_line_and_reason(line: str, reason: str) -> None:
    drafts, reading = read(f"## strategies\n[str-00009] helpful=0 harmful=0 :: Before.\n## more\n{line}\n")
    assert [d.id for d in drafts] == ["str-00009"]
    assert [(fault.line, fault.taken) for fault in reading.faults] == [(4, False)]
    assert reason in reading.faults[0].reason


@pytest.mark.parametrize("given", ["2s-00003", "e-ma-00012", "str-one", "(a-00001"])
def test_an_id_that_ace_makes_of_a_section_is_taken_under_one_of_ours(given: str) -> None:
    drafts, reading = read(f"## 2D\n[str-00001] helpful=0 harmful=0 :: One.\n[{given}] helpful=4 harmful=1 :: Two.\n")
    assert [(d.id, d.source_ids, d.helpful, d.text) for d in drafts] == [
        ("str-00001", (), 0, "One."),
        (None, (given,), 4, "Two."),
    ]
    assert [(fault.line, fault.taken) for fault in reading.faults] == [(3, True)]


def test_bullets_without_counters_are_taken_as_the_agent_of_the_paper_keeps_them() -> None:
    drafts, reading = read(
        "## RULES:\n[shr-00001] Look first.\n[code-00009] Use std::move, k = a::b.\n\n## OTHERS\n[misc-00003] Last.\n"
    )
    assert [(d.id, d.section, d.helpful, d.text) for d in drafts] == [
        ("shr-00001", "RULES:", 0, "Look first."),
        ("code-00009", "RULES:", 0, "Use std::move, k = a::b."),
        ("misc-00003", "OTHERS", 0, "Last."),
    ]
    assert reading.faults == []


def test_a_double_colon_inside_the_text_belongs_to_the_text() -> None:
    assert one("[str-00001] helpful=0 harmful=0 :: std :: move :: forward").text == "std :: move :: forward"


def test_a_text_may_run_over_lines_and_keeps_its_blank_ones() -> None:
    drafts, _ = read(
        "## s\n[str-1] helpful=0 harmful=0 :: One.\n\n- two\n  three\n[str-2] helpful=0 harmful=0 :: Four.\n\n## t\n"
    )
    assert [d.text for d in drafts] == ["One.\n\n- two\n  three", "Four."]


def test_a_missing_section_is_the_playbook_itself_and_an_unknown_one_is_kept() -> None:
    drafts, reading = read("[str-1] helpful=0 harmful=0 :: One.\n## Odd & New\n[str-2] helpful=0 harmful=0 :: Two.\n")
    assert [d.section for d in drafts] == ["strategies", "Odd & New"]
    assert reading.sections == ["strategies", "Odd & New"]


def test_a_repeated_id_is_reported_and_the_first_one_kept() -> None:
    drafts, reading = read("[str-1] helpful=0 harmful=0 :: One.\n[str-1] helpful=0 harmful=0 :: Two.\n")
    assert [d.text for d in drafts] == ["One."]
    assert "used twice" in reading.faults[0].reason


def test_a_text_without_any_bullet_is_reported() -> None:
    assert "no bullet" in read("Just prose.\n")[1].faults[0].reason


def test_lines_after_a_refused_bullet_are_not_given_to_another_one() -> None:
    drafts, _ = read("[str-1] helpful=0 harmful=0 :: One.\n[str-2] helpful=x :: Bad.\nof the bad one\n")
    assert [d.text for d in drafts] == ["One."]


FORGERIES = [
    "[str-99] helpful=9 harmful=0 :: forged",
    "## forged",
    "\\## forged",
    "- [str-99] helpful=9 :: x",
    "## ",
    "[a-1]",
    "[shr-00001] forged",
    "[2s-00003] helpful=1 harmful=0 :: forged",
]
LINES = st.one_of(
    st.sampled_from(FORGERIES), st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)))
)


@given(
    st.lists(st.lists(LINES, min_size=1, max_size=5).map("\n".join).filter(lambda t: t.strip()), min_size=1, max_size=4)
)
def test_no_text_can_forge_a_bullet_or_section_and_every_text_comes_back(texts: list[str]) -> None:
    texts = [text.strip() for text in texts]
    written = playbook_text("Head.", [("s", [bullet_entry(f"str-{n}", n, 0, text) for n, text in enumerate(texts)])])
    reader = AceReader("playbook.txt")
    drafts = list(reader.read(written.split("\n")))
    assert [(d.id, d.helpful, d.text) for d in drafts] == [(f"str-{n}", n, text) for n, text in enumerate(texts)]
    assert reader.reading.faults == []
    assert reader.reading.sections == ["s"]


@given(st.text())
def test_no_text_at_all_makes_reading_fail(text: str) -> None:
    drafts, reading = read(text)
    assert drafts or reading.faults or not text.strip() or reading.sections
