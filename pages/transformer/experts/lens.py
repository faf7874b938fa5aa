"""Where trained routers send the characters of a text, by language and by kind of character.

    z = W_r x,   T = top-k(z),   w = softmax(z_T),   y = Σ_{i ∈ T} w_i f_i(x)        k = 1: w = softmax(z)_i

Shapes: E experts, k of them chosen; T characters; L layers; K kinds of characters.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

from datamodules import pydocs
from datamodules.two_languages import second_language
from lab.bench.experts import DEAD
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import surfaces
from lab.lenses import text as texts
from modules.language.information import total_variation
from modules.transformer.experts import Experts, Routing, record_routing
from modules.transformer.gpt import GPT
from pages.transformer.experts.room import NONE, SECOND

Card = Mapping[str, Any]
MOST = 32  # characters that are drawn
READ = 4_096  # characters of each language in the table
ROUTED = ("experts",)  # feed-forward layers that have a router
KINDS = ("small letters", "capitals", "digits", "signs", "spaces", "new lines")


def fits(entry: Experiment) -> bool:
    """Check whether it is a GPT with experts that has read two languages."""
    two = entry.datamodule == "datamodules.two_languages.TwoLanguages"
    return two and surfaces.option(entry, "feedforward") in ROUTED


def layers_of(model: GPT) -> list[Experts]:
    return [module for module in model.modules() if isinstance(module, Experts)]


def layers(model: GPT) -> tuple[int, ...]:
    """Numbers of the layers of experts, from 1."""
    return tuple(range(1, len(layers_of(model)) + 1))


@dataclass(frozen=True)
class Counts:
    """Parameters of all experts and of those that run for a token, and of the whole model."""

    all: int
    active: int
    model: int


def counts(model: GPT) -> Counts:
    layers = layers_of(model)
    each = [(layer.up.numel() + layer.down.numel()) // layer.experts for layer in layers]
    return Counts(
        sum(n * layer.experts for n, layer in zip(each, layers, strict=True)),
        sum(n * layer.active for n, layer in zip(each, layers, strict=True)),
        model.num_parameters,
    )


# --- Routing of a text ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Routed:
    """
    Attributes:
        pieces: T characters as they are shown. strange: a sentence on what the vocabulary has not.
        routing: of one layer, N = T. z: logits (T, E).
        lengths: ‖f_i(x)‖ of the chosen experts, (T, k). y: ‖y‖, (T,).
        most: assignments that an expert may have; None is all.
    """

    pieces: list[str]
    strange: str
    routing: Routing
    z: Tensor
    lengths: Tensor
    y: Tensor
    most: int | None

    @property
    def weights(self) -> Tensor:
        """(E, T), 0 where an expert is not chosen or was full."""
        table = torch.zeros(self.z.shape[1], len(self.pieces))
        weights = self.routing.weights * self.routing.kept
        return table.scatter(0, self.routing.chosen.T, weights.T)

    @property
    def dropped(self) -> Tensor:
        """(E, T), True where an expert was chosen and full."""
        table = torch.zeros(self.z.shape[1], len(self.pieces), dtype=torch.bool)
        return table.scatter(0, self.routing.chosen.T, ~self.routing.kept.T)


@torch.no_grad()
def routed(model: GPT, model_card: Card, text: str, language: str, layer: int, capacity: str) -> Routed:
    """One layer's routing of a text, the first MOST characters of it.

    Raises:
        UserError: none of it can be read.
    """
    coder = texts.tokenizer(model_card)
    readable, strange = texts.readable(coder, text)
    if language == SECOND:
        readable = second_language(readable, model_card["data"]["cipher"])
    if strange and not readable:
        raise UserError(strange)
    ids = texts.read(coder, readable, MOST)
    model = copy.deepcopy(model)
    for each in layers_of(model):
        each.capacity = None if capacity == NONE else float(capacity)
    experts = layers_of(model)[layer - 1]
    entered: list[Tensor] = []
    hook = experts.register_forward_hook(lambda module, inputs, y: entered.extend((inputs[0][0], y[0])))
    with record_routing() as seen:
        model(ids[None])
    hook.remove()
    x, y = entered  # (T, C) each
    routing = seen.calls[experts][0]
    lengths = torch.stack(
        [torch.stack([experts.expert(i, x[t]).norm() for i in row]) for t, row in
         enumerate(routing.chosen.tolist())]
    )  # fmt: skip
    z, most = experts.logits(x), experts.most(routing.chosen.numel())
    return Routed(texts.names(coder, ids), strange, routing, z, lengths, y.norm(dim=1), most)


def route_captions(one: Routed) -> list[str]:
    k, results = one.routing.chosen.shape[1], []
    for t, piece in enumerate(one.pieces):
        names = " and ".join(str(i + 1) for i in one.routing.chosen[t].tolist())
        full = [i + 1 for i, kept in zip(one.routing.chosen[t].tolist(), one.routing.kept[t].tolist(),
                                         strict=True) if not kept]  # fmt: skip
        said = f"Token {t + 1}, {piece}: expert{'s' * (k > 1)} {names} of {one.z.shape[1]}"
        results.append(said + (f"; {' and '.join(map(str, full))} full." if full else "."))
    return results


def route_equations(one: Routed) -> list[str]:
    """z of the chosen, their weights, and the output."""
    results = []
    for t in range(len(one.pieces)):
        chosen = one.routing.chosen[t].tolist()
        z = r",\,".join(f"z_{{{i + 1}}}={float(one.z[t, i]):.2f}" for i in chosen)
        kept = one.routing.kept[t].tolist()
        w = [f"{float(v):.2f}" for v in one.routing.weights[t]]
        terms = [rf"{v}\,f_{{{i + 1}}}(x)" for v, i, there in zip(w, chosen, kept, strict=True) if there]
        rule = r"p_i" if len(chosen) == 1 else r"\mathrm{softmax}(z_T)"
        y = " + ".join(terms) or "0"
        results.append(rf"{z},\quad w={rule}=({', '.join(w)}),\quad y={y},\quad \|y\|={float(one.y[t]):.2f}")
    return results


# --- By language and kind of character ------------------------------------------------------------------


def kind(character: str) -> str:
    """Kind of one character."""
    if character.islower():
        return KINDS[0]
    if character.isupper():
        return KINDS[1]
    if character.isdigit():
        return KINDS[2]
    return {" ": KINDS[4], "\n": KINDS[5]}.get(character, KINDS[3])


@dataclass(frozen=True)
class Special:
    """
    Attributes:
        table: (L, 2 K, E), share of each expert in the assignments of one kind, of the first language and
            then of the second; rows sum to 1.
        loads: (L, 2, E), of both languages.
        tokens: characters read of each language.
    """

    table: Tensor
    loads: Tensor
    tokens: int

    @property
    def variation(self) -> list[float]:
        """Total variation between the loads of both languages, by layer."""
        return total_variation(self.loads[:, 0], self.loads[:, 1]).tolist()

    @property
    def dead(self) -> list[int]:
        """Experts below one in a hundred of all assignments, by layer."""
        return (self.loads.mean(1) < DEAD).sum(1).tolist()


@torch.no_grad()
def special(model: GPT, model_card: Card) -> Special:
    """Routing of validation text that the model has not learned from, in both languages."""
    coder, text = texts.tokenizer(model_card), pydocs.text()
    count = READ // model.context * model.context
    first, _ = model_card["data"]["splits"]["val"]
    plain = text[first : first + count]
    tables, loads = [], []
    for one in (plain, second_language(plain, model_card["data"]["cipher"])):
        ids = torch.tensor(coder.encode(one)).view(-1, model.context)
        with record_routing() as seen:
            model(ids)
        kinds = torch.tensor([KINDS.index(kind(c)) for c in one])
        calls = [seen.calls[layer][0] for layer in layers_of(model)]
        loads.append(torch.stack([call.load for call in calls]))
        tables.append(torch.stack([by_kind(cast(Routing, call), kinds) for call in calls]))
    return Special(torch.cat(tables, 1), torch.stack(loads, 1), count)


def by_kind(routing: Routing, kinds: Tensor) -> Tensor:
    """(K, E); a kind that does not occur has a row of zeros."""
    E = routing.probabilities.shape[1]
    spread = torch.zeros(len(kinds), E).scatter(1, routing.chosen, 1.0)  # (N, E)
    table = torch.zeros(len(KINDS), E).index_add(0, kinds, spread)
    return table / table.sum(1, keepdim=True).clamp(min=1)


def special_captions(one: Special) -> list[str]:
    return [
        f"Layer {l + 1}: the most loaded expert has {float(load.mean(0).max()):.0%} of all assignments; "
        f"{dead} {'is' if dead == 1 else 'are'} dead."
        for l, (load, dead) in enumerate(zip(one.loads, one.dead, strict=True))
    ]


def special_equations(one: Special) -> list[str]:
    return [
        rf"\mathrm{{TV}}=\tfrac12\sum_i|f_i-f'_i|={value:.2f}\quad\text{{(layer {l + 1})}}"
        for l, value in enumerate(one.variation)
    ]
