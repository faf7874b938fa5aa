"""The pad of a generator's space: its plane, its walks, its cuts, and what its scenes say."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from opening import film, open_page, plain

from lab import weights
from lab.lenses import latent, verdicts
from modules.adversarial import truncation
from pages.adversarial.latent_pad import figures, lens
from pages.adversarial.latent_pad.room import TAUS, State


@cache
def cut(tau: float) -> lens.Cut:
    model, network = weights.load(State().judged), weights.load(State().network)
    return lens.cut(model, network, verdicts.digits("train"), tau, 0)


@cache
def walked(name: str, a: int, b: int, reach: float) -> tuple[torch.Tensor, torch.Tensor]:
    model = weights.load(name)
    codes = lens.walks(*lens.ends(model, a, b), reach)
    return codes, latent.decoded(model, codes)


def test_the_plane_holds_both_draws_and_both_walks() -> None:
    model = weights.load("dcgan-digits")
    for a, b in ((0, 1), (4, 4)):
        plane = lens.plane_of(model, a, b)
        torch.testing.assert_close(plane.axes @ plane.axes.T, torch.eye(2))
        for z in (*lens.ends(model, a, b), *lens.walks(*lens.ends(model, a, b), 3.0).flatten(0, 1)):
            torch.testing.assert_close(plane.code(plane.place(z)), z, atol=2e-5, rtol=1e-4)


def test_the_direction_decides() -> None:
    """Half as far out again, the picture is nearer to itself than to that of another draw."""
    model = weights.load("dcgan-mnist")
    z = model.noise(100, torch.Generator().manual_seed(0))
    near, far = latent.decoded(model, z), latent.decoded(model, 1.5 * z)
    assert (near - far).flatten(1).norm(dim=1).mean() < 0.5 * (near - near.roll(1, 0)).flatten(1).norm(
        dim=1
    ).mean()


def test_no_draw_lies_near_the_origin() -> None:
    for name in ("dcgan-mnist", "dcgan-digits"):
        model = weights.load(name)
        lengths = model.noise(1000, torch.Generator().manual_seed(0)).norm(dim=1)
        assert lengths.min() > 0.5 * model.latent_dim**0.5


def test_what_the_walks_scenes_say() -> None:
    codes, _ = walked("dcgan-digits", 2, 3, 1.0)
    line, arc = (latent.share_shorter(float(v), 32) for v in codes[:, 5].norm(dim=1))
    assert line < 0.05 < 0.1 < arc
    _, near = walked("dcgan-mnist", 0, 1, 0.25)
    _, whole = walked("dcgan-mnist", 0, 1, 1.0)
    assert (lens.changes(near).sum(1) < 0.35 * lens.changes(whole).sum(1)).all()
    codes, far = walked("dcgan-mnist", 0, 1, 3.0)
    late = lens.changes(far)[:, 5:].sum(1)
    assert late[0] < 0.5 * late[1] and latent.share_shorter(float(codes[0, -1].norm()), 64) > 0.999999
    named = weights.load("cnn-mnist").predict(far[1, :, None]).argmax(1)
    assert len(named.unique()) > 2


@pytest.mark.parametrize("name, k", [("dcgan-mnist", 64), ("dcgan-digits", 32)])
def test_nine_of_ten_draws_lie_in_the_band(name: str, k: int) -> None:
    low, high = lens.typical(k)
    assert latent.share_shorter(high, k) - latent.share_shorter(low, k) == pytest.approx(0.9, abs=1e-4)
    lengths = weights.load(name).noise(4000, torch.Generator().manual_seed(0)).norm(dim=1)
    assert float(((low < lengths) & (lengths < high)).float().mean()) == pytest.approx(0.9, abs=0.02)


def drawn(z: dict[str, Any]) -> np.ndarray:
    """Values of a heat map."""
    rows, columns = map(int, z["shape"].split(","))
    return np.asarray(plain(z)).reshape(rows, columns)


def test_lengths_stand_below_their_pictures() -> None:
    codes, pictures = walked("dcgan-mnist", 0, 1, 3.0)
    fig = figures.walk_and_lengths(pictures, codes.norm(dim=2), lens.times(3.0), lens.typical(64))
    sheet, line, arc, *dots = fig["data"]
    places = plain(line["x"])
    assert places[::2] == list(fig["layout"]["xaxis"]["tickvals"]) == plain(arc["x"])[::2]
    shown = drawn(sheet["z"])
    for column, x in enumerate(places[::2]):
        left = round(x - 13.5)
        assert np.allclose(shown[:28, left : left + 28], pictures[0, 2 * column])
    for row, dot in enumerate(dots):
        (x,), (y,) = dot["x"].values[7], dot["y"].values[7]
        assert x == places[7] and y == pytest.approx(float(codes[row, 7].norm()))


@pytest.mark.parametrize("a", range(0, 20, 2))
def test_past_b_the_line_freezes_and_the_arc_goes_on(a: int) -> None:
    """Of ten pairs of draws: from half of the way to t = 3 on."""
    codes, pictures = walked("dcgan-mnist", a, a + 1, 3.0)
    line, arc = lens.changes(pictures)[:, 5:].sum(1)
    assert line < 0.6 * arc and float(codes[0, -1].norm()) > lens.typical(64)[1]


def test_what_the_scenes_of_truncation_say() -> None:
    free, at2, half, none = (cut(tau).verdict for tau in (6.0, 2.0, 0.5, 0.04))
    assert 0.02 < at2.precision - free.precision < 0.1 and 0 < free.recall - at2.recall < 0.1
    assert half.precision < at2.precision - 0.3 and half.recall < at2.recall - 0.3
    assert none.precision == none.recall == 0 and none.classes.max() > 0.99
    assert half.classes.max() > 2 * at2.classes.max()
    assert cut(1.0).verdict.precision < at2.precision  # below about 1 it gets worse


def test_counts_of_numbers_and_vectors() -> None:
    c = cut(2.0)
    assert c.drawn == pytest.approx(500 * 32 / truncation.acceptance(2.0), rel=0.01)
    assert c.vectors == pytest.approx(lens.MOST * truncation.acceptance(2.0, 32), rel=0.2)
    assert cut(0.5).vectors == 0
    moves = [lens.move([cut(t) for t in (0.5, 2.0, 6.0)], at) for at in range(3)]
    assert moves == ["it falls", "it falls", "it rises"]


def test_the_page() -> None:
    page = open_page("adversarial/latent_pad", model="dcgan-digits")
    codes, _ = walked("dcgan-digits", 0, 1, 1.0)
    lengths = codes.norm(dim=2)
    assert film(page, "step")["captions"] == lens.walk_captions(lens.times(1.0), lengths, 32)
    open_page("adversarial/latent_pad", model="dcgan-digits", a=3, b=3)
    walk = open_page("adversarial/latent_pad", model="dcgan-digits", view="Walk")
    assert film(walk, "step")["captions"] == film(page, "step")["captions"], "a walk is that of the pad"
    cuts = open_page("adversarial/latent_pad", view="Truncation", tau=0.5)
    assert len(film(cuts, "tau")["captions"]) == len(TAUS)
