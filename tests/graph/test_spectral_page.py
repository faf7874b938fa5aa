"""The page Spectral view: series by numpy, frequencies by sums over edges, hops, scenes."""

import numpy as np
import pytest
import torch
from opening import film, open_page, run_page

from lab.errors import UserError
from lab.figures.moving import at
from lab.lenses import graphs
from modules.graph import encoding, spectral
from pages.graph.spectral import figures, lens, room
from pages.graph.spectral.room import ROOM

PATH, PARTS = graphs.typed(room.PATH), graphs.typed(room.FIGURE_13_11)
FILTERS = [(kind, cut, 2.0) for kind in room.FILTERS for cut in (0.5, 1.2)]


@pytest.mark.parametrize("kind, cut, time", FILTERS)
def test_series_are_those_of_numpy(kind: str, cut: float, time: float) -> None:
    def gain(x: np.ndarray) -> np.ndarray:
        return lens.gain(kind, cut, time, torch.tensor(x + 1)).numpy()

    theta = spectral.coefficients(lambda v: lens.gain(kind, cut, time, v), 12)
    wanted = np.polynomial.chebyshev.chebinterpolate(gain, 511)[:12]
    assert theta.numpy() == pytest.approx(wanted, abs=1e-9)
    x = lens.signal(room.NOISE)
    one = lens.filtered(PARTS, x, kind, cut, time)
    for K in (1, 2, 5, 12):
        curve = np.polynomial.chebyshev.chebval(lens.GRID.numpy() - 1, theta[:K].numpy())
        assert one.curves[K - 1].numpy() == pytest.approx(curve, abs=1e-9)
        d = PARTS.double().sum(0)
        scaled = -(PARTS / (d[:, None] * d).sqrt()).numpy()
        values, vectors = np.linalg.eigh(scaled)
        gains = np.polynomial.chebyshev.chebval(values, theta[:K].numpy())
        assert one.outputs[K - 1].numpy() == pytest.approx(
            vectors @ (gains * (vectors.T @ x.numpy())), abs=1e-9
        )


def test_a_series_on_a_shorter_interval() -> None:
    theta = spectral.coefficients(lambda v: v**2, 5, largest=1.0)
    assert theta.tolist() == pytest.approx([3 / 8, 1 / 2, 1 / 8, 0, 0], abs=1e-12)


@pytest.mark.parametrize("matrix", room.LAPLACIANS)
@pytest.mark.parametrize("a", [PATH, PARTS, graphs.typed("0-1 3"), graphs.typed("0")])
def test_frequencies_are_sums_over_edges(matrix: str, a: torch.Tensor) -> None:
    one = lens.spectrum(a, matrix)
    joined = a.sum(0) > 0
    sums = one.slopes.square().sum(0)
    # ChebNet gives a node without neighbours the frequency 1 of the normalised Laplacian
    alone = one.vectors[~joined].square().sum(0) if matrix == room.NORMALISED else 0
    torch.testing.assert_close(sums + alone, one.values, rtol=0, atol=1e-9)
    for k in range(len(a)):
        u = one.vectors[:, k].tolist()
        crossing = sum(u[m] * u[n] < 0 and min(abs(u[m]), abs(u[n])) > 1e-9 for m, n in one.edges.tolist())
        assert int(one.changes[k]) == crossing


def test_terms_reach_one_hop_less() -> None:
    one = lens.filtered(PATH, lens.signal(room.IMPULSE), room.HEAT, 0.5, 2.0)
    away = encoding.distances(PATH)[5]
    for K in room.TERMS:
        assert ((one.outputs[K - 1].abs() > 1e-12) == (away < K)).all()
    exact = lens.filtered(PATH, lens.signal(room.IMPULSE), room.KIPF, 0.5, 2.0)
    for output in exact.outputs[1:]:
        torch.testing.assert_close(output, exact.exact, rtol=0, atol=1e-12)
    same = lens.filtered(PARTS, lens.signal(room.NOISE), room.IDENTITY, 0.5, 2.0)
    torch.testing.assert_close(same.outputs, same.x.expand(12, -1), rtol=0, atol=1e-12)


def test_scenes_say_what_is_so() -> None:
    one = lens.spectrum(PARTS, room.PLAIN)
    assert f"along {int(one.changes[1])} of {len(one.edges)}" in ROOM.scenes["Low frequency"].sees
    assert f"along {int(one.changes[-1])} of {len(one.edges)}" in ROOM.scenes["High frequency"].sees
    assert one.scaled.abs().amax(1).tolist() == pytest.approx([1.0] * 23)
    two = lens.filtered(PATH, lens.signal(room.IMPULSE), room.HEAT, 0.5, 2.0)
    assert (two.outputs[3].abs() > 1e-12).nonzero()[[0, -1], 0].tolist() == [2, 8]
    low = lens.filtered(PARTS, lens.signal(room.NOISE), room.LOW, 0.5, 2.0)
    assert (low.curves[-1] - low.wanted).abs().max() > 0.1  # ripples

    def energy(y: torch.Tensor) -> float:
        return float(y @ spectral.laplacian(PARTS.double(), True) @ y / (y @ y))

    assert energy(low.exact) < 0.5 < energy(low.x) and energy(low.outputs[-1]) < energy(low.x) / 2
    band = lens.filtered(PARTS, lens.signal(room.NOISE), room.BAND, 1.0, 2.0)
    assert (band.curves[3] - band.wanted).abs().max() > 0.3


def test_signals() -> None:
    with pytest.raises(UserError, match="has 3 numbers, the graph 2 nodes"):
        lens.filtered(graphs.typed("0-1"), lens.signal("1 2 3"), room.LOW, 0.5, 2.0)
    with pytest.raises(UserError, match="is no number"):
        lens.signal("1 x")
    page = run_page("graph/spectral", view=room.FILTER, a="0-1")
    assert not page.exception and len(page.error) + len(page.warning) + len(page.info) >= 1


def test_the_picture_has_the_colours_of_its_frame() -> None:
    one = lens.spectrum(PATH, room.PLAIN)
    tree = figures.nodes(torch.randn(12, 2, generator=torch.Generator().manual_seed(0)), PATH, one.vectors.T)
    for k in (0, 5, 11):
        fig = at(tree, k)
        colors = next(trace.marker.color for trace in fig.data if trace.marker.colorscale is not None)
        assert list(colors) == pytest.approx(one.vectors[:, k].tolist())


@pytest.mark.parametrize(
    "given, key",
    [({"a": "0-1", "k": 0}, "k"), ({"a": "0"}, "k"), ({"matrix": room.NORMALISED, "k": 3}, "k"),
     ({"view": room.FILTER, "a": "0-1 1-2", "x": "1 2"}, "terms"), ({"view": room.FILTER, "x": ""}, "terms")],
)  # fmt: skip
def test_own_graphs_and_signals(given: dict, key: str) -> None:
    assert film(open_page("graph/spectral", **given), key)
