"""Shared strength: what a count, a count that backs off, and a network make of a sentence held back.

The toys of `datamodules.grammar`: "the dog sat on the ?" was never seen. A table knows nothing of this
context; backing off asks the verb alone; a network has learned vectors, and the dog's may stand near those of
the other animals, for which the answer was seen.

References: [LLM] neural LMs; Bengio et al. 2003.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules import grammar
from datamodules.grammar import Grammar, Toy
from datamodules.tokenizer import WordTokenizer
from lab.lenses.embeddings import aligned
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.language import word_vectors as wv
from modules.language.bengio import Bengio
from modules.language.ngram import NGram

STEPS = 500  # of Adam on all places at once, as in the experiments bengio-classes and bengio-verbs


@dataclass(frozen=True)
class Question:
    """A hidden sentence as context and object.

    Attributes:
        context: words before the object. right: the object. wrong: what the other class has with the same
            verb, None where there is no other class. training_context: the same context of a subject whose
            sentence is in training.
    """

    context: str
    right: str
    wrong: str | None
    training_context: str


def question(toy: Toy, hidden: str) -> Question:
    """Question that a hidden sentence asks."""
    *before, right = hidden.split()
    subject, verb = before[1], before[2]
    others: Sequence[str] = grammar.SUBJECTS
    wrong = None
    if toy == "class":
        own = next(c for c, members in grammar.CLASSES.items() if subject in members)
        (other,) = set(grammar.CLASSES) - {own}
        wrong = grammar.OBJECTS[other][grammar.VERBS.index(verb)]
        others = grammar.CLASSES[own]
    like = next(s for s in others if s != subject)
    return Question(" ".join(before), right, wrong, " ".join([before[0], like, *before[2:]]))


def prefix(coder: WordTokenizer, text: str) -> Tensor:
    """A text as a prefix (1, T)."""
    return torch.tensor([coder.encode(text)])


def counted(toy: Toy, hidden: str) -> NGram:
    """6-gram Kneser-Ney with D = 0.75 of all sentences but the hidden one; see ngram-classes."""
    data = Grammar(toy, hidden, "lines")
    data.setup()
    model = NGram(data.sizes["vocab_size"], 6, discount=0.75, bos=WordTokenizer.BOS, eos=WordTokenizer.EOS)
    model.count(data.train_set.tensors)  # type: ignore[arg-type]
    return model


def table(model: NGram, before: Tensor) -> Tensor:
    """P of the full-order table, (V,): zeros after a context never seen, where it has no distribution."""
    plain = model.lower_order(model.order, smoothing="none")
    try:
        return plain.next_log_probs(before)[0].exp()
    except ValueError:
        return torch.zeros(model.vocab_size, dtype=torch.float64)


def answers(model: NGram, network: Bengio | None, coder: WordTokenizer, context: str) -> dict[str, Tensor]:
    """P(next word | context) by each: name -> (V,)."""
    before = prefix(coder, context)
    p = {"6-grams": table(model, before), "Kneser-Ney": model.next_log_probs(before)[0].exp()}
    if network is not None:
        with torch.no_grad():
            p["network"] = network.next_log_probs(before)[0].exp().double()
    return p


def vectors(network: Bengio, place: int) -> Tensor:
    """Vectors by which the network knows each word, (V, ·): its embedding; with one-hot inputs the column of
    the first layer that it switches on at `place` of the context (H e_w)."""
    if not network.one_hot:
        return network.embedding.weight.detach()
    H = network.first.weight.detach()
    return H.reshape(len(H), network.context, -1)[:, place].T


def alike(network: Bengio, coder: WordTokenizer, toy: Toy) -> tuple[float, float]:
    """Mean cosine of two subjects within a class, and across; of "verb" among all, and NaN."""
    place = network.context - 4  # "SUBJECT VERB on the" end the context
    unit = F.normalize(vectors(network, place), dim=1)
    classes = list(grammar.CLASSES.values()) if toy == "class" else [grammar.SUBJECTS]
    members = [unit[coder.encode(" ".join(c))] for c in classes]
    within = [(m @ m.T)[~torch.eye(len(m), dtype=torch.bool)] for m in members]
    across = (members[0] @ members[1].T).mean() if len(members) > 1 else torch.tensor(float("nan"))
    return float(torch.cat(within).mean()), float(across)


@dataclass(frozen=True)
class Trained:
    """One network after its training: P(right), P(wrong), and how alike words of a class are."""

    network: Bengio
    right: float
    wrong: float
    within: float
    across: float


def judge(network: Bengio, coder: WordTokenizer, toy: Toy, asked: Question) -> Trained:
    """Answer of a network to the hidden sentence."""
    with torch.no_grad():
        p = network.next_log_probs(prefix(coder, asked.context))[0].exp()
    wrong = float(p[coder.encode(asked.wrong)[0]]) if asked.wrong else float("nan")
    return Trained(network, float(p[coder.encode(asked.right)[0]]), wrong, *alike(network, coder, toy))


def train(
    toy: Toy, hidden: str, d: int, one_hot: bool, seeds: int, decay: float = 0.0
) -> Iterator[tuple[float, list[Trained]]]:
    """Train networks from different starts: the share done, and those that are ready."""
    data = Grammar(toy, hidden)
    data.setup()
    coder, asked, batch = data.tokenizer, question(toy, hidden), data.train_set.tensors
    ready: list[Trained] = []
    for seed in range(seeds):
        network = seeded(
            lambda: Bengio(len(coder), data.context, d, 32, embedding="one-hot" if one_hot else "learned"),
            seed,
        )
        optimizer = torch.optim.Adam(
            [p for p in network.parameters() if p.requires_grad], 1e-2, weight_decay=decay
        )
        loss = partial(network.step, batch, "val")  # type: ignore[arg-type]
        steps = training_steps(loss, optimizer, STEPS)
        for done, _ in steps:
            if done % 50 == 0 and done < STEPS:
                yield (seed + done / STEPS) / seeds, list(ready)
        ready.append(judge(network, coder, toy, asked))
    yield 1.0, list(ready)


@dataclass(frozen=True)
class Map:
    """Words in the plane: points (N, 2), kinds (N,) with their names."""

    points: Tensor
    words: list[str]
    kinds: list[int]
    names: list[str]


def plane(network: Bengio, coder: WordTokenizer, toy: Toy) -> Map:
    """Unit vectors of the subjects as the network knows them."""
    groups = dict(grammar.CLASSES) if toy == "class" else {"subjects": grammar.SUBJECTS}
    words = [w for members in groups.values() for w in members]
    kinds = [n for n, members in enumerate(groups.values()) for _ in members]
    unit = F.normalize(vectors(network, network.context - 4), dim=1)
    return Map(wv.plane(unit[coder.encode(" ".join(words))]), words, kinds, list(groups))


def maps(trained: Sequence[Trained], coder: WordTokenizer, toy: Toy) -> tuple[Map, Tensor]:
    """The words in the plane of the first network, and the points of all, (F, N, 2), each turned to the
    next."""
    drawn = [plane(one.network, coder, toy) for one in trained]
    points = aligned(torch.stack([one.points for one in drawn]))
    return replace(drawn[0], points=points[0]), points
