"""Messages on a graph, and the colours of its hops."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.moving import Tree, per_frame


def hop_colors(reach: int) -> list[str]:
    """Colours of the classes 0..reach hops, from dark violet to pale, and grey for what is farther."""
    return [*("#4F1238", "#9A3F76", "#CC79A7", "#DDA3C3", "#F3DEEA")[: reach + 1], theme.HIDDEN]


def arriving(fig: go.Figure, arrives: Sequence[int | None], senders: Sequence[int]) -> Tree:
    """A `network` whose message that arrives is full at each step, the others pale.

    Args:
        arrives: the sender's place at each step; None where none of them sends.
        senders: as given to `network`.
    """
    full, pale, tree = theme.ATTENTION, theme.fade(theme.ATTENTION, 0.35), fig.to_plotly_json()
    messages = [trace for trace in tree["data"] if trace["name"] == "message"]
    others = [m for m in senders if m != fig.layout.meta]  # a node's own message is not drawn
    for trace, m in zip(messages, others, strict=True):
        trace["line"] |= {"color": per_frame([full if now in (None, m) else pale for now in arrives])}
    return tree
