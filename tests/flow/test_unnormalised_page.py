"""The page "Unnormalised target": targets, weights, and what each divergence finds."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, open_warned, run_page, warnings

from lab import ui
from lab.lenses import ink, rewind
from modules.flow import reverse_kl
from pages.flow.unnormalised import lens

opened = partial(open_page, "flow/unnormalised")
KNOBS = rewind.knobs_of({"rate": 0.005, "batch": 256})


def trained(target: str, kind: str, layers: int, forward: bool, frames: int) -> list[np.ndarray]:
    recipe = lens.TargetRecipe(lens.Target(target), kind, layers, forward, 0)
    run = rewind.Store().run(recipe, (rewind.Segment(0, KNOBS),))
    run.advance(frames, 1e9)
    return [frame["numbers"] for frame in run.frames()]


def test_normalisers_of_the_targets() -> None:
    assert lens.cells(lens.Target("ring"))[1] == pytest.approx(1.8775, abs=1e-4)
    assert lens.cells(lens.Target("sine band"))[1] == pytest.approx(2.0201, abs=1e-3)
    assert lens.cells(lens.Target("two modes"))[1] == pytest.approx(math.log(math.pi), abs=1e-6)
    assert lens.cells(lens.Target("banana"))[1] == pytest.approx(math.log(2 * math.pi * 0.3), abs=1e-4)
    for name in lens.TARGETS:
        log_q, log_z = lens.cells(lens.Target(name))
        inside = float((log_q - log_z).exp().sum()) * (2 * lens.REACH / lens.CELLS) ** 2
        assert 0.85 < inside < 1.01


def test_points_of_the_target_lie_where_it_is() -> None:
    x = lens.target_samples(lens.Target("two modes"))
    assert x.abs().mean(0).tolist() == pytest.approx([2.5, 0.5 * math.sqrt(2 / math.pi)], abs=0.02)
    assert float((x[:, 0] > 0).float().mean()) == pytest.approx(0.5, abs=0.02)
    picture = dict(ink.examples(lens.PAD))["two lines"]
    own = lens.Target(lens.OWN, tuple(map(tuple, picture.tolist())))
    up = lens.target_samples(own)[:, 1]
    assert float(((up.abs() - 0.5 * lens.INK).abs() < 0.6).float().mean()) > 0.85
    x = torch.tensor([[0.0, 1.75]], requires_grad=True)
    assert torch.autograd.grad(own(x).sum(), x)[0].isfinite().all()


def test_numbers_of_the_untrained_flow() -> None:
    recipe = lens.TargetRecipe(lens.Target("ring"), "IAF", 4, False, 0)
    model = rewind.Store().run(recipe, (rewind.Segment(0, KNOBS),)).fresh()[0].eval()
    with torch.no_grad():
        result = recipe.look(model, {})
        z = torch.randn(lens.DRAWS, 2, generator=torch.Generator().manual_seed(10_000))
    log_w = recipe.target(z) + 0.5 * z.square().sum(1) + math.log(2 * math.pi)  # the flow is the identity
    bound, log_z, ess, there, back, right = result["numbers"].tolist()
    assert bound == pytest.approx(float(log_w.mean()), abs=1e-4)
    assert log_z == pytest.approx(float(log_w.exp().mean().log()), abs=1e-4)
    w = log_w.exp()
    assert ess == pytest.approx(float(w.sum() ** 2 / w.square().sum() / len(w)), abs=1e-4)
    assert there == pytest.approx(1.8775 - bound, abs=1e-3)
    assert result["weights"][:5] == pytest.approx((w / w.mean())[:5].clamp(max=9.99).numpy(), rel=1e-3)
    assert right == pytest.approx(float((z[:, 0] > 0).float().mean())) and back > 0


def test_a_factor_moves_the_loss_and_no_gradient() -> None:
    recipe = lens.TargetRecipe(lens.Target("ring"), "IAF", 2, False, 0)
    model = rewind.Store().run(recipe, (rewind.Segment(0, KNOBS),)).fresh()[0]
    z = torch.randn(64, 2, generator=torch.Generator().manual_seed(0))

    def loss(kappa: float) -> tuple[torch.Tensor, list[torch.Tensor]]:
        value = reverse_kl.reverse_kl(model.stack, z, lambda x: recipe.target(x) + math.log(kappa)).mean()
        return value, list(torch.autograd.grad(value, list(model.parameters()), allow_unused=True))

    (one, first), (many, second) = loss(1.0), loss(1000.0)
    assert float((one - many).detach()) == pytest.approx(math.log(1000), abs=1e-4)
    assert all(a is b or torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_what_the_page_shows() -> None:
    page = opened()
    (numbers,) = trained("ring", "IAF", 4, False, 0)
    bar = film(page)
    assert bar["count"] == 1 and f"KL(flow ‖ target) {numbers[3]:.3f}" in bar["captions"][0]
    shifted = opened(kappa=3.0)
    shown = [figure(one, "course")[0]["figure"]["data"] for one in (page, shifted)]
    assert "1.878" in page.latex[0].value and f"{1.8775 + math.log(1000):.3f}"[:4] in shifted.latex[0].value
    assert len(shown[0]) == len(shown[1]) == 2


def test_an_empty_pad_and_a_wrong_course_are_one_sentence() -> None:
    nothing = ui.ink(ink.examples(20)[0][1] * 0)
    assert "nothing on the pad" in warnings(run_page("flow/unnormalised", target=lens.OWN, ink=nothing))
    assert "Part 1 of the course" in warnings(open_warned("flow/unnormalised", course="0:rate=fast"))


@pytest.mark.heavy
def test_what_the_scenes_say() -> None:
    first, last = (trained("ring", "IAF", 4, False, 40)[i] for i in (0, -1))
    assert last[2] > 0.7 > first[2] and last[3] < 0.15
    lobe = trained("ring", "planar", 4, False, 40)[-1]
    assert max(lobe[5], 1 - lobe[5]) > 0.98 and lobe[2] > 0.7 and lobe[1] < 1.8775 - 0.5
    both = trained("ring", "IAF", 4, True, 40)[-1]
    assert 0.35 < both[5] < 0.65 and both[4] < 0.3
    assert trained("banana", "IAF", 4, False, 40)[-1][3] < 0.1
    assert trained("double well", "IAF", 4, False, 40)[-1][5] == pytest.approx(0.5, abs=0.15)
