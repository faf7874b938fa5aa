"""What an evaluation says of a diffusion model: the same in any batch, near the sum of all terms, finite."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from modules.base import Module
from modules.diffusion import bound, exact, samplers
from modules.diffusion.ddpm import DDPM, ImageDDPM
from modules.diffusion.flow_matching import FlowMatching
from modules.diffusion.latent import LatentDDPM
from modules.diffusion.schedule import Kind, named
from modules.diffusion.score_matching import ScoreModel
from modules.noise import normal_like

SMALL = {"width": 8, "blocks": 1, "embedding": 4}
PICTURES = {"widths": (4, 4), "heads": 2, "embedding": 4, "levels": 17, "noise_steps": 40}
MODELS: dict[str, tuple[Callable[[], Module], tuple[int, ...]]] = {
    "points": (lambda: DDPM((2,), noise_steps=40, **SMALL), (2,)),  # type: ignore[arg-type]
    "pictures": (lambda: ImageDDPM((1, 4, 4), **PICTURES), (1, 4, 4)),  # type: ignore[arg-type]
    "learned variance": (lambda: ImageDDPM((1, 4, 4), variance="learned", **PICTURES), (1, 4, 4)),  # type: ignore[arg-type]
    "trained on the bound": (
        lambda: ImageDDPM((1, 4, 4), variance="learned", objective="vlb", **PICTURES),  # type: ignore[arg-type]
        (1, 4, 4),
    ),
    "codes": (
        lambda: LatentDDPM((6,), latent_dim=2, hidden=[8], noise_steps=40, **SMALL),  # type: ignore[arg-type]
        (6,),
    ),
    "flow": (lambda: FlowMatching((2,), **SMALL), (2,)),  # type: ignore[arg-type]
    "reflow": (lambda: FlowMatching((2,), reflow_epoch=1, **SMALL), (2,)),  # type: ignore[arg-type]
    "score": (lambda: ScoreModel((2,), **SMALL), (2,)),  # type: ignore[arg-type]
}


def stirred(build: Callable[[], Module]) -> Module:
    """A model whose last layers say something."""
    torch.manual_seed(0)
    model = build().eval()
    for p in model.parameters():
        p.data += 0.1 * torch.randn_like(p)
    return model


@pytest.mark.parametrize("name", MODELS)
def test_an_evaluation_says_the_same_in_batches_of_any_size_and_order(name: str) -> None:
    build, shape = MODELS[name]
    x = torch.randint(17, (24, *shape), generator=torch.Generator().manual_seed(0)) / 16
    results = []
    for size, order in ((24, torch.arange(24)), (7, torch.arange(24)), (5, torch.arange(24).flip(0))):
        model = stirred(build)
        torch.manual_seed(size)
        with torch.no_grad():
            for part in x[order].split(size):
                model.step((part,), "val")
        results.append(
            [float(m.compute()) for key, m in model.meters.items() if key.startswith("val_")]  # type: ignore[operator]
        )
    assert results[0] == pytest.approx(results[1], rel=1e-4) and results[0] == pytest.approx(
        results[2], rel=1e-4
    )


@pytest.mark.parametrize("kind", ["linear", "cosine"])
def test_no_t_takes_most_of_the_draws(kind: Kind) -> None:
    result = named(kind, 1000)
    share = bound.proposal(result, bound.variances(result, "beta"))
    assert float(share.sum()) == pytest.approx(1) and share[0] == 0 and bool((share[1:] > 0).all())
    assert float(share.max()) < 0.2


@pytest.mark.parametrize("kind", ["linear", "cosine", "linear-zero", "cosine-zero"])
def test_few_draws_are_near_the_sum_of_all_terms(kind: Kind) -> None:
    """Of two points, the exact net: the spread of eight draws is that of noise, not of a rare t."""
    result, truth = named(kind, 200), exact.Mixture(torch.tensor([[-0.8], [0.8]]), 0.01)
    x = truth.draw(2000, torch.Generator().manual_seed(0))[0]

    def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        a = result.alpha_bar[t]
        eps = truth.eps(x, a)
        b, root = result.sigma(t, x), result.root(t, x)
        at_end = 0.0 * x  # E x_0, where no signal is left
        return torch.where(root > 0, (x - b * eps) / root.clamp(min=1e-12), at_end), eps

    few, every = (
        bound.bound(predict, result, x, draws=n, generator=torch.Generator().manual_seed(1))
        for n in (8, None)
    )
    assert bool(every.total.isfinite().all()) and bool(few.total.isfinite().all())
    off = few.total - every.total
    assert abs(float(off.mean())) < 4 * float(off.std()) / math.sqrt(len(off))
    assert float(few.total.std()) < 3 * float(every.total.std())
    assert float((few.total - few.total.mean()).abs().max()) < 30  # D/SNR alone: hundreds


@pytest.mark.parametrize("kind", ["linear-zero", "cosine-zero"])
def test_a_schedule_that_ends_in_pure_noise_has_a_finite_bound(kind: Kind) -> None:
    for target in ("v", "x0"):
        model = stirred(lambda: ImageDDPM((1, 4, 4), noise_schedule=kind, target=target, **PICTURES))  # noqa: B023  # type: ignore[arg-type]
        x = torch.randint(17, (6, 1, 4, 4), generator=torch.Generator().manual_seed(0)) / 16
        assert bool(model.elbo(x).isfinite().all())  # type: ignore[operator]
        with torch.no_grad():
            model.step((x,), "val")
        assert math.isfinite(float(model.meters["val_bpd"].compute()))  # type: ignore[operator]
    for target in ("eps", "score"):
        with pytest.raises(ValueError, match=f"hides x_0 from {target}"):
            DDPM(noise_schedule=kind, target=target)


@pytest.mark.parametrize("kind", ["linear-zero", "cosine-zero"])
@pytest.mark.parametrize("sampler", [samplers.heun, samplers.dpm_solver])
def test_solvers_start_from_pure_noise(kind: Kind, sampler: Callable[..., samplers.Trajectory]) -> None:
    """N(1, ¼): every sampler ends near m + s x_T, as the probability-flow ODE does."""
    result = named(kind, 1000)

    def predict(x: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        a = result.alpha_bar[t][:, None]
        x0 = 1 + 0.25 * a.sqrt() * (x - a.sqrt()) / (0.25 * a + 1 - a)
        return x0, (x - a.sqrt() * x0) / (1 - a).sqrt()

    start = torch.linspace(-2, 2, 9, dtype=torch.float64)[:, None]
    ends = [samplers.last(sampler(predict, result, start, result.times(steps))) for steps in (20, 500)]
    off = [float((end - (1 + 0.5 * start)).abs().max()) for end in ends]
    assert off[1] < 0.01 and off[1] < off[0]


def test_training_on_the_bound_has_the_bounds_mean() -> None:
    """Over t of the proposal the loss has the mean of all terms but L_T, a number; and moves both outputs."""
    model = stirred(lambda: DDPM((3,), noise_steps=30, variance="learned", objective="vlb", **SMALL))  # type: ignore[arg-type]
    assert isinstance(model, DDPM)
    x = torch.rand(1, 3, generator=torch.Generator().manual_seed(0)).expand(20_000, 3) - 0.5
    generator = torch.Generator().manual_seed(1)
    torch.manual_seed(2)
    t = model.sample_timesteps(len(x), "train")
    with torch.no_grad():
        loss, _ = model.losses(x, t, normal_like(x, generator))
        terms = model.bound(x[:4000], generator=generator)
    every = (terms.total - terms.prior) / 3
    error = math.hypot(float(loss.std()) / math.sqrt(20_000), float(every.std()) / math.sqrt(4000))
    assert abs(float(loss.mean() - every.mean())) < 4 * error
    assert int(t.min()) == 1 and int(t.max()) == 30
    model.losses(x[:64], t[:64], normal_like(x[:64], generator))[0].mean().backward()
    assert all(bool(half.any()) for half in model.net.last.weight.grad.chunk(2))  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="objective"):
        DDPM(objective="best")  # type: ignore[arg-type]


def test_a_test_takes_all_terms() -> None:
    """Unless it is told how many."""
    for draws, wanted in ((None, 39), (5, 6)):
        model = stirred(lambda: DDPM((2,), noise_steps=40, test_draws=draws, **SMALL))  # noqa: B023  # type: ignore[arg-type]
        results: list[int] = []
        real = model.bound
        model.bound = lambda *args, **given: (
            results.append(len((result := real(*args, **given)).steps)) or result  # noqa: B023
        )  # type: ignore
        with torch.no_grad():
            model.step((torch.randn(3, 2),), "test")
        assert results == [wanted]
