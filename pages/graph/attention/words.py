"""What is said of the weights of graph attention: captions, equations, what to notice.

Shapes: as in `lens`.
"""

from torch import Tensor

from pages.graph.attention.lens import Weighed, disagreeing


def spell(value: float | Tensor) -> str:
    """Two digits, without the zero before the point."""
    text = f"{abs(float(value)):.2f}".removeprefix("0")
    return f"−{text}" if float(value) < 0 and text != ".00" else text


def factor(value: float | Tensor) -> str:
    """A number after a multiplication sign: a negative one in parentheses."""
    text = spell(value)
    return f"({text})" if text.startswith("−") else text


def number(value: float | Tensor) -> str:
    """A number of an equation."""
    text = f"{float(value):.2f}"
    return "0.00" if text == "-0.00" else text


def order(one: Weighed, head: int, n: int) -> list[int]:
    """Senders of node n, the heaviest first."""
    column = one.alpha[head, :, n]
    return [m for m in column.argsort(descending=True, stable=True).tolist() if one.heard[m, n]]


def captions(one: Weighed, head: int) -> list[str]:
    """Of each receiver, whom it hears, and the first number of its sum."""
    texts = []
    for n in range(len(one.a)):
        senders = order(one, head, n)
        column, value = one.alpha[head, :, n], one.values[head, :, 0]
        first = senders[0]
        parts = [f"{spell(column[m])}·{factor(value[m])}" for m in senders[:3]]
        more = " + …" if len(senders) > 3 else ""
        total = float(column @ value)
        most = "itself" if first == n else f"node {first}"
        who = "itself alone" if len(senders) == 1 else f"{len(senders)} nodes, {most} most"
        texts.append(
            f"Node {n} hears {who}; weights sum to {float(column.sum()):.2f}. "
            f"First number: {' + '.join(parts)}{more} = {spell(total)}."
        )
    return texts


def equations(one: Weighed, head: int) -> list[str]:
    """Score and weight of each receiver's heaviest sender."""
    degrees, texts = one.a.sum(0), []
    for n in range(len(one.a)):
        senders = order(one, head, n)
        m = senders[0]
        if one.kind == "gcn":
            texts.append(
                rf"S_{{{m},{n}}} = \frac{{1}}{{\sqrt{{(d_{{{m}}} + 1)(d_{{{n}}} + 1)}}}} = \frac{{1}}"
                rf"{{\sqrt{{({int(degrees[m])} + 1)({int(degrees[n])} + 1)}}}}"
                rf" = {float(one.alpha[head, m, n]):.3f}"
            )
            continue
        s = one.scores[head, :, n]
        if one.terms is not None:
            sent, got = number(one.terms[0, head, m]), number(one.terms[1, head, n])
            plus = "" if got.startswith("-") else "+"
            score = rf"a[\phi_s^\top h'_{{{m}}} + \phi_r^\top h'_{{{n}}}] = a[{sent} {plus} {got}]"
        elif one.kind == "dynamic":
            score = rf"\phi^\top a[h'_{{{m}}} + \Psi h_{{{n}}}]"
        else:
            score = rf"q_{{{n}}}^\top k_{{{m}}} / \sqrt{{D'}}"
        below = " + ".join(f"e^{{{number(s[i])}}}" for i in senders[:3])
        more = r" + \cdots" if len(senders) > 3 else ""
        texts.append(
            rf"s_{{{m},{n}}} = {score} = {number(s[m])}, \qquad \alpha_{{{m},{n}}} = "
            rf"\frac{{e^{{{number(s[m])}}}}}{{{below}{more}}} = {float(one.alpha[head, m, n]):.3f}"
        )
    return texts


def about(one: Weighed, head: int) -> str:
    """What to notice, with the numbers of this layer."""
    apart, pairs = disagreeing(one.scores[head])
    dead = [
        n for n in range(len(one.a))
        if int(one.heard[:, n].sum()) > 1 and one.kind == "additive" and one.slope == 0
        and not one.scores[head, :, n][one.heard[:, n]].any()
    ]  # fmt: skip
    texts = {
        "gcn": "The weights are those of the edges: degrees set them, features do not, and a column need not "
        "sum to 1.",
        "additive": "A receiver adds the same number to all its scores before the activation, which keeps "
        "their order: this attention is static.",
        "dynamic": "GATv2 applies the activation to the vectors before φ: the receiver can change the order "
        "of its senders.",
        "dot": "The product of query and key has an order of its own for each receiver. Over all nodes it is "
        "the self-attention of transformers; the edges act as its mask.",
    }
    result = texts[one.kind]
    if one.kind != "gcn":
        result += f" {apart} of {pairs} pairs of columns put two common senders in another order."
    if dead:
        which = ("s " if len(dead) > 1 else " ") + ", ".join(map(str, dead))
        result += f" All scores of node{which} are 0: their weights are equal, and φ gets no gradient there."
    return result
