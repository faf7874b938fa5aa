"""The page "Collapse clinic": both games, and what its scenes say."""

import math
from collections import deque
from functools import cache
from typing import Any

import pytest
import torch
from opening import figure, film, finish, open_page, run_page

from datamodules import points
from lab import lecture
from lab.lenses.games import CURES, FAILURES, TRICKS, playing
from modules.adversarial.metrics import ModeCoverage
from pages.adversarial.clinic import lens
from pages.adversarial.gan_bench import lens as gan_bench


@cache
def played(failure: str, cure: str = "", name: str = "ring8") -> list[lens.Look]:
    """One lane of the page, of its default seed: as it ships where the game is recorded, since a test below
    compares the recording with the game, else played. What the tests say of the ends of games was measured
    to hold for seeds 0 to 4."""
    if (looks := lens.known(name, failure, cure or "packs of 4", 0)) is not None:
        return [pair[bool(cure)] for pair in looks]
    return list(lens.lane(name, FAILURES[failure] | lens.HELP.get(cure, {}), 0))


def test_a_lane_is_the_game_of_the_protocol() -> None:
    settings = FAILURES["D of 8 units"] | CURES["packs of 4"]
    looks = list(lens.lane("ring8", settings, 3, batches=50))
    assert [one.batches for one in looks] == [0, 20, 40, 50]
    ((_, model, _),) = deque(playing(lens.sample("ring8"), settings, 50, 3, 50), maxlen=1)
    with torch.no_grad():
        result = model.generator(model.noise(lens.SAMPLES, torch.Generator().manual_seed(7)))
    end = looks[-1]
    torch.testing.assert_close(end.made, result[: lens.SHOWN])
    centres, sd = points.MIXTURES["ring8"]
    nearest = (result[:, None] - centres).norm(dim=2).min(1)
    assert end.quality == pytest.approx(float((nearest.values <= 3 * sd).float().mean()))
    share = nearest.indices.bincount(minlength=8) / len(result)
    torch.testing.assert_close(end.shares, share)
    positive = share[share > 0]
    assert end.kl == pytest.approx(float((positive * (8 * positive).log()).sum()), abs=1e-5)


def test_the_page_plays_both_lanes_from_one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lens, "BATCHES", 40)
    monkeypatch.setattr(lens.lane, "__defaults__", (40,))
    result = list(lens.watching("ring8", "D of 8 units", "packs of 4", 5))
    assert [share for share, _ in result] == [0, 0.5, 1]
    for side, cure in enumerate(("", "packs of 4")):
        alone = list(lens.lane("ring8", FAILURES["D of 8 units"] | CURES.get(cure, {}), 5))
        assert [pair[side].kl for pair in result[-1][1]] == [one.kl for one in alone]


def test_the_page_to_the_end_of_both_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lens, "BATCHES", 40)
    monkeypatch.setattr(lens.lane, "__defaults__", (40,))
    page = finish(run_page("adversarial/clinic", failure="D of 8 units", cure="minibatch std", seed="2"))
    source, shows = page.session_state["_program"]
    space: dict[str, Any] = {}
    exec(source, space)
    assert space["result"] == pytest.approx(shows) and len(shows) == 4
    *_, (_, looks) = lens.watching("ring8", "D of 8 units", "minibatch std", 2)
    assert film(page, "look")["captions"] == lens.captions(looks)
    for side, key in enumerate(("spoiled", "cured")):
        text = figure(page, key)[0]["texts"]["data.2.text"]
        assert text == [[f"{share:.0%}" for share in pair[side].shares.tolist()] for pair in looks]


def test_a_heap_counts_for_one_mode_and_evenness_for_all() -> None:
    even = lens.Look(0, torch.zeros(1, 2), torch.full((8,), 1 / 8), 1.0, 0.0)
    heap = lens.Look(0, torch.zeros(1, 2), torch.eye(8)[0], 1.0, math.log(8))
    assert even.even == 8 and heap.even == pytest.approx(1)
    assert lens.evener((heap, even)) == lens.OPTIONS[1] and lens.evener((even, heap)) == lens.OPTIONS[0]
    assert lens.evener((even, even)) == lens.OPTIONS[2]


def test_any_measure_of_a_coverage() -> None:
    centres, sd = points.MIXTURES["ring8"]
    mode_coverage = ModeCoverage(centres.tolist(), sd, "kl")
    mode_coverage.update(centres[:2])
    assert mode_coverage.value("modes") == 2 and mode_coverage.value("quality") == 1
    assert mode_coverage.compute() == mode_coverage.value("kl") == pytest.approx(math.log(4))


@pytest.mark.parametrize("cure", ["packs of 4", "minibatch std"])
def test_greed_leaves_a_heap_and_a_batch_that_is_seen_together_opens_it(cure: str) -> None:
    spoiled, cured = played("5 turns of G"), played("5 turns of G", cure)
    assert sum(one.kl > 1 for one in spoiled[10:]) > 0.9 * len(spoiled[10:])  # a heap, wherever it is
    assert cured[-1].kl < spoiled[-1].kl - 1
    assert (cured[len(cured) // 2].kl < 0.5) == (cure == "packs of 4")  # the spread of a batch helps later


def test_a_penalty_does_not_cure_greed() -> None:
    assert all(one.kl > 1 for one in played("5 turns of G", "penalty")[15:])


def test_variety_that_is_paid_for_and_noise_that_is_found_again() -> None:
    spoiled, paid, back = (played("5 turns of G", cure) for cure in ("", "mode seeking", "noise found again"))
    assert paid[-1].kl < 0.05 and paid[-1].quality > 0.5 > spoiled[-1].quality
    assert all(one.kl < 0.6 for one in back[15:]) and back[-1].quality < 0.1


def test_softer_labels_leave_greed_its_heap() -> None:
    assert all(one.kl > 1 for one in played("5 turns of G", "labels of 0.9")[15:])


@pytest.mark.parametrize("cure", list(TRICKS))
def test_every_trick_is_played(cure: str) -> None:
    looks = list(lens.lane("ring8", TRICKS[cure], 1, batches=3))
    assert [one.batches for one in looks] == [0, 3] and bool(looks[-1].made.isfinite().all())
    assert set(CURES) | set(TRICKS) == set(lens.HELP) and not set(CURES) & set(TRICKS)


@pytest.mark.parametrize("failure", ["G's rate × 10", "D of 8 units"])
def test_packs_spread_a_game_that_is_too_fast_and_a_weak_judges(failure: str) -> None:
    cured = played(failure, "packs of 4")[-1]
    assert cured.kl < played(failure)[-1].kl - 0.5 and cured.quality < 0.1  # evener, and not in place


def test_on_a_grid() -> None:
    cured = played("5 turns of G", "packs of 4", "grid25")[-1]
    assert cured.kl < played("5 turns of G", name="grid25")[-1].kl - 1


def close(results: list[lens.Look], played: list[lens.Look]) -> bool:
    """Whether the looks begin alike: a recording has half precision, and another processor another course."""
    return all(
        one.batches == other.batches and bool((one.made - other.made).abs().max() < 0.02)
        and one.kl == pytest.approx(other.kl, abs=0.02)
        for one, other in zip(results, played, strict=False)
    )  # fmt: skip


@pytest.mark.parametrize("cure", ["packs of 4", "minibatch std", "penalty", "mode seeking"])
def test_recorded_games_begin_as_the_game_does_and_say_the_same(cure: str) -> None:
    looks = lens.known("ring8", "5 turns of G", cure, 0)
    assert looks is not None and [one.batches for one, _ in looks] == list(range(0, 601, 20))
    spoiled, cured = zip(*looks, strict=True)
    settings = FAILURES["5 turns of G"]
    assert close(spoiled, list(lens.lane("ring8", settings, 0, batches=20)))
    assert close(cured, list(lens.lane("ring8", settings | lens.HELP[cure], 0, batches=20)))
    assert sum(one.kl > 1 for one in spoiled[10:]) > 0.9 * len(spoiled[10:])
    if cure == "penalty":
        assert all(one.kl > 1 for one in cured[15:])
    else:
        assert cured[-1].kl < spoiled[-1].kl - 1
    for one in (*spoiled, *cured):
        positive = one.shares[one.shares > 0].double()
        assert float((positive * (8 * positive).log()).sum()) == pytest.approx(one.kl, abs=2e-3)


@pytest.mark.parametrize("at", [13, 14, 15])
def test_a_lecture_waits_for_no_game(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of the lecture on games open with their film, and nothing is played."""
    monkeypatch.setattr(lens, "playing", None)
    monkeypatch.setattr(gan_bench, "playing", None)
    entry = lecture.read("games").entries[at - 1]
    assert entry.page in ("adversarial-gan-bench", "adversarial-clinic")
    room = "adversarial/" + entry.page.removeprefix("adversarial-").replace("-", "_")
    page = open_page(room, lecture="games", at=at)
    shown = film(page, "look")
    assert len(shown["captions"]) > 30 and shown["at"] < 20, "the film is there, and not at its end"


def test_the_poster_s_game_is_collapsed_from_its_first_look_on() -> None:
    """Of the recorded seed; with seeds 1 to 4 too there are at most 2.0 modes from there on, and with mode
    seeking at least 7.9 at 400 batches, a third to a half of the samples on one."""
    looks = lens.known("ring8", "5 turns of G", "mode seeking", 0)
    assert looks is not None
    held = [one.even for one, _ in looks if one.batches]
    assert max(held) < 2.1, held
    cured = next(other for _, other in looks if other.batches == 400)
    assert cured.even > 7.5 and cured.quality > 0.3 and looks[-1][1].quality > 0.5


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 5))
def test_the_poster_of_other_seeds(seed: int) -> None:
    settings = FAILURES["5 turns of G"]
    assert max(one.even for one in lens.lane("ring8", settings, seed) if one.batches) < 2.1
    cured = list(lens.lane("ring8", settings | TRICKS["mode seeking"], seed))
    assert min(one.even for one in cured if one.batches >= 240) > 7.5 and cured[-1].quality > 0.5
