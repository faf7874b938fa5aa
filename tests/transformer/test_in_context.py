"""Tasks in the prompt: what the data draw, baselines by other roads, the decoder, Bayes of maps."""

import contracts
import pytest
import torch

from datamodules.in_context import ARROW, LETTERS, RULES, CharacterMaps, LinearTasks
from modules.transformer.in_context import (
    InContextRegression,
    baselines,
    gradient_step,
    least_squares,
    ridge,
)

V = len(LETTERS)


def test_linear_tasks_have_their_moments():
    data = LinearTasks(features=3, shots=4, noise=0.5, scale_x=2.0, scale_w=0.5)
    x, y = data.draw(20_000, 0)
    assert x.shape == (20_000, 5, 3) and y.shape == (20_000, 5)
    assert x.std() == pytest.approx(2.0, rel=0.02)
    assert y.square().mean() == pytest.approx(3 * 4 * 0.25 + 0.25, rel=0.03)
    # one w a sequence: four examples without noise give it, and it answers the fifth
    x, y = LinearTasks(features=3, shots=4, noise=0.0).draw(50, 1)
    w = torch.linalg.lstsq(x[:, :4].double(), y[:, :4, None].double()).solution
    torch.testing.assert_close((x[:, 4:].double() @ w)[:, 0, 0], y[:, 4].double(), atol=1e-4, rtol=1e-4)
    assert torch.equal(data.draw(5, 3)[0], data.draw(5, 3)[0])
    assert data.sizes == {"num_features": 3} and data.describe()["scale_x"] == 2.0
    for wrong in ({"features": 0}, {"shots": 0}, {"noise": -1.0}, {"scale_x": float("nan")}):
        with pytest.raises(ValueError, match="must be"):
            LinearTasks(**wrong)


def test_least_squares_and_ridge_by_other_roads():
    x, y = (t.double() for t in LinearTasks(features=5).draw(8, 0))
    for k in (1, 4, 5, 9):
        X, t = x[:, :k], y[:, :k]
        torch.testing.assert_close(
            least_squares(X, t), torch.linalg.lstsq(X, t[..., None], driver="gelsd").solution[..., 0]
        )
        w = ridge(X, t, 0.25).requires_grad_()
        loss = ((X @ w[..., None])[..., 0] - t).square().sum() + 0.25 * w.square().sum()
        assert torch.autograd.grad(loss, w)[0].abs().max() < 1e-10
    assert torch.equal(least_squares(x[:, :0], y[:, :0]), torch.zeros(8, 5, dtype=x.dtype))
    assert torch.equal(ridge(x[:, :0], y[:, :0], 0.25), torch.zeros(8, 5, dtype=x.dtype))


def test_one_step_has_the_best_rate():
    """The gradient by autograd; its expected error D (1 − η) + σ², against which no other rate is better."""
    D, k, noise = 5, 8, 0.5
    x, y = (t.double() for t in LinearTasks(D, k, noise).draw(40_000, 0))
    w = torch.zeros(D, dtype=x.dtype, requires_grad=True)
    X, t = x[:3, :k], y[:3, :k]
    rate = k / (k + D + 1 + noise**2)
    for row in range(3):
        (grad,) = torch.autograd.grad(0.5 * (X[row] @ w - t[row]).square().mean(), w)
        torch.testing.assert_close(gradient_step(X, t, noise**2)[row], -rate * grad)
    step = gradient_step(x[:, :k], y[:, :k], noise**2)
    errors = [((x[:, k] * step).sum(1) * f - y[:, k]).square().mean() for f in (0.8, 1.0, 1.2)]
    assert errors[1] == min(errors)
    assert errors[1] == pytest.approx(D * (1 - rate) + noise**2, rel=0.05)


def test_ridge_is_the_floor_and_least_squares_is_not():
    x, y = (t.double() for t in LinearTasks(5, 15, 0.5).draw(20_000, 0))
    mse = {name: (p - y).square().mean(0) for name, p in baselines(x, y, 0.25).items()}
    assert (mse["ridge"] <= mse["one step"] + 1e-9).all() and (
        mse["ridge"] < mse["least squares"] + 0.02
    ).all()
    assert mse["ridge"][0] == pytest.approx(5.25, rel=0.05)  # of no pair the variance of y
    assert mse["least squares"][5] > 5 * mse["ridge"][5]  # as many pairs as weights: noise is fitted
    assert mse["least squares"][15] == pytest.approx(0.25 * (1 + 5 / 9), rel=0.06)  # σ² + σ² D / (k − D − 1)
    assert (mse["ridge"] > 0.25).all()


def test_each_prediction_sees_the_pairs_before_it_alone():
    model = contracts.exact(InContextRegression(num_features=2, shots=4, layers=2, heads=2, width=8))
    x, y = (t.double() for t in LinearTasks(2, 4).draw(3, 0))
    whole = model(x, y)
    for n in range(5):
        torch.testing.assert_close(model(x[:, : n + 1], y[:, : n + 1])[:, n], whole[:, n])
    y.requires_grad_()
    for n in range(5):
        (grad,) = torch.autograd.grad(model(x, y)[:, n].sum(), y)
        assert grad[:, n:].abs().max() == 0 and (n == 0 or grad[:, :n].abs().min() > 0)
    assert model(x[:, :1], y[:, :1].detach()).shape == (3, 1) and model(x[:0], y[:0].detach()).shape == (0, 5)
    with pytest.raises(ValueError, match="reads 3"):
        contracts.exact(InContextRegression(2, shots=3, layers=1, heads=1, width=4))(x, y.detach())


def test_regression_learns_in_the_prompt():
    """Two weights, 400 steps: for this seed half of what no pair allows is gone after five shots."""
    data = LinearTasks(2, 5, 0.1)
    torch.manual_seed(0)
    model = InContextRegression(2, 5, layers=2, heads=2, width=32)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(400):
        loss = model.step(data.draw(64, 10 + step), "train")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    x, y = data.draw(500, 2)
    mse = (model(x, y) - y).square().mean(0)
    assert mse[5] < 0.5 * mse[0]


def test_maps_are_maps():
    data = CharacterMaps(shots=12, pool=4, fresh=0.5)
    tokens, labels = data.draw(400, 0)
    assert tokens.shape == labels.shape == (400, 38)
    keys, values = data.pairs(400, 0)
    assert torch.equal(tokens[:, ::3], keys) and (tokens[:, 1::3] == ARROW).all()
    assert torch.equal(tokens[:, 2::3], values[:, :-1])
    assert torch.equal(labels[:, 1::3], values) and (labels[:, ::3] == -100).all()
    of_rules = 0
    for row, answers in zip(keys.tolist(), values.tolist(), strict=True):
        table = dict(zip(row, answers, strict=True))
        assert [table[k] for k in row] == answers and len(set(table.values())) == len(table) <= 4
        of_rules += any(all((k + s) % V == v for k, v in table.items()) for s in RULES.values())
    assert 150 < of_rules < 250
    assert data.sizes == {"vocab_size": 27} and data.describe()["fresh"] == 0.5
    keys, values = CharacterMaps(fresh=0.0).pairs(50, 0)
    assert set(((values - keys) % V).unique().tolist()) <= {0, 1, 25}
    for wrong in ({"shots": 0}, {"pool": 27}, {"pool": 0}, {"fresh": 1.5}):
        with pytest.raises(ValueError, match="must be"):
            CharacterMaps(**wrong)


def test_bayes_by_counting_maps():
    """The posterior by hand: a sum over the rules and over all permutations that agree."""
    data = CharacterMaps(fresh=0.5)
    keys, values = torch.tensor([[0, 3, 3, 0]]), torch.tensor([[1, 4, 4, 1]])  # a>b d>e d>e a>b: next letter
    p = data.best(keys, values)[0]
    torch.testing.assert_close(p.sum(-1), torch.ones(4, dtype=p.dtype))
    assert p[0, 1] == pytest.approx(0.5 / V + 0.5 / 3) and p[0, 7] == pytest.approx(0.5 / V)
    rule, fresh = 0.5 / 3, 0.5 / V
    wanted = (rule + fresh / (V - 1)) / (rule + fresh)
    assert p[1, 4] == pytest.approx(wanted) and p[1, 1] == 0  # b is given already
    assert p[2, 4] == pytest.approx(1) and p[3, 1] == pytest.approx(1)
    # a pair that is missing cannot be known of a substitution: 24 answers are left
    p = data.best(torch.tensor([[0, 3, 9]]), torch.tensor([[7, 5, 0]]))[0, 2]
    assert p.max() == pytest.approx(1 / 24) and p[7] == p[5] == 0
    assert data.best(torch.tensor([[0, 0, 1]]), torch.tensor([[1, 2, 3]]))[0, 2].isnan().all()
    few = CharacterMaps(fresh=1.0)
    keys, values = few.pairs(300, 1)
    p = few.best(keys, values).gather(2, values[..., None])[..., 0]
    for row, answers, got in zip(keys.tolist(), values.tolist(), p.tolist(), strict=True):
        table: dict[int, int] = {}
        for k, v, found in zip(row, answers, got, strict=True):
            assert found == pytest.approx(1.0 if k in table else 1 / (V - len(table)))
            table[k] = v
