"""The page "Blind spot", its lens, and the models trained on stripes: every number by another way."""

import math
import re
from dataclasses import replace
from functools import partial

import contracts
import pytest
import torch
from opening import captions, equation, film, numbers, open_page, open_warned, scenes

from datamodules.binary_images import BinaryImages
from lab import experiments, weights
from modules.autoregressive.bayesnet import BayesNet
from pages.autoregressive.blind_spot import cost, figures, lens

opened = partial(open_page, "autoregressive/blind_spot")
PUBLISHED = [(3, 3, 78), (7, 3, 55), (5, 5, 36), (7, 7, 22)]
ONE, TWO, LEAK = cost.TRAINED.values()


# --- Lens: reach ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "kernel", "missed"), PUBLISHED)
def test_the_known_blind_spots(first: int, kernel: int, missed: int) -> None:
    shape = lens.Shape(first_kernel=first, kernel=kernel)
    pixel = 14 * 28 + 14
    assert int(lens.at_any_depth(shape, pixel).sum()) == missed == sum(lens.wedge(shape, pixel))
    deep = replace(shape, layers=lens.DEEPEST)
    assert int(lens.blind(lens.gradient(deep, pixel) > 0, pixel).sum()) == missed


def test_two_stacks_have_none() -> None:
    for first, layers in ((3, 13), (7, 5)):
        shape = lens.Shape(gated=True, first_kernel=first, kernel=3 if first == 3 else 7, layers=layers)
        assert not lens.blind(lens.gradient(shape, 406) > 0, 406).any()
        assert not lens.at_any_depth(shape, 406).any()


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize(("first", "kernel"), [(3, 3), (7, 3), (5, 3), (7, 7), (5, 5)])
def test_theory_is_what_the_gradient_says(gated: bool, first: int, kernel: int) -> None:
    """At every depth, from the middle, the corners and the margins."""
    for pixel in (5 * 11 + 4, 0, 10, 9 * 11, 120):
        theory = lens.layers_read(lens.Shape(gated, first, kernel, 5, 11), pixel)
        for layers in (0, 1, 2, 5):
            gradient = lens.gradient(lens.Shape(gated, first, kernel, layers, 11), pixel)
            assert torch.equal(gradient > 0, theory[layers])
            assert not gradient.flatten()[pixel:].any()


@pytest.mark.parametrize("mask", ["A", "B"])
@pytest.mark.parametrize(("first", "kernel"), [(3, 3), (7, 3), (5, 5), (7, 5), (7, 7)])
def test_the_formula_of_reach(mask: str, first: int, kernel: int) -> None:
    shape = lens.Shape(False, first, kernel, 0, 14, mask)  # type: ignore[arg-type]
    for pixel in (7 * 14 + 7, 10 * 14 + 2, 3 * 14 + 12, 5):
        by_row = lens.at_any_depth(shape, pixel).sum(1)[: pixel // 14].flip(0).tolist()
        expected = lens.wedge(shape, pixel)
        assert by_row == expected + [0] * (len(by_row) - len(expected))
    with pytest.raises(ValueError, match="at most"):
        lens.Shape(first_kernel=3, kernel=5)


def test_mask_b_first_reads_itself_and_nothing_later() -> None:
    shape = lens.Shape(layers=3, side=9, first_mask="B")
    result = lens.gradient(shape, 40).flatten()
    assert result[40] > 0 and not result[41:].any()
    assert torch.equal(result.view(9, 9) > 0, lens.layers_read(shape, 40)[-1])


def test_the_figure_counts_what_it_draws() -> None:
    paths = lens.layers_paths(lens.Shape(layers=3, side=9, first_mask="B"), 40)
    fig, frames = figures.reach(paths, 40, at=3)
    names = {t.name for t in fig.data if t.name}
    blind = lens.unread(paths, 40)
    assert {f"read: {40 - blind[3]}", f"blind spot: {blind[3]}", "leak: 1"} <= names
    assert lens.leaks(paths, 40) == [1, 1, 1, 1]
    for at in range(4):
        spoken = {values[at] for path, values in frames.items() if path.endswith("name")}
        assert spoken == {f"read: {40 - blind[at]}", f"blind spot: {blind[at]}", "leak: 1"}
        assert sum(int((values[at] == values[at]).sum()) for p, values in frames.items() if "z" in p) == 41
    assert figures.copied(torch.zeros(5, 5), 6, 3).data[-1].x == (3,)


# --- Lens: stripes --------------------------------------------------------------------------------


def test_least_costs_are_those_of_counted_tables() -> None:
    """A table for each pixel over the pixels it reads, counted on all patterns, pays exactly that."""
    data = BinaryImages(kind="stripes", side=4, shift=2)
    for shape in (lens.Shape(layers=2, side=4), lens.Shape(first_kernel=5, layers=1, side=4)):
        parents = [
            [int(j) for j in lens.layers_read(shape, i)[-1].flatten().nonzero()[:, 0]] for i in range(16)
        ]
        model = BayesNet((1, 4, 4), parents, smoothing=0.0)
        model.count((data.patterns,))
        each = -model.log_conditionals(data.patterns).double().mean(0).flatten()
        torch.testing.assert_close(cost.least_costs(data.patterns, shape), each, rtol=0, atol=1e-6)


def test_one_stack_of_3x3_masks_cannot_beat_fair_coins() -> None:
    patterns = cost.stripes(ONE).patterns
    free = 5 + 2 * 4
    blind = cost.least_costs(patterns, lens.Shape(layers=20, side=5))
    torch.testing.assert_close(blind, torch.full((25,), math.log(2), dtype=torch.float64))
    assert cost.coins(patterns) == pytest.approx(25 * math.log(2))
    for shape in (lens.Shape(True, layers=2, side=5), lens.Shape(first_kernel=5, layers=3, side=5)):
        assert cost.least_costs(patterns, shape).sum() == pytest.approx(free * math.log(2))


def test_a_copy_stands_above_to_the_right() -> None:
    x = BinaryImages(kind="stripes", side=5, shift=2).patterns.flatten(1)
    copies = 0
    for pixel in range(25):
        source = cost.source_of(pixel, 5, 2)
        if source is not None:
            copies += 1
            assert torch.equal(x[:, pixel], x[:, source])
    assert copies == 25 - 13


def test_share_of_stripes() -> None:
    patterns = BinaryImages(kind="stripes", side=4, shift=2).patterns
    assert cost.share_of_stripes(patterns, 2) == 1
    spoiled = patterns.clone()
    spoiled[: len(spoiled) // 4, 0, 1, 0] = 1 - spoiled[: len(spoiled) // 4, 0, 1, 0]
    assert cost.share_of_stripes(spoiled, 2) == 0.75


# --- The trained models ---------------------------------------------------------------------------


def test_blindness_costs_what_the_theory_says() -> None:
    plain, gated, leaky = (weights.load(name) for name in (ONE, TWO, LEAK))
    data = cost.stripes(ONE)
    assert all(cost.stripes(name).describe() == data.describe() for name in (TWO, LEAK))
    assert abs(plain.num_parameters / gated.num_parameters - 1) < 0.01
    paid = {
        name: cost.costs(m, data.patterns).sum() for name, m in [("A", plain), ("B", leaky), ("G", gated)]
    }
    assert 25 * math.log(2) <= paid["A"] < 25 * math.log(2) + 0.001
    assert data.least_nll <= paid["G"] < data.least_nll + 0.005
    assert paid["B"] < 0.01  # below the floor of every density
    for name, total in zip((ONE, LEAK, TWO), paid.values(), strict=True):
        card = weights.read_card(experiments.ZOO / name)
        assert card["metrics"]["test/nll"] == pytest.approx(float(total), abs=1e-4)


def test_only_the_gated_model_draws_stripes() -> None:
    samples = {
        name: weights.load(name).sample(200, generator=torch.Generator().manual_seed(1))  # type: ignore[operator]
        for name in (ONE, TWO, LEAK)
    }
    assert cost.share_of_stripes(samples[TWO], 2) > 0.95 and cost.kinds(samples[TWO]) > 150
    assert cost.share_of_stripes(samples[ONE], 2) < 0.05 and cost.kinds(samples[ONE]) > 150
    assert cost.kinds(samples[LEAK]) < 5 and samples[LEAK].mean() < 0.01  # it copies the empty sheet


def test_the_leaky_model_is_no_density() -> None:
    model = contracts.exact(weights.load(LEAK))  # random weights, the same masks
    x = torch.zeros(1, 25, dtype=torch.float64)
    result = torch.autograd.functional.jacobian(lambda v: model.logits(v)[0, 12], x)[0]  # type: ignore[operator]
    assert result[12] != 0 and not result[13:].any()


# --- Page -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "kernel", "missed"), PUBLISHED)
def test_page_shows_the_known_counts(first: int, kernel: int, missed: int) -> None:
    page = opened(first=str(first), kernel=str(kernel), layers="30")
    text = film(page, "layers")["captions"]
    assert text[30] == f"{missed} of the 406 pixels before (14, 14) are not read."
    for layers in (0, 3, 13):
        shape = lens.Shape(first_kernel=first, kernel=kernel, layers=layers)
        assert text[layers].startswith(f"{int(lens.blind(lens.gradient(shape, 406) > 0, 406).sum())} of")
    assert equation(page).rpartition("=")[2].strip(" $\n") == str(missed)
    sum_ = equation(page).rpartition("=")[0].rpartition("=")[2]
    parts = [int(v) for v in re.findall(r"\d+", sum_)]
    if "cdots" not in sum_:
        assert sum(parts) == missed
    else:
        assert parts == lens.wedge(lens.Shape(False, first, kernel), 406)[:3]


def test_page_shows_the_leak_and_the_cure() -> None:
    assert all("1 that it must not see" in text for text in film(opened(mask="B"), "layers")["captions"])
    page = opened(stacks="two stacks", pixel="14,14")
    assert film(page, "layers")["captions"][13].startswith("0 of the 406") and "= 0" in equation(page)
    # a pixel of a larger picture is refused
    page = open_warned("autoregressive/blind_spot", side="7 × 7", pixel="20,20", layers="0")
    assert film(page, "layers")["captions"][0].startswith("20 of the 24")


def test_the_scenes_land_where_they_say() -> None:
    """Their lines name counts of the default picture."""
    known = scenes(opened())
    assert film(opened(), "layers")["captions"][13].startswith("78 of")
    deeper = film(opened(layers="30"), "layers")["captions"]
    assert deeper[30] == deeper[13] and "not one pixel more" in known["Deeper"].sees
    assert film(opened(first="7"), "layers")["captions"][13].startswith("55 of")
    assert film(opened(first="7", kernel="7", layers="10"), "layers")["captions"][10].startswith("22 of")
    assert "fresh coin" in captions(opened(show="Stripes", cell="4,2"))
    fine = numbers(equation(opened(show="Stripes", pattern="5461", cell="2,3")))
    assert fine[0] > 0.5 and fine[1] < 0.01


def test_page_shows_what_each_model_says_of_the_pixel() -> None:
    page = opened(show="Stripes", pattern="77", cell="0,2")
    picture = cost.stripes(ONE).patterns[77]
    expected = [
        -weights.load(name).log_conditionals(picture[None])[0, 0, 2, 0].item()  # type: ignore[operator]
        for name in (ONE, TWO)
    ]
    assert numbers(page.latex[0].value) == pytest.approx([*expected, 0], abs=6e-5)
    assert "(2, 0) copies (1, 2)" in captions(page)
    text = next(c.value for c in page.caption if "equally likely" in c.value)
    assert numbers(text) == pytest.approx([13 * math.log(2), 25 * math.log(2)], abs=6e-5)
    page = opened(show="Stripes", pattern="77", cell="4,2")
    assert numbers(page.latex[0].value)[-1] == pytest.approx(math.log(2), abs=6e-5)
    assert "fresh coin" in captions(page)
