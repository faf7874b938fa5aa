"""What is said of each frame: of an edge, of the way back, of a sum."""

from collections import Counter

from pages.graph.edge_graph.lens import NODE, Built, Played, Returned, Turn
from pages.graph.edge_graph.room import EDGE_EDGE, EDGE_NODE, LAYER, NODE_EDGE, NODE_NODE

NAMES = {
    NODE_NODE: "H A", EDGE_NODE: "H B", NODE_EDGE: r"E B^\top", EDGE_EDGE: r"E A_\mathrm{edge}",
}  # fmt: skip


def listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) if numbers else "none"


def some(edges: list[int]) -> str:
    return f"edge{'s' * (len(edges) > 1)} {listed(edges)}" if edges else "no edge"


def forward_captions(one: Built) -> list[str]:
    """Of each edge: which share an end with it, and where."""
    texts = []
    for e, (m, n) in enumerate(one.edges.tolist()):
        at = {end: [f for f in one.near(e) if one.incidence[end, f]] for end in (m, n)}
        texts.append(
            f"Edge {e} meets {some(at[m])} at node {m} and {some(at[n])} at node {n}: square {e} has "
            f"{len(one.near(e))} neighbour{'s' * (len(one.near(e)) != 1)}."
        )
    return texts


def forward_equations(one: Built) -> list[str]:
    """One entry of A_edge beside the edge, and the number of all."""
    degrees = one.incidence.sum(1).tolist()
    counted = " + ".join(
        rf"{times} \cdot {d * (d - 1) // 2}" for d, times in sorted(Counter(degrees).items(), reverse=True)
        if d > 1
    ) or "0"  # fmt: skip
    total = rf"\sum_n \tfrac{{d_n(d_n - 1)}}{{2}} = {counted} = {len(one.links)}\ \text{{links}}"
    texts = []
    for e in range(len(one.edges)):
        ones = int(one.incidence[:, e] @ one.incidence[:, e])
        near = one.near(e)
        other = (
            rf"(A_\mathrm{{edge}})_{{{near[0]},{e}}} = b_{{{near[0]}}} \cdot b_{{{e}}} = 1,\quad"
            if near
            else ""
        )
        texts.append(rf"{other} (A_\mathrm{{edge}})_{{{e},{e}}} = {ones} - 2 = 0,\qquad {total}")
    return texts


def back_captions(one: Returned) -> list[str]:
    """Of each edge: the cliques in which it lies, and so its ends."""
    if not one.answers:
        why = "some part of it comes from no edges with two ends each."
        if one.claw is not None:
            e, *leaves = one.claw
            why = f"edge {e} meets edges {listed(leaves)}, of which no two meet; it has but two ends."
        return [f"No edge graph: {why}"] * one.count
    texts = []
    for e in range(one.count):
        parts = []
        for answer in one.answers:
            m, n = answer.edges[e].tolist()
            cliques = [
                sorted({e} | {f for f in answer.near(e) if answer.incidence[end, f]}) for end in (m, n)
            ]
            said = " and ".join(f"{{{listed(clique)}}}" for clique in cliques)
            ends = f": edge {e} joins nodes {m} and {n}" if len(one.answers) == 1 else ""
            parts.append(f"{said}{ends}")
        texts.append(f"Square {e} lies in the cliques " + ", or in ".join(parts) + ".")
    return texts


def back_equations(one: Returned) -> list[str]:
    if not one.answers:
        return [r"A_\mathrm{edge} \neq B^\top B - 2I\ \text{ for every } B"] * one.count
    first = one.answers[0]
    sizes = ",\\quad ".join(
        rf"N = {answer.num_nodes}\ (K_3)" if len(one.answers) == 2 and one.count == 3 and not k else
        rf"N = {answer.num_nodes}\ (K_{{1,3}})" if len(one.answers) == 2 and one.count == 3 else
        rf"N = {answer.num_nodes}" for k, answer in enumerate(one.answers)
    )  # fmt: skip
    same = rf"B^\top B - 2I = A_\mathrm{{edge}},\qquad {sizes},\qquad E = {len(first.edges)}"
    return [same] * one.count


def number(value: float) -> str:
    return f"{value:g}"


def factor(value: float) -> str:
    return f"({value:g})" if value < 0 else f"{value:g}"


def senders(turn: Turn) -> str:
    kind = "node" if turn.sender == NODE else "edge"
    return f"{kind}{'s' * (len(turn.terms) != 1)} {listed(list(turn.terms))}"


def sum_captions(one: Played, way: str) -> list[str]:
    """Of each receiver: from whom it hears."""
    if way == LAYER:
        return [
            f"Node {turn.k} joins its own number, those of {len(turn.terms)} neighbours and of "
            f"{len(turn.terms)} edges; what is below 0 becomes 0."
            for turn in one.turns
        ]  # fmt: skip
    return [
        f"{turn.receiver.capitalize()} {turn.k} adds up the numbers of {senders(turn)}."
        if turn.terms else f"{turn.receiver.capitalize()} {turn.k} hears nobody: its sum is 0."
        for turn in one.turns
    ]  # fmt: skip


def sum_equations(one: Played, way: str, weights: tuple[float, float, float]) -> list[str]:
    """Each sum with its numbers."""
    if way == LAYER:
        return [layer_equation(one, turn, weights) for turn in one.turns]
    texts = []
    for turn in one.turns:
        name = NAMES.get(way, "H B" if turn.sender == NODE else r"H B B^\top = H(A + D)")
        added = " + ".join(number(v) for v in turn.terms.values()) or "0"
        left, same, _ = name.partition(" = ")
        texts.append(
            rf"({left})_{{{turn.k}}} = {added} = {number(turn.result)}" + (rf",\qquad {name}" if same else "")
        )
    return texts


def layer_equation(one: Played, turn: Turn, weights: tuple[float, float, float]) -> str:
    own, heard, edges = weights
    n, pairs = turn.k, one.graph.edges.tolist()
    neighbours = [sum(pairs[e]) - n for e in turn.terms]
    theirs = " + ".join(number(float(one.h[m])) for m in neighbours) or "0"
    mine = " + ".join(number(v) for v in turn.terms.values()) or "0"
    return (
        rf"h'_{{{n}}} = \max[0,\ \psi h_{{{n}}} + \omega \textstyle\sum h_m + \gamma \sum e] = \max[0,\ "
        rf"{factor(own)} \cdot {number(float(one.h[n]))} + {factor(heard)} ({theirs}) + "
        rf"{factor(edges)} ({mine})] = {number(turn.result)}"
    )
