"""Outputs whose rows move, and what of them has changed."""

from typing import Any

from lab.figures.basic import heatmap
from lab.figures.moving import Tree, per_frame, turning
from lab.figures.tokens import escape
from pages.transformer.shuffle.lens import Shuffled


def moving(one: Shuffled, names: list[list[str]], keys: bool) -> Tree:
    """Outputs in the order of each frame, a row a word; of keys the weights, whose columns move."""
    values, typed = one.outputs, [escape(word) for word in one.words]
    texts = [[escape(word) for word in row] for row in names]
    fig = heatmap(
        values[0], texts[0] if keys else None, typed if keys else texts[0],
        "weights of head 1" if keys else "outputs f(PX)", "probability" if keys else "diverging",
        colorbar=False, hover=False, xlabel="key" if keys else "channel", height=440,
    )  # fmt: skip
    most = 1.0 if keys else float(values.abs().max()) or 1.0
    fig.update_traces(
        zmin=0 if keys else -most, zmax=most, hoverinfo=None, hovertemplate="%{z:.3f}<extra></extra>"
    )
    tree: dict[str, Any] = turning(fig, z=values)
    tree["layout"]["xaxis" if keys else "yaxis"] |= {"ticktext": per_frame(texts)}
    return tree


def changed(one: Shuffled, keys: bool) -> Tree:
    """Change of each output, a row a word in the order that was typed."""
    fig = heatmap(
        one.change[0], None, [escape(word) for word in one.words],
        "change of outputs" if keys else "P⁻¹f(PX) − f(X)", "diverging", colorbar=False, hover=False,
        xlabel="channel", height=440, numbers=".2f",
    )  # fmt: skip
    most = max(float(one.change.abs().max()), 1e-6)  # rounding stays white
    fig.update_traces(zmin=-most, zmax=most, hoverinfo=None, hovertemplate="%{z:.3f}<extra></extra>")
    return turning(fig, z=one.change)
