r"""The vector of one word with two senses at each layer of a GPT, on the line that parts training sentences.

    x = uᵀ(h_l − m),    u = (μ_place − μ_garment) / ‖μ_place − μ_garment‖,    m = (μ_garment + μ_place) / 2

The means μ are over training sentences; a sentence counts as a place where x > 0, and half where x = 0.

Shapes: M sentences, L layers, C channels, S splits.

References: Ethayarajh 2019, arXiv:1909.00512; [GM] §1.6.4.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import text as texts
from lab.seeding import seeded
from modules.transformer.gpt import GPT
from modules.transformer.stack import draw_weights
from pages.transformer.two_senses.room import UNTRAINED
from pages.transformer.two_senses.sentences import SENSES, WORD, composed, split

Card = Mapping[str, Any]
SPLITS = 10


def cut(text: str) -> str:
    """The text up to the last place where the word stands: what follows is not read.

    Raises:
        UserError: the word is missing, or nothing stands before it.
    """
    words = text.split()
    ends = [i for i, word in enumerate(words) if word.lower().strip(".,!?;:") == WORD]
    if not ends:
        raise UserError(f"The sentence has no “{WORD}”: put it somewhere.")
    if ends[-1] == 0:
        raise UserError(f"Nothing stands before “{WORD}”: write a word in front of it.")
    return " ".join([*words[: ends[-1]], WORD])


def untrained(model: GPT) -> GPT:
    """The same network with weights as before training."""

    def drawn() -> GPT:
        other = copy.deepcopy(model)
        for part in other.modules():
            if callable(reset := getattr(part, "reset_parameters", None)):
                reset()
        draw_weights(other)
        return other

    return seeded(drawn)


@torch.no_grad()
def states(model: GPT, card: Card, beginnings: list[str]) -> Tensor:
    """Vectors of the last token of beginnings of one length: (L + 1, M, C)."""
    coder, bos = texts.tokenizer(card), model.bos
    rows = [[bos, *coder.encode(text)] for text in beginnings]
    if len(rows[0]) > model.context:
        raise UserError(f"The sentence has more than {model.context - 1} tokens: shorten it.")
    return torch.stack([x[:, -1] for x in model.residual_stream(torch.tensor(rows))]).double()


def vectors(gpt: GPT, gpt_card: Card, text: str, weights: str) -> Tensor:
    """Vectors of the word in the reader's sentence: (L + 1, C)."""
    return states(untrained(gpt) if weights == UNTRAINED else gpt, gpt_card, [text])[:, 0]


@dataclass(frozen=True)
class Parted:
    """Held-out sentences at each layer.

    Attributes:
        sentences: M of them. senses: (M,).
        m: (L + 1, C), midpoints. planes: (L + 1, C, 2), u and the direction of most variance beside it.
        points: (L + 1, M, 2), where the sentences lie. right: (S, L + 1), shares on their side.
    """

    sentences: list[str]
    senses: Tensor
    m: Tensor
    planes: Tensor
    points: Tensor
    right: Tensor

    def place(self, h: Tensor) -> Tensor:
        """Where vectors (L + 1, C) lie: (L + 1, 2)."""
        return torch.einsum("lc,lcd->ld", h - self.m, self.planes)


def line(h: Tensor, senses: Tensor) -> tuple[Tensor, Tensor]:
    """Midpoint and direction (C,) of training vectors (M, C); the direction is 0 where the means agree."""
    garment, place = (h[senses == k].mean(0) for k in range(2))
    apart = place - garment
    return (garment + place) / 2, apart / apart.norm() if apart.norm() > 1e-9 else 0 * apart


def beside(h: Tensor, u: Tensor) -> Tensor:
    """Direction (C,) in which vectors (M, C) vary most beside u; 0 where they do not vary."""
    rest = h - h.mean(0)
    rest = rest - (rest @ u)[:, None] * u
    return torch.linalg.svd(rest, full_matrices=False).Vh[0] if rest.norm() > 1e-9 else 0 * u


def share(x: Tensor, senses: Tensor) -> float:
    """Of sentences on their side of 0, the mean over both senses."""
    right = torch.where(x == 0, 0.5, ((x > 0) == (senses == 1)).double())
    return float(torch.stack([right[senses == k].mean() for k in range(2)]).mean())


def parted(gpt: GPT, gpt_card: Card, weights: str, fold: int) -> Parted:
    """The line of each layer from one half of the cues, sentences of the other half on it, and all splits."""
    model = untrained(gpt) if weights == UNTRAINED else gpt
    every = composed()
    senses = torch.tensor([s.sense for s in every])
    h = states(model, gpt_card, [s.text for s in every])  # (L + 1, M, C)
    right = torch.zeros(SPLITS, len(h))
    for s in range(SPLITS):
        seen, held = split(every, s)
        for l, layer in enumerate(h):
            m, u = line(layer[seen], senses[seen])
            right[s, l] = share((layer[held] - m) @ u, senses[held])
    seen, held = split(every, fold)
    middles, planes, points = list[Tensor](), list[Tensor](), list[Tensor]()
    for layer in h:
        m, u = line(layer[seen], senses[seen])
        plane = torch.stack([u, beside(layer[seen], u)], 1)
        # either sign of the second direction is right: that which turns the film least
        if points and ((layer[held] - m) @ plane[:, 1] * points[-1][:, 1]).sum() < 0:
            plane = plane * torch.tensor([1.0, -1.0])
        middles.append(m)
        planes.append(plane)
        points.append((layer[held] - m) @ plane)
    return Parted([every[i].text for i in held], senses[held], torch.stack(middles), torch.stack(planes),
                  torch.stack(points), right)  # fmt: skip


def names(one: Parted) -> list[str]:
    return ["the embedding", *(f"layer {l}" for l in range(1, len(one.points)))]


def side(x: float) -> str:
    """Where a vector lies, in words."""
    return f"the side of the {SENSES[int(x > 0)]}" if abs(x) > 1e-9 else "neither side"


def captions(one: Parted, own: Tensor) -> list[str]:
    said = []
    for l, name in enumerate(names(one)):
        mean, sd = float(one.right[:, l].mean()), float(one.right[:, l].std())
        where = f"{'After' if l else 'At'} {name}"
        said.append(
            f"{where} {100 * mean:.1f} ± {100 * sd:.1f} % are on their side, over {SPLITS} splits; your "
            f"“{WORD}” is on {side(float(own[l, 0]))}."
        )
    return said


def equations(own: Tensor) -> list[str]:
    """Place of the reader's vector on the line, LaTeX."""
    return [
        rf"x = u^\top (h_{{{l}}} - m) = {round(float(x), 2) + 0.0:.2f}, \quad u \propto "
        r"\mu_{\text{place}} - \mu_{\text{garment}}"
        for l, x in enumerate(own[:, 0])
    ]
