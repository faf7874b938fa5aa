"""Fits and answers of nothing, of holes, and of other widths: empty, or refused in a sentence."""

import math
from collections.abc import Callable

import pytest
import torch

from modules.adversarial.gan import GAN
from modules.adversarial.truncation import acceptance, log10_acceptance
from modules.diffusion.flow_matching import FlowMatching
from modules.flow.coupling import RealNVP
from modules.latent.em import EMModel
from modules.latent.factor_analysis import FactorAnalysis
from modules.latent.gtm import GTM
from modules.latent.hmm import HMM
from modules.latent.kmeans import KMeans
from modules.latent.mixture import GaussianMixture
from modules.latent.pca import PCA

MODELS: dict[str, Callable[[], EMModel]] = {
    "k-means": lambda: KMeans((3,), 2), "PCA": lambda: PCA((3,), 2), "GTM": lambda: GTM((3,), 4),
    "factor analysis": lambda: FactorAnalysis((3,), 1),
    **{f"mixture, {kind}": lambda kind=kind: GaussianMixture((3,), 2, kind)  # type: ignore[misc]
       for kind in ("full", "diag", "tied", "spherical")},
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_refuses_what_it_cannot_be_of(name: str) -> None:
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="no examples"):
        MODELS[name]().fit(x[:0])
    with pytest.raises(ValueError, match="no examples"):
        MODELS[name]().count((x[:0],))
    x[3, 1] = math.inf
    x[4] = -math.inf
    with pytest.raises(ValueError, match="2 of 20 examples hold NaN or infinity"):
        MODELS[name]().fit(x)
    x[3:5] = math.nan
    if MODELS[name]().allows_missing:
        assert math.isfinite(MODELS[name]().fit(x[:, :])[-1])
    else:
        with pytest.raises(ValueError, match=r"2 of 20 .*fill them in"):
            MODELS[name]().fit(x)


@pytest.mark.parametrize("name", MODELS)
def test_an_example_of_another_width_is_refused(name: str) -> None:
    model = MODELS[name]()
    for wide in (torch.zeros(5, 1), torch.zeros(5, 4), torch.zeros(5)):
        with pytest.raises(ValueError, match="numbers, the model 3"):
            model.fit(wide)
        for ask in ("encode", "log_prob", "distances"):
            if hasattr(model, ask):
                with pytest.raises(ValueError, match="numbers, the model 3"):
                    getattr(model, ask)(wide)


@pytest.mark.parametrize("name", MODELS)
def test_of_an_empty_batch_all_answers_are_empty(name: str) -> None:
    model = MODELS[name]()
    model.fit(torch.randn(20, 3, generator=torch.Generator().manual_seed(0)), 1)
    for ask in ("encode", "log_prob", "distances"):
        if hasattr(model, ask):
            assert len(getattr(model, ask)(torch.zeros(0, 3))) == 0


@pytest.mark.parametrize("shows", ["categorical", "gaussian", "gaussian-full", "bernoulli"])
def test_hidden_markov_models_refuse_and_answer_the_same(shows: str) -> None:
    model = HMM(2, shows, vocab_size=4, num_features=2)  # type: ignore[arg-type]
    none = model.sample(2, length=5)[:0]
    assert model.log_prob(none).shape == (0,) and model.encode(none).shape == (0, 5)
    with pytest.raises(ValueError, match="no examples"):
        model.fit(none)
    if shows == "categorical":
        with pytest.raises(ValueError, match="symbols below 4"):
            model.log_prob(torch.tensor([[0, 4]]))
        return
    for wide in (torch.zeros(3, 5, 1), torch.zeros(3, 5), torch.zeros(3, 5, 3)):
        with pytest.raises(ValueError, match="numbers, the model 2"):
            model.log_prob(wide)
        with pytest.raises(ValueError, match="numbers, the model 2"):
            model.fit(wide)


def test_a_flow_answers_nothing_with_nothing_and_refuses_other_widths() -> None:
    flow = RealNVP((2,), layers=2)
    none = torch.zeros(0, 2)
    assert flow.log_prob(none).shape == (0,) and flow.decode(none).shape == (0, 2)
    for wide in (torch.zeros(3, 1), torch.zeros(3, 3)):
        with pytest.raises(ValueError, match=r"z has . numbers per example, the model 2"):
            flow.decode(wide)
        with pytest.raises(ValueError, match=r"x has . numbers per example, the model 2"):
            flow.log_prob(wide)


def test_small_options_are_answered_or_refused() -> None:
    assert log10_acceptance(0.0) == -math.inf and acceptance(0.0, 3) == 0.0
    with pytest.raises(ValueError, match="tau is -1"):
        log10_acceptance(-1.0)
    with pytest.raises(ValueError, match="prior is 'laplace'"):
        GAN(prior="laplace")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="flatten images first"):
        FlowMatching((1, 8, 8))
