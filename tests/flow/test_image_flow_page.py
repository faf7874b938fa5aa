"""Glow pipeline: the stages add up to the model's own log p; a level drawn anew leaves the others."""

import math

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, spoken
from pytest import approx

from lab import weights
from lab.lenses import glows
from lab.lenses.glows import digits
from lab.lenses.precision import double
from lab.ui.models.grey_digits import shelf
from pages.flow.image_flow import lens


def model_and_digit():
    return double(weights.load("glow-digits")), glows.levels(dict(shelf())["3"]).double()


def test_the_stages_add_up() -> None:
    model, x = model_and_digit()
    stages = lens.journey(model, x)
    log_p = model.log_prob(x + glows.noise(x)).item()
    assert stages[-1].ladj + stages[-1].base == approx(log_p, abs=1e-9)
    z = torch.cat([part.flatten() for part in lens.gone(stages, len(stages) - 1)])
    torch.testing.assert_close(z, model.encode(x + glows.noise(x))[0])
    assert [s.shape for s in stages if s.name in ("squeeze", "split")] == [
        "4 × 4 × 4",
        "2 × 4 × 4",
        "8 × 2 × 2",
    ]
    for at, s in enumerate(stages):  # no number is lost
        assert s.values.numel() + sum(v.numel() for v in lens.gone(stages, at)) == 64


def pictures(side: int) -> dict[str, torch.Tensor]:
    """What can be drawn, at its ends: empty, full, as rough as it gets, one pixel, noise."""
    generator, row = torch.Generator().manual_seed(0), torch.arange(side)
    drawn = {
        "empty": torch.zeros(side, side), "full": torch.ones(side, side),
        "checkerboard": ((row[:, None] + row) % 2).float(), "stripes": (row % 2).float().repeat(side, 1),
        "one pixel": (torch.arange(side * side) == 5).float().view(side, side),
        "greys": torch.rand(side, side, generator=generator),
        "black and white": torch.rand(side, side, generator=generator).round(),
    }  # fmt: skip
    return drawn


@pytest.mark.parametrize("name, side, white", [("glow-digits", 8, 16), ("glow-mnist", 28, 255)])
def test_the_sum_and_the_way_back_hold_for_whatever_is_drawn(name: str, side: int, white: int) -> None:
    """log p by the whole model; the small one's log-determinant by autograd's Jacobian too."""
    model = double(weights.load(name))
    for title, picture in pictures(side).items():
        x = glows.levels(picture, white)
        end, y = lens.journey(model, x)[-1], lens.noisy(x)
        assert end.ladj + end.base == approx(model.log_prob(y).item(), abs=1e-6), title
        assert lens.round_trip(model, x) < 1e-3, title
        if side == 8 and title in ("checkerboard", "greys"):
            jacobian = torch.autograd.functional.jacobian(lambda v: model.encode(v)[0], y)
            assert end.ladj == approx(jacobian.view(64, 64).slogdet().logabsdet.item(), abs=1e-6), title


def test_a_level_anew() -> None:
    model, x = weights.load("glow-digits"), glows.levels(dict(shelf())["3"])
    table, changed = lens.anew(model, x, 9, 1.0, 0)
    assert table.shape == (3, 9, 8, 8)
    assert changed[0] < 0.3 < 0.5 < changed[1]  # the first level carries detail, the last the digit
    z = model.encode(x + glows.noise(x))
    fresh = torch.randn(9, 64, generator=torch.Generator().manual_seed(0))
    mixed = torch.cat([fresh[:, :32], z[:, 32:].expand(9, -1)], 1)
    torch.testing.assert_close(table[0], glows.pictures(model, mixed))


def test_the_page() -> None:
    model, x = model_and_digit()
    log_p = model.log_prob(x + glows.noise(x)).item()
    page = open_page("flow/image_flow")
    shown = metrics(page)
    assert shown["Pieces"] == "2 × 4 × 4 + 8 × 2 × 2 = 64"
    assert shown["log p(x + u)"] == f"{log_p:.2f} nats"
    assert float(shown["Round trip"]) < 1e-9
    assert spoken(film(page)["equations"][-1])[-1] == approx(log_p, abs=0.006)
    _, frames = figure(page, "stage")
    assert frames["data.0.z"].shape == (18, 40, 40)
    box = open_page("flow/image_flow", digit="box", step=17)
    assert float(metrics(box)["log p(x + u)"].split()[0]) < log_p - 50
    new = open_page("flow/image_flow", view="new levels", t=0.0)
    _, frames = figure(new, "anew")
    first = frames["data.0.z"][0]
    assert all((first[:, :8] == first[:, 9 * i : 9 * i + 8])[:8].all() for i in range(7))
    assert open_warned("flow/image_flow", digit="ink.no")


def test_labels_of_the_held_out_digits() -> None:
    x, y = digits()
    assert x.shape == (500, 1, 8, 8) and x.max() == 16 and len(y) == 500


def test_mnist_is_larger() -> None:
    """784 numbers with 256 grey levels each; the larger model's levels are not drawn anew here."""
    model, x = double(weights.load("glow-mnist")), glows.levels(dict(shelf(28))["3"], 255)
    assert x.shape == (1, 1, 28, 28) and x.max() == 255
    stages = lens.journey(model, x)
    assert stages[-1].ladj + stages[-1].base == approx(model.log_prob(lens.noisy(x)).item(), abs=1e-6)
    shown = metrics(open_page("flow/image_flow", model="glow-mnist"))
    assert shown["Pieces"] == "2 × 14 × 14 + 8 × 7 × 7 = 784"
    nats = float(shown["log p(x + u)"].split()[0])
    assert float(shown["Bits per pixel"]) == approx(-nats / 784 / math.log(2), abs=6e-4)
    assert "view" in open_warned("flow/image_flow", model="glow-mnist", view="new levels").warning[0].value
