"""The page "Train live": the course of a flow on the page is that of a training by hand."""

import math
import sys
from functools import partial

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, open_warned, run_page, warnings

from datamodules import points
from lab import ui
from lab.lenses import ink, rewind
from lab.seeding import seeded
from modules.flow.coupling import RealNVP
from pages.flow.live_flow import lens

opened = partial(open_page, "flow/live_flow")
COURSE = "0:batch=32,rate=0.02;2:batch=32,rate=0.002"
SMALL = {"layers": "2", "width": "8", "batch": "32"}


def whole(until: int, **parameters: str):
    """The page when it has trained."""
    page = run_page("flow/live_flow", until=str(until), **parameters)
    for _ in range(60):
        if film(page)["count"] == until + 1 and not page.button(key="train").disabled:
            break
        page.run()
    assert not page.exception and not page.error and film(page)["count"] == until + 1
    return page


def by_hand(steps: int, turn: int) -> float:
    """−log p of new points after a training in a loop of its own, the rate a tenth from step `turn` on."""
    model = seeded(lambda: RealNVP((2,), 2, (8, 8)), 0)
    x, test = points.sample("moons", 10_000, 1)[0], points.sample("moons", 2_000, 3)[0]
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    for step in range(steps):
        generator = torch.Generator().manual_seed(step)
        optimizer.param_groups[0]["lr"] = 0.02 if step < turn else 0.002
        optimizer.zero_grad()
        (-model.log_prob(x[torch.randint(len(x), (32,), generator=generator)]).mean()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
    with torch.no_grad():
        return float(-model.log_prob(test).mean())


def test_at_first_the_flow_is_the_identity() -> None:
    page = opened()
    bar = film(page)
    x = points.sample("moons", 2_000, 3)[0]
    nll = float((0.5 * x.square().sum(1) + math.log(2 * math.pi)).mean())
    assert bar["count"] == 1 and f"{nll:.3f} nats, {nll - 1.6755:.3f} above" in bar["captions"][0]
    shown, _ = figure(page, "density")
    assert shown["reel"] and shown["since"] == 0


def test_the_course_is_that_of_a_training_by_hand_and_stands_in_the_link() -> None:
    page = whole(4, rate="0.002", course=COURSE, **SMALL)
    text = film(page)["captions"]
    assert f"{by_hand(40, 20):.3f} nats" in text[4] and f"{by_hand(20, 20):.3f} nats" in text[2]
    assert "Rate 0.02;" in text[2] and "Rate 0.002;" in text[3]
    assert page.query_params["course"] in (COURSE, [COURSE])
    _, arrays = figure(page, "density")
    assert arrays["data.0.z"].shape == (5, 64, 64) and arrays["data.2.x"].shape == (5, lens.DRAWN)


def test_a_knob_that_is_turned_counts_from_the_frame_that_is_looked_at() -> None:
    page = whole(4, rate="0.02", **SMALL)
    before = film(page)["captions"]
    page.session_state["_held:step"] = "2"
    page.selectbox(key="rate").select(0.002).run()
    assert film(page)["count"] == 3 and film(page)["captions"] == before[:3]
    page.session_state["_held:until"] = "4"
    for _ in range(10):
        page.run()
    assert f"{by_hand(40, 20):.3f} nats" in film(page)["captions"][4]
    assert page.query_params["course"] in (COURSE, [COURSE])
    page.button(key="anew").click().run()
    assert film(page)["count"] == 1 and "course" not in page.query_params


def test_a_frame_that_is_asked_for_is_shown_as_soon_as_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["lab.ui.background.rewind"], "CHUNK", 0.0)  # a frame each time
    page = open_page("flow/live_flow", until="6", step="3", seed="77", **SMALL)
    for at in (0, 1, 2, 3, 3, 3, 3):
        assert film(page)["at"] == at
        page.run()
    assert film(page)["count"] == 7 and page.query_params["step"] in ("3", ["3"]) and not page.warning


def test_a_course_that_cannot_be_read_is_one_sentence() -> None:
    page = open_warned("flow/live_flow", course="0:rate=fast")
    assert "Part 1 of the course reads '0:rate=fast'" in warnings(page)
    page = open_warned("flow/live_flow", course="0:batch=256,rate=0.01;3:batch=-5,rate=0.01")
    assert "Part 2 of the course says batch=-5: it runs from 32 to 512." in warnings(page)
    empty = ink.examples(20)[0][1] * 0
    page = open_warned("flow/live_flow", law=lens.OWN, ink=ui.ink(empty))
    assert "nothing on the pad" in warnings(page)


def test_the_entropy_of_a_drawing_is_what_no_density_beats() -> None:
    picture = dict(ink.examples(20))["ring"]
    distribution = lens.Distribution(lens.OWN, tuple(map(tuple, picture.tolist())))
    pixels = int((picture > 0).sum())
    assert distribution.entropy == pytest.approx(math.log(pixels * 0.3**2), abs=1e-6)
    assert lens.gaussian_nll(distribution) > distribution.entropy + 0.3


@pytest.mark.parametrize("kind", list(lens.KINDS))
def test_every_kind_is_built_trains_and_stays_a_density(kind: str) -> None:
    run = rewind.Store().run(lens.FlowRecipe(lens.Distribution("moons"), kind, 2, 8, 0), (segment(0.01),))
    run.advance(2, 1e9)
    before, *_, after = run.frames()
    assert float(after["nll"]) < float(before["nll"]) and 0.9 < float(after["mass"]) < 1.01


def course_of(kind: str, shape: str, frames: int, *parts: rewind.Segment, layers: int = 8) -> np.ndarray:
    run = rewind.Store().run(lens.FlowRecipe(lens.Distribution(shape), kind, layers, 32, 0), parts)
    run.advance(frames, 1e9)
    return np.array([float(frame["nll"]) for frame in run.frames()])


def segment(rate: float, start: int = 0) -> rewind.Segment:
    return rewind.Segment(start, rewind.knobs_of({"rate": rate, "batch": 256}))


def test_linear_layers_end_at_the_best_gaussian() -> None:
    nll = course_of("linear", "moons", 20, segment(0.02), layers=3)
    assert nll[-1] == pytest.approx(lens.gaussian_nll(lens.Distribution("moons")), abs=0.02)


@pytest.mark.heavy
def test_what_the_scenes_say_of_the_other_layers() -> None:
    layers = {"additive": 8, "affine": 8, "spline": 4, "logistics": 4}
    gap = {
        kind: float(course_of(kind, "moons", 60, segment(0.01), layers=n)[-5:].mean())
        for kind, n in layers.items()
    }
    assert gap["additive"] > gap["affine"] > gap["spline"] and gap["affine"] > gap["logistics"]
    fast, then = course_of("affine", "moons", 60, segment(0.05)), course_of(
        "affine", "moons", 60, segment(0.05), segment(0.005, 40)
    )  # fmt: skip
    assert then[45:].std() < fast[25:].std() / 2 and then[45:].mean() < fast[25:].mean()
