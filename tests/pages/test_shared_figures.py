"""Parts of figures that many rooms share: fields and points of the plane, sheets of pictures, their films."""

import numpy as np
import pytest
import torch

from lab.figures import basic, moving, planar, sheets
from lab.figures.moving import per_frame
from lab.lenses import plane


@pytest.mark.parametrize("edges", [False, True])
def test_a_field_stands_where_its_values_were_taken(edges: bool) -> None:
    places = (plane.corners if edges else plane.middles)(3.0, 7)
    trace = planar.field(places[..., 0].numpy(), 3.0, edges=edges)
    x = trace["x0"] + trace["dx"] * np.arange(7)
    assert np.allclose(x, places[0, :, 0]) and np.allclose(x, places[:, 0, 1])
    assert np.allclose(trace["z"], x)  # to the right, not upwards


def test_a_film_of_the_plane_rests_as_its_figures_do() -> None:
    maps, dots = torch.rand(4, 5, 5), torch.rand(4, 6, 2)
    film = {
        "data": [planar.field(per_frame(maps), 2.0), planar.points(per_frame(dots), {"size": 3})],
        "layout": planar.axes(2.0, ("x₁", "x₂")),
    }
    for frame in range(4):
        still = moving.at(film, frame)
        assert np.array_equal(still.data[0].z, maps[frame]) and np.array_equal(
            still.data[1].y, dots[frame, :, 1]
        )
    assert set(moving.frames(film)) == {"data.0.z", "data.1.x", "data.1.y"}
    assert still.layout.xaxis.range == (-2, 2) and still.layout.yaxis.title.text == "x₂"


@pytest.mark.parametrize(("count", "columns"), [(6, 3), (7, 3), (9, None), (1, None)])
def test_a_film_of_sheets_lies_as_the_figure_does(count: int, columns: int | None) -> None:
    pictures = torch.rand(3, count, 5, 4)
    for sheet, some in zip(sheets.frames(pictures, columns), pictures, strict=True):
        assert np.array_equal(sheet, basic.mosaic(some, columns).astype(np.float32), equal_nan=True)
    assert np.isfinite(sheets.frames(pictures, columns, between=0)).all()


def test_levels_end_at_the_lowest_and_at_0() -> None:
    log_p = torch.tensor([plane.LOWEST - 1, plane.LOWEST, plane.LOWEST / 2, 0.0, 1.0, float("nan")])
    assert plane.levels(log_p).tolist() == [0, 0, 128, 255, 255, 0]
