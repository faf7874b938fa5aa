"""Removed halves and restricted conditionals on the page of orders."""

import math
from functools import partial

import contracts
import pytest
import torch
from opening import open_page
from sklearn.linear_model import LogisticRegression

from lab import weights
from lab.lenses import neighbours
from modules.autoregressive import bayesnet
from modules.autoregressive.made import MADE
from pages.autoregressive.orders import lens, restricted

opened = partial(open_page, "autoregressive/orders")


# --- What is predicted of a removed half ----------------------------------------------------------


def test_halves_are_halves() -> None:
    for half in lens.HALVES:
        assert lens.removed(half, 8).sum() == 32
    assert lens.removed("lower", 4).nonzero().flatten().tolist() == list(range(8, 16))
    assert (lens.removed("left", 4) == ~lens.removed("right", 4)).all()
    assert not torch.equal(lens.removed("random", 8, 0), lens.removed("random", 8, 1))
    with pytest.raises(ValueError, match="unknown"):
        lens.removed("middle", 8)


@pytest.mark.parametrize("half", lens.HALVES)
def test_imputation_is_the_conditional_of_the_joint_by_enumeration(half: str) -> None:
    """log p(x) - log Σ over all fillings, of the joint whose order has the kept pixels first."""
    model = contracts.exact(MADE(event_shape=(9,), hidden=[16], num_orders=0)).requires_grad_(False)
    gone = torch.zeros(9, dtype=torch.bool)
    gone[lens.removed(half, 3)] = True
    x = (torch.rand(5, 9, generator=torch.Generator().manual_seed(0)) < 0.5).double()
    imputation = lens.imputation(model, x, gone)
    order = lens.observed_first(~gone, model.component_order(0))
    everything = contracts.configurations((9,)).double()
    p = model.log_prob(everything, order=order).exp()
    assert imputation is not None
    for picture, cost in zip(x, imputation, strict=True):
        same = (everything[:, ~gone] == picture[~gone]).all(1)
        it = (everything == picture).all(1)
        assert cost.item() == pytest.approx(-math.log(p[it].item() / p[same].sum().item()), abs=1e-10)


def test_a_raster_model_can_do_the_end_of_its_order_alone() -> None:
    model = contracts.exact(MADE(event_shape=(16,), hidden=[20])).requires_grad_(False)
    x = (torch.rand(6, 16, generator=torch.Generator().manual_seed(1)) < 0.5).double()
    for half in ("upper", "left", "right", "random"):
        assert lens.imputation(model, x, lens.removed(half, 4)) is None
    gone = lens.removed("lower", 4)
    first = model.log_conditionals(x)[:, :8].flatten(1).sum(1)  # log p(upper half)
    expected = first - model.log_prob(x)
    torch.testing.assert_close(lens.imputation(model, x, gone), expected, rtol=0, atol=1e-12)


def test_independent_pixels_learn_nothing_from_what_is_kept() -> None:
    train, test = neighbours.digits()
    p = (train.double().sum(0) + 0.5) / (len(train) + 1)
    gone = lens.removed("right", 8)
    by_hand = -torch.where(test == 1, p.log(), (1 - p).log())[:, gone].sum(1)
    alone = neighbours.counted(tuple(bayesnet.TEMPLATES["none"]), shared=False)
    without_neighbours = lens.without_neighbours(alone, test, gone)
    torch.testing.assert_close(without_neighbours.double(), by_hand, rtol=0, atol=1e-3)


def test_test_digits_fill_in_as_measured() -> None:
    """On the weights that ship."""
    x = neighbours.digits()[1]
    fresh, raster = (weights.load(n).requires_grad_(False) for n in ("made-digits-orders", "made-digits"))
    alone = neighbours.counted(tuple(bayesnet.TEMPLATES["none"]), shared=False)
    cost = {}
    for half in lens.HALVES:
        gone = lens.removed(half, 8)
        results = {
            "alone": lens.without_neighbours(alone, x, gone),
            "fresh": lens.imputation(fresh, x, gone),
            "raster": lens.imputation(raster, x, gone),
        }
        cost[half] = lens.summary(results)
        assert cost[half]["fresh"] < cost[half]["alone"] - 1  # what is kept tells nats
        assert (cost[half]["raster"] is None) == (half != "lower")
    # one order learned by heart beats all orders at once, where it can do it at all
    assert cost["lower"]["raster"] < cost["lower"]["fresh"] - 1
    assert min(cost, key=lambda half: cost[half]["fresh"]) == "random"
    rows = lens.imputation_table(cost)
    nats = cost["lower"]["raster"]
    assert rows["raster"][0] == f"{nats:.2f} nats, {nats / 32 / math.log(2):.3f} bits"
    assert rows["raster"][1] == "not possible exactly"


# --- Restricted conditionals ----------------------------------------------------------------------


def test_raster_order_reaches_the_entropy_and_other_orders_do_not() -> None:
    """On 3 × 3: 14 patterns, ln 14 = 2.6391, over random orders 2.6391 to 2.7607."""
    each = restricted.least(restricted.pictures(3), restricted.orders(3, 41, seed=0))
    assert len(restricted.pictures(3)) == 14 and restricted.entropy(3) == math.log(14)
    assert each[0].item() == pytest.approx(math.log(14), abs=1e-4)
    assert each.min().item() == pytest.approx(2.6391, abs=2e-4)
    assert each.max().item() == pytest.approx(2.7607, abs=2e-4)
    assert (each > math.log(14) - 1e-9).all()  # Gibbs


def test_four_by_four_and_the_models_beside_it() -> None:
    assert len(restricted.pictures(4)) == 30
    small, large = restricted.references(3), restricted.references(4)
    assert large["best FVSBN, raster"] == pytest.approx(3.4214, abs=2e-4)
    assert large["tables, any order"] == pytest.approx(3.4012, abs=1e-4)
    assert (small["independent pixels"], small["raster chain"]) == pytest.approx((6.2383, 5.6486), abs=2e-4)
    assert (large["independent pixels"], large["raster chain"]) == pytest.approx((11.0904, 9.7249), abs=2e-4)


def test_regressions_against_scikit_learn() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 40, 4, generator=generator, dtype=torch.float64)
    y = (torch.rand(3, 40, generator=generator) < 0.4).double()
    result = restricted.logistic(x, y)
    for s in range(3):
        peer = LogisticRegression(C=1e10, tol=1e-10, max_iter=2000).fit(x[s].numpy(), y[s].numpy())
        p = torch.from_numpy(peer.predict_proba(x[s].numpy())[:, 1])
        loss = -(y[s] * p.log() + (1 - y[s]) * (1 - p).log()).mean()
        assert result[s].item() == pytest.approx(loss.item(), abs=1e-6)


# --- The page -------------------------------------------------------------------------------------


def test_the_page_shows_the_cost_of_the_removed_half() -> None:
    page = opened(show="Removed half", half="right", **{"digit-number": "7"})
    model = weights.load("made-digits-orders").requires_grad_(False)
    cost = lens.imputation(model, neighbours.digits()[1], lens.removed("right", 8))
    assert cost is not None and f"= {cost[7]:.2f}" in page.latex[0].value
    assert f"{cost.mean():.2f}" in page.latex[0].value
    rows = page.dataframe[0].value
    assert list(rows["MADE, raster order"]).count("not possible exactly") == 4


def test_the_page_shows_the_optima() -> None:
    page = opened(show="Restricted class", orders="40")
    assert "2.6391" in page.latex[0].value and "2.7606" in page.latex[0].value
    assert list(page.dataframe[0].value["least −log p, nats"]) == ["6.2383", "5.6486", "2.6391", "2.6391"]
