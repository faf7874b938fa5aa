"""The page "GAN live": its game against a loop by hand, what it measures, and what its scenes say."""

import math
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch
from opening import failures, figure, film, numbers, open_page, open_warned, run_page, scenes, warnings

from lab import ui
from lab.lenses import games, ink, plane_games, rewind
from lab.seeding import seeded
from modules.adversarial.gan import GAN
from pages.adversarial.live_gan import lens, words
from pages.adversarial.live_gan.room import WITHIN

opened = partial(open_page, "adversarial/live_gan")
RING = lens.GameRecipe(ink.Distribution("ring8"), "non-saturating", 0)
SMALL = lens.GameRecipe(ink.Distribution("moons"), "non-saturating", 3, stride=2)
STORE = rewind.Store()


def course(parts: Mapping[int, Mapping[str, Any]]) -> str:
    """A history as a link spells it: frame -> the knobs from there on, where they are not the first ones."""
    segments = (rewind.Segment(start, rewind.knobs_of(lens.knobs(**given))) for start, given in parts.items())
    return rewind.spell(tuple(segments))


def trained(recipe: lens.GameRecipe, until: int, course: str) -> rewind.Run:
    run = STORE.run(recipe, rewind.parse(course, WITHIN, 60))
    run.advance(until, 1e9)
    return run


def weights_of(model: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def by_hand(rounds: int, d: int, g: int, d_rate: float, g_rate: float) -> GAN:
    """SMALL's game in a loop of its own, log-sigmoids spelled out."""
    model = seeded(lambda: GAN(hidden=(128, 128), ema=0.0, loss="non-saturating"), 3)
    x = SMALL.distribution.sample(20_000, seed=1)
    of_g, of_d = (
        torch.optim.Adam(net.parameters(), lr=rate, betas=(0.5, 0.999), fused=True)
        for net, rate in ((model.generator, g_rate), (model.discriminator, d_rate))
    )
    for step in range(rounds):
        generator = torch.Generator().manual_seed(3 * 100_003 + step)
        for _ in range(d):
            real = x[torch.randint(len(x), (16,), generator=generator)]
            fake = model.generator(torch.randn(16, 16, generator=generator)).detach()
            loss = (
                -model.discriminate(real).sigmoid().log().mean()
                - (-model.discriminate(fake)).sigmoid().log().mean()
            )
            of_d.zero_grad()
            loss.backward()
            of_d.step()
        for _ in range(g):
            torch.randint(len(x), (16,), generator=generator)
            fake = model.generator(torch.randn(16, 16, generator=generator))
            loss = -model.discriminate(fake).sigmoid().log().mean()
            of_g.zero_grad()
            loss.backward()
            of_g.step()
    return model


@pytest.mark.parametrize(("turns", "d", "g"), [("1 and 1", 1, 1), ("2 and 1", 2, 1), ("1 and 2", 1, 2)])
def test_a_round_is_that_of_a_loop_by_hand(turns: str, d: int, g: int) -> None:
    knobs = {"turns": turns, "d_rate": 0.003, "g_rate": 0.0003, "batch": 16}
    run = trained(SMALL, 2, course({0: knobs}))
    ours, other = weights_of(run.restore(2)), weights_of(by_hand(4, d, g, 0.003, 0.0003))
    assert float((ours - other).abs().max()) < 1e-5


def test_who_stands_still_keeps_every_weight() -> None:
    for turns, moves, rests in (("D alone", "discriminator", "generator"),
                                ("G alone", "generator", "discriminator")):  # fmt: skip
        run = trained(SMALL, 3, course({0: {}, 2: {"turns": turns}}))
        before, after = run.restore(2), run.restore(3)
        assert torch.equal(weights_of(getattr(before, rests)), weights_of(getattr(after, rests)))
        assert not torch.equal(weights_of(getattr(before, moves)), weights_of(getattr(after, moves)))


@pytest.mark.parametrize("loss", games.LOSSES)
def test_every_loss_is_restored_to_the_bit_after_a_turn_of_the_knobs(loss: str) -> None:
    """The singular vectors of a spectral norm and the bound of the weights among them."""
    recipe = lens.GameRecipe(ink.Distribution("moons"), loss, 1, stride=2)
    run = trained(recipe, 3, course({0: {}, 2: {"g_rate": 0.01, "turns": "2 and 1"}}))
    for kept in (run.kept, run.parent.kept):
        del kept[max(kept)]
    with torch.no_grad():
        again = recipe.look(run.restore(3), {})
    for name, values in run.frames()[3].items():
        assert np.array_equal(again[name], values, equal_nan=True), name
    if "clipped" in loss:
        assert float(weights_of(run.restore(3).discriminator).abs().max()) == pytest.approx(0.1)


def test_a_histogram_counts_every_point_once() -> None:
    x = torch.tensor([[-4.55, -4.55], [-4.35, -4.55], [4.59, 4.59], [4.7, 0.0], [math.inf, 0.0], [-9.0, 9.0]])
    share = lens.histogram(x)
    assert float(share.sum()) == pytest.approx(1) and float(share[-1]) == pytest.approx(0.5)
    assert share[[0, 1, lens.CELLS**2 - 1]].tolist() == pytest.approx([1 / 6] * 3)
    x, reach = lens.split(RING.distribution, 3), [[-lens.REACH, lens.REACH]] * 2
    counted = np.histogram2d(x[:, 1], x[:, 0], bins=lens.CELLS, range=reach)[0].flatten() / len(x)
    assert np.abs(lens.histogram(x)[:-1].numpy() - counted).sum() < 2e-3


def test_the_divergence_of_two_mixtures_and_what_the_best_discriminator_tells() -> None:
    """Where five of eight modes are made, in closed form, for the modes do not touch; D* tells the same."""
    x = RING.distribution.sample(100_000, seed=9)
    five = x[x[:, 1] > -0.5][:50_000]
    p, q = 1 / 8, 1 / 5
    m = (p + q) / 2
    truth = 5 / 2 * (p * math.log(p / m) + q * math.log(q / m)) + 3 / 2 * p * math.log(2)
    result = float(lens.jensen_shannon(lens.shares(RING.distribution), lens.histogram(five)))
    assert result == pytest.approx(truth, abs=3e-3)
    loss = 5 * p * math.log(1 + q / p) + 5 * q * math.log(1 + p / q)  # D* = p / (p + q), 1 in the other three
    assert lens.js_estimates([{"losses": np.array([loss, 0.0])}])[0] == pytest.approx(truth, abs=1e-6)
    assert float(lens.jensen_shannon(lens.shares(RING.distribution), lens.histogram(x))) < 3e-3


def test_a_game_that_has_run_away_is_a_sentence() -> None:
    model = seeded(RING.build, 0)
    with torch.no_grad():
        model.generator[0].weight.fill_(math.inf)
        frame = RING.look(model, {})
    fine = trained(RING, 0, course({0: {}})).frames()[0]
    kinds = [{name: (values.shape, values.dtype) for name, values in one.items()} for one in (frame, fine)]
    assert kinds[0] == kinds[1]
    text = words.captions([fine, frame], [lens.knobs()] * 2, 20)
    assert "run away" in text[1] and "run away" not in text[0]
    assert len(words.equations([fine, frame], True)) == 2 and len(lens.panels([fine, frame], True, 0)) == 2
    assert lens.looks([fine, frame], 20)[1].modes is None


def test_the_page_says_what_the_untrained_game_is() -> None:
    page = opened()
    bar = film(page)
    assert bar["count"] == 1 and "Round 0, D 1, G 1 a round" in bar["captions"][0]
    model = seeded(lambda: GAN(hidden=(128, 128), ema=0.0, loss="non-saturating"), 0).requires_grad_(False)
    x = RING.distribution.sample(5_000, seed=3)
    result = model.generator(torch.randn(10_000, 16, generator=torch.Generator().manual_seed(0)))
    d = (
        -model.discriminate(x).sigmoid().log().mean()
        - (1 - model.discriminate(result[:5_000]).sigmoid()).log().mean()
    )
    frame = lens.js_estimates(trained(RING, 0, course({0: {}})).frames())
    assert frame[0] == pytest.approx(math.log(2) - float(d) / 2, abs=1e-6)
    assert f"W₁ {plane_games.look(seeded(RING.build, 0), x, 'ring8', 0).w1:.3f}" in bar["captions"][0]
    assert figure(page, "curves")[0]["reel"] and figure(page, "plane")[1]["data.0.z"].shape == (1, 31, 31)
    hinge = film(opened(loss="hinge"))
    assert numbers(page.session_state["_program"][0]) and "modes reached" in hinge["captions"][0]
    assert "modes" not in film(opened(law="moons"))["captions"][0]


def test_a_redraw_builds_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened()
    monkeypatch.setattr(games, "network", None)
    assert not failures(page.run())


def test_the_recorded_game_begins_as_the_game_does_and_says_the_same() -> None:
    """Points are kept in half precision; another processor takes another course later."""
    run = lens.known(*lens.POSTER)
    assert run is not None and run.recorded and lens.known("ring8", "non-saturating", 1) is None
    fresh = rewind.Run(run.recipe, run.history)
    fresh.advance(2, math.inf)
    for one, other in zip(run.frames(), fresh.frames(), strict=False):
        assert {k: (v.shape, v.dtype) for k, v in one.items()} == {
            k: (v.shape, v.dtype) for k, v in other.items()
        }
        assert all(one[key] == pytest.approx(other[key], abs=0.02) for key in ("made", "arrows", "losses"))
        assert one["w1"] == pytest.approx(other["w1"], abs=0.02)
        assert np.abs(one["surface"].astype(float) - other["surface"]).max() <= 5
    assert run.frames()[0]["made"].std(0).max() < 0.2 and modes(run)[-1] == 8


def test_the_poster_trains_nothing_until_something_else_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def course_of(page: Any) -> str:
        return "".join(page.query_params.get("course", [""]))

    with monkeypatch.context() as without:
        without.setattr(rewind.Run, "add", None)
        page = opened(scene="Trained")
        assert film(page)["count"] == lens.LAST + 1 == 51 and "modes reached 8" in film(page)["captions"][-1]
        source, shows = page.session_state["_program"]
        space: dict[str, Any] = {}
        exec(source, space)
        assert space["result"] == pytest.approx(shows)
    assert "recorded" in page.query_params and any("was recorded" in text.value for text in page.markdown)
    page.button(key="train").click().run()
    assert "recorded" not in page.query_params and "".join(page.query_params["until"]) == "60"
    assert not any("was recorded" in text.value for text in page.markdown)
    assert "recorded" not in opened(until=0, recorded="true").query_params

    page = opened(scene="Trained")
    page.session_state["_held:step"] = "2"
    page.button(key="one-Step D").click().run()
    *_, last = rewind.parse(course_of(page), WITHIN, 60)
    assert last == rewind.Segment(2, rewind.knobs_of(lens.knobs("D alone")))
    assert "".join(page.query_params["until"]) == "3" and "recorded" not in page.query_params


def test_one_player_steps_and_the_other_stands_still() -> None:
    """D, D, G; then back at the first frame G: what had come after is forgotten."""
    page = opened(seed=5)
    for count, label in enumerate(("Step D", "Step D", "Step G"), 2):
        page.button(key=f"one-{label}").click().run()
        page.run()
        assert film(page)["count"] == count and film(page)["at"] == count - 1
    assert [text.split(":")[0].split(", ", 1)[1] for text in film(page)["captions"][1:]] == [
        "D alone moves", "D alone moves", "G alone moves"
    ]  # fmt: skip
    course = "".join(page.query_params["course"])
    run = trained(lens.GameRecipe(RING.distribution, RING.loss, 5), 3, course)
    d, g = (
        [weights_of(getattr(run.restore(frame), who)) for frame in range(4)]
        for who in ("discriminator", "generator")
    )
    assert torch.equal(g[0], g[2]) and not torch.equal(g[2], g[3])
    assert torch.equal(d[2], d[3]) and not torch.equal(d[0], d[1])
    page.session_state["_held:step"] = "0"
    page.button(key="one-Step G").click().run()
    assert film(page.run())["count"] == 2 and "G alone moves" in film(page)["captions"][1]
    assert "".join(page.query_params["until"]) == "1"


def test_what_cannot_be_is_one_sentence() -> None:
    bad = course({0: {}, 3: {}}).replace("batch=256", "batch=1e9", 1)
    page = open_warned("adversarial/live_gan", course=bad)
    assert "Part 1 of the course says batch=1e+09: it runs from 16 to 256." in warnings(page)
    blank = run_page("adversarial/live_gan", law=ink.OWN, ink=ui.ink(ink.examples(20)[0][1] * 0))
    assert "nothing on the pad" in warnings(blank) and not blank.exception


@cache
def of_scene(name: str) -> rewind.Run:
    """The run that a scene of the page shows, to its end."""
    values = scenes(opened())[name].values
    run = trained(RING, values["until"], values.get("course", course({0: {}})))
    ends = lens.knobs(**{name: values[name] for name in ("turns", "d_rate", "g_rate") if name in values})
    assert dict(run.history[-1].knobs) == ends, "the controls do not stand where the course ends"
    return run


@pytest.mark.heavy
def test_what_the_scenes_say() -> None:
    """A game is another one wherever sums have another order; what is asserted held for seeds 0 to 7."""
    first, *_ = of_scene("Trained").frames()
    assert first["made"].std(0).max() < 0.2 and abs(lens.js_estimates([first])[0]) < 0.01
    reached = modes(of_scene("Trained"))[45:51]
    assert max(reached) == 8 and min(reached) >= 4

    frames = of_scene("G alone").frames()
    assert frames[50]["modes"] <= 2 and not np.array_equal(frames[20]["made"], frames[50]["made"])
    assert np.array_equal(frames[20]["surface"], frames[50]["surface"])
    liked = float(np.exp(-frames[50]["losses"][1]))  # D of what is made
    assert liked > float(frames[50]["surface"].max()) / 255 - 0.05

    frames = of_scene("D alone").frames()
    assert np.array_equal(frames[20]["made"], frames[50]["made"])
    result, js = lens.js_estimates(frames), float(frames[50]["js"])
    assert frames[20]["js"] == frames[50]["js"] and result[20] < 0.5 * js < 0.75 * js < result[50] < math.log(
        2
    )
    assert frames[50]["losses"][0] < frames[20]["losses"][0] / 2

    fast, slow, spoilt = (
        modes(of_scene(name))
        for name in (
            "G too fast",
            "Rate lowered",
            "Rate raised",
        )
    )
    assert np.count_nonzero(np.diff(fast[20:])) >= 10 and min(fast[40:]) <= 5
    assert slow[:31] == fast[:31] and min(slow[50:]) >= 6
    assert spoilt[45] >= 5 and spoilt[47] <= 3 and np.median(spoilt[50:]) < np.median(slow[50:])
    back = scenes(opened())["Rewound"].values
    assert RING.stride * back["step"] == 400 and back["until"] == 50 and "course" not in back


def modes(run: rewind.Run) -> list[int]:
    return [int(frame["modes"]) for frame in run.frames()]
