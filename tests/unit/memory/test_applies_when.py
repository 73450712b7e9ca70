"""Records are checked against the vocabulary, and guesses never beat a curator."""

from __future__ import annotations

import pytest

from app.memory.applies_when import AppliesWhen, RecordError, parse_record
from app.memory.derivation import derive, head, merge
from app.memory.references import dangling_ids, referenced_ids

SOUND = {
    "families": ["conv"],
    "required": ["any_convolution"],
    "regimes": ["strided"],
    "topics": ["precision"],
    "evidence": "win",
}


def test_a_sound_record_survives_the_round_trip() -> None:
    record = parse_record(SOUND)
    assert parse_record(record.to_mapping()) == record


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"required": ["convolutoin"]}, "required"),
        ({"families": ["convs"]}, "families"),
        ({"regimes": ["fast"]}, "regimes"),
        ({"topics": ["magic"]}, "topics"),
        ({"excludes": ["any_convolution"]}, "excludes"),
        ({"dims": ["4d"]}, "dims"),
        ({"evidence": "maybe"}, "evidence"),
        ({"generic": "yes"}, "generic"),
        ({"required": "conv2d"}, "required"),
        ({"colour": ["red"]}, "colour"),
        ({"families": [], "required": []}, "required"),
    ],
)
def test_each_fault_is_named_with_its_field(change: dict[str, object], field: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_record({**SOUND, **change})
    assert any(problem.startswith(field) for problem in caught.value.problems)


def test_an_unknown_word_comes_with_the_nearest_known_one() -> None:
    with pytest.raises(RecordError, match="group_norm"):
        parse_record({**SOUND, "required": ["groupnorm"]})


def test_a_head_that_names_a_chain_is_derived_as_specific() -> None:
    text = "Conv2d → GroupNorm → MaxPool2d (KernelBench conv family). Keep the library convolution.\n\nMore."
    record = derive(text, None, None)
    assert not record.generic
    assert record.families[0] == "conv"
    assert "any_convolution" in record.required and "group_norm" in record.required


def test_a_source_problem_in_the_head_gives_the_chain() -> None:
    record = derive("In KernelBench L2_055 (Matmul_MaxPool_Sum_Scale), fusing only the tail lost.", None, None)
    assert record.families[0] == "matmul"
    assert "sum_reduce" in record.required


def test_arguments_do_not_end_the_chain_but_a_parenthesis_of_its_own_does() -> None:
    chain = "Conv3d → Softmax(dim=1) over C → MaxPool3d(2) (slower with LayerNorm). Keep the library convolution."
    record = derive(chain, None, None)
    assert record.required == ("any_convolution", "softmax", "any_max_pool")


def test_the_example_says_what_a_chain_in_general_words_looks_like() -> None:
    text = "Conv followed by a long chain of steps (e.g., Conv2d → Mish → GroupNorm): one pass after the library."
    record = derive(text, None, None)
    assert record.chain == ("conv2d", "mish", "group_norm")
    assert record.required == ("any_convolution",)
    assert record.anchor == ("conv2d", "mish", "group_norm")


def test_a_bare_matrix_product_is_the_special_one_of_its_example() -> None:
    plain = derive("Structured GEMM: skip the tiles that are zero.", None, None)
    special = derive("Structured GEMM (e.g., a triangular matmul): skip the tiles that are zero.", None, None)
    assert (plain.required, special.required) == (("matmul",), ("triangular_matmul",))


def test_a_regime_that_decides_is_a_key_where_the_statement_names_it() -> None:
    record = derive("Strided ConvTranspose3d: split the output by residue. At stride 1 rewrite it.", None, None)
    assert record.key_regimes == ("strided",)


def test_a_habit_is_derived_as_generic() -> None:
    assert derive("Submission pitfall: every reply must hold the whole module.", None, None).generic


def test_a_curated_record_wins_over_a_derived_one() -> None:
    curated = AppliesWhen(families=("norm",), required=("layer_norm",), one_line="curated")
    merged = merge(curated, derive("Conv2d then ReLU.", "conv", None))
    assert (merged.families, merged.required, merged.one_line) == (("norm",), ("layer_norm",), "curated")
    assert "relu" in merged.optional
    assert merge(None, curated) is curated


def test_a_head_ends_at_a_sentence() -> None:
    text = (
        "First sentence that is long enough to stand by itself as what the item is for, said in many plain words. "
        + "Rest " * 200
    )
    assert head(text).endswith(".") or len(head(text)) <= 420


def test_references_are_found_once_and_without_the_item_itself() -> None:
    text = "See str-00012 and str-00007; str-00012 again, not str-00003."
    assert referenced_ids(text, own_id="str-00003") == ("str-00012", "str-00007")
    assert dangling_ids(text, {"str-00012", "str-00003"}) == ("str-00007",)
