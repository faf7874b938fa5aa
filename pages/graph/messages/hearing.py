"""One layer's answer at one node, as a sum over those that it hears.

`edge_index` is (2, E); undirected graphs hold each edge both ways.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor
from torch_geometric.data import Data

from lab.errors import UserError
from modules.graph.convolution import GraphConvolution
from modules.graph.gcn import GCN
from modules.trace import Step, Trace

# What S is, in words, for the reader.


@dataclass(frozen=True)
class Heard:
    """Messages to one node in one layer, the node itself last among the senders.

    Attributes:
        node: n.
        layer: k, counted from 1.
        senders: (M,) the nodes m.
        weights: (M,) S_mn.
        transformed: (M, D') Ω h_m.
        messages: (M, D') S_mn Ω h_m.
        bias: (D',) β.
        total: (D',) β + Σ_m S_mn Ω h_m.
        output: (D',) after the activation.
        last: no activation follows; the output is the logits.
        width: D, numbers in a sender's state.
    """

    node: int
    layer: int
    senders: Tensor
    weights: Tensor
    transformed: Tensor
    messages: Tensor
    bias: Tensor
    total: Tensor
    output: Tensor
    last: bool
    width: int


@torch.no_grad()
def hear(model: GCN, x: Tensor, edge_index: Tensor, node: int, layer: int) -> Heard:
    """Record the messages that reach `node` in `layer` (1..K) while the layer runs.

    Raises:
        UserError: no such node or layer.
    """
    if not 0 <= node < x.shape[0]:
        raise UserError(f"There is no node {node}: the nodes run from 0 to {x.shape[0] - 1}.")
    if not 1 <= layer <= len(model.layers):
        raise UserError(f"There is no layer {layer}: this model has layers 1 to {len(model.layers)}.")
    states = model.embeddings(x, edge_index)
    # a copy: hooks on the model itself, which all readers share, would record their messages too
    conv = cast(GraphConvolution, copy.deepcopy(model.layers[layer - 1]))
    record: dict[str, Any] = {}
    conv.register_propagate_forward_pre_hook(lambda _, args: record.update(edges=args[0]))
    conv.register_message_forward_hook(lambda _, args, out: record.update(args[0], messages=out))
    total = conv(states[layer - 1], edge_index)[node]
    source, target = record["edges"]
    heard = (target == node).nonzero()[:, 0]
    order = torch.where(source[heard] == node, x.shape[0], source[heard]).argsort()
    heard = heard[order]
    return Heard(
        node, layer, source[heard], record["edge_weight"][heard], record["x_j"][heard],
        record["messages"][heard], conv.bias, total, states[layer][node], layer == len(model.layers),
        conv.weight.shape[1],
    )  # fmt: skip


def spell(value: float | Tensor) -> str:
    """A number as the page writes it: three digits after the point; no negative zero."""
    return f"{round(torch.as_tensor(value).item(), 3) + 0.0:.3f}"


def factor(value: float | Tensor) -> str:
    """A number after a multiplication sign: a negative one in parentheses."""
    text = spell(value)
    return f"({text})" if text.startswith("-") else text


def listen(heard: Heard, unit: int) -> Trace:
    """The node's sum, one message per step, then the bias, then the activation, if one follows.

    The equations hold the numbers of one unit.

    Step values: `sender` (−1 for bias and activation), `weight`, `message` (D',), `sum` (D',) so far.
    """
    n, c = heard.node, unit
    steps, total = [], torch.zeros_like(heard.total)
    for m, weight, moved, message in zip(
        heard.senders.tolist(), heard.weights, heard.transformed, heard.messages, strict=True
    ):
        before, total = total, total + message
        who = f"Node {n} sends to itself" if m == n else f"Node {m} sends to node {n}"
        equation = (
            rf"\underbrace{{{spell(before[c])}}}_{{\text{{so far}}}} + "
            rf"\underbrace{{{factor(weight)}}}_{{S_{{{m},{n}}}}} \cdot "
            rf"\underbrace{{{factor(moved[c])}}}_{{[\Omega h_{{{m}}}]_{{{c}}}}} = {spell(total[c])}"
        )
        values = {"sender": m, "weight": weight, "message": message, "sum": total}
        steps.append(Step(f"{who}: weight {spell(weight)} times {spell(moved[c])}.", values, equation))
    before, total = total, heard.total
    end = " No activation follows the last layer: this is the logit." if heard.last else ""
    steps.append(
        Step(
            f"The bias is added.{end}",
            {"sender": -1, "weight": torch.ones(()), "message": heard.bias, "sum": total},
            rf"{spell(before[c])} + \underbrace{{{factor(heard.bias[c])}}}_{{\beta_{{{c}}}}} "
            rf"= {spell(total[c])}",
        )
    )
    if not heard.last:
        steps.append(
            Step(
                "ReLU sets negative values to 0.",
                {
                    "sender": -1,
                    "weight": torch.ones(()),
                    "message": heard.output - total,
                    "sum": heard.output,
                },
                rf"[h'_{{{n}}}]_{{{c}}} = \max(0,\ {spell(total[c])}) = {spell(heard.output[c])}",
            )
        )
    return Trace(steps, heard.output)


def numbers(trace: Trace, unit: int) -> list[dict[str, str]]:
    """Texts of the machine's parts at each step, first the part that works: messages are added up one by one,
    then come the bias and the activation."""
    sums = [spell(step.values["sum"][unit]) for step in trace]
    return [
        {"sum" if step.values["sender"] >= 0 else "update": f"Σ {total}"}
        for step, total in zip(trace, sums, strict=True)
    ]


def senders(trace: Trace) -> list[str]:
    """Term that is added at each step: the message of a node, by its number, the bias, the activation."""
    nodes = [str(step.values["sender"]) for step in trace if step.values["sender"] >= 0]
    return [*nodes, "β", "ReLU"][: len(trace)]


def summary(heard: Heard, unit: int) -> str:
    """The whole sum of one unit: the layer's formula, then bias and messages in numbers."""
    n, c = heard.node, unit
    name, rule = (r"\text{logit}", "") if heard.last else ("h'", r"\mathrm{ReLU}")
    messages = heard.messages[:, c].sum()
    return (
        rf"[{name}_{{{n}}}]_{{{c}}} = {rule}\Big[\beta + \sum_{{m \in \mathrm{{ne}}({n}) \cup \{{{n}\}}}} "
        rf"S_{{m,{n}}}\, \Omega h_m\Big]_{{{c}}} = {rule}[{spell(heard.bias[c])} + {factor(messages)}] "
        rf"= {spell(heard.output[c])}"
    )


def prediction(before: Tensor, now: Tensor, data: Data, node: int, classes: Sequence[str], edits: str) -> str:
    """Prediction for a node, and what the edits change; probabilities (N, C) of both graphs."""
    moved = (now.argmax(1) != before.argmax(1)).nonzero()[:, 0].tolist()
    role = "labelled in training" if data.train_mask[node] else "not labelled in training"
    guess, truth = int(now[node].argmax()), int(data.y[node])
    sentence = f"Node {node} is predicted **{classes[guess]}** and is {classes[truth]}; {role}."
    if edits.strip():
        many = ", ".join(map(str, moved[:8])) + (" …" if len(moved) > 8 else "")
        sentence += f" The edits change the prediction of {len(moved)} nodes{': ' + many if moved else ''}."
    return sentence


def verdicts(now: Tensor, data: Data, nodes: Tensor, classes: Sequence[str]) -> list[str]:
    """Predicted and true class of each node."""
    result = zip(nodes.tolist(), now[nodes].argmax(1).tolist(), data.y[nodes].tolist(), strict=True)
    return [f"node {m}: predicted {classes[guess]}, is {classes[truth]}" for m, guess, truth in result]


def terms(heard: Heard, unit: int) -> dict[str, list[Any]]:
    """The terms of one unit's sum as columns, the bias last."""
    bias = float(heard.bias[unit])
    return {
        "sender": [*map(str, heard.senders.tolist()), "β"],
        "weight": [*heard.weights.tolist(), 1.0],
        "transformed": [*heard.transformed[:, unit].tolist(), bias],
        "term": [*heard.messages[:, unit].tolist(), bias],
    }


def strongest(terms: Sequence[float], count: int) -> list[int]:
    """Places of the terms that are largest in absolute value, the largest first."""
    return sorted(range(len(terms)), key=lambda i: -abs(terms[i]))[:count]


def outdone(names: Sequence[str], terms: Sequence[float]) -> dict[str, str]:
    """Reason why a term is not the largest: its name -> a sentence."""
    text = "The term of {} is {}: it is the message times the weight of the edge."
    return {name: text.format(name, spell(term)) for name, term in zip(names, terms, strict=True)}


def miscounted(counts: Sequence[int], layer: int, nodes: int) -> dict[int, str]:
    """Wrong counts of whom a node hears with one layer more, and why they are wrong.

    Args:
        counts: whom it hears with 0, 1, … layers.
    """
    more = counts[layer + 1]
    reasons = {
        max(1, more - 1): "The node itself is in its receptive field as well.",
        min(nodes, more + counts[1] - 1): "Neighbours may share a neighbour: it is counted once.",
        nodes: "The whole graph is reached only after as many layers as its longest shortest path has edges.",
        counts[layer]: "That is the field now: one layer more adds their neighbours.",
    }
    return {count: reason for count, reason in reasons.items() if count != more}


def rates(rate: float) -> dict[str, str]:
    """Factors by which a distance might shrink in a layer, spelled, and why it is not this one."""
    reasons = {
        round(rate**2, 3): "An energy shrinks so: a distance shrinks by the root of it.",
        round(rate, 3): "That is |λ₂/λ₁|, by which everything outside the dominant eigenspace shrinks.",
        1.0: "Only what lies in the dominant eigenspace stands still.",
    }
    return {spell(factor): reasons[factor] for factor in sorted(reasons)}
