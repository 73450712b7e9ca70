"""New weights and inputs unmask assumptions and keep what a problem's domain needs."""

import pytest
import torch

from app.verification.variation import change_attempts, change_one_element, modulate, randomise_weights


def test_zero_biases_and_unit_scales_become_something_else() -> None:
    model = torch.nn.Sequential(torch.nn.BatchNorm1d(50))
    randomise_weights(model, 1)
    layer = model[0]
    assert float(layer.bias.detach().abs().min()) > 0
    assert float((layer.weight.detach() - 1).abs().max()) > 0.05
    assert float(layer.running_var.min()) > 0


def test_buffers_that_are_no_statistics_keep_their_values() -> None:
    model = torch.nn.Linear(3, 3)
    model.register_buffer("mask", torch.tril(torch.ones(3, 3)))
    randomise_weights(model, 1)
    assert torch.equal(model.mask, torch.tril(torch.ones(3, 3)))


def test_the_same_seed_gives_the_same_weights() -> None:
    one, other = torch.nn.Linear(5, 5), torch.nn.Linear(5, 5)
    other.load_state_dict(one.state_dict())
    for model in (one, other):
        randomise_weights(model, 7)
    assert torch.equal(one.weight, other.weight)


def test_modulation_keeps_zeros_signs_range_and_whole_numbers() -> None:
    plain = [torch.randn(100, 100).triu(), torch.arange(10)]
    floats, whole = modulate(plain, 3)
    assert torch.equal(floats == 0, plain[0] == 0)
    assert bool((floats.sign() == plain[0].sign()).all())
    assert bool((floats.abs() <= plain[0].abs()).all())
    assert torch.equal(whole, plain[1])
    assert abs(float(modulate([torch.rand(10000)], 3)[0].mean()) - 0.5) > 0.05


def test_one_interior_element_changes_and_the_ends_stay() -> None:
    plain = [torch.randn(1000)]
    changed = change_one_element(plain, 0, 5)[0]
    places = (changed != plain[0]).nonzero().flatten().tolist()
    assert len(places) == 1
    assert 250 <= places[0] < 750


def test_the_last_attempts_change_the_interior_as_a_whole_and_the_ends_stay() -> None:
    plain = [torch.rand(1000) + 1]
    changed = change_one_element(plain, change_attempts(plain, with_outliers=True)[-1], 5)[0]
    assert torch.equal(changed[:100], plain[0][:100])
    assert torch.equal(changed[-100:], plain[0][-100:])
    assert int((changed != plain[0]).sum()) == 750


@pytest.mark.parametrize("plain", [torch.rand(2**20), torch.randn(2**20), torch.rand(2**20).half()])
def test_where_one_element_does_not_matter_a_few_become_outliers_of_different_sizes(plain: torch.Tensor) -> None:
    for attempt in (4, 5):
        changed = change_one_element([plain], attempt, 5)[0]
        moved = changed[changed != plain].float()
        assert len(moved) == len(moved.unique()) == 8
        assert bool(moved.isfinite().all())
        assert float(moved.abs().min()) > 25
        assert bool((moved > 0).all()) == bool((plain >= 0).all())


def test_outliers_come_in_each_input_before_a_smaller_size_is_tried() -> None:
    plain = [torch.rand(1000), torch.rand(1000), torch.arange(1000)]
    largest = []
    for attempt in change_attempts(plain, with_outliers=True)[4:8]:
        changed = change_one_element(plain, attempt, 5)
        largest.append([float(tensor.max()) > 1 for tensor in changed[:2]] + [float(changed[attempt % 2].max()) > 150])
        assert torch.equal(changed[2], plain[2])
    assert largest == [[True, False, True], [False, True, True], [True, False, False], [False, True, False]]


def test_without_outliers_the_same_attempts_change_the_interior() -> None:
    plain = [torch.rand(1000), torch.rand(1000)]
    assert change_attempts(plain, with_outliers=False) == [0, 1, 2, 3, 8, 9]
    assert change_attempts(plain, with_outliers=True) == list(range(10))
