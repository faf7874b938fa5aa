"""Flow matching: DF-O26 to O28, pairs, reflow."""

import itertools
import math

import contracts
import lightning as L
import pytest
import torch
from torch import Tensor

from modules.diffusion import exact, flow_matching
from modules.diffusion.flow_matching import FlowMatching
from modules.diffusion.parameterisation import to_x0_eps

NORMAL = exact.Mixture(torch.tensor([[1.0]]), 0.25)
V = flow_matching.exact_velocity(NORMAL)


def closed(x: Tensor, t: Tensor) -> Tensor:
    """v* of N(m, s²), m = 1, s² = ¼."""
    t = t[:, None]
    return 1 + (0.25 * t - (1 - t)) / (0.25 * t**2 + (1 - t) ** 2) * (x - t)


def test_exact_velocity_of_a_gaussian() -> None:
    x = torch.linspace(-3, 3, 11, dtype=torch.float64)[:, None]
    for t in (0.0, 1e-3, 0.3, 0.5, 0.8, 1.0):
        times = torch.full((11,), t, dtype=torch.float64)
        assert (V(x, times) - closed(x, times)).abs().max() < 1e-10
    x0 = torch.linspace(-2, 2, 5, dtype=torch.float64)[:, None]
    end = flow_matching.follow(V, x0, 200, solver="rk4")
    assert (end - (1 + 0.5 * x0)).abs().max() < 1e-6  # m + s x_0


@pytest.mark.parametrize(
    ("N", "sd"), [(1, 0), (2, 0.2), (4, 0.3405405), (8, 0.4147846), (16, 0.4556831), (64, 0.4885553)]
)
def test_euler_steps_keep_the_mean_and_lose_spread(N: int, sd: float) -> None:
    a, b = flow_matching.follow(V, torch.tensor([[0.0], [1.0]], dtype=torch.float64), N).flatten().tolist()
    assert (a, b - a) == pytest.approx((1, sd), abs=6e-8)


def test_one_step_lands_on_the_mean_of_any_data() -> None:
    truth = exact.Mixture(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), 0.1, [0.25, 0.75])
    x = torch.randn(9, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    end = flow_matching.follow(flow_matching.exact_velocity(truth), x, 1)
    assert (end - torch.tensor([0.75, 0.75])).abs().max() < 1e-12


def test_the_path_is_a_diffusion_in_disguise() -> None:
    """At SNR t²/(1−t)² the denoiser's x̂_0 (the data) and ε̂ (the noise) give v* = data − noise."""
    truth = exact.eight(1.5, 0.2)
    x = torch.randn(30, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    t = torch.linspace(0.05, 0.95, 30, dtype=torch.float64)
    size = (t**2 + (1 - t) ** 2).sqrt()
    a = (t / size) ** 2
    assert torch.allclose(a / (1 - a), t**2 / (1 - t) ** 2)
    small = x / size[:, None]
    data, noise = to_x0_eps(truth.eps(small, a), small, a, "eps")
    v = flow_matching.exact_velocity(truth)(x, t)
    assert (v - (data - noise)).abs().max() < 1e-9
    score = truth.score(small, a) / size[:, None]
    assert (v - (x + (1 - t)[:, None] * score) / t[:, None]).abs().max() < 1e-9


def test_straight_pairs_stay_straight() -> None:
    x0 = torch.randn(500, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    straight = lambda x, t: 1 - 0.5 * (x - t[:, None]) / (1 - 0.5 * t[:, None])  # noqa: E731  v of x_1 = 1 + x_0/2
    assert float(flow_matching.straightness(straight, x0, 1 + 0.5 * x0)) < 1e-25
    x1 = 1 + 0.5 * torch.randn(500, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    assert float(flow_matching.straightness(V, x0, x1)) > 0.3


def test_optimal_pairs_are_the_best_of_all_permutations() -> None:
    g = torch.Generator().manual_seed(0)
    x0, x1 = torch.randn(6, 2, generator=g), torch.randn(6, 2, generator=g)
    result = float((x0 - flow_matching.optimal_pairs(x0, x1)).square().sum())
    best = min(float((x0 - x1[list(p)]).square().sum()) for p in itertools.permutations(range(6)))
    assert result == pytest.approx(best, rel=1e-5) and result < float((x0 - x1).square().sum())
    # of squares: by plain distances one would stay and the other go all the way, 2.0025 against 2.0050
    x0, x1 = torch.tensor([[0.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [2.0, 0.1]])
    assert torch.equal(flow_matching.optimal_pairs(x0, x1), x1)


def test_energy_distance() -> None:
    g = torch.Generator().manual_seed(0)
    x, y = torch.randn(3000, 1, generator=g), torch.randn(3000, 1, generator=g)
    assert abs(float(flow_matching.energy_distance(x, y))) < 0.004
    # of N(0, 1) and N(m, 1): 2 E|√2 Z + m| − 4/√π
    m = 1.5
    folded = 2 / math.sqrt(math.pi) * math.exp(-(m**2) / 4) + m * math.erf(m / 2)
    want = 2 * folded - 4 / math.sqrt(math.pi)
    assert float(flow_matching.energy_distance(x, y + m)) == pytest.approx(want, abs=0.05)


def small(**more: object) -> FlowMatching:
    torch.manual_seed(0)
    return FlowMatching((2,), width=16, blocks=1, embedding=8, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("coupling", ["random", "optimal"])
def test_learns_and_draws(coupling: str) -> None:
    x = exact.eight(1.5, 0.2).draw(256, torch.Generator().manual_seed(0))[0].float()
    model = small(coupling=coupling)
    start = float(model.step((x,), "val").detach())
    contracts.overfits_one_batch(model, (x,), below=0.85 * start, steps=150, lr=5e-3)
    contracts.reproducible(
        lambda seed: model.sample(3, steps=4, generator=torch.Generator().manual_seed(seed))
    )
    result = contracts.trace_replays(
        lambda seed: model.sample_trace(3, steps=4, generator=torch.Generator().manual_seed(seed))
    )
    assert len(result) == 5
    torch.nn.init.normal_(model.net.last.weight)
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step((x,), "train"))


def test_a_reflow_trains_on_the_flows_own_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small(reflow_epoch=2, pairs=64)
    torch.nn.init.normal_(model.net.last.weight, std=0.3)
    assert not model.reflowing
    monkeypatch.setattr(FlowMatching, "current_epoch", 2)
    model.on_train_epoch_start()
    assert model.teacher is not None and all(
        torch.equal(a, b) for a, b in zip(model.teacher.parameters(), model.net.parameters(), strict=True)
    )
    x0, x1 = model.pool()
    assert torch.allclose(flow_matching.follow(model.first_velocity, x0, 20, solver="rk4"), x1)
    before = [p.clone() for p in model.teacher.parameters()]
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), 1e-3)
    first = model.step((torch.full((512, 2), 50.0),), "train")  # the data play no part any more
    assert float(first) < 10
    first.backward()
    optimizer.step()
    assert all(torch.equal(a, b) for a, b in zip(before, model.teacher.parameters(), strict=True))
    assert not torch.equal(model.net.last.weight, model.teacher.last.weight)
    with pytest.raises(ValueError, match="trained once"):
        small().first_velocity(x0, torch.zeros(len(x0)))


def test_a_reflowed_flow_is_judged_on_pairs_that_no_training_saw() -> None:
    """In the fit's own test and in one of the weights alone, by the same pairs, whatever the data."""
    model = small(reflow_epoch=1, pairs=32)
    for p in model.parameters():
        p.data += 0.05 * torch.randn(p.shape, generator=torch.Generator().manual_seed(0))
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(50, 2)), batch_size=16)
    knobs = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False,
             "enable_progress_bar": False, "enable_model_summary": False}  # fmt: skip
    trainer = L.Trainer(max_epochs=2, **knobs)  # type: ignore[arg-type]
    trainer.fit(model, data)
    own = trainer.test(model, data, verbose=False)[0]["test/mse"]
    pool = model.pool()[0]
    again = small(reflow_epoch=1, pairs=32)
    again.load_state_dict(model.state_dict())
    assert L.Trainer(**knobs).test(again, data, verbose=False)[0]["test/mse"] == own  # type: ignore[arg-type]
    assert again._pool is None and len(pool) == 32
    assert own < 0.3  # of the data it would be about 2


@pytest.mark.parametrize("coupling", ["random", "optimal"])
def test_a_batch_is_paired_as_the_coupling_says(coupling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A velocity of 0 has the mean squared distance of the pairs as its loss: that of the best pairing of
    all, or that of the pairs as they were drawn."""
    x = torch.randn(6, 2, generator=torch.Generator().manual_seed(0)) + 2
    monkeypatch.setattr(flow_matching, "normal_like", lambda like, generator=None: like.flip(0) - 2)
    model = FlowMatching(event_shape=(2,), width=4, blocks=1, embedding=4, coupling=coupling)
    model.velocity = lambda x, t: torch.zeros_like(x)  # type: ignore[method-assign]
    apart = (x.flip(0)[:, None] - 2 - x).square().mean(-1)  # (noise, data)
    each = [apart[range(6), order].mean() for order in itertools.permutations(range(6))]
    expected = min(each) if coupling == "optimal" else apart.diagonal().mean()
    for split in ("train", "val"):
        torch.testing.assert_close(model.step((x,), split), expected)
