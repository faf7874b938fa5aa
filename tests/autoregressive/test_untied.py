"""Untied conditionals: counts, definition, and what sharing buys; the autoencoder that is no density."""

import itertools
import math

import contracts
import pytest
import torch

from lab import weights
from lab.experiments import ZOO
from modules.autoregressive.autoencoder import Autoencoder
from modules.autoregressive.made import MADE
from modules.autoregressive.nade import NADE
from modules.autoregressive.untied import Untied


def all_bits(n: int) -> torch.Tensor:
    return torch.tensor(list(itertools.product([0.0, 1.0], repeat=n)), dtype=torch.float64)


# --- Untied -------------------------------------------------------------------------------------


def test_parameter_counts():
    small = Untied(event_shape=(64,), hidden=32)
    assert small.weight.numel() == 64_512 and NADE(event_shape=(64,), hidden=32).weight.numel() == 2_048
    # 784 variables with 500 units each would take 600 MB: one unit is built, and every unit is alike
    one = Untied(event_shape=(784,), hidden=1)
    assert 500 * one.weight.numel() == 153_468_000
    assert 500 * (one.num_parameters - one.bias.numel()) + one.bias.numel() == 153_861_284


def test_each_variable_has_its_own_network_on_its_past():
    model = contracts.exact(Untied(event_shape=(5,), hidden=3, order=[2, 0, 4, 1, 3]))
    x, columns = all_bits(5), model.columns()
    for t, i in enumerate(model.order.tolist()):
        past = model.order[:t]
        h = torch.sigmoid(model.start + x[:, past] @ columns[i, past])
        expected = h @ model.readout[i] + model.bias[i]
        torch.testing.assert_close(model.logits(x)[:, i], expected, rtol=0, atol=1e-12)


def test_with_equal_columns_it_is_nade():
    nade = contracts.exact(NADE(event_shape=(5,), hidden=3))
    untied = contracts.exact(Untied(event_shape=(5,), hidden=3)).requires_grad_(False)
    earlier = torch.tril_indices(5, 5, -1)[1]
    untied.weight.copy_(nade.weight[earlier, 0])
    untied.start.copy_(nade.start)
    untied.readout.copy_(nade.readout[:, 0])
    untied.bias.copy_(nade.bias[:, 0])
    x = all_bits(5)
    torch.testing.assert_close(untied.log_prob(x), nade.log_prob(x), rtol=0, atol=1e-12)


def test_sharing_wins_on_few_digits():
    shared, own = (weights.read_card(ZOO / name) for name in ("nade-digits", "untied-digits"))
    assert shared["metrics"]["test/nll"] < own["metrics"]["test/nll"]
    assert own["parameters"] > 4 * shared["parameters"]


def test_the_card_of_untied_digits_is_reproduced():
    from datamodules.digits import Digits

    data = Digits(binarize="threshold")
    data.setup("test")
    x, _ = data.test_set[torch.arange(250)]
    card = weights.read_card(ZOO / "untied-digits")
    nll = -weights.load("untied-digits").log_prob(x).mean().item()
    assert nll == pytest.approx(card["shipped"]["metrics"]["test/nll"], abs=1e-4)


# --- Autoencoder --------------------------------------------------------------------------------


def test_a_perfect_copier_gives_one_to_everything():
    model = Autoencoder(event_shape=(9,), hidden=9).double().requires_grad_(False)
    model.encoder.weight.copy_(torch.eye(9))
    model.decoder.weight.copy_(200 * torch.eye(9))
    model.encoder.bias.zero_()
    model.decoder.bias.fill_(-100.0)
    x = all_bits(9)
    assert model.log_product(x).exp().sum().item() == pytest.approx(512, abs=1e-9)
    torch.testing.assert_close(model.reconstruct(x), x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("hidden", [2, 9])
def test_the_product_of_its_outputs_sums_to_something_else_than_one(hidden):
    """Wide or narrow: what cannot copy is no density either, and the density contract says so."""
    model = contracts.exact(Autoencoder(event_shape=(9,), hidden=hidden), scale=1.0)
    x = all_bits(9).requires_grad_()
    own = [torch.autograd.grad(model.logits(x)[:, i].sum(), x)[0][:, i] for i in range(9)]
    assert torch.stack(own).any()  # an output that sees its own input
    with pytest.raises(AssertionError, match="sums to"):
        contracts.density_sums_to_one(model.log_product, (9,))


def test_a_wide_one_copies_below_the_floor_and_a_narrow_one_cannot():
    torch.manual_seed(0)
    x = all_bits(6)
    floor = math.log(64)  # no density can do better on 64 distinct examples
    wide = contracts.overfits_one_batch(Autoencoder((6,), 12).double(), (x,), below=0.1, lr=0.05)
    assert wide < floor
    with pytest.raises(AssertionError, match="a leak"):
        contracts.floor_is_kept(wide, 64)
    narrow = contracts.overfits_one_batch(Autoencoder((6,), 1).double(), (x,), below=floor, lr=0.05)
    assert narrow > 1.0  # one number cannot carry six bits
    masked = contracts.overfits_one_batch(MADE((6,), [12]).double(), (x,), below=5.0, floor=floor, lr=0.05)
    contracts.floor_is_kept(masked, 64)


def test_its_loss_is_reported_under_its_own_name(tmp_path):
    card = weights.read_card(ZOO / "autoencoder-digits")
    assert set(card["metrics"]) == {"val/bce", "test/bce"}
    assert card["metrics"]["test/bce"] < weights.read_card(ZOO / "nade-digits")["metrics"]["test/nll"]
    real = weights.read_card(ZOO / "autoencoder-mnist")["metrics"]["test/bce"]
    assert real < math.log(10_000)  # below the floor of any density on as many different digits
    model = Autoencoder((6,), 3)
    x = all_bits(6)[:8].float()
    contracts.survives_saving(model, lambda m: m.logits(x), tmp_path)
    contracts.every_parameter_gets_a_gradient(
        contracts.exact(model), lambda: model.step((all_bits(6),), "train")
    )
    assert not hasattr(model, "log_prob")
