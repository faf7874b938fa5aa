"""The tree of a beam that translates a sentence, and the weights of one of its hypotheses.

    score = log p(y | x) / ((k + n)/(k + 1))^α,      log p(y | x) = Σ_t log p(y_t | y_<t, x)

A step of the decoder has a row of its state for each hypothesis. What stays goes on from the row of its own
parent: a row is another hypothesis at each step, and γ of a hypothesis is found in the rows that held it.

Shapes: S source words, H hypotheses of a step, n words of a hypothesis, the end included.

References: Sutskever, Vinyals & Le 2014, arXiv:1409.3215; Wu et al. 2016, arXiv:1609.08144, section 7.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import text as texts
from lab.lenses import translations
from lab.lenses.beam_tree import Tree, pack, tree
from lab.lenses.translations import MOST, Sentence, sentence, written
from modules.language.beam import Hypothesis, beam_search, beam_trace, length_norm
from modules.recurrent.seq2seq import Seq2Seq, Translation
from modules.trace import Trace
from pages.recurrent.decoding_tree.room import EXAMPLES

CUT = 3  # columns of a tree for branches that are cut
Tokens = tuple[int, ...]


def fits(experiment: Experiment) -> bool:
    """Check for a translator."""
    return experiment.module.endswith(".Seq2Seq")


def examples(model_card: Mapping[str, Any]) -> Mapping[str, str]:
    return translations.examples(model_card, EXAMPLES)


class Watched:
    """`IncrementalDecoder` of a translator that keeps γ of each step, a row for each row of its state."""

    def __init__(self, model: Seq2Seq) -> None:
        self.decoder, self.gamma = model.incremental_decoder(), list[Tensor]()

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Translation]:
        return self.watch(*self.decoder.start(source, padding))

    def step(self, state: Translation, token: Tensor) -> tuple[Tensor, Translation]:
        return self.watch(*self.decoder.step(state, token))

    def watch(self, log_p: Tensor, state: Translation) -> tuple[Tensor, Translation]:
        assert state.gamma is not None
        self.gamma.append(state.gamma)
        return log_p, state


@dataclass(frozen=True)
class Found:
    """The search of a sentence's translation.

    Attributes:
        trace: see `beam_trace`. tree: its nodes, columns from the left.
        gamma: of each step (H, S), by which its hypotheses write their next word.
        greedy: what a beam of 1 finds. gold: the gold translation; None where it is not known.
        vocabulary: tokens. eos: the one that ends a translation.
    """

    source: Sentence
    trace: Trace
    tree: Tree
    gamma: list[Tensor]
    greedy: Hypothesis
    gold: Hypothesis | None
    vocabulary: list[str]
    eos: int

    @property
    def best(self) -> Hypothesis:
        result: Hypothesis = self.trace.result[0]
        return result

    @property
    def pool(self) -> list[Hypothesis]:
        """The finished hypotheses, best first."""
        return [each for each in self.trace.result if each.finished]

    def names(self, tokens: Tokens) -> list[str]:
        return written(self.vocabulary, tokens, self.eos)

    def read(self, tokens: Tokens) -> str:
        """The words of a hypothesis, without its end."""
        return " ".join(self.names(tuple(i for i in tokens if i != self.eos)))


@torch.no_grad()
def search(
    model: Seq2Seq, model_card: Mapping[str, Any], text: str, width: int, alpha: float, k: int
) -> Found:  # fmt: skip
    """Search the translation of a sentence by a beam of `width`."""
    source, coder = sentence(model_card, text), texts.tokenizer(model_card)
    x, decoder = source.ids[None], Watched(model)
    trace = beam_trace(decoder, x, MOST, width, model.eos, alpha, offset=k)
    greedy = beam_search(model, x, MOST, 1, model.eos, alpha, k)[0]
    gold = None
    if source.gold is not None:
        ids = (*coder.encode(" ".join(source.gold.spanish)), model.eos)
        log_p = float(model.log_prob(torch.tensor([ids]), x))
        gold = Hypothesis(ids, log_p, log_p / length_norm(len(ids), alpha, k), True)
    grown = tree(trace, width + CUT, pack)
    return Found(source, trace, grown, decoder.gamma, greedy, gold, coder.tokens, model.eos)


# --- One hypothesis ----------------------------------------------------------------------------------


def chosen(found: Found, node: tuple[float, float] | None) -> Tokens:
    """The best hypothesis through a node of the tree; what the node has, where none goes on from it; without
    a node the best of all."""
    text: Tokens = ()
    for n, place in enumerate(zip(found.tree.place, found.tree.depth, strict=True)):
        text = found.tree.text[n] if place == node else text
    through = (each.tokens for each in found.trace.result if each.tokens[: len(text)] == text)
    return next(through, text)


def rows(found: Found, tokens: Tokens) -> list[int]:
    """The row of the decoder's state that holds a hypothesis before each of its words."""
    results = []
    for t, step in enumerate(found.trace.steps[: len(tokens)]):
        held = step.values["hypotheses"]  # (H, t)
        results.append(int((held == held.new_tensor(tokens[:t])).all(1).nonzero()[0, 0]))
    return results


def weights(found: Found, tokens: Tokens) -> Tensor:
    """γ of a hypothesis, (n, S): of its own history, whatever row held it."""
    return torch.stack([g[row] for g, row in zip(found.gamma, rows(found, tokens), strict=False)])


def log_probs(found: Found, tokens: Tokens) -> list[float]:
    """log p of the beginnings of a hypothesis: of one word, of two, …, of all n."""
    results = []
    for step, row, token in zip(found.trace.steps, rows(found, tokens), tokens, strict=False):
        v = step.values
        results.append(float(v["log_prob"][(v["parent"] == row) & (v["token"] == token)][0]))
    return results


def fork(found: Found, tokens: Tokens) -> int | None:
    """The first step, from 0, at which a hypothesis has another word than the best; None if it has none."""
    pairs = zip(tokens, found.best.tokens, strict=False)
    return next((t for t, (a, b) in enumerate(pairs) if a != b), None)


def behind(found: Found, tokens: Tokens) -> int | None:
    """The first step, from 0, whose weights differ from those of the best hypothesis: γ_t is made by s_{t−1},
    which has read the words up to y_{t−2}."""
    return None if (at := fork(found, tokens)) is None else at + 2


def apart(found: Found, tokens: Tokens) -> float:
    """Largest difference of a weight from the best hypothesis's at the same step."""
    a, b = weights(found, tokens), weights(found, found.best.tokens)
    both = min(len(a), len(b))
    return float((a[:both] - b[:both]).abs().max())


# --- Words -------------------------------------------------------------------------------------------

LIKELIER, LESS, SAME = "likelier", "less probable", "it is what was found"
NOT_SO = {
    LIKELIER: "Compare its log p with that of the sentence found: it is not larger.",
    LESS: "Compare its log p with that of the sentence found: it is not smaller.",
    SAME: "Read the first sentence of the table: some word differs.",
}


def judged(found: Found, gold: Hypothesis) -> str:
    """The gold translation beside what was found, one of NOT_SO's."""
    if gold.tokens == found.best.tokens:
        return SAME
    return LIKELIER if gold.log_prob > found.best.log_prob else LESS


def error(found: Found) -> str:
    """Say who is to blame, search or model."""
    if found.gold is None:
        return "The gold translation of this sentence is not known."
    which, best = judged(found, found.gold), found.best.log_prob
    if which == SAME:
        return "The sentence found is the gold translation."
    if which == LIKELIER:
        return (
            f"Search error: the gold translation has log p {found.gold.log_prob:.3f}, more than the sentence "
            f"found ({best:.3f}); one of its beginnings was cut."
        )
    return (
        f"Model error: the gold translation has log p {found.gold.log_prob:.3f}, less than the sentence "
        f"found ({best:.3f}). A search without any error would not write it either."
    )


def captions(found: Found, tokens: Tokens) -> list[str]:
    """Each step of the search, and the row of the state that writes the hypothesis's next word."""
    held, names, results = rows(found, tokens), found.names(tokens), []
    for t, step in enumerate(found.trace.steps):
        H, said = len(step.values["hypotheses"]), ""
        if t < len(tokens):
            said = f" Row {held[t] + 1} of {H} of the state writes “{names[t]}” for this hypothesis."
        results.append(step.caption + said)
    return results


def equations(found: Found, tokens: Tokens, alpha: float, k: int) -> list[str]:
    """log p of the hypothesis after each of its words, and its score at the end."""
    sums, results = log_probs(found, tokens), []
    for t in range(len(found.trace)):
        t = min(t, len(tokens) - 1)
        before, now = (sums[t - 1] if t else 0.0), sums[t]
        sum_ = rf"{before:.3f} {now - before:+.3f} = {now:.3f}"
        tex = rf"\log p(y_{{\le t}} \mid x) = {before:.3f} + \log p(y_t \mid y_{{<t}}, x) = {sum_}"
        if tokens[t] == found.eos:
            norm = length_norm(len(tokens), alpha, k)
            tex = (
                rf"\log p(y \mid x) = {sum_}"
                rf", \quad \frac{{\log p}}{{((k+n)/(k+1))^\alpha}} = \frac{{{now:.3f}}}{{{norm:.3f}}}"
                rf" = {now / norm:.3f}"
            )
        results.append(tex)
    return results
