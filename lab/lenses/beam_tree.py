"""The tree that a beam search grows: beginnings that stay, are cut, or end.

Reference: [UDL] §12.7.3.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from modules.language.beam import SHOWN
from modules.trace import Trace


@dataclass
class Tree:
    """Nodes of a search in the order of time; node 0 is the empty text.

    Attributes:
        depth, place: where a node is drawn; place is its row, children beside their parent.
        parent: of each node; −1 for the first.
        tokens: the token that a node adds. text: all tokens from the start.
        log_prob: of the text. state: "kept", "pruned", "ended" or "unseen". group: of a diverse search.
    """

    depth: list[int] = field(default_factory=lambda: [0])
    place: list[float] = field(default_factory=lambda: [0.0])
    parent: list[int] = field(default_factory=lambda: [-1])
    tokens: list[int] = field(default_factory=lambda: [-1])
    text: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    log_prob: list[float] = field(default_factory=lambda: [0.0])
    state: list[str] = field(default_factory=lambda: ["kept"])
    group: list[int] = field(default_factory=lambda: [0])


def tree(trace: Trace, most: int, arrange: Callable[[Tree], None] | None = None) -> Tree:
    """A `beam_trace` as a tree of at most so many rows, if those that stay are no more: of the cut branches
    the best of each step, equally many.

    Args:
        arrange: gives the nodes their rows, `spread` or `pack`; None is `spread`.
    """
    for pruned in range(SHOWN, -1, -1):
        result = grown(trace, pruned)
        (arrange or spread)(result)
        if max(result.place) + 1 <= most:
            break
    return result


def grown(trace: Trace, pruned: int) -> Tree:
    """The tree with the best `pruned` of the cut branches a step; all of its rows are 0."""
    result = Tree()
    nodes: dict[tuple[int, tuple[int, ...]], int] = {}
    groups = 1 + max(int(step.values["groups"].max()) for step in trace)
    for g in range(groups):
        nodes[g, ()] = 0
    for t, step in enumerate(trace.steps, start=1):
        v = step.values
        gone = dict.fromkeys(range(groups), 0)
        for m in range(len(v["token"])):
            row = int(v["parent"][m])
            before, g = tuple(v["hypotheses"][row].tolist()), int(v["groups"][row])
            state = "kept" if v["kept"][m] else "ended" if v["ended"][m] else "pruned"
            if state == "pruned":
                gone[g] += 1
                if gone[g] > pruned:
                    continue
            token = int(v["token"][m])
            nodes[g, (*before, token)] = len(result.depth)
            result.depth.append(t)
            result.place.append(0.0)
            result.parent.append(nodes[g, before])
            result.tokens.append(token)
            result.text.append((*before, token))
            result.log_prob.append(float(v["log_prob"][m]))
            result.state.append(state)
            result.group.append(g)
    return result


def children(result: Tree) -> dict[int, list[int]]:
    """The nodes that grow from each, group by group the most probable first."""
    results: dict[int, list[int]] = {}
    for node, parent in enumerate(result.parent):
        results.setdefault(parent, []).append(node)
    for below in results.values():
        below.sort(key=lambda n: (result.group[n], -result.log_prob[n]))
    return results


def spread(result: Tree) -> None:
    """Give leaves rows of their own, the most probable first; a parent stands amid its children."""
    found, rows = children(result), 0

    def visit(node: int) -> float:
        nonlocal rows
        if below := found.get(node):
            places = [visit(n) for n in below]
            result.place[node] = sum(places) / len(places)
        else:
            result.place[node], rows = float(rows), rows + 1
        return result.place[node]

    visit(0)


def pack(result: Tree) -> None:
    """Give nodes of a step rows of their own, in as few rows as the fullest step needs: children in the order
    of their parents, so that no edges cross, and straight behind them where there is room."""
    below = children(result)
    step = [0]
    fullest = max(result.depth.count(d) for d in set(result.depth))
    while step := [n for parent in step for n in below.get(parent, ())]:
        row = -1.0
        for i, n in enumerate(step):
            row = max(row + 1, min(result.place[result.parent[n]], float(fullest - len(step) + i)))
            result.place[n] = row


def along(result: Tree, text: tuple[int, ...] | None) -> list[bool]:
    """Nodes that lie on the way to a text."""
    return [text is not None and node == text[: len(node)] for node in result.text]


def probability(log_prob: float) -> str:
    """e^log_prob, short."""
    p = math.exp(log_prob)
    return f"{p:.4f}" if p >= 0.001 else f"{p:.1e}"
