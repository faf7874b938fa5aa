"""The page GPT trainer: entropies and losses by another road, scenes for their seeds, short jumps back."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, run_page, spoken
from torch.nn.utils import parameters_to_vector

from lab.errors import UserError
from lab.lenses import rewind
from pages.transformer.gpt_trainer import figures, lens, words
from pages.transformer.gpt_trainer.room import (
    FIRST,
    GAZETTE,
    LAYERS,
    MOST,
    MOST_WEIGHTS,
    OWN,
    ROOM,
    WITHIN,
    State,
)

SMALL = lens.Recipe("abab abba ab. " * 40, 1, 8, 2, 8, 0)


def recipe_of(now: State, seed: int = 0) -> lens.Recipe:
    return lens.recipe(now.source, now.text, now.layers, now.width, now.heads, now.context, seed)


def trained(now: State, until: int, seed: int = 0) -> rewind.Run:
    knobs = rewind.knobs_of({name: getattr(now, name) for name in WITHIN})
    run = rewind.Store().run(recipe_of(now, seed), (rewind.Segment(0, knobs),))
    run.advance(until, 1e9)
    return run


def vals(run: rewind.Run) -> list[float]:
    return [float(frame["val"]) for frame in run.frames()]


def test_entropies_are_those_of_counts() -> None:
    read = lens.read(SMALL.text)
    train = SMALL.text[: int(0.9 * len(SMALL.text))]
    singles, pairs, firsts = Counter(train), Counter(pairwise(train)), Counter(train[:-1])
    n = len(train)
    assert read.unigram == pytest.approx(-sum(c / n * math.log(c / n) for c in singles.values()))
    wanted = -sum(c / (n - 1) * math.log(c / firsts[a]) for (a, _), c in pairs.items())
    assert read.bigram == pytest.approx(wanted)
    assert len(read.train) + len(read.val) == len(SMALL.text) and read.characters == [" ", ".", "a", "b"]


def test_a_look_by_another_road() -> None:
    run = rewind.Run(SMALL, (rewind.Segment(0, rewind.knobs_of({"rate": 0.01, "warmup": 20})),))
    run.advance(2, 1e9)
    frame, model, data = run.frames()[2], run.restore(2), SMALL.data
    windows = lens.windows(data.val, SMALL.context, 10_000)  # every start
    assert len(windows) == len(data.val) - SMALL.context
    total = torch.zeros(SMALL.context)
    with torch.no_grad():
        for window in windows:
            log_p = model(window[None, :-1])[0].log_softmax(-1)
            total -= log_p[torch.arange(SMALL.context), window[1:]]
    np.testing.assert_allclose(frame["places"], total / len(windows), rtol=1e-4)
    assert float(frame["val"]) == pytest.approx(float(frame["places"].mean()), rel=1e-5)
    assert (frame["sample"] == SMALL.sample(model)).all()
    assert words.rows(SMALL, frame)[0] == "".join(data.characters[i] for i in frame["sample"][0])


def test_the_rate_rises_over_the_warm_up() -> None:
    assert [lens.warmed(0.1, 4, done) for done in range(6)] == pytest.approx(
        [0.025, 0.05, 0.075, 0.1, 0.1, 0.1]
    )
    assert lens.warmed(0.1, 0, 0) == 0.1
    model = SMALL.build()
    optimizers = SMALL.optimizers(model)
    for step in range(3):
        assert lens.steps_of(optimizers["all"]) == step
        before = parameters_to_vector(model.parameters()).clone()
        SMALL.step(model, optimizers, {"rate": 0.1, "warmup": 10}, torch.Generator().manual_seed(step))
        moved = (parameters_to_vector(model.parameters()) - before).detach().abs().max()
        assert optimizers["all"].param_groups[0]["lr"] == pytest.approx(0.01 * (step + 1))
        if step == 0:  # Adam's first step is the rate itself
            assert float(moved) == pytest.approx(0.01, rel=1e-3)


def test_weights_are_counted() -> None:
    for layers in LAYERS:
        made = lens.recipe(GAZETTE, "", layers, 48, 4, 64, 0)
        assert lens.weights(made) == made.build().num_parameters <= MOST_WEIGHTS


def test_a_jump_back_trains_no_frame_twice_over() -> None:
    """States of all frames of the largest GPT fit, so that none lies more than a frame behind one that is
    kept, where that takes long."""
    made = lens.recipe(GAZETTE, "", 3, 48, 4, 64, 0)
    floats = 3 * lens.weights(made)  # weights, and two means of Adam
    assert 4 * floats * (MOST + 1) < rewind.MORE_KEPT


def test_the_recorded_training_is_the_live_one() -> None:
    kept = lens.known(lens.default())
    assert kept is not None and kept.recorded and kept.count == lens.LAST + 1
    assert lens.known(SMALL) is None and lens.default() == recipe_of(State())
    assert lens.first() == rewind.parse(f"0:{FIRST}", WITHIN, MOST)
    live = trained(State(), 2)
    np.testing.assert_allclose(vals(live), vals(kept)[:3], atol=0.02)
    data = lens.default().data
    losses = vals(kept)
    assert losses[0] == pytest.approx(math.log(29), abs=0.05) and losses[-1] < data.bigram / 2  # Words
    right, count = words.known_words(lens.default(), kept.frames()[-1])
    assert right > count / 2 > 10
    places = kept.frames()[-1]["places"]  # Context
    assert abs(places[0] - data.bigram) < 0.5 and places[8:].max() < data.bigram - 0.8


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_quick_scenes_say(seed: int) -> None:
    frame = trained(ROOM.scenes["From ln V"].state, 0, seed).frames()[0]
    assert np.abs(frame["places"] - math.log(29)).max() < 0.1
    now = ROOM.scenes["Letters and spaces"].state
    run = trained(now, now.until, seed)
    assert vals(run)[-1] == pytest.approx(run.recipe.data.unigram, abs=0.2)  # type: ignore[attr-defined]


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [0, 1])
def test_what_the_slow_scenes_say(seed: int) -> None:
    runs = {
        name: trained(scene.state, scene.state.until, seed)
        for name, scene in ROOM.scenes.items()
        if scene.state.until and not scene.state.recorded and not scene.state.course
    }
    data = recipe_of(State()).data
    losses = {name: vals(run) for name, run in runs.items()}
    assert max(losses["Too fast"]) > 2 * math.log(29) and min(losses["Too fast"][1:]) > data.unigram - 0.1
    assert losses["No warm-up"][-1] > data.bigram > losses["Warm-up"][-1] + 0.1
    assert data.bigram - 0.1 < losses["Tiny"][-1] < data.bigram + 0.3
    own = losses["Own text"]
    assert own[-1] > min(own) + 0.4 and float(runs["Own text"].frames()[-1]["train"]) < 1.4


def test_bad_texts_get_a_sentence() -> None:
    with pytest.raises(UserError, match="two different characters"):
        lens.recipe(OWN, "aaaa", 1, 8, 1, 8, 0)
    with pytest.raises(UserError, match="at least 330"):
        lens.recipe(OWN, "abc" * 20, 1, 8, 1, 32, 0)
    with pytest.raises(UserError, match="less width"):
        lens.recipe(OWN, "".join(map(chr, range(0x4E00, 0x4E00 + 3000))), 1, 48, 1, 32, 0)


def test_a_training_that_has_run_away_is_said() -> None:
    lost = np.array(np.nan, np.float32)
    frame = {"train": lost, "val": lost, "places": np.full(8, np.nan, np.float32),
             "sample": np.zeros((lens.ROWS, lens.COLUMNS), np.int16)}  # fmt: skip
    frames = [frame, frame]
    assert "run away" in words.captions(frames, [{"rate": 1.0, "warmup": 0.0}] * 2, SMALL)[1]
    assert "undefined" in words.equations(frames, SMALL)[1]
    assert figures.losses(frames, SMALL)[1] > math.log(4)
    model = SMALL.build()
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(math.nan)
    assert (SMALL.sample(model) == 0).all()


def test_words_that_the_text_has_are_coloured() -> None:
    line = figures.colored("abab xyz <b>\n abba", frozenset({"abab", "abba"}))
    assert line.count("<span") == 2 and "&lt;b&gt;⏎" in line and "xyz" in line
    frame = {"sample": np.array([[SMALL.data.characters.index(c) for c in "abab bbb ab. ab"]])}
    assert words.known_words(SMALL, frame) == (2, 3)  # the last word is cut off
    assert [words.answer(SMALL, loss) for loss in (9.0, SMALL.data.bigram + 1e-3, 0.0)] == list(words.OPTIONS)


def test_the_page_shows_these_numbers() -> None:
    page = open_page("transformer/gpt_trainer", width=8, layers=1, context=8, until=2)
    for _ in range(60):
        if film(page)["count"] == 3 and not page.button(key="train").disabled:
            break
        page.run()
    now = State(width=8, layers=1, context=8)
    run = trained(now, 2)
    assert f"{vals(run)[2]:.3f} nats" in film(page)["captions"][2]
    assert spoken(film(page)["equations"][2])[-2:] == pytest.approx([2.867, 2.113], abs=1e-3)
    _, arrays = figure(page, "places")
    np.testing.assert_allclose(arrays["data.0.y"], rewind.stacked(run.frames(), "places"), rtol=1e-3)
    page = run_page("transformer/gpt_trainer", source=OWN, text="short")
    assert not page.exception
