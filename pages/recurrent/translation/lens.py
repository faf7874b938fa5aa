"""A sentence that is translated word by word, with attention and with a fixed context.

    e_tj = vᵀ tanh(W s_{t−1} + U z_j)      γ_tj = exp e_tj / Σ_k exp e_tk      c_t = Σ_j γ_tj z_j

Shapes: S source words, T target words with the end, A hidden units of the score.

References: Bahdanau, Cho & Bengio 2015, arXiv:1409.0473; [GM] 1.6.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab import experiments
from lab.errors import UserError
from lab.experiments import Experiment
from lab.lenses import text as texts
from lab.lenses import translations
from lab.lenses.translations import END, MOST, Sentence, has_gold, sentence, written
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.translation.room import EXAMPLES, VIEWS, sister


def fits(experiment: Experiment) -> bool:
    """Check for a translator with additive attention whose sister with a fixed context is trained too."""
    if not (experiment.module.endswith(".Seq2Seq") and experiment.name.startswith("attention-")):
        return False
    given = experiment.config["model"].get("init_args") or {}
    try:
        other = experiments.find(sister(experiment.name))
    except UserError:
        return False
    return given.get("context", "additive") == "additive" and other.weights is not None


def views(model_card: Mapping[str, Any]) -> tuple[str, ...]:
    return VIEWS if has_gold(model_card) else VIEWS[:2]


def examples(model_card: Mapping[str, Any]) -> Mapping[str, str]:
    return translations.examples(model_card, EXAMPLES)


def last_word(model_card: Mapping[str, Any], text: str) -> int:
    return len(sentence(model_card, text).names)


# --- The decoder, step by step -----------------------------------------------------------------------


@dataclass(frozen=True)
class Decoded:
    """T steps of a greedy decoder.

    Attributes:
        names: the words that are written, the end as END. ids: (T,).
        p: their probabilities, (T,).
        states: s_{t−1}, (T, H).
        memory: the source states z, (S, Z); of a fixed context c itself, (Z,).
        gamma: (T, S). scores: e, (T, S); 0 of a fixed context.
    """

    names: list[str]
    ids: Tensor
    p: Tensor
    states: Tensor
    memory: Tensor
    gamma: Tensor
    scores: Tensor


@dataclass(frozen=True)
class Pair:
    """One sentence, and what each decoder makes of it."""

    source: Sentence
    attention: Decoded
    fixed: Decoded

    @property
    def reference(self) -> list[str]:
        """The gold translation; where there is none, that of attention."""
        gold = self.source.gold
        return self.attention.names if gold is None else [*gold.spanish, END]


def translate(model: Seq2Seq, fixed: Seq2Seq, model_card: Mapping[str, Any], text: str) -> Pair:
    source, coder = sentence(model_card, text), texts.tokenizer(model_card)
    return Pair(source, *(decode(each, source.ids, coder.tokens) for each in (model, fixed)))


@torch.no_grad()
def decode(model: Seq2Seq, ids: Tensor, vocabulary: list[str]) -> Decoded:
    """Decode a source (S,) greedily, one step of the model after the other."""
    decoder, now = model.incremental_decoder(), model.read(ids[None])
    attention = getattr(model.context, "attention", None)
    token = ids.new_tensor([model.bos])
    rows: list[tuple[Tensor, ...]] = []
    while len(rows) < MOST and not (rows and int(token) == model.eos):
        s = now.state.h[:, -1]
        log_p, now = decoder.step(now, token)
        best = log_p[0].max(-1)
        token = best.indices[None]
        assert now.gamma is not None
        e = torch.zeros_like(now.gamma)
        if attention is not None:
            e = attention.scores(s[:, None], now.memory[0])[:, 0]
        rows.append((best.indices, best.values.exp(), s[0], now.gamma[0], e[0]))
    kept = now.memory[0 if attention is None else 1]
    ids, p, states, gamma, scores = (torch.stack(column) for column in zip(*rows, strict=True))
    names = written(vocabulary, ids.tolist(), model.eos)
    return Decoded(names, ids, p, states, kept[0], gamma, scores)


def column(result: Decoded, t: int, word: int) -> int:
    """The source word, from 0, that step t is told of: `word`, counted from 1, or that of the largest
    weight."""
    return word - 1 if 0 < word <= result.gamma.shape[1] else int(result.gamma[t].argmax())


# --- One score ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """The score of one source word at each of T steps, in its parts.

    Attributes:
        columns: the source word of each step, from 0.
        query: W s_{t−1}, (T, A). key: U z_j, (T, A).
        terms: v_a tanh(W s_{t−1} + U z_j)_a, (T, A); a row sums to the score.
    """

    columns: list[int]
    query: Tensor
    key: Tensor
    terms: Tensor


@torch.no_grad()
def parts(
    model: Seq2Seq, fixed: Seq2Seq, model_card: Mapping[str, Any], text: str, word: int
) -> Parts:  # fmt: skip
    result = translate(model, fixed, model_card, text).attention
    layer: Any = model.context.attention
    columns = [column(result, t, word) for t in range(len(result.names))]
    query, key = layer.query(result.states), layer.key(result.memory[columns])
    return Parts(columns, query, key, layer.energy.weight[0] * torch.tanh(query + key))
