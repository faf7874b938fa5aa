"""The page Loss surface: what its scenes say on several seeds, hills by another road, the path's plane."""

import math
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from opening import open_page, warnings

from pages.convolution.loss_surface import figures, lens, relief, words
from pages.convolution.loss_surface.lens import Slices, Trained
from pages.convolution.loss_surface.room import (
    BATCH,
    HALF,
    LOOKS,
    NETWORKS,
    SHARE,
    TENTHS,
    TURNS,
    WITH,
    WITHOUT,
)

PAGE = "convolution/loss_surface"


@cache
def both(held: str = SHARE, layers: int = 16, seed: int = 0) -> tuple[Trained, Trained]:
    return lens.trained(held, layers, seed)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_bowl_with_skips_and_none_without(seed: int) -> None:
    """The poster, on three trainings; the curvature at the centre is no part of it."""
    found = lens.slices(both(seed=seed), True, 1.0, seed)
    rough, smooth = found.bends
    assert rough > 0.2 and smooth < 0.15
    assert found.spreads[0] > 2 * found.spreads[1] and found.losses[0].max() > 30 * found.losses[1].max()
    assert words.rougher(found) == WITHOUT
    assert all(float(one.losses[-1]) < 1.7 for one in both(seed=seed))


def test_four_layers_and_batch_norm() -> None:
    shallow = lens.slices(both(SHARE, 4), True, 1.0, 0)
    assert max(shallow.bends) < 0.15 and shallow.losses.max() < 300
    normed = lens.slices(both(BATCH, 16), True, 1.0, 0)
    assert normed.bends[0] > 2 * normed.bends[1] > 0 and normed.spreads[0] > 2 * normed.spreads[1]
    deep = lens.slices(both(HALF, 24), True, 1.0, 0)
    assert deep.bends[1] > 0.2


def test_the_centre_is_the_loss_of_the_training_and_a_place_that_of_other_weights() -> None:
    networks = both()
    found = lens.slices(networks, True, 0.5, 3)
    x, y = lens.shown()
    for one, centre in zip(networks, found.centres, strict=True):
        assert centre == pytest.approx(float(one.losses[-1]), rel=1e-5)
        assert centre == pytest.approx(float(F.cross_entropy(one.model(x), y)), rel=1e-5)
    first, second = found.names
    assert (first, second) == NETWORKS
    value = float(found.losses[1, TENTHS + 4, TENTHS - 10])
    assert words.at(found, 4, -10)[1] == value
    assert words.equation(found, 4, -10).startswith(r"L(\theta^* +0.2\,d_1 -0.5\,d_2) = ")
    assert words.equation(found, 0, 0).startswith(r"L(\theta^*) = ")


@pytest.mark.parametrize("which", NETWORKS)
def test_one_function_two_pictures(which: str) -> None:
    """CV-O51 on the page."""
    raw = lens.same(both(), which, False, 0.25, 0, 10)
    assert raw.centres[0] == pytest.approx(raw.centres[1], rel=1e-4)
    assert raw.curvatures[1] > 5 * raw.curvatures[0] and raw.spreads[1] > 10 * raw.spreads[0]
    alike = lens.same(both(), which, True, 1.0, 0, 10)
    torch.testing.assert_close(alike.losses[1], alike.losses[0], rtol=1e-3, atol=1e-3)


def bowl(side: int = lens.SIDE) -> Slices:
    a = torch.linspace(-1, 1, side, dtype=torch.float64)
    steep = 10 ** (2 * a[:, None].square() + a.square())  # α is steeper than β
    return Slices(NETWORKS, a, torch.stack([steep, steep.sqrt()]), (1.0, 1.0))


def test_hills_are_seen_as_a_ray_meets_them() -> None:
    """Some pixels of two turns, by walking from the eye until the surface stands as high."""
    h = relief.heights(bowl().losses)
    assert float(h.min()) == 0 and float(h[0].max()) == 1 and float(h[1].max()) == pytest.approx(0.5)
    W, H, V = relief.WIDE, relief.HIGH, relief.STEPS
    for phi in (0.0, math.radians(40)):
        picture = relief.looked(h[0], phi)
        assert picture.shape == (H, W) and picture.dtype == torch.uint8
        for column in (W // 4, W // 2, 2 * W // 3):
            u = -relief.RADIUS + 2 * relief.RADIUS * column / (W - 1)
            seen, edge = {}, None
            for k in range(V):
                v = -relief.RADIUS + 2 * relief.RADIUS * k / (V - 1)
                x, y = u * math.cos(phi) + v * math.sin(phi), v * math.cos(phi) - u * math.sin(phi)
                if abs(x) > 1 or abs(y) > 1:
                    continue
                i, j = (round((w + 1) / 2 * (lens.SIDE - 1)) for w in (x, y))
                top = relief.TALL * float(h[0, i, j]) + relief.TILT * (v + relief.RADIUS)
                row = round(top / (relief.TALL + 2 * relief.TILT * relief.RADIUS) * (H - 1))
                edge = row if edge is None else edge
                for r in range(edge, row + 1):
                    seen.setdefault(r, float(h[0, i, j]))
            shown = picture[:, column]
            assert edge is not None and not shown[: edge - 4].any() and not shown[max(seen) + 5 :].any()
            for r in range(edge + 4, max(seen) - 4):
                value = int(shown[r])
                assert value >= relief.LINE
                if value != relief.LINE:
                    assert (value - relief.LOWEST) / (255 - relief.LOWEST) == pytest.approx(seen[r], abs=0.15)
    pictures = relief.hills(bowl())
    assert pictures.shape[:2] == (2, len(TURNS)) and pictures[:, :, 0].any() and pictures[:, :, -1].any()
    tree = figures.hill(pictures[0], WITH, *relief.scale(bowl().losses))
    colors = tree["data"][0]["colorscale"]
    assert [at for at, _ in colors] == sorted(at for at, _ in colors) and colors[-1][0] == 1


def test_the_path_is_on_its_plane_and_off_a_random_one() -> None:
    networks = both()
    for one, trained in zip(lens.walked(networks), networks, strict=True):
        assert one.share > 0.9 and one.random < 0.01
        assert one.path.shape == (len(LOOKS), 2) and float(one.path[-1].abs().max()) < 1e-4
        assert float(one.true[0]) > float(one.true[-1])
        last = trained.states[-1]
        far = torch.cat([(p - last[n]).flatten() for n, p in trained.states[0].items()])
        assert float(one.path[0].norm()) <= float(far.norm()) * (1 + 1e-5)
        for places, values in zip((one.x, one.y), one.path.T, strict=True):
            assert float(places[0]) < float(values.min()) < float(values.max()) < float(places[-1])
    tree = figures.path(lens.walked(networks)[0], 0.0, 1.0)
    line = torch.tensor(tree["data"][1]["y"].values)
    assert (~line.isnan()).sum(1).tolist() == list(range(1, len(LOOKS) + 1))


def test_a_chosen_place_is_in_the_link() -> None:
    page = open_page(PAGE, layers=4, alpha=5, beta=-10, reach=0.5)
    assert not warnings(page)
    assert any(r"L(\theta^* +0.25\,d_1 -0.5\,d_2)" in one.value for one in page.latex)
