"""Densities of the toy, digits by the weight, and numbers against it."""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.figures import sheets, theme
from lab.figures.basic import array, curves, rule
from lab.figures.moving import marking, per_frame, turning

STRONG, DASHED = {"width": 4, "color": theme.OUTPUT}, {"width": 3, "color": theme.INPUT, "dash": "dash"}
QUIET = {"width": 3, "color": theme.HIDDEN}


def toy(x: Any, sampled: Any, tilted: Any, every: Any) -> dict[str, Any]:
    """All data (P,), the tilted and the sampled distribution (F, P)."""
    axis = array(x)
    lines = {
        "all data": (array(every), QUIET),
        "tilted density": (per_frame(tilted), DASHED),
        "sampled": (per_frame(sampled), STRONG),
    }
    data = [
        {"x": axis, "y": y, "name": name, "mode": "lines", "line": line} for name, (y, line) in lines.items()
    ]
    ticks = {"range": [float(axis[0]), float(axis[-1])], "tickvals": [-3, -2, -1, 0, 1, 2, 3]}
    top = 1.25 * float(array(tilted).max())  # what is sampled may be as narrow as a point
    axes = {"xaxis": {"title": "x"} | ticks, "yaxis": {"title": "density", "range": [0, top]}}
    return {"data": data, "layout": axes | {"meta": theme.NAMED_APART}}


def digits(pictures: Any) -> dict[str, Any]:
    """A column a class (F, N, 8, 8)."""
    return sheets.film(pictures, 10, zmin=0.0, zmax=1.0)


def point(x: Any, y: Any) -> dict[str, Any]:
    """The point of a curve (F,) at every frame."""
    place = {"x": per_frame(x[:, None]), "y": per_frame(y[:, None]), "mode": "markers", "hoverinfo": "skip"}
    return place | {"showlegend": False, "marker": {"size": 15, "color": theme.VERMILLION}}


def by_weight(weights: Any, values: Mapping[str, Any], shown: str, ylabel: str, top: float) -> dict[str, Any]:
    """A number against w for every way to lead, with the point of the way `shown` at every frame."""
    w = array(weights)
    looks = {True: STRONG, False: QUIET}
    lines = [
        {
            "x": w,
            "y": array(p),
            "mode": "lines+markers",
            "name": way.removesuffix(" guidance"),
            "line": looks[way == shown],
        }
        for way, p in values.items()
    ]
    across = {"title": "w", "tickvals": [-1, 0, 1, 2, 3, 4], "range": [-1.35, 4.35]}
    axes = {"xaxis": across, "yaxis": {"title": ylabel, "range": [0, top], "nticks": 5}}
    return {"data": [*lines, point(w, array(values[shown]))], "layout": axes | {"meta": theme.NAMED_ENDS}}


def against(weights: Any, sampled: Any, tilted: Any, ylabel: str) -> dict[str, Any]:
    """A number of both distributions against w, with the point at every frame."""
    w, p = array(weights), array(sampled)
    data = [
        {"x": w, "y": array(tilted), "name": "tilted", "mode": "lines", "line": DASHED},
        {"x": w, "y": p, "name": "sampled", "mode": "lines", "line": STRONG},
        point(w, p),
    ]
    axes = {"xaxis": {"title": "w", "tickvals": [-1, 0, 1, 2, 3, 4]}, "yaxis": {"title": ylabel}}
    return {"data": data, "layout": axes | {"meta": theme.NAMED_ENDS}}


def named_rows(pictures: Any, weights: Sequence[float]) -> dict[str, Any]:
    """Pictures (F, R, C, H, W), a row a weight."""
    z = array(pictures)
    columns = [""] * z.shape[2]
    fig = sheets.contact_sheet(z[0], [f"w = {w:g}" for w in weights], columns)
    fig.update_xaxes(showticklabels=False, ticks="").update_yaxes(ticks="")
    fig.update_layout(margin={"l": 70, "r": 4, "t": 4, "b": 4})
    return turning(fig, z=sheets.sheet(z))


def narrowing(times: Sequence[int], sds: Any, weights: Sequence[float]) -> dict[str, Any]:
    """Spread of the digits of each row, (F, R), over t from noise to data."""
    of_rows = {f"w = {w:g}": (times, sd) for w, sd in zip(weights, array(sds).T, strict=True)}
    fig = curves(of_rows, ylabel="sd within a row", xlabel="t", ends=True)
    fig.update_xaxes(range=[times[0], times[-1]], tickvals=[750, 500, 250, 0])
    rule(fig, x=times[0], line={"color": theme.VERMILLION, "width": 2})
    return marking(fig, times)
