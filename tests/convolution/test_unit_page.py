"""The page What a unit wants: what its scenes say, and its numbers by another road."""

import pytest
import torch
from opening import film, open_page, warnings

from datamodules.textured_shapes import CONCEPTS, drawn
from lab import experiments, weights
from lab.lenses import drawing
from modules.convolution.cnn2d import CNN2d
from modules.convolution.visualization import total_variation
from pages.convolution.unit import dissection, figures, lens, networks, words
from pages.convolution.unit.room import ASCENT, DISSECTED, DISSECTION, LOGITS, NETWORK, ROOM, SHARES


@pytest.fixture(scope="module")
def digits() -> networks.Subject:
    return lens.subject(ASCENT, weights.load(NETWORK), weights.load(DISSECTED))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def textured() -> networks.Subject:
    network = weights.load(DISSECTED)
    return lens.subject(DISSECTION, network, network)  # type: ignore[arg-type]


def test_networks_and_their_layers(digits: networks.Subject, textured: networks.Subject) -> None:
    names = {e.name for e in experiments.catalog().values() if lens.fits(e)}
    assert {NETWORK, DISSECTED} <= names and not names & {"cnn-digits", "cnn-mnist1d", "lenet-mnist"}
    assert (
        digits.names == ["layer 1", "layer 2", "layer 3", LOGITS]
        and lens.layers(digits, ASCENT) == digits.names
    )
    assert lens.layers(textured, DISSECTION) == [f"layer {k}" for k in (1, 2, 3, 4)]
    assert [lens.last_unit(digits, name) + 1 for name in digits.names] == [16, 32, 64, 10]
    assert isinstance(digits.model, CNN2d) and digits.shelf.shape == (10, 1, 28, 28) and textured.side == 32


def test_class_three_and_the_prior(digits: networks.Subject) -> None:
    """The poster: less than without a prior, more than any digit, in the mean darker and smoother."""
    state = ROOM.scenes["Class 3"].state
    wanted = lens.ascent(digits, LOGITS, 3, False, 0, state.decay, state.variation, 0.0)
    free = lens.ascent_without_prior(digits, LOGITS, 3, False, 0)
    best = lens.largest(digits, LOGITS, 3, False)
    assert float(free.values[-1, 0]) > float(wanted.values[-1, 0]) > best
    x = wanted.inputs[-1]
    logits = digits.model.predict(x)[0].detach()
    torch.testing.assert_close(wanted.values[-1, 0], logits[3])
    assert int(logits.argmax()) == 3
    cost = state.decay * float(x.square().mean()) + state.variation * float(total_variation(x)) / 784
    assert float(wanted.costs[-1, 0]) == pytest.approx(cost, rel=1e-5)
    assert total_variation(x).item() < 0.5 * total_variation(free.inputs[-1]).item()
    equations, captions = words.ascent_equations(wanted), words.ascent_captions(wanted, free, best)
    assert len(equations) == len(captions) == lens.STEPS + 1
    assert equations[-1].endswith(f"{float(logits[3]) - cost:.2f}") and f"makes it {best:.1f}" in captions[0]


def test_units_side_by_side_are_those_alone(digits: networks.Subject) -> None:
    wall = lens.ascents(digits, "layer 1", False, 3, 1, 3, 0.0)
    alone = lens.ascent(digits, "layer 1", 5, False, 3, 1, 3, 0.0)
    assert wall.inputs.shape == (31, 8, 1, 28, 28)
    torch.testing.assert_close(wall.inputs[-1, 5], alone.inputs[-1, 0], atol=1e-4, rtol=0)
    free = lens.ascent_without_prior(digits, "layer 1", 5, False, 3)
    assert int((free.inputs[-1] != free.inputs[0]).sum()) <= 25  # its field is 5 × 5
    assert len(words.wall_captions(wall)) == 31


def test_deep_layers_give_back_less(digits: networks.Subject) -> None:
    four = dict(drawing.examples(28))["4"]
    second = lens.inversion(digits, "layer 2", 0, 1, 3, 0.0, four, None)
    last = lens.inversion(digits, LOGITS, 0, 1, 3, 0.0, four, None)
    assert torch.equal(second.x, four) and second.classes == (4, 4)
    assert float(second.errors[-1]) < 0.5 * float(last.errors[-1])
    assert float(last.found.values[-1, 0]) < 0.05
    x = second.found.inputs[-1]
    chain = digits.chain("layer 2")
    with torch.no_grad():
        goal = chain(four[None, None])
        gap = float((chain(x) - goal).square().sum() / goal.square().sum())
    assert float(second.found.values[-1, 0]) == pytest.approx(gap, rel=1e-4)
    assert float(second.errors[-1]) == pytest.approx(float((x[0, 0] - four).abs().mean()), rel=1e-5)
    other = lens.inversion_without_prior(digits, "layer 2", 0, four, None)
    assert f"pixels by {float(second.errors[3]):.2f}" in words.inversion_captions(second, other)[3]


def test_early_units_are_of_textures_and_late_ones_of_both(textured: networks.Subject) -> None:
    """CV-X28, the shipped network: shapes appear in the last layer, textures do not leave."""
    tables, at = dissection.tables(textured), SHARES.index(5.0)
    leaning = [words.leaning(table, at) for table in tables.values()]
    assert leaning[0] == 1 and leaning[1] > 0.8 and 0.3 < leaning[3] < 0.7
    first, second, third, last = tables.values()
    assert float(last.shapes[at].mean()) > 1.05 * float(first.shapes[at].mean())
    assert float(last.shapes[at].max()) > max(float(t.shapes[at].max()) for t in (first, second, third))
    assert len(words.layer_captions(tables)) == len(words.layer_equations(tables)) == len(SHARES)
    tree = figures.by_layer(tables)
    assert len(tree["data"][0]["x"]) == 8 + 16 + 24 + 32


def test_a_unit_by_counting(textured: networks.Subject) -> None:
    """The scenes of dissection: checks in the second layer, circles in the last."""
    for layer, unit, name, share in (("layer 2", 1, "checks", 5.0), ("layer 4", 30, "circle", 10.0)):
        one, at = dissection.dissect(textured, layer, unit), SHARES.index(share)
        assert CONCEPTS[one.best(at)] == name
        x, y, mask = drawn(networks.COUNT, networks.TEST, 32, networks.NOISE)
        maps = textured.chain(layer)(x)[:, unit].detach()
        cut = maps.flatten().sort(descending=True).values[int(share / 100 * maps.numel())]
        large = torch.nn.functional.interpolate(maps[:, None], size=(32, 32), mode="bilinear")[:, 0]
        here = mask & ((y % 3 == 2) if name == "checks" else (y // 3 == 0))[:, None, None]
        both, either = int(((large > cut) & here).sum()), int(((large > cut) | here).sum())
        k = CONCEPTS.index(name)
        assert (int(one.both[at, k]), int(one.either[at, k])) == (both, either)
        assert f"{{{both}}}" in words.dissection_equations(one)[at]
        torch.testing.assert_close(one.iou[at], dissection.table(textured, layer).iou[at, unit])
    assert one.on.shape == (6, 6, 32, 32) and len(dict(networks.shelf())) == 9


@pytest.mark.parametrize(("scene", "key", "count"), [(1, "step", 31), (9, "share", 6)])
def test_films_of_scenes(scene: int, key: str, count: int) -> None:
    page = open_page("convolution/unit", scene=scene)
    assert film(page, key)["count"] == count and not warnings(page)


def test_own_picture_and_another_model() -> None:
    page = open_page(
        "convolution/unit", view="Inversion", model=DISSECTED, layer="layer 1", texture32="dots, square"
    )
    assert film(page, "step")["count"] == lens.MATCHES + 1
