"""A picture on its way, what D says of its patches, and what each training would cost it."""

from collections.abc import Mapping

import plotly.graph_objects as go

from lab.figures.basic import bars, heatmap
from pages.adversarial.cycle.lens import Trip


def verdict(result: Trip) -> go.Figure:
    """D's outputs of all patches, 0 for made and 1 for real."""
    fig = heatmap(result.verdict, square=True, title="D, by patch", zmin=0, zmax=1, colorbar=False)
    fig.update_traces(xgap=0, ygap=0, selector={"type": "heatmap"})
    fig.update_layout(margin={"l": 4, "r": 4, "t": 36, "b": 4})
    return fig.update_xaxes(visible=False).update_yaxes(visible=False)


def costs(trips: Mapping[str, Trip], name: str) -> go.Figure:
    """Costs of every training: how far it ends from the partner, and how far around from where it began."""
    fig = bars(
        list(trips), [t.to_partner for t in trips.values()], list(trips).index(name),
        baseline=[t.cycle for t in trips.values()], names=("to the partner", "cycle loss"),
        horizontal=True, xlabel="mean ℓ₁ distance",
    )  # fmt: skip
    return fig.update_xaxes(nticks=4, rangemode="tozero")
