"""The page Captioning: its numbers are those of the captioners, and what its scenes say is so."""

import re
from functools import partial

import numpy as np
import pytest
import torch
from opening import equation, figure, film, finish, open_page, plain, run_page, spoken

from datamodules import scenes
from datamodules.scenes import Scenes
from lab import experiments, weights
from lab.errors import UserError
from modules.recurrent.captioning import Captioner
from pages.recurrent.captioning import figures, gallery, lens, room
from pages.recurrent.captioning.lens import END, Written
from pages.recurrent.captioning.room import CASES, State

opened = partial(open_page, "recurrent/captioning")
CARD = experiments.find("soft-scenes").card
STATES = {name: scene.state for name, scene in room.ROOM.scenes.items()}
Models = tuple[Captioner, Captioner]


@pytest.fixture(scope="module")
def models() -> Models:
    soft, hard = (weights.load(name).eval() for name in ("soft-scenes", "hard-scenes"))
    return soft, hard


@pytest.fixture(scope="module")
def counted(models: Models) -> dict[str, gallery.Counted]:
    return {test: list(gallery.errors(*models, CARD, test))[-1][1] for test in (room.PAIRS, room.OBJECTS)}


@pytest.fixture(scope="module")
def quiet() -> lens.Picture:
    return lens.picture(CARD, State().asked)


def first_wrong(shown: lens.Picture, result: Written) -> int | None:
    pairs = zip(shown.gold, result.words, strict=False)
    return next((t for t, (gold, word) in enumerate(pairs) if gold != word), None)


# --- The caption -------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [State(), State(source=room.PAIRS, number=12), STATES["Third object"]])
def test_steps_are_those_of_the_captioners(models: Models, state: State) -> None:
    """Words are those of `caption`; weights and probabilities those of the written words, forced."""
    shown, tokens = lens.picture(CARD, state.asked), scenes.tokenizer().tokens
    for model in models:
        result = lens.write(model, shown)
        written = model.caption(shown.pixels[None], len(result.ids))[0]
        assert written.tolist() == result.ids.tolist()
        assert [tokens[i] for i in written.tolist()[:-1]] == result.words[:-1] and result.words[-1] == END
        for location, seed in (("argmax", 0), ("sample", 3)):
            result = lens.write(model, shown, location, seed)  # type: ignore[arg-type]
            target, places = result.ids[None], result.places
            look = None if places is None else lambda gamma, t, at=places: torch.tensor([at[t]])
            with torch.no_grad():
                reading = model.decoder.read(model.begin(shown.pixels[None]), model.inputs(target), look)
            torch.testing.assert_close(reading.log_p(target)[0].exp(), result.p)
            torch.testing.assert_close(reading.gamma[0], result.gamma)
            if places is not None and location == "argmax":
                assert places == result.gamma.argmax(1).tolist()


def test_mass_and_entropy_are_counted_cell_by_cell(models: Models, quiet: lens.Picture) -> None:
    """The centres are pixels 8 i + 3.5 (RN-O26), and a square has the share γ of its cell's area."""
    for model in models:
        result, grid = lens.write(model, quiet), range(4)
        centres = [(8 * i + 3.5, 8 * j + 3.5) for j in grid for i in grid]
        assert result.centres.tolist() == [list(centre) for centre in centres] and result.jump == 8
        for t, k in enumerate(result.of):
            gamma = result.gamma[t].double()
            assert float(result.entropy[t]) == pytest.approx(-float((gamma * gamma.log()).sum()), abs=1e-5)
            if k < 0:
                assert result.mass[t].isnan() and not result.inside[t].any()
                continue
            left, top, right, bottom = quiet.boxes[k].tolist()
            within = [left - 4 < x < right + 4 and top - 4 < y < bottom + 4 for x, y in centres]
            assert float(result.mass[t]) == pytest.approx(float(gamma[torch.tensor(within)].sum()), abs=1e-6)
            assert float(result.area[t]) == pytest.approx(sum(within) / 16)
        tree = figures.over(quiet, result, len(result.words))
        for t, (x, y) in enumerate(zip(*(tree["data"][2][axis].values for axis in "xy"), strict=True)):
            x, y = (each.reshape(16, 6)[:, :5] for each in (x, y))
            middle = np.stack([(each.min(1) + each.max(1)) / 2 for each in (x, y)], 1)
            np.testing.assert_allclose(middle, centres, atol=1e-4)
            np.testing.assert_allclose(np.ptp(x, 1) * np.ptp(y, 1), 64 * result.gamma[t], atol=1e-3)


def test_words_speak_of_the_objects_that_the_data_say() -> None:
    objects = scenes.draw(200, 3, "seen", seed=9)
    for kinds, cells in zip(objects.kinds.tolist(), objects.cells.tolist(), strict=True):
        words, of = scenes.caption(kinds, cells)
        assert lens.speaks_of([*words, END]) == [*of, -1]


def test_what_is_wrong_in_a_caption(quiet: lens.Picture) -> None:
    assert " ".join(quiet.gold) == "a big red circle above a small blue triangle " + END

    def wrong(text: str) -> list[int]:
        words = [*text.split(), END]
        return [t for t, bad in enumerate(lens.mistakes(words, lens.speaks_of(words), quiet)) if bad]

    assert wrong("a big red circle above a small blue triangle") == []
    assert wrong("a small red square above a small blue triangle") == [1, 3]
    assert wrong("a big red circle left of a small blue circle") == [4, 9]  # one word later, still the second
    assert wrong("a big red circle") == [4]
    assert wrong("a big red circle above a small blue triangle above a big red circle") == [9, 11, 12, 13]


# --- The scene ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", room.SETS)
def test_test_scenes_are_those_of_the_data(kind: str) -> None:
    level, test = lens.LEVELS[kind]
    data = Scenes(level=level, test=test, num_test=lens.COUNT)
    data.setup("test")
    pixels, _, target, _ = data.test_set[torch.tensor([7])]
    shown = lens.picture(CARD, State(source=kind, number=7).asked)
    assert torch.equal(shown.pixels, pixels[0])
    tokens = scenes.tokenizer().tokens
    assert shown.gold == [*(tokens[i] for i in target[0].tolist()[:-1]), END]
    assert {room.OBJECTS: "has a", room.PAIRS: "these two objects"}.get(kind, "") in shown.says
    assert (shown.says == "") == (kind == room.SEEN or (kind == room.THREE and len(shown.objects) < 3))


def test_composed_scenes_are_painted_where_they_are_put(quiet: lens.Picture) -> None:
    assert list(room.KINDS) == [" ".join(scenes.name(kind)) for kind in range(scenes.KINDS)]
    assert quiet.objects == ["big red circle", "small blue triangle"]
    for k, (red, blue) in enumerate([(1.0, 0.0), (0.0, 1.0)]):
        left, top, right, bottom = (round(v) for v in quiet.boxes[k].tolist())
        x, y = (left + right) // 2, (top + bottom) // 2
        assert (x // 8 + 4 * (y // 8) + 1) == (State().at1, State().at2)[k]
        pixel = quiet.pixels[:, y, x]
        assert float(pixel[0]) == pytest.approx(0.9 * red, abs=0.21)
        assert float(pixel[2]) == pytest.approx(0.9 * blue, abs=0.21)
    swapped = lens.picture(CARD, State(first=State().second, at1=11, second=State().first, at2=2).asked)
    assert torch.equal(swapped.pixels, quiet.pixels) and swapped.gold == quiet.gold
    faint = lens.picture(CARD, State(contrast=0.5).asked).pixels
    blank = lens.drawn(lens.empty(lens.placed((("big red circle", 2),))), 32)
    torch.testing.assert_close(faint, (quiet.pixels + blank) / 2)
    assert float(blank.max()) < scenes.NOISE
    with pytest.raises(UserError, match="same place"):
        lens.picture(CARD, State(at2=2).asked)
    page = run_page("recurrent/captioning", at2=2)
    assert not page.exception
    assert "same place" in "".join(e.value for e in [*page.info, *page.warning, *page.error, *page.markdown])


# --- Errors ------------------------------------------------------------------------------------------


def test_errors_are_counted_one_by_one(models: Models, counted: dict[str, gallery.Counted]) -> None:
    for test, both in counted.items():
        for model, cases in zip(models, (both.soft, both.hard), strict=True):
            assert len(cases.case) == lens.COUNT
            for number in range(0, 120, 5):
                shown, result = lens.read(model, CARD, State(source=test, number=number).asked)
                t = first_wrong(shown, result)
                case, step = int(cases.case[number]), int(cases.step[number])
                peaks = result.inside[torch.arange(len(result.words)), result.gamma.argmax(1)]
                away = [s for s, k in enumerate(result.of) if k >= 0 and not peaks[s]]
                if t is None:
                    assert case == (CASES.index(room.ELSEWHERE) if away else gallery.FINE)
                    assert step == (away[0] if away else 0)
                    continue
                assert step == t and gallery.names(cases.written[[number]]) == [result.words[t]]
                assert gallery.names(cases.gold[[number]]) == [shown.gold[t]]
                k = lens.speaks_of(shown.gold)[t]
                due = room.RELATION if k < 0 else room.NAME if peaks[t] else room.PLACE
                if result.of[t] == k:  # else the word that is written speaks of nothing
                    assert CASES[case] == due
                peak = result.centres[result.gamma[t].argmax()]
                assert cases.cell[number].tolist() == [*(peak - 4).tolist(), *(peak + 4).tolist()]


@pytest.mark.parametrize("name", ["soft", "hard"])
def test_as_many_are_wrong_as_the_card_says(name: str, counted: dict[str, gallery.Counted]) -> None:
    card = experiments.find(f"{name}-scenes").card
    assert card["data"]["test"] == "pairs" and card["data"]["splits"]["test"] == lens.COUNT
    cases: gallery.Cases = getattr(counted[room.PAIRS], name)
    assert 1 - cases.wrong / lens.COUNT == pytest.approx(card["metrics"]["test/exact"], abs=0.003)
    assert sum(cases.count(case) for case in CASES) + int((cases.case == gallery.FINE).sum()) == lens.COUNT


def test_a_click_opens_its_scene() -> None:
    chosen = list(range(100, 108))
    side = 32 + figures.GAP
    assert [figures.pressed(side * i + 15, 20, 32, chosen) for i in range(4)] == [100, 101, 102, None]
    assert figures.pressed(3, 2 * side + 1, 32, chosen) == 106
    assert figures.pressed(2 * side + 3, 2 * side + 1, 32, chosen) is None
    assert figures.pressed(-5, 20, 32, chosen) is None


# --- The page ----------------------------------------------------------------------------------------


def test_scenes_say_what_is_seen(models: Models, counted: dict[str, gallery.Counted]) -> None:
    soft, _ = models
    _, one = lens.read(soft, CARD, STATES["Look and name"].asked)
    assert one.words[3] == "circle" and float(one.mass[3]) > 0.9 and float(one.area[3]) == 1 / 16
    peaks = one.gamma.argmax(1)
    assert one.words[8:] == ["triangle", END]
    assert one.inside[3, peaks[3]] and one.inside[8, peaks[8]] and one.of[3] != one.of[8]
    state = STATES["Collapsed"]
    both = lens.compare(soft, weights.load(state.hard).eval(), CARD, state.asked, state.location, state.seed)
    assert both.soft.right and both.hard.words == both.soft.words and both.soft.words[state.step] == "circle"
    assert float(both.soft.mass[state.step]) > 0.9 and float(both.hard.mass[state.step]) < 0.01
    assert float(one.entropy[[0, 5, 9]].min()) > float(one.entropy[8])
    for name in ("Soft and hard", "Resample"):
        state = STATES[name]
        both = lens.compare(*models, CARD, state.asked, state.location, state.seed)
        assert both.soft.words == both.hard.words and both.soft.right
        assert float(both.soft.entropy.mean()) > float(both.hard.entropy.mean())
        assert both.right > len(lens.DRAWS) / 2
    others = [
        lens.compare(*models, CARD, state.asked, state.location, seed).hard.places for seed in (0, 1, 2)
    ]
    assert others[0] != others[1] != others[2]
    shown, new = lens.read(soft, CARD, STATES["New object"].asked)
    assert shown.objects == ["big blue square"] and [t for t, bad in enumerate(new.wrong) if bad] == [3]
    assert new.inside[3, int(new.gamma[3].argmax())] and "blue square" in shown.says
    shown, third = lens.read(soft, CARD, STATES["Third object"].asked)
    assert len(shown.objects) == 3 and third.words.count("a") == 2
    pairs, objects = (counted[test].soft for test in (room.PAIRS, room.OBJECTS))
    assert pairs.count(room.ELSEWHERE) > 3 * pairs.wrong > 0
    assert objects.count(room.NAME) > 0.5 * objects.wrong > objects.count(room.PLACE)


def test_the_page_shows_these_numbers(models: Models) -> None:
    shown, result = lens.read(models[0], CARD, State().asked)
    page = opened(step=7)
    bar, (_, arrays) = film(page), figure(page, "measures")
    assert bar["at"] == 7 and bar["count"] == len(result.words)
    np.testing.assert_allclose(arrays["data.0.x"][-1], result.mass, atol=1e-5)
    np.testing.assert_allclose(arrays["data.1.x"][-1], result.entropy, atol=1e-5)
    assert np.isnan(arrays["data.1.x"][3][4:]).all() and not np.isnan(arrays["data.1.x"][3][:4]).any()
    for tex, mass, area, entropy in zip(
        bar["equations"], result.mass, result.area, result.entropy, strict=True
    ):
        due = [float(v) for v in (mass, area, entropy) if not v.isnan()]
        assert spoken(tex) == pytest.approx(due, abs=1e-3)
    _, arrays = figure(page, "over")
    np.testing.assert_allclose(arrays["data.1.x"][7][:3], shown.boxes[1][[0, 2, 2]], atol=1e-4)
    assert np.isnan(arrays["data.1.x"][4]).all()
    page = opened(view=room.BOTH, location=room.DRAWN, seed=3)
    hard = lens.write(models[1], shown, "sample", 3)
    header, arrays = figure(page, "hard")
    np.testing.assert_allclose(arrays["data.4.x"][: len(hard.words), 0], hard.centres[hard.places, 0])
    named = re.sub("<[^>]*>", " ", header["texts"]["layout.annotations.0.text"][-1])
    assert named.split() == ["hard", *hard.words]


def test_the_page_counts_errors(counted: dict[str, gallery.Counted]) -> None:
    page = finish(opened(view=room.ERRORS, model="hard-scenes"))
    both, kinds = counted[room.PAIRS], (room.PLACE, room.NAME, room.RELATION)
    header, _ = figure(page, "counts")
    for bar, cases in zip(header["figure"]["data"], (both.hard, both.soft), strict=True):
        assert plain(bar["x"]) == [cases.count(kind) for kind in kinds]
    assert f"{both.hard.wrong / lens.COUNT:.3f}" in equation(page)
    header, _ = figure(page, "sheet")
    labels = [each["text"] for each in header["figure"]["layout"]["annotations"]]
    chosen = both.hard.chosen(room.WRONG)
    assert labels == [
        f"{gold} → {word}"
        for gold, word in zip(
            *(gallery.names(ids[chosen]) for ids in (both.hard.gold, both.hard.written)), strict=True
        )
    ]


def test_captioners_come_in_pairs() -> None:
    assert lens.fits(experiments.find("soft-scenes")) and lens.fits(experiments.find("hard-scenes"))
    assert lens.fits(experiments.find("collapsed-scenes"))
    assert not lens.fits(experiments.find("encoder-scenes")) and not lens.fits(
        experiments.find("gru-mnist1d")
    )
    assert State(model="hard-scenes/a").soft == "soft-scenes"
    assert State(model="hard-scenes/a").hard == "hard-scenes/a"
    collapsed = State(model="collapsed-scenes")
    assert (collapsed.soft, collapsed.hard) == ("soft-scenes", "collapsed-scenes")
    assert State(model="collapsed-scenes", view=room.BOTH).hard == "hard-scenes"
    assert State(view=room.BOTH, beside=room.COLLAPSED).hard == "collapsed-scenes"


def test_a_good_caption_does_not_prove_a_good_map() -> None:
    """Of known pairs most captions of the one that collapsed are right, and few peaks are in the box."""
    metrics = experiments.find("collapsed-scenes").card["metrics"]
    assert metrics["val/exact"] > 0.7 and metrics["val/pointing"] < 2 * metrics["val/area"]
    sister = experiments.find("hard-scenes").card["metrics"]
    assert sister["val/exact"] > 0.95 and sister["val/pointing"] > 0.9
