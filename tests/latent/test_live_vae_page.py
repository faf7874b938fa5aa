"""The page "VAE live": its costs against importance sampling, collapse and cure, the course of the knobs."""

from functools import partial

import pytest
import torch
from opening import figure, film, numbers, open_page, open_warned, warnings

from lab.lenses import rewind
from lab.seeding import seeded
from pages.latent.live_vae import lens

opened = partial(open_page, "latent/live_vae")


def knobs(beta: float, var: float, start: int = 0) -> rewind.Segment:
    return rewind.Segment(start, rewind.knobs_of({"rate": 0.005, "batch": 256, "beta": beta, "var": var}))


def trained(frames: int, *parts: rewind.Segment, k: int = 2) -> rewind.Run:
    run = rewind.Store().run(lens.VAERecipe("moons", k, 48, 0), parts)
    run.advance(frames, 1e9)
    return run


@pytest.mark.parametrize("k", [1, 2])
def test_log_p_is_what_importance_sampling_tends_to_and_integrates_to_one(k: int) -> None:
    run = trained(2, knobs(1, 0.2), k=k)
    model, x = run.restore(2).requires_grad_(False), lens.split("moons", 3)[0][:100]
    model.decoder_log_var.fill_(torch.tensor(0.2).log())
    log_p = lens.log_prob(model, x)
    weighted = model.log_prob_is(x, 4000, generator=torch.Generator().manual_seed(0))
    assert abs(float((log_p - weighted).mean())) < 0.03
    inside = float(lens.log_prob(model, lens.grid()).exp().sum()) * (2 * lens.REACH / lens.CELLS) ** 2
    assert inside == pytest.approx(1, abs=0.02)
    log_p, elbo, rec, kl = map(float, run.frames()[2]["costs"])
    assert elbo == pytest.approx(rec + kl, abs=1e-4) and elbo > log_p - 0.02


def test_the_page_says_the_costs_of_the_untrained_model() -> None:
    page = opened()
    bar = film(page)
    model = seeded(lens.VAERecipe("moons", 2, 48, 0).build)
    model.decoder_log_var.fill_(torch.tensor(0.05).log())
    x = lens.split("moons", 3)[0]
    parts = model.requires_grad_(False).eval().elbo_terms(x, noise=torch.zeros(1, len(x), 2))
    kl = float(parts.kl.sum(-1).mean())
    assert bar["count"] == 1 and f"KL {kl:.3f} nats" in bar["captions"][0]
    log_p, rec, shown_kl, elbo = numbers(page.latex[0].value)
    assert shown_kl == pytest.approx(kl, abs=6e-4) and elbo > log_p
    assert elbo == pytest.approx(rec + kl, abs=2e-3)
    assert figure(page, "codes")[0]["reel"]


def test_a_course_without_one_of_the_knobs_is_one_sentence() -> None:
    page = open_warned("latent/live_vae", course="0:rate=0.01,batch=256")
    assert "Part 1 of the course" in warnings(page)


@pytest.mark.heavy
def test_what_the_scenes_say() -> None:
    collapsed = trained(75, knobs(8, 1), knobs(1, 0.05, 30))
    costs = [frame["costs"] for frame in collapsed.frames()]
    assert costs[30][3] < 0.05 and costs[75][3] > 1.5 and costs[75][1] < costs[30][1]
    plain = trained(60, knobs(1, 0.05)).frames()[-1]["costs"]
    free = trained(60, knobs(0, 0.05)).frames()[-1]["costs"]
    assert plain[1] > plain[0] and free[3] > plain[3] + 2 and free[0] > plain[0]
    blurry = trained(40, knobs(1, 1.0)).frames()[-1]["costs"]
    assert blurry[0] > plain[0] + 0.5
