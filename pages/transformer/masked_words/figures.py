"""Attention from masks and from <cls> to both sides, candidates, tags, and the table of spans."""

import plotly.graph_objects as go

from datamodules.gazette import TAGS
from lab.figures import theme
from lab.figures.basic import array, bars, heatmap
from lab.figures.moving import Tree, heatmaps, per_frame, turning
from pages.transformer.masked_words.lens import Masked
from pages.transformer.masked_words.tuned import Answer, Judged

TALL = 430


def layers(count: int) -> list[str]:
    return [f"layer {l + 1}" for l in range(count)]


def looks(one: Masked) -> Tree:
    """Where the mask of each frame looks, layer by layer."""
    return heatmaps(
        array(one.looks), one.words, layers(one.looks.shape[1]), "attention of the mask, mean over heads",
        colorbar=False, zmin=0, zmax=1, height=TALL,
    )  # fmt: skip


def candidates(one: Masked) -> Tree:
    """The likeliest words for the mask of each frame."""
    tops = [one.top(k) for k in range(len(one.places))]
    fig = bars(tops[0][0], tops[0][1], horizontal=True, probability=True, xlabel="p(word)", height=TALL)
    tree = turning(fig, 0, x=[array(p) for _, p in tops])
    tree["layout"]["yaxis"]["ticktext"] = per_frame([names for names, _ in tops])
    return tree


def cls_looks(one: Judged) -> go.Figure:
    """Where <cls> looks, layer by layer."""
    return heatmap(
        one.looks, one.words, layers(len(one.looks)), "attention of <cls>, mean over heads", colorbar=False,
        zmin=0, zmax=1, height=TALL,
    )  # fmt: skip


def verdicts(one: Judged) -> go.Figure:
    """p that the review recommends, by both encoders."""
    return bars(
        ["fine-tuned", "frozen"], list(one.p), horizontal=True, probability=True, xlabel="p(recommends)",
        height=TALL,
    )  # fmt: skip


def tags(words: list[str], p: object, title: str) -> go.Figure:
    """p of the tags (rows) of each word."""
    return heatmap(p, words, list(TAGS), title, colorbar=False, zmin=0, zmax=1, height=TALL)


def ends(one: Answer) -> go.Figure:
    """p of each word to be the first and the last of the answer."""
    fig = bars(
        one.words, one.end, baseline=one.start, names=("end", "start"), probability=True, ylabel="p",
        height=TALL,
    )  # fmt: skip
    fig.data[0].marker.color = theme.INPUT
    return fig


def spans(one: Answer) -> go.Figure:
    """p_s(s) p_e(e) of each span; grey where e < s."""
    numbers = [str(n) if n == 1 or n % 5 == 0 else "" for n in range(1, len(one.words) + 1)]
    fig = heatmap(
        one.scores, numbers, numbers, "p_s(s) p_e(e); grey: e < s", colorbar=False, zmin=0, zmax=1,
        xlabel="last word e", ylabel="first word s", square=True, height=TALL,
    )  # fmt: skip
    fig.update_layout(plot_bgcolor=theme.fade(theme.HIDDEN, 0.35))
    return fig
