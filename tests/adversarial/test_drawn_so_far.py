"""Curves of films whose end the room is asked to guess: each frame has what has happened, and no more."""

from typing import Any

import numpy as np
import pytest
from opening import figure, open_page, plain

from lab.figures import moving
from lab.figures.basic import curves

GREEDY = {"failure": "5 turns of G", "batches": 1000, "look": 10}  # a recorded game


@pytest.mark.parametrize(
    ("page", "key", "at", "asked"),
    [("toy_gan", "course", 20, {"step": 20}), ("optimal_discriminator", "losses", 0, {"step": 0}),
     ("gan_bench", "distance", 10, GREEDY), ("gan_bench", "coverage", 10, GREEDY)],
)  # fmt: skip
def test_no_curve_is_ahead_of_its_film(page: str, key: str, at: int, asked: dict[str, Any]) -> None:
    header, frames = figure(open_page(f"adversarial/{page}", **asked), key)
    lines = [name for name in frames if name.startswith("data.")]
    assert len(lines) == len(header["figure"]["data"])
    whole = [frames[name][-1] for name in lines]
    for name, end in zip(lines, whole, strict=True):
        assert np.isfinite(end).all() and len(frames[name]) == len(end)
        for k, y in enumerate(frames[name]):
            assert np.isnan(y[k + 1 :]).all() and np.array_equal(y[: k + 1], end[: k + 1])
        first = np.array(plain(header["figure"]["data"][int(name.split(".")[1])]["y"]), dtype=float)
        assert np.isfinite(first[: at + 1]).all() and np.isnan(first[at + 1 :]).all()
    axes = (header["figure"]["layout"][f"{axis}axis"] for axis in "xy")
    assert all(axis.get("range") for axis in axes), "an axis that follows the curve jumps while it is drawn"


def test_axes_have_room_for_the_whole() -> None:
    fig = curves(
        {"a": [3.0, 1.0, np.nan], "b": [2.0, 5.0, 100.0]}, [1, 10, 100], mark=1, log_x=True, log_y=True
    )
    drawn = moving.unrolling(fig)
    still = moving.at(drawn, 1)
    assert still.layout.xaxis.range == pytest.approx([-0.1, 2.1])
    assert still.layout.yaxis.range == pytest.approx([-0.1, 2.1])
    assert np.array_equal(still.data[1].y, [2, 5, np.nan], equal_nan=True)
    assert moving.frames(drawn)["layout.shapes.0.x0"].tolist() == [1, 10, 100]
    level = moving.at(moving.unrolling(curves({"a": [2.0, 2.0]}, mark=0)), 0)
    assert level.layout.yaxis.range == pytest.approx([1.95, 2.05])
