"""What the committed results of verification count as expected."""

from eval.verification import flags_fit, renewed


def test_an_honest_fixture_has_the_flags_of_the_manifest_and_is_launch_bound_or_not_as_the_host_makes_it() -> None:
    listed = ["other_streams", "launch_bound"]
    assert flags_fit(listed, listed)
    assert flags_fit(["other_streams"], listed)
    assert not flags_fit(["launch_bound"], listed)
    assert not flags_fit(["other_streams"], [])
    assert not flags_fit(["launch_bound"], [])


def test_a_kernel_that_was_measured_anew_takes_its_old_place_and_names_its_evaluator() -> None:
    rows = [{"id": "a", "speedup": 1.0}, {"id": "b", "speedup": 2.0}]
    assert renewed(rows, [{"id": "b", "speedup": 3.0}], "2-abc") == [
        {"id": "a", "speedup": 1.0},
        {"id": "b", "speedup": 3.0, "evaluator": "2-abc"},
    ]
