"""Peers: engines take turns on tasks that no engine saw before, and what is missing has a reason."""

import time

from eval.peer_engines import Peer, plain_faiss
from eval.peers import WORDINGS, timed


def test_engines_take_turns_on_new_tasks_in_every_wording() -> None:
    asked: list[tuple[str, str, str]] = []

    def quick(wording: str, text: str) -> None:
        asked.append(("quick", wording, text))
        time.sleep(0.001)

    def slow(wording: str, text: str) -> None:
        asked.append(("slow", wording, text))
        time.sleep(0.004)

    rows = {row["engine"]: row for row in timed({"quick": quick, "slow": slow}, seconds=0.1)}
    assert len({(engine, text) for engine, _, text in asked}) == len(asked)
    assert {wording for _, wording, _ in asked} == set(WORDINGS)
    assert rows["slow"]["p50_ms"] > rows["quick"]["p50_ms"] >= 1.0
    assert rows["quick"]["queries_per_second"] > rows["slow"]["queries_per_second"] > 0
    in_turn = [engine for engine, _, _ in asked[8:16]]
    assert in_turn == ["quick", "slow"] * 4


def test_a_peer_that_is_not_installed_says_so() -> None:
    reason = Peer("nobody", "no_such_package_at_all", "", plain_faiss).missing()
    assert reason is not None
    assert "no_such_package_at_all" in reason
