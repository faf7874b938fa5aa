"""What the page says of both networks, step by step."""

from pages.graph.labels.lens import Spread, certainty
from pages.graph.labels.room import STEPS


def captions(one: Spread) -> list[str]:
    sure = certainty(one.p)[..., one.test].mean(-1).tolist()
    if one.world.classes is None:
        return [
            f"Step {t}: the graph network is {100 * a:.0f} % certain of the other nodes, the dense one "
            f"{100 * b:.0f} %."
            for t, (a, b) in zip(STEPS, sure, strict=True)
        ]
    count = int(one.test.sum())
    return [
        f"Step {t}: of {count} test nodes the graph network gets {100 * a:.0f} % right, the dense one "
        f"{100 * b:.0f} %."
        for t, (a, b) in zip(STEPS, one.right.tolist(), strict=True)
    ]


def equations(one: Spread) -> list[str]:
    few = len(one.nodes)
    return [
        rf"L = -\frac{{1}}{{{few}}} \sum_{{n \in \mathcal{{B}}}} \log \Pr(y_n \mid X, A) = {a:.3f}, \qquad "
        rf"-\frac{{1}}{{{few}}} \sum_{{n \in \mathcal{{B}}}} \log \Pr(y_n \mid X) = {b:.3f}"
        for a, b in one.loss.tolist()
    ]


def notice(one: Spread, layers: int) -> str:
    """Two or three sentences below the picture."""
    text = (
        "Both networks start from the same weights and fit their labels; they differ in the edges alone. "
        "Unlabelled nodes send messages, too: that is how a few labels go far. "
    )
    if one.world.classes is None:
        return text + "Nobody knows the classes of this graph; certainty is what is left to look at."
    a, b = one.right[-1].tolist()
    return text + (
        f"After {STEPS[-1]} steps {100 * a:.0f} % of the test nodes are right with edges, {100 * b:.0f} % "
        f"without. {layers} layer{'s' * (layers > 1)} carry inputs {layers} "
        f"edge{'s' * (layers > 1)} far, to a labelled node and from its neighbours on to others."
    )
