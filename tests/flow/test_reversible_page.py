"""The page "Reversible block": volumes, the way back, determinants, memory."""

from functools import partial
from itertools import product

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, spoken

from modules.flow.revnet import ReversibleBlock
from pages.flow.reversible import lens

opened = partial(open_page, "flow/reversible")


@pytest.mark.parametrize("kinds", [("sine", "sine"), ("bend", "line"), ("network", "sine")])
def test_forward_and_back(kinds: tuple[str, str]) -> None:
    run = lens.travel(kinds, 0.7, 2, (0.5, -0.3))
    assert len(run.captions) == 9 == len(run.equations)
    torch.testing.assert_close(run.grid[-1], run.grid[0], rtol=0, atol=1e-12)
    block = lens.block(kinds, 0.7)
    h = torch.tensor([0.5, -0.3], dtype=torch.float64)
    twice = block.generate(block.generate(h)[0])[0]
    torch.testing.assert_close(run.point[4], twice, rtol=0, atol=1e-12)
    jacobian = torch.autograd.functional.jacobian(lambda z: block.generate(block.generate(z)[0])[0], h)
    torch.testing.assert_close(run.jacobians[4], jacobian, rtol=0, atol=1e-10)
    torch.testing.assert_close(run.jacobians.det(), torch.ones(9, dtype=torch.float64), rtol=0, atol=1e-10)


def test_the_area_of_the_patch_stays() -> None:
    run = lens.travel(("sine", "sine"), 0.6, 4, (0.5, 0.5))
    assert run.areas.tolist() == pytest.approx([0.64] * 17, abs=1e-5)
    assert lens.area(2 * lens.outline(torch.zeros(2, dtype=torch.float64))) == pytest.approx(2.56)


@pytest.mark.parametrize("kinds", product(lens.KINDS, repeat=2), ids="-".join)
def test_volumes_and_the_way_back_hold_over_the_whole_range_of_the_knobs(kinds: tuple[str, str]) -> None:
    """At the ends and at random; sines of the greatest strength stretch the patch, in four blocks, until its
    outline of 800 corners has an area of 11 for 0.64."""
    generator = torch.Generator().manual_seed(0)
    knobs = [(1.5, 4, (-1.5, 1.5)), (1.5, 4, (0.5, 0.5)), (0.0, 1, (1.5, 1.5))]
    for a, b, c, d in torch.rand(2, 4, generator=generator).tolist():
        knobs.append((1.5 * a, 1 + int(4 * b), (3 * c - 1.5, 3 * d - 1.5)))
    for strength, blocks, point in knobs:
        run = lens.travel(kinds, strength, blocks, point)
        assert (run.areas - 0.64).abs().max() < 1e-3, (strength, blocks, point)
        assert (run.grid[-1] - run.grid[0]).abs().max() < 1e-9
        assert (run.jacobians.det() - 1).abs().max() < 1e-9


def test_what_the_page_shows() -> None:
    page = opened(step=1)
    bar = film(page)
    h1, amount, new, det = spoken(bar["equations"][1])
    value = float(0.6 * torch.tensor(1.0).sin())
    assert (h1, amount, new, det) == pytest.approx((0.5, value, 0.5 + value, 1.0), abs=6e-4)
    shown = metrics(page)
    assert shown["Area of the patch"] == "0.6400"
    _, frames = figure(page, "jacobian")
    assert frames["data.0.z"].shape == (5, 2, 2)
    assert len(film(opened(blocks=4))["captions"]) == 17


def test_a_wide_block_has_determinant_one() -> None:
    jacobian = lens.network_jacobian(12)
    assert float(jacobian.det()) == pytest.approx(1, abs=1e-9)
    torch.testing.assert_close(jacobian[:6, :6], torch.eye(6, dtype=torch.float64))
    for features, seed in product((4, 24), range(0, 100, 11)):
        assert abs(float(lens.network_jacobian(features, seed).slogdet().logabsdet)) < 1e-9
    assert metrics(opened(view="Blocks"))["det J"].startswith(("1.0000000", "0.9999999"))


def test_memory_is_flat_when_recomputed() -> None:
    *_, (share, rows) = lens.memory((1, 2, 8))
    assert share == 1 and len(set(rows["recomputed"])) == 1
    assert rows["recomputed"][0] >= lens.BATCH * lens.FEATURES * 4 / 1024
    one, two, eight = rows["stored"]
    assert (eight - two) / (two - one) == pytest.approx(6, rel=0.01)  # linear in depth
    assert max(rows["difference"]) < 1e-5
    shown = metrics(opened(view="Memory"))
    assert shown["64 blocks, recomputed"] == f"{rows['recomputed'][0]:.0f} KiB"


def test_any_function_and_an_unknown_one() -> None:
    assert isinstance(lens.block(("bend", "bend"), 1.0), ReversibleBlock)
    assert metrics(opened(f1="network", f2="bend", strength=1.5))["Largest change of it"]
    assert metrics(open_warned("flow/reversible", f1="cube"))["Area of the patch"] == "0.6400"
