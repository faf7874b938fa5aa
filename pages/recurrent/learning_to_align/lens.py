"""A translator that learns to align: what is trained, what is looked at, how it reads a reader's sentence.

    e_tj = score(s_{t−1}, z_j)      γ_t = softmax_j(e_t)      AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

It is trained on sentences and their translations, 32 a step; the gold links of the grammar only judge it. A
frame keeps the weights of the network, so that any sentence can be read at all frames without training anew.

Shapes: S source words, T target words with the end, F frames.

References: Bahdanau, Cho & Bengio 2015, arXiv:1409.0473; Och & Ney 2003; [GM] 1.6.3-1.6.4.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from datamodules.spanish import AlignedPairs, Spanish, sentences
from lab.lenses import rewind, translations
from lab.lenses.translations import END, Sentence
from lab.seeding import seeded
from modules.recurrent.alignment import hard_links
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.learning_to_align.room import STRIDE

EMBEDDING, HIDDEN, BATCH = 32, 48, 32
COUNTS = {"train": 4_000, "test": 100}  # sentences
THRESHOLDS = translations.ABOVE, None  # of a link: the weight that it is above; the largest of its row


@lru_cache(maxsize=1)
def data() -> Spanish:
    return Spanish(clauses=2)


@lru_cache(maxsize=2)
def gold(clauses: int) -> tuple[Tensor, Tensor]:
    """Sure and possible links (B, T, S) of the held-out sentences."""
    held_out = pairs(clauses, "test")
    return held_out.links(torch.arange(len(held_out)))


@lru_cache(maxsize=4)
def pairs(clauses: int, split: str) -> AlignedPairs:
    """Sentences of 1 to `clauses` clauses, the same for every training."""
    return AlignedPairs(sentences(COUNTS[split], (1, clauses), split, seed=1), data().tokenizer)


@dataclass(frozen=True)
class AlignRecipe(rewind.OfOneLoss):
    """A translator with this score of attention, trained on sentences of up to so many clauses."""

    score: str
    clauses: int
    seed: int
    stride: int = STRIDE

    def build(self) -> Seq2Seq:
        score: Any = self.score
        return Seq2Seq(len(data().tokenizer), context=score, embedding=EMBEDDING, hidden=HIDDEN)

    def loss(self, model: Seq2Seq, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        """Mean −log p of a target word, of 32 sentences."""
        drawn = pairs(self.clauses, "train")
        source, lengths, inputs, targets = drawn[torch.randint(len(drawn), (BATCH,), generator=generator)]
        return model.judge(model.decode(source, inputs, lengths)[0], targets)[0].mean()

    def look(self, model: Seq2Seq, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        """Of the held-out sentences, under teacher forcing: shares of words and sentences that are right;
        entropy, the mean of a row of γ in nats; links (2, 4), `counts` by each of THRESHOLDS. And `weights`,
        all parameters in a row."""
        held_out = pairs(self.clauses, "test")
        source, lengths, _, targets = held_out[torch.arange(len(held_out))]
        logits, gamma = model(source, targets, lengths)
        pads = model.ignored(targets)
        right = (logits.argmax(-1) == targets) | pads
        sure, possible = gold(self.clauses)
        linked = possible.any(-1)
        return {
            "words": right[~pads].float().mean().numpy(),
            "sentences": right.all(1).float().mean().numpy(),
            "entropy": torch.special.entr(gamma).sum(-1)[linked].mean().numpy(),
            "links": np.stack([counts(gamma, sure, possible, least) for least in THRESHOLDS]),
            "weights": parameters_to_vector(model.parameters()).numpy(),
        }


def counts(gamma: Tensor, sure: Tensor, possible: Tensor, threshold: float | None) -> np.ndarray:
    """|A ∩ S|, |A ∩ P|, |A|, |S| of weights and gold links (B, T, S); rows without a link do not count."""
    links = hard_links(gamma, threshold) & possible.any(-1, keepdim=True)
    sets = (links & sure, links & possible, links, sure)
    return np.array([int(each.sum()) for each in sets])


def error(links: np.ndarray) -> np.ndarray:
    """Alignment error rate of counts (..., 4): (...,)."""
    both, any_of, found, sure = np.moveaxis(np.asarray(links), -1, 0)
    return 1 - (both + any_of) / (found + sure)


@lru_cache(maxsize=2)
def uniform(clauses: int) -> float:
    """Mean entropy of a row whose weights are equal, in nats, over the held-out sentences."""
    linked = gold(clauses)[1].any(-1).sum(1)  # (B,)
    return float((linked * pairs(clauses, "test").lengths.log()).sum() / linked.sum())


# --- A sentence at all frames ------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """A sentence read at one frame.

    Attributes:
        gamma: (T, S), under teacher forcing; without a gold translation, of the words that it writes.
        words: T words as it writes them by itself, "" behind its end.
    """

    gamma: np.ndarray
    words: list[str]


READ: WeakKeyDictionary[rewind.Run, dict[tuple[str, int], Reading]] = WeakKeyDictionary()


def sentence(text: str) -> Sentence:
    """The sentence that a reader typed.

    Raises:
        UserError: none of its words is known.
    """
    return translations.sentence({"data": data().describe()}, text)


def says(text: str) -> str:
    """What was changed in reading a sentence, "" for nothing."""
    return sentence(text).says


def gold_words(source: Sentence) -> list[str]:
    """T words to compare with; without a gold translation they are empty, one more than source words."""
    return [""] * (len(source.names) + 1) if source.gold is None else [*source.gold.spanish, END]


def readings(run: rewind.Run, frames: Sequence[rewind.Frame], source: Sentence) -> list[Reading]:
    """A sentence at each frame of a run, each read once."""
    known = READ.setdefault(run, {})
    recipe: Any = run.recipe
    for number, frame in enumerate(frames):
        if (source.text, number) not in known:
            known[source.text, number] = read(with_weights(recipe, frame["weights"]), source)
    return [known[source.text, number] for number in range(len(frames))]


def with_weights(recipe: AlignRecipe, weights: np.ndarray) -> Seq2Seq:
    """The translator of a frame, to read with."""
    model = seeded(recipe.build).eval()
    vector_to_parameters(torch.from_numpy(weights), model.parameters())
    return model


@torch.no_grad()
def read(model: Seq2Seq, source: Sentence) -> Reading:
    """Read a sentence forced, and let the model write by itself as many words."""
    coder, names = data().tokenizer, gold_words(source)
    targets = torch.full((1, len(names)), model.eos)
    if source.gold is not None:
        targets[0, :-1] = torch.tensor(coder.encode(" ".join(source.gold.spanish)))
    never = torch.Generator()  # of own = 1 no draw counts
    logits, free = model.decode(source.ids[None], model.inputs(targets), own=1.0, generator=never)
    written = translations.written(coder.tokens, logits[0].argmax(-1).tolist(), model.eos)
    if END in written:
        end = written.index(END)
        written = written[: end + 1] + [""] * (len(names) - end - 1)
    gamma = free if source.gold is None else model(source.ids[None], targets)[1]
    return Reading(gamma[0].numpy(), written)


# --- In words ----------------------------------------------------------------------------------------

NONE, FEW, MANY, MOST_OF_THEM = (
    "no weight is above ¼",
    "less than half",
    "half to nine tenths",
    "more than nine tenths",
)
OPTIONS = [NONE, FEW, MANY, MOST_OF_THEM]


def answer(links: np.ndarray) -> str:
    """The one of OPTIONS that is so: which share of the links is possible in the grammar."""
    _, possible, found, _ = links.tolist()
    if not found:
        return NONE
    return FEW if 2 * possible < found else MANY if 10 * possible <= 9 * found else MOST_OF_THEM


def captions(frames: Sequence[rewind.Frame], knobs: Sequence[Mapping[str, float]]) -> list[str]:
    """What is right and what is aligned at each frame, and the knobs that led there."""
    texts = []
    for number, (frame, turned) in enumerate(zip(frames, knobs, strict=True)):
        after = f"After {number * STRIDE} steps"
        if not np.isfinite(frame["entropy"]):
            texts.append(f"{after} the training has run away: turn the rate down, or clip the gradient.")
            continue
        clipped = f"clipped at {turned['clip']:g}" if turned["clip"] else "not clipped"
        texts.append(
            f"{after} {float(frame['words']):.1%} of words and {float(frame['sentences']):.0%} of "
            f"{COUNTS['test']} new sentences are right; AER {error(frame['links'][0]):.3f}. "
            f"Rate {turned['rate']:g}, {clipped}."
        )
    return texts


def equations(frames: Sequence[rewind.Frame]) -> list[str]:
    """Alignment error of the weights above ¼ on the held-out sentences at each frame, LaTeX."""
    texts = []
    for frame in frames:
        both, possible, found, sure = frame["links"][0].tolist()
        texts.append(
            r"\text{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}"
            rf" = 1 - \frac{{{both} + {possible}}}{{{found} + {sure}}} = {error(frame['links'][0]):.3f}"
        )
    return texts
