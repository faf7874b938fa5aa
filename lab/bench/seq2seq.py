"""Sequence to sequence, trained side by side: scores of attention, poolings of a fixed context, what a
decoder reads, orders of the source.

Scores and poolings: the recipe of `attention-spanish`, two epochs of the grammar of one to four clauses, with
another context each. With a score, "sentences right" is the least share of the four numbers of clauses; with
a pooling, the mean. "Alignment error" is the mean over them, of links above ¼ and to the largest weight.
Words of three kinds are counted apart: those that change their order with another (crossing), those with
two sure links (merge), all others.

Forced and free: a fixed context, trained with a share of its own words in place of the gold ones (scheduled
sampling); gold words that are the most probable, by fifths of their sentences.

Order: the source is N random symbols, the target the same; an LSTM reads it one way, as it stands or
backwards, and its last state enters every step. Token accuracy is under teacher forcing, by place.

References: [GM] 1.6.3 and [DGM] deck 1 (scores; "almost no difference" of contexts; early words are lost);
Sutskever, Vinyals, Le 2014, arXiv:1409.3215 (reversed source); Bengio et al. 2015,
arXiv:1506.03099 (scheduled sampling).
"""

import statistics
from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from datamodules.algorithmic import Copying
from datamodules.base import DataModule
from datamodules.spanish import AlignedPairs, Spanish, sentences, tokenizer
from lab.bench.timing import Row, interleaved
from lab.lenses.translations import ABOVE, alignment_error, exact
from modules.language.translation import IGNORED
from modules.recurrent.alignment import hard_links
from modules.recurrent.context import SCORES
from modules.recurrent.seq2seq import Seq2Seq
from modules.transformer.schedule import WarmupCosine

SEEDS, CLAUSES, COUNT = 3, (1, 2, 3, 4), 200  # COUNT test sentences of each number of clauses
SENTENCES = {"embedding": 32, "hidden": 64}
STEPS, RATE = 936, 3e-3  # two epochs
POOLINGS = ("last", "ends", "mean", "max", "learned")
SYMBOLS = {"context": "last", "cell": "lstm", "bidirectional": False, "embedding": 32, "hidden": 96}
COPIED, COPY_STEPS = 16, 2_000
SHARES = (0.0, 0.25, 0.5)  # of words that are the decoder's own
WIDTHS = (16, 64, 256)  # of states whose scores are timed
KINDS = ("crossing", "merge", "other")


def batches(data: DataModule) -> Iterator[tuple[Tensor, ...]]:
    """Training batches, epoch after epoch."""
    data.prepare_data()
    data.setup("fit")
    while True:
        loader: DataLoader[Any] = data.train_dataloader()
        yield from loader


def train(data: DataModule, seed: int, steps: int, **model: Any) -> Seq2Seq:
    """A model after so many steps of Adam, the norm of the gradient clipped at 1."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Seq2Seq(**data.sizes, **model)
        optimizer = torch.optim.Adam(network.parameters(), lr=RATE, fused=True)
        schedule = WarmupCosine(optimizer, steps, warmup=steps // 20, floor=0.02)
        for _, batch in zip(range(steps), batches(data), strict=False):
            step(network, optimizer, batch)
            schedule.step()
    return network.eval()


def step(network: Seq2Seq, optimizer: torch.optim.Optimizer, batch: tuple[Tensor, ...]) -> None:
    """One step of training on sources, lengths, inputs and targets."""
    source, lengths, inputs, targets = batch
    logits, _ = network.decode(source, inputs, lengths, network.scheduled_sampling)
    nats, _ = network.judge(logits, targets)
    optimizer.zero_grad()
    nats.mean().backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()


def grammar(seed: int, steps: int) -> Spanish:
    """As many sentences as are read twice in so many steps."""
    return Spanish(seed=seed, num_train=32 * steps)


@cache
def pairs(clauses: int, count: int) -> AlignedPairs:
    return AlignedPairs(sentences(count, (clauses, clauses), "test", seed=clauses), tokenizer())


def spread(values: list[float]) -> str:
    """Least to most of the seeds, in per cent."""
    return f"{100 * min(values):.1f} to {100 * max(values):.1f} %"


# --- Scores and poolings -------------------------------------------------------------------------


def crossed(sure: Tensor) -> Tensor:
    """Target words whose sure links cross those of another: links (B, T, S) -> (B, T) bool."""
    S = sure.shape[-1]
    j = torch.arange(S)
    first = torch.where(sure, j, S).amin(-1)
    last = torch.where(sure, j, -1).amax(-1)
    before = torch.tril(torch.ones(sure.shape[1], sure.shape[1], dtype=torch.bool), -1)  # t' < t
    crosses = before & (last[:, None, :] > first[:, :, None])  # an earlier word, linked further right
    return crosses.any(-1) | crosses.any(-2)


@torch.no_grad()
def found_links(model: Seq2Seq, of: AlignedPairs) -> Tensor:
    """Target words of each of KINDS, and those of them whose largest weight is at a sure link: (2, 3)."""
    rows = torch.arange(len(of))
    source, lengths, _, target = of[rows]
    sure, _ = of.links(rows)
    hit = (hard_links(model(source, target, lengths)[1]) & sure).any(-1)
    merge, crossing, any_link = sure.sum(-1) > 1, crossed(sure), sure.any(-1)
    kinds = [crossing & ~merge, merge, any_link & ~merge & ~crossing]
    return torch.stack([torch.stack([kind.sum(), (kind & hit).sum()]) for kind in kinds], 1)


def over_scores(seeds: int, count: int, steps: int) -> Iterator[Row]:
    """Translations and alignments of each score."""
    for score in SCORES:
        right, above, largest, kinds = [], [], [], torch.zeros(2, len(KINDS))
        for seed in range(seeds):
            model = train(grammar(seed, steps), seed, steps, context=score, dropout=0.3, **SENTENCES)
            right.append(min(exact(model, pairs(k, count)) for k in CLAUSES))
            errors = torch.stack([alignment_error(model, pairs(k, count)) for k in CLAUSES]).mean(0)
            above.append(float(errors[0]))
            largest.append(float(errors[1]))
            kinds += sum(found_links(model, pairs(k, count)) for k in CLAUSES)
        shares = ", ".join(
            f"{kind} {100 * float(hit / all_of):.1f} %"
            for kind, all_of, hit in zip(KINDS, *kinds, strict=True)
        )
        yield Row("seq2seq", f"{score} score: sentences right", 100 * statistics.mean(right),
                  target="≥ 99 %", unit="%", note=spread(right))  # fmt: skip
        yield Row("seq2seq", f"{score} score: alignment error, γ > {ABOVE:g}", statistics.mean(above),
                  target="≤ 0.10 of links", unit="of links", note=spread(above))  # fmt: skip
        yield Row("seq2seq", f"{score} score: alignment error, largest γ", statistics.mean(largest),
                  unit="of links", note=f"{spread(largest)}; at a sure link: {shares}")  # fmt: skip


def over_poolings(seeds: int, count: int, steps: int) -> Iterator[Row]:
    """Translations of each pooling."""
    for pooling in POOLINGS:
        right = torch.zeros(seeds, len(CLAUSES))
        for seed in range(seeds):
            model = train(grammar(seed, steps), seed, steps, context=pooling, **SENTENCES)
            right[seed] = torch.tensor([exact(model, pairs(k, count)) for k in CLAUSES])
        by_length = ", ".join(f"{100 * float(share):.0f}" for share in right.mean(0))
        yield Row("seq2seq", f"context {pooling}: sentences right", 100 * float(right.mean()), unit="%",
                  note=f"{spread(right.mean(1).tolist())}; of 1 to 4 clauses {by_length} %")  # fmt: skip


@torch.no_grad()
def right_by_fifth(model: Seq2Seq, of: AlignedPairs, own: float) -> Tensor:
    """Share of gold words that are the most probable, by fifths of their sentences, where the decoder reads
    its own words (1) or the gold ones (0): (5,)."""
    source, lengths, inputs, target = of[torch.arange(len(of))]
    right = model.decode(source, inputs, lengths, own)[0].argmax(-1) == target
    word = target != IGNORED
    fifth = 5 * (word.cumsum(1) - 1) // word.sum(1, keepdim=True)
    return torch.stack([right[word & (fifth == k)].float().mean() for k in range(5)])


def over_sampling(seeds: int, count: int, steps: int) -> Iterator[Row]:
    """Forced and free decoding of a fixed context, by the share of its own words that it read in training."""
    for share in SHARES:
        right = torch.zeros(2, seeds, 5)
        for seed in range(seeds):
            model = train(
                grammar(seed, steps), seed, steps, context="ends", scheduled_sampling=share, **SENTENCES
            )
            for own in (0, 1):
                right[own, seed] = torch.stack(
                    [right_by_fifth(model, pairs(k, count), own) for k in CLAUSES]
                ).mean(0)
        for own, name in enumerate(("forced", "free")):
            by_fifth = ", ".join(f"{100 * float(each):.0f}" for each in right[own].mean(0))
            note = f"{spread(right[own].mean(1).tolist())}; by fifths of a sentence {by_fifth} %"
            yield Row("seq2seq", f"scheduled sampling {share:g}: {name}", 100 * float(right[own].mean()),
                      unit="%", note=note)  # fmt: skip


def over_widths(repeats: int) -> Iterator[Row]:
    """Seconds of a training step by score and width, beside the additive score."""
    batch = next(batches(grammar(0, 2)))
    for width in WIDTHS:
        sides = []
        for score in SCORES:
            network = Seq2Seq(**Spanish().sizes, context=score, embedding=32, hidden=width)
            optimizer = torch.optim.Adam(network.parameters(), lr=RATE, fused=True)
            sides.append(lambda network=network, optimizer=optimizer: step(network, optimizer, batch))
        for score, side in zip(SCORES[1:], sides[1:], strict=True):
            timed = interleaved(side, sides[0], repeats)
            yield Row("seq2seq", f"training step, width {width}: {score}", statistics.median(timed.first),
                      statistics.median(timed.second), timed.ratio, note="peer: additive")  # fmt: skip


# --- Order of the source -------------------------------------------------------------------------


@torch.no_grad()
def right_by_place(model: Seq2Seq, data: Copying) -> Tensor:
    """Share of gold tokens that are the most probable, by their place: (COPIED,)."""
    source, lengths, inputs, target = data.test_set[torch.arange(len(data.test_set))]
    logits, _ = model.decode(source, inputs, lengths)
    return (logits.argmax(-1) == target).float().mean(0)[:-1]  # the end is no symbol


def over_orders(seeds: int, count: int, steps: int) -> Iterator[Row]:
    """Symbols that are copied, the source read as it stands and backwards."""
    for reverse in (False, True):
        right = torch.zeros(seeds, COPIED)
        for seed in range(seeds):
            data = Copying(seed=seed, length=COPIED, test_length=COPIED, num_test=count)
            model = train(data, seed, steps, reverse=reverse, **SYMBOLS)
            data.setup("test")
            right[seed] = right_by_place(model, data)
        by_place = ", ".join(f"{100 * float(share):.0f}" for share in right.mean(0))
        way = "backwards" if reverse else "as it stands"
        yield Row("seq2seq", f"copying, source read {way}: symbols right",
                  100 * float(right.mean()), unit="%",
                  note=f"{spread(right.mean(1).tolist())}; by place {by_place} %")  # fmt: skip


def measure(quick: bool = False) -> list[Row]:
    """All three, each with its seeds."""
    seeds, count, steps, copied = (1, 4, 3, 3) if quick else (SEEDS, COUNT, STEPS, COPY_STEPS)
    return [
        *over_orders(seeds, 4 if quick else 1_000, copied),
        *over_poolings(seeds, count, steps),
        *over_sampling(seeds, count, steps),
        *over_scores(seeds, count, steps),
        *over_widths(2 if quick else 15),
    ]
