"""A curator reads what a flag means, whichever the evaluator raised."""

import pytest

from app.admin.flags import meaning
from app.verification.facts import CheckFact, Facts, LaunchFact, PhaseEnd, TimingFact
from app.verification.static_check import check_source
from app.verification.verdict import flags_of

ROUNDS = 4
TIMING = TimingFact(
    eager_ms=[40.0] * ROUNDS,
    candidate_ms=[1.0] * ROUNDS,
    candidate_gap_ms=[9.0] * ROUNDS,
    outside_ms=90.0,
    output_floor_ms=50.0,
    checks=[CheckFact(tampered=["torch.equal"], threads=1, processes=1)],
    pair_rounds=[ROUNDS],
    alone_ms=[20.0],
    held_ms=[20.0],
)
SUSPECT = Facts(
    static_flags=check_source(
        b"import sys\nimport torch\nclass ModelNew:\n    def forward(self, x):\n        setattr(self, 'a', 1)\n"
        b"        return torch.cuda.Stream()\n",
        "ModelNew",
    ).flags,
    patched=["time.perf_counter"],
    switches=["matmul.allow_tf32"],
    environment=["CUDA_LAUNCH_BLOCKING"],
    threads=1,
    processes_left=1,
    launch=LaunchFact(streams=2, own_us=100.0, total_us=200.0, launches={"k": 1}),
    timing=TIMING,
)
ENDINGS = ["flooded", "garbled", "too_many_processes"]
FLAGS = flags_of(SUSPECT) + [flag for kind in ENDINGS for flag in flags_of(Facts(end=PhaseEnd("timing", kind)))]


def test_the_flags_of_this_test_are_all_kinds_there_are() -> None:
    kinds = {flag.partition(":")[0] for flag in FLAGS}
    assert len(kinds) == 19


@pytest.mark.parametrize("flag", FLAGS)
def test_every_flag_has_a_meaning(flag: str) -> None:
    assert meaning(flag).endswith(".")


def test_a_flag_of_the_source_tells_its_line() -> None:
    assert meaning("call:setattr@5") == "The source calls setattr in line 5."


@pytest.mark.parametrize("flag", ["", "unheard_of", "unheard_of:x", "<b>"])
def test_a_word_that_is_no_flag_has_no_meaning(flag: str) -> None:
    assert meaning(flag) == ""
