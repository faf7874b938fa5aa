"""One surface of `sample` for all latent models, and the calls of earlier versions."""

from typing import Any

import pytest
import torch

from lab import renames
from modules.importance import effective_sample_size, log_mean_exp
from modules.latent.autoregressive_decoder import AutoregressiveVAE
from modules.latent.conditional import CVAE
from modules.latent.denoising import DenoisingAutoencoder
from modules.latent.factor_analysis import FactorAnalysis
from modules.latent.gtm import GTM
from modules.latent.hmm import HMM
from modules.latent.mixture import GaussianMixture
from modules.latent.vae import VAE
from modules.latent.variance import VarianceVAE
from modules.latent.vq_vae import VQVAE
from modules.noise import bernoulli


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


# a model, a former call by position, and the same call now; the former one of a trace
CALLS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], tuple[Any, ...]]] = {
    "VAE": (lambda: VAE((6,), 2, [4]), (5, 0.5, True), {"temperature": 0.5, "mean": True}, (5, 0.5, True)),
    "CVAE": (
        lambda: CVAE(event_shape=(6,), latent_dim=2, hidden=[4], num_classes=3),
        (5, 0.5),
        {"temperature": 0.5},
        (5, 0.5),
    ),
    "VQVAE": (
        lambda: VQVAE((1, 4, 4), [3], codes=3, code_dim=2, prior_hidden=3),
        (5, "uniform", True),
        {"prior": "uniform", "mean": True},
        (5, "uniform", True),
    ),
    "HMM": (lambda: HMM(2, vocab_size=3), (5, 7, seeded), {"length": 7}, (7,)),
    "FactorAnalysis": (lambda: FactorAnalysis((3,)), (5, True, seeded), {"mean": True}, (True,)),
    "GaussianMixture": (lambda: GaussianMixture((2,), 2), (5, seeded), {}, ()),
    "GTM": (lambda: GTM(), (5, seeded), {}, ()),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_former_call_draws_the_same_and_warns(name: str) -> None:
    make, former, now, trace = CALLS[name]
    torch.manual_seed(0)
    model = make()
    with pytest.warns(DeprecationWarning, match="generator in place of a seed"):
        before = model.sample(*(value() if value is seeded else value for value in former), seed=0)
    assert torch.equal(before, model.sample(5, **now, generator=seeded())) and len(before) == 5
    with pytest.warns(DeprecationWarning, match=f"{name}.sample_trace"):
        steps = model.sample_trace(*trace, seed=3)
    n = {"n": 5} if name in ("VAE", "CVAE", "VQVAE") else {}
    assert steps.digest() == model.sample_trace(**n, **now, generator=seeded(3)).digest()


def test_a_class_for_all_one_for_each_or_all_in_turn() -> None:
    torch.manual_seed(0)
    model = CVAE(event_shape=(6,), latent_dim=2, hidden=[4], num_classes=3)
    all_twos = model.sample(4, y=2, mean=True, generator=seeded())
    assert torch.equal(all_twos, model.sample(4, y=[2, 2, 2, 2], mean=True, generator=seeded()))
    in_turn = model.sample(4, mean=True, generator=seeded())
    assert torch.equal(in_turn, model.sample(4, y=torch.tensor([0, 1, 2, 0]), mean=True, generator=seeded()))
    assert not torch.allclose(all_twos, in_turn)
    with pytest.raises(ValueError, match="whole numbers from 0 to 2"):
        model.sample(4, y=3)


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_accepted_that_is_ignored(name: str) -> None:
    model = CALLS[name][0]()
    for argument in ({"y": 1}, {"temperature": 0.5}, {"length": 3}, {"mean": True}, {"prior": "uniform"}):
        if argument.keys() <= CALLS[name][2].keys() or (name == "CVAE" and argument.keys() & {"y", "mean"}):
            continue
        if name == "HMM" and "length" in argument:
            continue
        with pytest.raises(TypeError, match=next(iter(argument))):
            model.sample(2, **argument)


def test_coins_fall_as_often_as_they_should() -> None:
    p = torch.tensor([0.0, 0.2, 1.0], dtype=torch.float64).expand(100_000, 3)
    x = bernoulli(p, seeded())
    assert x.dtype == p.dtype and torch.equal(x, torch.bernoulli(p, generator=seeded()))
    assert torch.allclose(x.mean(0), p[0], atol=0.01)


def test_of_equal_weights_all_count_and_of_one_heavy_one() -> None:
    log_w = torch.tensor([[0.0, -900.0], [0.0, -2000.0], [0.0, -2000.0]], dtype=torch.float64)
    assert effective_sample_size(log_w).tolist() == pytest.approx([3.0, 1.0])
    assert log_mean_exp(log_w).tolist() == pytest.approx([0.0, -900 - torch.tensor(3.0).log().item()])


@pytest.mark.parametrize(
    ("make", "now", "former", "count"),
    [
        (CALLS["VQVAE"][0], "codebook", "book", 1),
        (
            lambda: AutoregressiveVAE(event_shape=(4,), latent_dim=2, hidden=[3], kind="made"),
            "decoder.condition",
            "decoder.told",
            2,
        ),
        (
            lambda: AutoregressiveVAE(event_shape=(1, 4, 4), latent_dim=2, kind="pixelcnn", channels=2),
            "decoder.condition",
            "decoder.told",
            2,
        ),
    ],
)
def test_weights_under_former_names_of_tensors_are_read(make: Any, now: str, former: str, count: int) -> None:
    torch.manual_seed(0)
    model, other = make(), make()
    state = {name.replace(now, former, 1): value for name, value in model.state_dict().items()}
    assert sum(name.startswith(former) for name in state) == count
    other.load_state_dict(state)
    for name, value in model.state_dict().items():
        assert torch.equal(value, other.state_dict()[name]), name


def test_former_names_of_arguments_are_read() -> None:
    for kind, former, now in (
        (DenoisingAutoencoder, {"damage": 0.2}, {"corruption": 0.2}),
        (GTM, {"bumps": 4, "places": 9}, {"num_basis": 4, "grid_size": 9}),
        (VarianceVAE, {"least_sigma": 0.1}, {"min_sigma": 0.1}),
    ):
        path = f"{kind.__module__}.{kind.__name__}"
        settings = renames.upgrade({"class_path": path, "init_args": former})
        assert settings == {"class_path": path, "init_args": now} and kind(**now)
