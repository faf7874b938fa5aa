"""A model typed by the reader, and the tree that a beam grows.

`T` tokens, `V` vocabulary, `N` nodes.

Reference: [UDL] §12.7.3.
"""

import math
import re
from dataclasses import dataclass, field

import torch
from torch import Tensor

from datamodules import cells
from lab.errors import UserError
from modules.base import NextToken
from modules.language.beam import SHOWN
from modules.language.table import TableLM
from modules.trace import Trace

TOKENS = "abcd"  # of a typed table


def read(text: str) -> tuple[list[tuple[str, list[str]]], str]:
    """The lines of a typed table, each with the words behind its colon, and what was decided about commas."""
    lines = [line for line in map(str.strip, text.lower().splitlines()) if line]
    behind = [line.partition(":")[2].strip() or "?" for line in lines]
    words, texts = cells.rows("\n".join(part.replace(";", " ") for part in behind))
    return list(zip(lines, words, strict=True)), texts


def commas(text: str) -> str:
    return read(text)[1]


def table(text: str, length: int) -> tuple[TableLM, list[str], int | None]:
    """A toy model from lines `prefix: p p …`, the empty prefix first; prefixes left out are uniform.

    A line "ends: a" says that token a ends a text.

    Returns: the model of texts up to `length`, its tokens, and the number of the token that ends.

    Raises:
        UserError: a line that cannot be read, a row that is no distribution; one sentence each.
    """
    rows: dict[tuple[int, ...], list[float]] = {}
    lines, eos = read(text)[0], None
    for line, words in lines:
        if ending := re.fullmatch(r"ends?\s*:\s*([a-d])", line):
            eos = TOKENS.index(ending[1])
            continue
        prefix, colon, _ = line.partition(":")
        prefix = prefix.strip()
        try:
            row = [float(v) for v in words]
        except ValueError:
            row = []
        if not colon or not row or any(c not in TOKENS for c in prefix):
            raise UserError(
                f"I cannot read {line!r}: write a prefix, a colon and probabilities, as in 'ab: .5 .5'."
            )
        if abs(sum(row) - 1) > 0.005 or min(row) < 0:
            raise UserError(
                f"The probabilities after {prefix or 'the start'!r} sum to {sum(row):g}: make it 1."
            )
        rows[tuple(TOKENS.index(c) for c in prefix)] = [p / sum(row) for p in row]
    sizes = {len(row) for row in rows.values()}
    if len(sizes) != 1 or not 2 <= max(sizes) <= len(TOKENS):
        raise UserError("Give every prefix the same number of probabilities, 2 to 4: one for a, one for b, …")
    V = sizes.pop()
    if () not in rows or any(i >= V for prefix in rows for i in prefix):
        raise UserError(
            f"Begin with ': ' and {V} probabilities; prefixes are made of {', '.join(TOKENS[:V])}."
        )
    rows = {prefix: row for prefix, row in rows.items() if len(prefix) < length}
    return TableLM.from_rows(V, length, rows), list(TOKENS[:V]), eos if eos is None or eos < V else None


def start() -> Tensor:
    """The empty beginning, (0,)."""
    return torch.zeros(0, dtype=torch.int64)


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


def tree(trace: Trace, rows: int) -> Tree:
    """A `beam_trace` as a tree of at most so many leaves, if those that stay are no more: of the cut branches
    the best of each step, equally many."""
    for pruned in range(SHOWN, 0, -1):
        result = grown(trace, pruned)
        if max(result.place) + 1 <= rows:
            return result
    return grown(trace, 0)


def grown(trace: Trace, pruned: int) -> Tree:
    """The tree with the best `pruned` of the cut branches a step."""
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
    arrange(result)
    return result


def arrange(result: Tree) -> None:
    """Give leaves rows of their own, the most probable first; a parent stands amid its children."""
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(result.parent):
        children.setdefault(parent, []).append(node)
    rows = 0

    def visit(node: int) -> float:
        nonlocal rows
        below = sorted(children.get(node, ()), key=lambda n: (result.group[n], -result.log_prob[n]))
        if below:
            places = [visit(n) for n in below]
            result.place[node] = sum(places) / len(places)
        else:
            result.place[node], rows = float(rows), rows + 1
        return result.place[node]

    visit(0)


def lead(result: Tree, model: NextToken, text: tuple[int, ...]) -> None:
    """Grow what is missing on the way to a text: nodes that the search has not seen, behind the last that it
    has."""
    results = max((n for n, t in enumerate(result.text) if t == text[: len(t)]), key=result.depth.__getitem__)
    for t in range(result.depth[results], len(text)):
        row = model.next_log_probs(torch.tensor(text[:t], dtype=torch.int64)[None])[0]
        result.depth.append(t + 1)
        result.place.append(0.0)
        result.parent.append(results if t == result.depth[results] else len(result.parent) - 1)
        result.tokens.append(text[t])
        result.text.append(text[: t + 1])
        result.log_prob.append(result.log_prob[result.parent[-1]] + float(row[text[t]]))
        result.state.append("unseen")
        result.group.append(result.group[results])
    arrange(result)


def along(result: Tree, text: tuple[int, ...] | None) -> list[bool]:
    """Nodes that lie on the way to a text."""
    return [text is not None and node == text[: len(node)] for node in result.text]


def probability(log_prob: float) -> str:
    """e^log_prob, short."""
    p = math.exp(log_prob)
    return f"{p:.4f}" if p >= 0.001 else f"{p:.1e}"
