"""An interaction matrix, and beside it what is heard of after each number of layers."""

import numpy as np
import plotly.graph_objects as go

from lab.figures.basic import heatmap
from lab.figures.moving import Tree, heatmaps
from pages.transformer.interaction_matrices.lens import Study

BEFORE = 0.45  # how dark a pair is that an earlier layer has reached


def labels(count: int) -> list[str]:
    """Numbers of tokens from 1, every fourth and the first."""
    return [str(i + 1) if i == 0 or (i + 1) % 4 == 0 else "" for i in range(count)]


def pairs(one: Study) -> go.Figure:
    """The pattern: dark where a row looks at a column."""
    T, S = one.pattern.shape
    return heatmap(
        one.pattern, labels(S), labels(T), "one layer: A", square=True, colorbar=False, hover=False,
        zmin=0, zmax=1, xlabel="token j, looked at", ylabel="token i, looks", height=520,
    )  # fmt: skip


def reached(one: Study) -> Tree:
    """What has been heard of after L layers: dark what this layer adds, lighter what was known before."""
    T, S = one.pattern.shape
    values = np.stack(
        [np.where(one.needed == L, 1.0, np.where(one.heard(L), BEFORE, 0.0)) for L in range(one.depth + 1)]
    )
    return heatmaps(
        values, labels(S), labels(T), "after L layers; strong: new", square=True, colorbar=False, zmin=0,
        zmax=1, xlabel="token j, heard of", ylabel="token i", height=520,
    )  # fmt: skip
