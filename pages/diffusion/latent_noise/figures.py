"""Walks between two digits place by place; the way there and back, its error against the number of steps."""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.figures import basic, latents, sheets, theme
from lab.figures.basic import array
from lab.figures.moving import per_frame, turning


def walks(pictures: Any, rows: Sequence[str], s: Sequence[float]) -> dict[str, Any]:
    """Walks (R, W, S, S) as rows; a frame goes from place to place."""
    fig = sheets.contact_sheet(pictures, rows, ["A", *(f"{t:.2g}" for t in s[1:-1]), "B"])
    return sheets.walking(fig, pictures.shape[-1], range(len(s)), None, len(rows))


def place(pictures: Any, rows: Sequence[str]) -> dict[str, Any]:
    """The pictures of all walks at a place, (W, R, S, S) at all."""
    fig = sheets.labelled(list(pictures[0]), rows, columns=len(rows))
    return turning(fig, z=sheets.frames(pictures, len(rows), sheets.label_gap(8)))


def lengths(s: Sequence[float], result: Mapping[str, Any], typical: float) -> dict[str, Any]:
    """Lengths of the codes along each walk; a line stands at each place."""
    tree = latents.norms(s, result, typical, s[0]).to_plotly_json()
    tree["layout"]["shapes"][0] |= {"x0": per_frame(s), "x1": per_frame(s)}
    return tree


def trip(rows: Any) -> dict[str, Any]:
    """Both digits, their codes and what comes back, (F, 2, 3, S, S)."""
    fig = sheets.contact_sheet(rows[0], ["A", "B"], ["digit", "code", "back"])
    return turning(fig, z=sheets.sheet(rows))


def errors(sizes: Any, error: Any) -> dict[str, Any]:
    """Errors (F,) against S on logarithms, a line of slope −1 beside them, each S marked in turn."""
    s, e = array(sizes).astype(float), array(error)
    fig = basic.curves({"error": e, "∝ 1/S": e[0] * s[0] / s}, s, xlabel="steps S", ylabel="error per pixel",
                       colors={"error": theme.OUTPUT, "∝ 1/S": theme.HIDDEN}, markers=True)  # fmt: skip
    fig.add_scatter(
        mode="markers", showlegend=False, hoverinfo="skip", marker={"size": 16, "color": theme.VERMILLION}
    )
    fig.update_xaxes(type="log", tickvals=s, ticktext=[f"{v:.0f}" for v in s])
    fig.update_yaxes(type="log", tickvals=[0.01, 0.02, 0.05], ticktext=["0.01", "0.02", "0.05"])
    return turning(fig, 2, x=s[:, None], y=e[:, None])
