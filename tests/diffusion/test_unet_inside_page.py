"""The page "Inside the U-Net": what is shown is what the network does, and what its scenes say."""

from functools import cache, partial
from typing import Any

import pytest
import torch
from opening import figure, film, open_page

from lab import weights
from lab.lenses.diffusion import digits
from lab.lenses.drawing import examples
from modules.diffusion.ddpm import ImageDDPM
from pages.diffusion.unet_inside import figures, lens, shape
from pages.diffusion.unet_inside.room import NUMBERS, TIMES

opened = partial(open_page, "diffusion/unet_inside")
HARD = TIMES.index(700)


@cache
def model() -> Any:
    return weights.load("ddpm-digits").eval().requires_grad_(False)


@cache
def two() -> torch.Tensor:
    return dict(digits())["2"]


def test_the_stages_of_the_u_are_what_the_modules_give() -> None:
    heard: dict[str, torch.Tensor] = {}
    unet = model().net.unet
    names = ["first", "down 1", "down 2", "middle 1", "middle 2", "up 1", "up 2"]
    modules = dict(zip(names, [unet.first, *unet.down, *unet.middle, *unet.up], strict=True))
    hooks = [
        m.register_forward_hook(lambda _m, _i, out, name=name: heard.update({name: out}))
        for name, m in modules.items()
    ]
    hooks += [unet.join.register_forward_pre_hook(lambda _m, given: heard.update({"join": given[0]}))]
    x, t = lens.noisy(model(), two(), 3)
    with torch.no_grad():
        model().net(x, t)
    for hook in hooks:
        hook.remove()
    result = shape.shape(model(), two(), None, (), 3)
    stages = {**result.left, **result.right}
    assert [*stages] == [*modules, "join"]
    join = stages.pop("join")
    assert join.size == "{}@{}×{}".format(*heard["join"].shape[1:])
    for shown, half in zip(join.maps.unbind(1), heard["join"].chunk(2, 1), strict=True):
        torch.testing.assert_close(shown, half[:, half.var((2, 3)).mean(0).topk(2).indices.min()])
    for name, stage in stages.items():
        h = heard[name]
        assert stage.size == f"{h.shape[1]}@{h.shape[2]}×{h.shape[3]}"
        chosen = h.var((2, 3)).mean(0).topk(stage.maps.shape[1]).indices.sort().values
        torch.testing.assert_close(stage.maps, h[:, chosen])
    assert shape.reads(result) == unet.up[0].block.conv1.in_channels


@pytest.mark.parametrize(
    "widths, sizes",
    [
        ((8,), ["first · 8@16×16", "down 1 · 8@16×16", "middle 1 · 8@16×16"]),
        ((8, 16, 24), ["down 2 · 16@8×8", "down 3 · 24@4×4", "middle 1 · 24@4×4", "up 3 · 8@16×16"]),
    ],
)
def test_the_u_has_the_sizes_of_its_network(widths: tuple[int, ...], sizes: list[str]) -> None:
    with torch.random.fork_rng():
        other = ImageDDPM(image_shape=(1, 16, 16), widths=widths, heads=2).eval()
    result = shape.shape(other, torch.rand(16, 16, generator=torch.Generator().manual_seed(0)), None, (), 0)
    drawn = figures.u(result)
    words = [note["text"] for note in drawn["layout"]["annotations"]]
    assert set(sizes) <= set(words) and len(result.skips) == len(widths) + 1
    assert f"join · {2 * widths[0]}@16×16" in words
    assert len(drawn["data"]) == 4 + len(result.left) + len(result.right)


def test_the_u_without_skips_is_far_worse() -> None:
    large, off = weights.load("ddpm-mnist").eval().requires_grad_(False), ("skip 0", "skip 1", "skip 2")
    for seed, digit in enumerate(dict(examples(28)).values()):
        whole, cut = (shape.shape(large, None, digit, zeroed, seed) for zeroed in ((), off))
        assert cut.error[5] > 2 * whole.error[5] and cut.off == (0, 1, 2)
        assert torch.equal(cut.left["down 2"].maps, whole.left["down 2"].maps)  # the way down has no skips
        assert not torch.equal(cut.right["up 1"].maps, whole.right["up 1"].maps)


def test_the_guess_is_the_networks_own() -> None:
    result = lens.look(model(), two(), "down 1", 0)
    x, t = lens.noisy(model(), two(), 0)
    with torch.no_grad():
        x0, _ = model().denoiser()(x, t)
    torch.testing.assert_close(result.x0, model().postprocess(x0)[:, 0].clamp(0, 1))
    assert (result.x[0] - two()).abs().mean() < 0.02 and result.maps.shape == (11, 16, 8, 8)
    assert result.channels == 32
    middle = lens.look(model(), two(), "middle 1", 0)
    assert middle.maps.shape == (11, 16, 4, 4) and middle.channels == 64
    assert lens.scaled(middle.maps).abs().amax((1, 2, 3)) == pytest.approx(torch.ones(11))


def test_what_the_skips_carry() -> None:
    first = lens.cut(model(), two(), ("first",), 0)
    assert first.error_cut[HARD] > 1.3 * first.error[HARD]
    assert lens.worse(first, HARD) == lens.WORSE[1] and lens.worse(first, 1) == lens.WORSE[2]
    every = lens.cut(model(), two(), tuple(NUMBERS), 0)
    assert every.error_cut[5] > first.error_cut[5] > first.error[5]
    none = lens.cut(model(), two(), (), 0)
    assert torch.equal(none.whole, none.cut) and torch.equal(none.error, none.error_cut)


def test_attention_is_a_distribution_over_all_places() -> None:
    attention = lens.attention(model(), two(), 0)
    assert attention.shape == (11, 4, 16, 16) and (attention > 0).all()
    torch.testing.assert_close(attention.sum(-1), torch.ones(11, 4, 16))
    assert (attention[5, 0] - attention[5, 1]).abs().max() > 0.05  # each head its own way
    assert lens.entropy(torch.full((1, 1, 16, 16), 1 / 16)).exp() == pytest.approx(16)


def test_the_guess_reads_near_under_little_noise_and_far_under_much() -> None:
    for row, column in ((3, 3), (4, 3)):
        reads = lens.reads(model(), two(), row, column, 0)
        share = lens.near(reads, row, column)
        assert float(share[0]) > 0.85 and float(share[9]) < 0.45
        assert (reads > 0).all()  # the field covers the picture
    assert [lens.nearer(v) for v in (0.6, 0.3, 0.1)] == lens.NEARER


def test_the_derivative_by_differences() -> None:
    """One noise, one pixel: |∂ x̂_0 / ∂ x_t| against central differences in double precision."""
    net = weights.load("ddpm-digits").double().eval().requires_grad_(False)
    x, t = lens.noisy(net, two().double(), 0)
    x, t = x[4:5].double(), t[4:5]

    def prediction(x: torch.Tensor) -> torch.Tensor:
        return net.denoiser()(x, t)[0][0, 0, 3, 4]  # type: ignore[operator]

    point = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(prediction(point), point)
    for i, j in ((3, 4), (0, 7)):
        step = torch.zeros_like(x)
        step[0, 0, i, j] = 1e-5
        want = (prediction(x + step) - prediction(x - step)) / 2e-5
        assert float(slope[0, 0, i, j]) == pytest.approx(float(want), rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("view", ["Maps", "Skips", "Attention", "Reads"])
def test_the_page(view: str) -> None:
    page = opened(view=view, t=700)
    assert film(page, "t")["at"] == HARD and film(page, "t")["captions"][HARD].startswith("t = 700")
    if view == "Skips":
        _, arrays = figure(page, "whole")
        want = lens.cut(model(), two(), ("first",), 0).whole[HARD]
        assert (torch.tensor(arrays["data.0.z"][HARD]) - want).abs().mean() < 0.03
