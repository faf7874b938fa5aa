"""Guidance: DF-O23, O24, O25."""

import math

import pytest
import torch
from torch import Tensor

from modules.diffusion import exact, guidance, samplers
from modules.diffusion.ddpm import DDPM
from modules.diffusion.schedule import linear

MADE = linear()
CLASS = exact.Mixture(torch.tensor([[1.0]]), 0.25)
ALL = exact.Mixture(torch.tensor([[0.0]]), 1.25)  # y ~ N(0, 1), x = y + N(0, ¼), y = 1


def test_a_classifiers_guidance_at_weight_one_is_the_conditional_score() -> None:
    two = exact.Mixture(torch.tensor([[-1.0, 0.0], [1.0, 0.5]]), 0.3, [0.7, 0.3])
    second = exact.Mixture(torch.tensor([[1.0, 0.5]]), 0.3)
    x = torch.randn(20, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    t = torch.linspace(1, 1000, 20).long()

    def log_class(x: Tensor, t: Tensor) -> Tensor:  # of noisy data
        return two.components(x, MADE.alpha_bar[t])[2].log_softmax(-1)[:, 1]

    guided = guidance.classifier_guidance(two.denoiser(MADE), log_class, MADE, 1.0)(x, t)  # type: ignore[arg-type]
    assert isinstance(guided, Tensor)
    assert (guided - second.eps(x, MADE.alpha_bar[t])).abs().max() < 1e-12
    # one that knows clean data alone is wrong where there is noise
    clean = guidance.classifier_guidance(
        two.denoiser(MADE),
        lambda x, t: two.components(x, 1.0)[2].log_softmax(-1)[:, 1],
        MADE,
        1.0,  # type: ignore[arg-type]
    )(x, t)
    off = (clean - second.eps(x, MADE.alpha_bar[t])).norm(dim=1)  # type: ignore[operator]
    assert off[15:].mean() > 10 * off[0]


def net(seed: int = 0) -> DDPM:
    torch.manual_seed(seed)
    model = DDPM(width=16, blocks=1, embedding=8, conditional=True, num_classes=3).double().eval()
    for p in model.parameters():
        p.data.normal_(0, 0.5)
    return model


@torch.no_grad()
def test_weights_zero_and_minus_one_and_linearity() -> None:
    model = net()
    x, t, y = torch.randn(5, 2).double(), torch.tensor([1, 9, 300, 800, 1000]), torch.tensor([0, 1, 2, 0, 1])
    null = torch.full_like(y, 3)
    with_class, without = model.net(x, t, y), model.net(x, t, null)
    assert torch.equal(guidance.classifier_free_guidance(model.net, x, t, y, 3, 0.0), with_class)
    assert torch.equal(guidance.classifier_free_guidance(model.net, x, t, y, 3, -1.0), without)
    assert torch.equal(without, model.net(x, t, None)) and not torch.allclose(with_class, without)
    for w in (0.5, 2.0):
        at = guidance.classifier_free_guidance(model.net, x, t, y, 3, w)
        assert (at - ((1 + w) * with_class - w * without)).abs().max() < 1e-12  # two calls
        assert (at - (without + (1 + w) * (with_class - without))).abs().max() < 1e-12  # s = 1 + w
    each = guidance.classifier_free_guidance(model.net, x, t, y, 3, torch.tensor([0.0, -1, 2, 2, 2]))
    assert torch.allclose(each[0], with_class[0]) and torch.allclose(each[1], without[1])


def test_one_call_for_both_opinions() -> None:
    calls = []

    def counted(x: Tensor, t: Tensor, y: Tensor) -> Tensor:
        calls.append(len(x))
        return x

    guidance.classifier_free_guidance(
        counted, torch.zeros(4, 2), torch.ones(4), torch.zeros(4, dtype=torch.long), 9, 1.5
    )
    assert calls == [8]


@pytest.mark.parametrize(
    ("w", "mean", "sd"), [(0, 0.996714, 0.500008), (1, 1.319868, 0.223615), (3, 1.395666, 0.044725)]
)
def test_guided_samples_do_not_follow_the_tilted_density(w: float, mean: float, sd: float) -> None:
    """The ODE from N(0, 1), in 1,000 Heun steps on the chain's own grid; the distribution is affine in the
    start."""

    def predict(x: Tensor, t: Tensor) -> Tensor:
        a = MADE.alpha_bar[t]
        return (1 + w) * CLASS.eps(x, a) - w * ALL.eps(x, a)

    x = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    a, b = samplers.last(samplers.heun(predict, MADE, x, MADE.times(1000))).flatten().tolist()
    assert (a, b - a) == pytest.approx((mean, sd), abs=2e-3)
    precision = (1 + w) / 0.25 - w / 1.25
    tilted = (1 + w) / 0.25 / precision, 1 / math.sqrt(precision)
    assert {0: (1, 0.5), 1: (1.111111, 0.372678), 3: (1.176471, 0.271163)}[w] == pytest.approx(
        tilted, abs=1e-6
    )
    if w:
        assert a > tilted[0] + 0.1 and b - a < tilted[1] - 0.1
