"""The page "Guidance": DF-O25 on the page, what its scenes say."""

from functools import cache, partial

import pytest
import torch
from opening import figure, film, machine, metrics, open_page

from lab import weights
from pages.diffusion.guidance import lens, room

opened = partial(open_page, "diffusion/guidance")
NAMES = ("ddpm-digits", "noisy-classifier-digits", "cnn-digits")


@pytest.mark.parametrize(
    ("w", "distribution"),
    [(0, (0.996714, 0.500008, 1, 0.5)), (1, (1.319868, 0.223615, 1.111111, 0.372678)),
     (3, (1.395666, 0.044725, 1.176471, 0.271163))],
)  # fmt: skip
def test_the_distribution_of_guided_samples(w: float, distribution: tuple[float, ...]) -> None:
    shown = metrics(opened(w=w))
    distributions, at = lens.distributions(1.0, 0.5, 200, room.OPINIONS), room.WEIGHTS.index(w)
    results = [
        float(v[at])
        for v in (distributions.mean, distributions.sd, distributions.tilted_mean, distributions.tilted_sd)
    ]
    assert [float(shown[k]) for k in ("Sampled sd", "Tilted sd")] == pytest.approx(results[1::2], abs=6e-5)
    assert results == pytest.approx(distribution, abs=2.5e-3)


def test_what_the_scenes_say() -> None:
    distributions = lens.distributions(1.0, 0.5, 200, room.OPINIONS)
    at = room.WEIGHTS.index(1.0)
    assert (
        distributions.sd[at] < distributions.tilted_sd[at]
        and distributions.mean[at] > distributions.tilted_mean[at]
    )
    none = room.WEIGHTS.index(-1.0)
    assert float(distributions.mean[none]) == pytest.approx(0, abs=0.01)
    assert float(distributions.sd[none]) == pytest.approx(1.25**0.5, abs=0.01)
    assert float(distributions.sd[room.WEIGHTS.index(3.0)]) < 0.06
    few = lens.distributions(1.0, 0.5, 5, room.OPINIONS)
    assert abs(float(few.sd[room.WEIGHTS.index(0.0)]) - 0.5) > 0.03


def test_a_classifier_of_noisy_data_leads_to_the_same_law() -> None:
    """DF-O23 for every weight and sample: its slope is what the two opinions differ by."""
    for m, s in ((1.0, 0.5), (0.4, 0.9)):
        one, other = lens.distributions(m, s, 20, room.OPINIONS), lens.distributions(m, s, 20, room.NOISY)
        assert torch.allclose(one.mean, other.mean, atol=1e-9)
        assert torch.allclose(one.sd, other.sd, atol=1e-9)


def test_a_classifier_of_clean_data_is_too_sure() -> None:
    """Experiment 9, where all is known: at w = 0 the class itself is wanted, N(1, 0.25)."""
    result, at = lens.distributions(1.0, 0.5, 200, room.CLEAN), room.WEIGHTS.index(0.0)
    assert float(result.sd[at]) < 1e-3 and float(result.mean[at]) == pytest.approx(1.303, abs=0.01)
    assert float(result.sd[0]) > 1  # at w = −1 no classifier is asked
    page = opened(led=room.CLEAN, w=0)
    assert metrics(page)["Sampled sd"] == "0.0000"


@cache
def digits(seed: int = 0) -> dict[str, lens.Drawn]:
    *_, (done, result) = lens.drawing(*map(weights.load, NAMES), seed)  # type: ignore[arg-type]
    assert done == 1
    return result


@pytest.mark.parametrize("led", room.WAYS)
def test_what_the_scene_of_digits_says(led: str) -> None:
    """Led either way: from a class forgotten to the class asked for, and more alike."""
    none, plain, _, _, two, _ = range(len(room.LEANS))
    result = digits()[led]
    assert result.right[none] < 0.25 and result.right[plain] > 0.6 and result.right[two] > 0.9
    assert result.right[two] >= result.right[plain]
    assert result.spread[none] > result.spread[plain] > result.spread[two]
    # beyond that no more is promised: what is said is where it is least
    assert f"w = {room.LEANS[int(result.spread.argmin())]:g}" in lens.least(result)
    assert lens.right(result, none) == lens.RIGHT[0] and lens.right(result, two) == lens.RIGHT[2]


def test_where_the_class_is_forgotten_both_ways_are_one_model() -> None:
    """At w = −1 no classifier is asked, and the null label alone: the same digits from the same noise."""
    mine, other = (digits()[way].pictures[0] for way in room.WAYS)
    torch.testing.assert_close(mine, other, atol=1e-4, rtol=0)
    assert (digits()[room.GUIDED].pictures[1] - other).abs().mean() > 0.01


def test_the_digits_are_the_models_own() -> None:
    x = weights.load(NAMES[0]).sample(
        lens.COUNT, steps=lens.STEPS, guidance=2.0, generator=torch.Generator().manual_seed(0)
    )  # type: ignore[operator]
    torch.testing.assert_close(digits()[room.FREE].pictures[4], x[:, 0].clamp(0, 1))
    for way in room.WAYS:
        page = opened(view="Digits", lean=2.0, way=way)
        bar, result = film(page, "lean"), digits()[way]
        assert bar["captions"] == lens.digit_captions(result)
        assert all(("&#x02207;" in each) == (way == room.GUIDED) for each in bar["equations"])  # ∇
        _, arrays = figure(page, "digits")
        assert arrays["data.0.z"].shape[0] == len(room.LEANS)
        # both ways are drawn beside each other, and the point goes along the one that is shown
        drawn, moves = figure(page, "right")
        assert [line["name"] for line in drawn["figure"]["data"][:2]] == ["classifier-free", "classifier"]
        assert moves["data.2.y"][:, 0].tolist() == pytest.approx(result.right.tolist())


@cache
def rows(seed: int) -> lens.Rows:
    model, referee = (weights.load(name) for name in ("ddpm-mnist", "cnn-mnist"))
    *_, (done, result) = lens.rows_of(model, referee, 7, seed)  # type: ignore[arg-type]
    assert done == 1
    return result


@pytest.mark.parametrize("seed", range(5))
def test_what_the_rows_of_mnist_say(seed: int) -> None:
    """Of five seeds: at w = 3 all are sevens, and more alike than at w = 0, where some are none."""
    result = rows(seed)
    sds = lens.alike(result)[-1].tolist()
    assert result.right[2] == lens.PER_ROW and sds[2] < 0.9 * sds[0]
    assert sds[1] < sds[0]
    first = result.noisy[0]
    assert all(torch.equal(row, first[0]) for row in first)  # a column starts from one noise


def test_the_rows_are_the_models_own() -> None:
    """Each row is what the model samples with this weight from the same noise."""
    model = weights.load("ddpm-mnist")
    for row, w in enumerate(room.ROW_WEIGHTS):
        x = model.sample(
            lens.PER_ROW, steps=lens.STEPS, guidance=w, y=7, generator=torch.Generator().manual_seed(0)
        )  # type: ignore[operator]
        off = (rows(0).noisy[-1, row] - x[:, 0].clamp(0, 1)).abs().mean()
        assert float(off) < 0.01
    wrong = lens.PER_ROW - rows(0).right[0]
    assert wrong and f"for this class: {rows(0).right[0]} at w = 0" in lens.row_notice(rows(0), 7, ("a", "b"))


def test_the_page_opens_on_the_rows() -> None:
    page = opened(scene="Guidance weight")
    bar = film(page)
    assert bar["captions"] == lens.row_captions(rows(0)) and bar["count"] == lens.STEPS + 1
    assert machine(page) == {"xt": "t = 0", "net": f"call {lens.STEPS} of {lens.STEPS}"}
    _, arrays = figure(page, "rows")
    digit = arrays["data.0.z"][-1][:28, :28]
    assert digit == pytest.approx(rows(0).noisy[-1, 0, 0].numpy(), abs=1e-3)
    drawn, _ = figure(page, "alike")
    assert [line["name"] for line in drawn["figure"]["data"]] == [f"w = {w:g}" for w in room.ROW_WEIGHTS]


def test_film_and_curves_agree() -> None:
    page = opened(w=2)
    bar = film(page, "w")
    _, arrays = figure(page, "sd")
    assert bar["at"] == 12 and f"sd {float(arrays['data.2.y'][12][0]):.3f};" in bar["captions"][12]


def test_what_is_said_of_spread_is_where_it_is_least() -> None:
    """At large w the digits differ more again: .1415, .1315, .1342, .1447 are no fall."""
    spread = torch.tensor([0.2, 0.1415, 0.1400, 0.1315, 0.1342, 0.1447])
    least = lens.least(lens.Drawn(torch.zeros(6, 1), torch.zeros(6), spread))
    assert f"w = {room.LEANS[3]:g}, with an sd of 0.132: leaning further" in least
    falls = lens.least(lens.Drawn(torch.zeros(6, 1), torch.zeros(6), spread.sort(descending=True).values))
    assert falls == f"The digits of a class are most alike at w = {room.LEANS[-1]:g}, with an sd of 0.132."
