"""The page "Two philosophies": both models judged in the same units."""

import math
from functools import partial

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, prose, warnings

from lab import experiments, weights
from lab.lenses import glows
from lab.lenses.glows import levels, noise
from lab.ui.models import grey_digits
from modules.latent.taxonomy import VAE_OR_FLOW
from pages.flow.vae_or_flow import lens

opened = partial(open_page, "flow/vae_or_flow")


@pytest.fixture(scope="module")
def models():
    return [
        weights.load(experiments.ZOO / name).requires_grad_(False)
        for name in ("vae-large-digits", "glow-digits")
    ]


def test_the_vae_is_scored_in_the_units_of_grey_levels(models) -> None:
    vae, _ = models
    y = torch.full((1, 1, 8, 8), 3.5)
    one, best = lens.vae_bounds(vae, y, 50)
    assert float(best) >= float(one)
    x = torch.full((1, 64), 3 / 16)  # the middle of a cell is the level itself
    log_w = vae.log_weights(x, 50, torch.Generator().manual_seed(0))[:, 0]
    due = float(log_w.logsumexp(0)) - math.log(50) - 64 * math.log(16)
    assert float(best) == pytest.approx(due, rel=1e-5)
    assert lens.bits(-64 * math.log(17)) == pytest.approx(math.log2(17))


def test_ways_begin_and_end_at_the_digits(models) -> None:
    x = glows.digits()[0]
    vae, flow = lens.ways(*models, x[:1], x[1:2])
    assert flow.ends < 1e-3 < vae.ends
    y = x[:1] + noise(x[:1])
    assert float(flow.log_prob[0]) == pytest.approx(float(models[1].log_prob(y)), abs=1e-2)
    assert vae.pictures.shape == flow.pictures.shape == (lens.STEPS, 8, 8)


def test_the_flow_finds_its_own_mixes_likelier(models) -> None:
    three, nine = (grey_digits.shelf()[i][1] for i in (3, 9))
    vae, flow = lens.ways(*models, levels(three), levels(nine))
    assert (flow.log_prob > vae.log_prob).all() and flow.log_prob[5] > vae.log_prob[5] + 10


def test_the_table_has_the_text_s_rows_and_numbers_of_its_own(models) -> None:
    result = lens.measure(*models, glows.digits("train"), glows.digits(), 60)
    assert result.networks == (1, 12) and result.off[1] < 1e-4 < result.off[0]
    assert result.gap > 0 and result.gain > 0 and all(0.5 < r <= 1 for r in result.right)
    rows = lens.table(result)
    assert [(r.aspect, *r.claims) for r in rows] == list(VAE_OR_FLOW)
    assert f"{result.bits[1]:.3f}" in rows[0].measured[1] and "bound too" in rows[0].but
    otherwise = result.right[0] <= result.right[1] or result.bits[1] >= result.bits[0]
    assert bool(rows[6].but) is otherwise


def test_what_the_page_shows(models) -> None:
    page = opened()
    shown = metrics(page)
    assert metrics(opened(view="samples"))["Parameters"] == "114,645 and 114,680"
    a = grey_digits.shelf()[3][1]
    x = (a[None, None] * 15).round() / 15 * 16
    y = x.round() + noise(x)
    assert shown["flow"] == f"{lens.bits(models[1].log_prob(y)):.3f}"
    bar = film(page, "t")
    assert bar["count"] == lens.STEPS and "t = 0.5" in bar["captions"][5]
    assert figure(page, "pair")[1]["data.0.z"].shape == (lens.STEPS, 8, 17)


def test_numbers_of_the_scenes() -> None:
    assert metrics(opened(view="samples"))["Networks in turn"] == "1 and 12"
    page = opened(view="table")
    lines = next(m.value for m in page.markdown if m.value.startswith("|  |")).splitlines()
    assert len(lines) == 9 and "bound too" in lines[2] and "250 held-out digits" in prose(page)
    bits = metrics(page)
    assert f"{bits['flow']}. Both have the same number of weights" in prose(page)


def test_the_pair_is_of_one_size_on_the_same_data(models) -> None:
    vae, flow = (lens.size(model) for model in models)
    assert abs(vae - flow) < 0.05 * flow
    assert "same number" in lens.weighed(vae, flow) and "flow is the larger model, 2.0" in lens.weighed(
        50, 100
    )
    splits = [weights.read_card(experiments.ZOO / name)["data"]["splits"] for name in
              ("vae-large-digits", "glow-digits")]  # fmt: skip
    assert splits[0] == splits[1]


def test_a_bad_drawing_is_named() -> None:
    assert "cannot be read" in warnings(open_warned("flow/vae_or_flow", a="ink.nonsense"))
