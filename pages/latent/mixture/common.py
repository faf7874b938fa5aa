"""Draw what all views of the page have: the plane, to which a click adds a point."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from lab import ui
from lab.figures import theme
from lab.ui.figures.films import Film
from lab.ui.page.stage import Stage
from pages.latent.mixture import figures, points

COVARIANCES = ("full", "diag", "spherical", "tied")


def draw(
    x: Tensor,
    own: str,
    colours: list[str],
    ellipses: Tensor,
    means: Tensor,
    film: Film | None = None,
    frames: Mapping[str, Sequence[Any]] | None = None,
    ring: Tensor | None = None,
) -> None:
    """Points x (N, 2), coloured, and a mixture's ellipses; a click adds a line to `own`, the reader's."""

    def added(a: float, b: float) -> dict[str, str]:
        return {"own": f"{own.rstrip()}\n{a:.4g}, {b:.4g}".lstrip()}

    ui.button_figure(
        figures.plane(x, colours, ellipses, means, points.window(x), ring=ring), key="plane", whole=False,
        on_press=added, share=1.0, film=film, frames=frames,
        alt="Points in the colours of their Gaussians, and an ellipse around the mean of each Gaussian",
        data={"x1": x[:, 0], "x2": x[:, 1]},
    )  # fmt: skip


def refused(stage: Stage, x: Tensor, own: str, sentence: str) -> None:
    """The points alone, and why there is no mixture of them; the page ends here."""
    with stage.picture:
        draw(x, own, [theme.HIDDEN] * len(x), x.new_empty(0, 1, 2), x[:0])
    with stage.foot:
        ui.stop(sentence)
