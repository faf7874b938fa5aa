"""The page of the judges: its numbers, what spoils them, and what each judge does not see."""

import copy
from collections.abc import Iterator
from typing import Any, cast

import pytest
import torch
from opening import failures, film, open_page, run_page

from lab import weights
from lab.experiments import ZOO
from lab.lenses import stock, verdicts
from lab.room import controls
from pages.adversarial.judge import lens, words
from pages.adversarial.judge.room import LARGE, MISSING, REAL, REAL_MNIST, SHARES, SMALL, State


@pytest.fixture(scope="module")
def bench():
    """The network, training digits, held-out ones, and what is said of those."""
    network, known, real = (
        weights.load(verdicts.NETWORK),
        verdicts.digits("train"),
        verdicts.digits("held out"),
    )
    return network, known, real, verdicts.evaluate(network, known, real, 3)


def test_the_floor(bench) -> None:
    network, known, real, floor = bench
    assert real.shape == known.shape == (500, 8, 8) and set(real.unique().tolist()) == {0.0, 1.0}
    assert 0.8 < floor.precision < 0.95 and 0.8 < floor.recall < 0.95 and floor.frechet < 0.6
    same = verdicts.evaluate(network, known, known, 3)
    assert same.precision == same.recall == 1 and same.frechet == pytest.approx(0, abs=1e-6)
    assert lens.accuracy(network) > 0.9  # on pictures of a form that it was not trained on


Bench = tuple[Any, Any, torch.Tensor, verdicts.Verdict]


@pytest.fixture(scope="module")
def large() -> Iterator[list[Bench]]:
    """The same of 28 × 28 digits: of MNIST where it is, and of what stands for it."""
    network, result = weights.load(LARGE), list[Bench]()
    with pytest.MonkeyPatch.context() as patch:
        for here in sorted({stock.has_mnist(), False}, reverse=True):
            patch.setattr(stock, "has_mnist", lambda here=here: here)
            verdicts.labelled.cache_clear()
            known = verdicts.known(network, verdicts.digits("train", 28))
            real = verdicts.digits("held out", 28)
            result.append((network, known, real, verdicts.evaluate(network, known, real, 3)))
    verdicts.labelled.cache_clear()
    yield result


def test_the_floor_of_large_digits(large: list[Bench]) -> None:
    for network, known, real, floor in large:
        assert real.shape == (500, 28, 28) and set(real.unique().tolist()) == {0.0, 1.0}
        assert verdicts.side_of(network) == 28 and known.features.shape == (500, 64)
        assert 0.8 < floor.precision < 0.95 and 0.8 < floor.recall < 0.95
    assert lens.accuracy(large[0][0]) > 0.9


@pytest.mark.parametrize("seed", [0, 1])
def test_what_each_judge_sees_of_large_digits(large: list[Bench], seed: int) -> None:
    """What the scenes say, with MNIST and without; the seed draws what takes the place of digits."""
    for network, known, real, floor in large:
        missing, junk, copies = (
            lens.story(network, known, real, change, seed).verdicts[2][SHARES.index(share)]
            for change, share in ((MISSING, 0.5), ("junk", 0.5), ("copies", 0.9))
        )
        assert floor.recall - missing.recall > 0.1 > 3 * abs(floor.precision - missing.precision)
        assert floor.precision - junk.precision > 0.3 and abs(floor.recall - junk.recall) < 0.05
        assert copies.precision > floor.precision - 0.05 and copies.score > floor.score - 0.8
        assert copies.repeated >= 0.9 and copies.frechet > 5 * floor.frechet


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_dcgan_reaches_the_recall_of_held_out_digits(large: list[Bench], seed: int) -> None:
    if not stock.has_mnist():
        pytest.skip("the files of MNIST are not here")
    network, known, _, floor = large[0]
    result = verdicts.evaluate(network, known, verdicts.drawn_by("dcgan-mnist", seed), 3)
    assert abs(result.recall - floor.recall) < 0.05 and result.precision < floor.precision - 0.02


def test_who_judges_is_the_network_of_the_generators_data() -> None:
    assert [State(model=name).network for name in (REAL, "made-digits", "made-digits/2026")] == [SMALL] * 3
    large = (REAL_MNIST, "dcgan-mnist", "vae-mnist/2026-01-01")
    assert [State(model=name).network for name in large] == [LARGE] * 3
    page = open_page("adversarial/judge", model="dcgan-mnist")
    assert len(film(page, "share")["captions"]) == len(SHARES)


@pytest.mark.parametrize("change", ["classes missing", "junk", "copies"])
def test_what_each_judge_sees(bench, change: str) -> None:
    """Recall sees missing classes, precision junk; of copies the Fréchet distance tells."""
    network, known, real, floor = bench
    share = 0.9 if change == "copies" else 0.5
    now = verdicts.evaluate(network, known, lens.changed(network, real, change, share, 0), 3)
    assert now.frechet > 3 * floor.frechet
    if change == "classes missing":
        assert floor.recall - now.recall > 0.2 > abs(floor.precision - now.precision) * 2
        assert now.classes[:5].sum() == 0 and words.fallen(floor, now) == "recall"
    elif change == "junk":
        assert floor.precision - now.precision > 0.2 and abs(floor.recall - now.recall) < 0.1
        assert words.fallen(floor, now) == "precision"
    else:
        assert now.repeated >= 0.9 and floor.score - now.score < 1 and floor.recall - now.recall < 0.1


def test_the_inception_score_reads_probabilities_and_the_distance_features(bench) -> None:
    """GA-E14: a head that is less sure changes the one and not the other."""
    network, known, real, floor = bench
    unsure = copy.deepcopy(network)
    with torch.no_grad():
        for parameter in unsure.layers[-1].parameters():
            parameter.mul_(0.05)
    now = verdicts.evaluate(unsure, known, real, 3)
    assert now.score < floor.score - 3
    assert (now.frechet, now.precision, now.recall) == (floor.frechet, floor.precision, floor.recall)


@pytest.mark.parametrize("change", ["nothing", "classes missing", "junk", "copies"])
def test_a_story_says_what_the_judges_say_one_by_one(bench, change: str) -> None:
    """What sets of pictures share is computed once, and nothing else changes by it."""
    network, reference, real, _ = bench
    story = lens.story(network, verdicts.known(network, reference), real, change, 3)
    for at, k in ((2, 1), (9, 3), (5, verdicts.MOST)):
        pictures = lens.changed(network, real, change, SHARES[at], 3)
        one, text = verdicts.evaluate(network, reference, pictures, k), story.verdicts[k - 1][at]
        assert torch.equal(story.sheets[at], pictures[torch.arange(lens.SHEET) % len(pictures)])
        assert torch.equal(one.classes, text.classes)
        for measure in ("score", "frechet", "precision", "recall", "repeated"):
            assert getattr(one, measure) == pytest.approx(getattr(text, measure), abs=1e-5), measure


def test_nothing_changes_nothing(bench) -> None:
    network, _, real, _ = bench
    assert lens.changed(network, real, "nothing", 0.5, 0) is real
    assert lens.changed(network, real, "junk", 0.0, 0) is real


def test_the_room_judges_as_all_judges_do(bench) -> None:
    network, _, _, floor = bench
    first, k = State(), cast(Any, controls(State)["k"])
    assert (first.model, first.network, k.high) == (verdicts.REAL, verdicts.NETWORK, verdicts.MOST)
    assert lens.verdicts_by_k(network, REAL, None, 0)[2].frechet == pytest.approx(floor.frechet)
    name = "made-digits"
    said = lens.verdicts_by_k(network, weights.load(name), weights.read_card(ZOO / name), 0)
    alone = verdicts.evaluate(network, lens.known(network), verdicts.drawn_by(name, 0), 3)
    assert said[2].frechet == pytest.approx(alone.frechet) and said[2].recall == pytest.approx(alone.recall)


def test_forms_of_digits() -> None:
    """Levels are cut between 7 and 8 of 16, greys at the same ink, bits stay."""
    x = torch.tensor([7.0, 8.0]).repeat(32)[None]
    levels = {"binarize": "levels"}
    assert verdicts.black_and_white({"data": levels}, x).mean() == 0.5
    assert verdicts.black_and_white({"data": levels | {"num_categories": 4}}, x - 6).mean() == 0.5
    assert verdicts.black_and_white({"data": {"binarize": "none"}}, x / 16).mean() == 0.5
    assert verdicts.black_and_white({"data": {"binarize": "threshold"}}, (x > 7.5).float()).mean() == 0.5


def test_the_page() -> None:
    page = open_page("adversarial/judge", model="made-digits")
    network, known = weights.load(verdicts.NETWORK), verdicts.digits("train")
    now = verdicts.evaluate(network, known, verdicts.drawn_by("made-digits", 0), 3)
    assert f"precision {now.precision:.2f}, recall {now.recall:.2f}" in film(page, "share")["captions"][0]
    assert len(film(page, "share")["captions"]) == len(SHARES)


def test_one_after_the_other(bench) -> None:
    network, reference, _, floor = bench
    known = verdicts.known(network, reference)

    def verdicts_of(name: str) -> list[verdicts.Verdict]:
        return [v[0] for v in lens.story(network, known, verdicts.drawn_by(name, 0), "nothing", 0).verdicts]

    steps = list(lens.judging([REAL, "made-digits"], 3, verdicts_of))
    assert [share for share, _ in steps] == [0.5, 1.0]
    assert steps[0][1] == {REAL: steps[-1][1][REAL]}
    assert steps[-1][1][REAL].recall == floor.recall


def test_drawn_hop_by_hop_as_the_model_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "DRAWN", 6)
    name = "ddpm-digits"
    model: Any = weights.load(name)
    x = model.sample(6, generator=torch.Generator().manual_seed(4), steps=20)
    card = weights.read_card(ZOO / name)
    *_, (share, last) = verdicts.drawing(model, card, 4)
    assert share == 1.0 and torch.equal(last, verdicts.black_and_white(card, x))


def test_what_takes_seconds_can_be_cancelled() -> None:
    page = run_page("adversarial/judge", model="vlb-digits")
    assert not failures(page) and "Cancel" in [button.label for button in page.button]


def test_classes_stay_missing_while_twenty_pictures_are_left() -> None:
    """Nine of ten classes gone of 250 pictures leave 25, which ten neighbours can judge."""
    labels = torch.arange(250) % 10
    for share in (0.1, 0.5, 0.9):
        rows = lens.spoiled(labels, MISSING, share, seed=0)
        assert labels[rows].unique().tolist() == list(range(round(10 * share), 10))
