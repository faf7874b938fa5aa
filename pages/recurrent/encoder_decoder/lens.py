"""A sentence that is put into one vector and written from it; the same states under other poolings.

    c = [h→_S ; h←_1]      p(y | x) = Π_t p(y_t | y_<t, c)

Shapes: S source words, T target words with the end, Z = 2H components of a source state and of c.

References: Sutskever, Vinyals & Le 2014, arXiv:1409.3215; Cho et al. 2014, arXiv:1406.1078; [GM] 1.8-1.12.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import text as texts
from lab.lenses import translations
from lab.lenses.attention import number
from lab.lenses.translations import END, MOST, Sentence, has_gold, sentence, written
from modules.recurrent.context import FixedContext, Pooling
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.encoder_decoder.room import EXAMPLES, FUNNEL, POOLED, VIEWS

SHOWN: tuple[Pooling, ...] = ("last", "ends", "mean", "max")


def fits(experiment: Experiment) -> bool:
    """Check for a translator whose context is both ends of its encoder, at every step."""
    given = experiment.config["model"].get("init_args") or {}
    fixed = given.get("context") == "ends" and given.get("every_step", True)
    return experiment.module.endswith(".Seq2Seq") and fixed


def views(model_card: Mapping[str, Any]) -> tuple[str, ...]:
    return VIEWS if has_gold(model_card) else (FUNNEL, POOLED)


def examples(model_card: Mapping[str, Any]) -> Mapping[str, str]:
    return translations.examples(model_card, EXAMPLES)


def read(model_card: Mapping[str, Any], text: str) -> Sentence:
    return sentence(model_card, text)


# --- Through one vector ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A greedy translation, and the one vector that it is written from.

    Attributes:
        names: T words, the end as END. p: their probabilities, (T,).
        gold: the gold words, END behind them; None where they are not known.
        gold_p: of the gold word at the same place, after the words written, (T,); NaN behind its end.
        z: states of the encoder, (S, Z). c: (Z,). s: states of the decoder after each step, (T, H).
    """

    source: Sentence
    names: list[str]
    p: Tensor
    gold: list[str] | None
    gold_p: Tensor
    z: Tensor
    c: Tensor
    s: Tensor

    @property
    def differs(self) -> list[bool]:
        """Whether the word at each place is another than the gold one, (T,)."""
        if self.gold is None:
            return [False] * len(self.names)
        gold = self.gold + [""] * len(self.names)
        return [a != b for a, b in zip(self.names, gold, strict=False)]


@torch.no_grad()
def write(model: Seq2Seq, model_card: Mapping[str, Any], text: str) -> Written:
    """Write greedily; then all steps at once, each having read the words written before it."""
    source, coder = sentence(model_card, text), texts.tokenizer(model_card)
    ids, now = model.translate(source.ids[None], length=MOST), model.read(source.ids[None])
    y, c = model.embed(model.inputs(ids)), now.memory[0]  # (1, T, D), (1, Z)
    told = c[:, None].expand(-1, ids.shape[1], -1)
    s, _ = model.decoder(torch.cat([y, told], -1), now.state)
    p = model.logits(model.joined(s, told, y))[0].softmax(-1)  # (T, V)
    gold, gold_p = None, torch.full((len(p),), torch.nan)
    if source.gold is not None:
        gold = [*source.gold.spanish, END]
        target = [*coder.encode(" ".join(gold[:-1])), model.eos][: len(p)]
        gold_p[: len(target)] = p[range(len(target)), target]
    return Written(
        source, written(coder.tokens, ids[0].tolist(), model.eos), p.gather(1, ids.T)[:, 0],
        gold, gold_p, model.source_states(source.ids[None])[0], c[0], s[0],
    )  # fmt: skip


def quoted(name: str) -> str:
    return "the end" if name == END else f"“{name}”"


def captions(result: Written) -> list[str]:
    """What is written at each step, and what gold has there."""
    rows = []
    for t, (name, p) in enumerate(zip(result.names, result.p.tolist(), strict=True)):
        said = f"Step {t + 1} writes {quoted(name)}, p = {p:.3f}"
        if result.gold is not None and t >= len(result.gold):
            said += "; the gold translation has ended"
        elif result.gold is not None and result.gold[t] != name:
            said += f"; gold has {quoted(result.gold[t])} there, p = {float(result.gold_p[t]):.3f}"
        rows.append(said + ".")
    return rows


def equations(result: Written) -> list[str]:
    """The factor of each step, the product up to it, and the first number of either half of c."""
    up_to, half = result.p.double().cumprod(0).tolist(), len(result.c) // 2
    ends = (
        r"c = [\overrightarrow{h}_S ; \overleftarrow{h}_1] = "
        rf"[{float(result.c[0]):.2f}, \dots ; {float(result.c[half]):.2f}, \dots]"
    )
    return [
        rf"{ends}, \quad p(y_t \mid y_{{<t}}, c) = {p:.3f}, \quad "
        rf"\prod_{{k \le t}} p(y_k \mid y_{{<k}}, c) = {number(product)}"
        for p, product in zip(result.p.tolist(), up_to, strict=True)
    ]


# --- Poolings ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pooled:
    """The same states under each pooling of SHOWN, P of them.

    Attributes:
        gamma: share of each source word, (P, S). c: (P, Z).
    """

    source: Sentence
    gamma: Tensor
    c: Tensor


@torch.no_grad()
def pool(model: Seq2Seq, model_card: Mapping[str, Any], text: str) -> Pooled:
    source = sentence(model_card, text)
    z = model.source_states(source.ids[None])
    mask = torch.ones(z.shape[:2], dtype=torch.bool)
    c, gamma = zip(*(FixedContext(z.shape[2], each).remember(z, mask) for each in SHOWN), strict=True)
    return Pooled(source, torch.cat(gamma), torch.cat(c))


def pooled_captions(found: Pooled) -> list[str]:
    """What each pooling keeps of the sentence."""
    names, S = found.source.names, len(found.source.names)
    words = [f"“{names[j]}” ({j + 1})" for j in (S - 1, 0, int(found.gamma[3].argmax()))]
    return [
        f"Last: c is the state at {words[0]}; the way from the right has read nothing else there.",
        f"Ends: one half of c is of {words[0]}, the other of {words[1]}; either way has read all words.",
        f"Mean: all {S} states have the same share, the less of it the longer the sentence is.",
        f"Max: each component takes its largest value; most are those of {words[2]}.",
    ]


def pooled_equations(found: Pooled) -> list[str]:
    """Each pooling with its shares."""
    S, Z, most = found.gamma.shape[1], found.c.shape[1], float(found.gamma[3].max())
    return [
        rf"c = z_S, \quad \gamma_S = {float(found.gamma[0, -1]):.0f}",
        r"c = [\overrightarrow{h}_S ; \overleftarrow{h}_1], \quad "
        rf"\gamma_1 = {float(found.gamma[1, 0]):.1f}, \quad \gamma_S = {float(found.gamma[1, -1]):.1f}",
        rf"c = \frac{{1}}{{S}} \sum_j z_j, \quad \gamma_j = \frac{{1}}{{{S}}} = {1 / S:.3f}",
        rf"c_i = \max_j z_{{ji}}, \quad \max_j \gamma_j = \frac{{{most * Z:.0f}}}{{{Z}}} = {most:.3f}",
    ]
