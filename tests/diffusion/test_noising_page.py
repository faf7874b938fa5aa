"""The page of noising: both ways have one distribution, and the page says its numbers."""

import pytest
import torch
from opening import film, open_page, open_warned

from modules.diffusion import schedule
from pages.diffusion.noising import lens


@pytest.mark.parametrize("way", ["at once", "step by step"])
@pytest.mark.parametrize(("kind", "T"), [("linear", 1000), ("cosine", 100), ("linear", 10)])
def test_both_ways_have_one_law(way: lens.Way, kind: schedule.Kind, T: int) -> None:
    """Mean √ᾱ x₀ and variance 1 − ᾱ within four standard errors, at every frame."""
    chain = schedule.named(kind, T)
    draws = lens.noised(chain, torch.full((lens.DRAWS,), 0.75), way, 3)
    a = chain.alpha_bar[torch.tensor(lens.times(chain))]
    error = ((1 - a) / lens.DRAWS).sqrt()
    assert ((draws.mean(1) - 0.75 * a.sqrt()).abs() <= 4 * error + 1e-12).all()
    assert ((draws.var(1) - (1 - a)).abs() <= 4 * (1 - a) * (2 / lens.DRAWS) ** 0.5 + 1e-12).all()


def test_the_histogram_follows_the_law() -> None:
    story = lens.story("linear", 1000, torch.full((4, 4), 0.5), None, 1.0, "step by step", 0)
    width = float(lens.EDGES[1] - lens.EDGES[0])
    torch.testing.assert_close(story.histogram.sum(1) * width, torch.ones(41).double())
    assert ((story.distribution.sum(1) * width - 1).abs() < 1e-3).all()
    share = story.distribution[1:] * width
    off = (story.histogram[1:] * width - share).abs()
    assert (off <= 5 * (share / lens.DRAWS).sqrt() + 2 / lens.DRAWS).all()
    assert story.pictures.shape == (41, 4, 4) and (story.pictures[0] == 0).all()


def test_steps_are_not_one_draw() -> None:
    """At once one ε serves all t; step by step each t has noise of its own."""
    chain = schedule.named("linear", 100)
    once, steps = (lens.noised(chain, torch.zeros(500), way, 0) for way in ("at once", "step by step"))
    t = torch.tensor(lens.times(chain))
    scaled = once[1:] / (1 - chain.alpha_bar[t[1:]]).sqrt()[:, None]
    torch.testing.assert_close(scaled, scaled[:1].expand_as(scaled))
    assert abs(float(torch.corrcoef(steps[[5, -1]])[0, 1])) < 0.9


def test_the_page() -> None:
    page = open_page("diffusion/noising", t=500)
    shown = film(page, "t")
    chain = schedule.named("linear", 1000)
    assert (
        shown["at"] == 20
        and f"{float(chain.alpha_bar[500].sqrt()):.1%} of the picture" in shown["captions"][20]
    )
    assert "&#x0221E;" in shown["equations"][0]
    assert open_warned("diffusion/noising", drawing="no.ink")
