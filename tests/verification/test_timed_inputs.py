"""What changes while a run is timed: the same bits in both processes, and nothing that a kernel could foresee."""

import torch

from app.verification.timed_inputs import change_weights


def a_model() -> torch.nn.Module:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64), torch.nn.PReLU())


def names_of(model: torch.nn.Module) -> list[str]:
    return [name for name, _ in model.named_parameters()]


def test_the_same_seed_changes_the_weights_of_two_models_alike_and_another_seed_otherwise() -> None:
    one, other, third = a_model(), a_model(), a_model()
    for model, seed in ((one, 5), (other, 5), (third, 6)):
        change_weights(model, names_of(model), seed)
    assert torch.equal(one[0].weight, other[0].weight)
    assert not torch.equal(one[0].weight, third[0].weight)


def test_a_share_of_the_interior_changes_up_or_down_and_the_ends_and_addresses_stay() -> None:
    model = a_model()
    before, address = model[0].weight.detach().clone().view(-1), model[0].weight.data_ptr()
    change_weights(model, names_of(model), 5)
    after = model[0].weight.detach().view(-1)
    changed = after != before
    assert 0.08 < float(changed.float().mean()) < 0.11
    assert not changed[:512].any()
    assert not changed[-512:].any()
    ratio = (after / before)[changed]
    assert bool((ratio < 0.91).any()) and bool((ratio > 1.1).any())
    assert model[0].weight.data_ptr() == address


def test_a_single_weight_always_changes_and_buffers_never_do() -> None:
    model = a_model()
    mean = model[1].running_mean.clone()
    change_weights(model, names_of(model), 5)
    assert model[2].weight.item() != 0.25
    assert torch.equal(model[1].running_mean, mean)


def test_weights_keep_their_size_however_often_they_change() -> None:
    model = a_model()
    before = float(model[0].weight.detach().norm())
    for seed in range(100):
        change_weights(model, names_of(model), seed)
    assert 0.5 < float(model[0].weight.detach().norm()) / before < 2.5
