"""What an encoder is pre-trained on: text with words hidden or exchanged, and pairs of sentences.

    masked     15 % of the tokens are to be predicted; of these 80 % read <mask>, 10 % another word, 10 % stay
    next       does the second text follow the first, or does it come from elsewhere?
    order      do the two texts that belong together stand in their order, or exchanged?
    replaced   15 % of the other tokens are exchanged for others of the corpus: which?

"masked" is generative: its loss is −log p of the word among all of the vocabulary. The other three are
contrastive: what belongs together is told from what was put together, and no distribution over text is
learned. "order" and "replaced" are answers to [UDL] problem 12.6, which asks for two more.

Masks and pairs are drawn anew in each epoch, and once for all for validation and test.

Shapes: a batch is tokens and targets (B, T), pair labels (B,), replaced (B, T), int64; −100 is not asked for.

References: Devlin et al. 2019, arXiv:1810.04805 (the first two); Lan et al. 2020, arXiv:1909.11942 (order);
Clark et al. 2020, arXiv:2003.10555 (replaced, by a learned generator); [UDL] 12.6, 9.3.6, problem 12.6.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal, get_args

import torch
from torch import Tensor

from datamodules import gazette
from datamodules.base import SPLITS, DataModule, within
from datamodules.multi30k import padded
from datamodules.tokenizer import EncoderTokenizer, MaskTokenizer

Task = Literal["masked", "next", "order", "replaced"]
UNSCORED = -100
SPECIAL = range(len(EncoderTokenizer.SPECIAL))
FIXED = 2**20  # what validation and test are drawn by, in the place of an epoch


def mask_tokens(
    tokens: Tensor, vocab_size: int, rate: float = 0.15, generator: torch.Generator | None = None,
    special: Sequence[int] = SPECIAL, mask: int = EncoderTokenizer.MASK,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Hide words of rows (B, T), never special tokens: what is read, and targets, −100 where none is asked.

    Args:
        vocab_size: V; another word is any that is no special token, all equally likely.
        rate: share of the words that are to be predicted.
        special, mask: numbers of the special tokens, and of <mask> among them.
    """
    chosen = (torch.rand(tokens.shape, generator=generator) < rate) & are_words(tokens, special)
    how = torch.rand(tokens.shape, generator=generator)
    words = torch.arange(vocab_size)[are_words(torch.arange(vocab_size), special)]
    other = words[torch.randint(len(words), tokens.shape, generator=generator)]
    read = tokens.where(~chosen | (how >= 0.8), mask)
    read = read.where(~chosen | (how < 0.8) | (how >= 0.9), other)
    return read, tokens.where(chosen, UNSCORED)


def are_words(tokens: Tensor, special: Sequence[int] = SPECIAL) -> Tensor:
    """True at tokens that are not special, of any shape."""
    return ~torch.isin(tokens, torch.tensor(special))


def replace_tokens(
    tokens: Tensor, targets: Tensor, rate: float = 0.15, generator: torch.Generator | None = None,
    special: Sequence[int] = SPECIAL,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Exchange words of rows (B, T) for words of the same rows, as frequent as these have them: what is read,
    and 1 where it differs, −100 at special tokens and where `targets` ask for the word itself."""
    asked = are_words(tokens, special) & (targets == UNSCORED)
    corpus = tokens[are_words(tokens, special)]
    if not len(corpus):
        return tokens, torch.full_like(tokens, UNSCORED)
    other = corpus[torch.randint(len(corpus), tokens.shape, generator=generator)]
    read = other.where(asked & (torch.rand(tokens.shape, generator=generator) < rate), tokens)
    return read, (read != tokens).long().where(asked, UNSCORED)


class Pairs:
    """Texts and those that follow them, as token numbers, drawn into rows for the tasks that are asked."""

    def __init__(
        self, first: list[list[int]], second: list[list[int]], coder: MaskTokenizer, tasks: Sequence[Task],
        rate: float, seed: int, epoch: int,
    ) -> None:  # fmt: skip
        self.first, self.second, self.coder = first, second, coder
        self.tasks, self.rate, self.seed = tasks, rate, seed
        # an epoch batches like with like; a text from elsewhere changes little
        self.sequence_lengths = torch.tensor([len(a) + len(b) for a, b in zip(first, second, strict=True)])
        self.set_epoch(epoch)

    def __len__(self) -> int:
        return len(self.first)

    def set_epoch(self, epoch: int) -> None:
        """Draw pairs, masks and replacements of an epoch."""
        generator = torch.Generator().manual_seed((self.seed * 0x9E3779B1 + epoch) % 2**32)
        N = len(self)
        self.pair = torch.full((N,), UNSCORED)
        partner = torch.arange(N)
        if "next" in self.tasks or "order" in self.tasks:
            self.pair = torch.randint(2, (N,), generator=generator)
        if "next" in self.tasks and N > 1:  # any other text's following sentence
            elsewhere = (partner + torch.randint(1, N, (N,), generator=generator)) % N
            partner = partner.where(self.pair == 0, elsewhere)
        rows = []
        for i, (j, wrong) in enumerate(zip(partner.tolist(), self.pair.tolist(), strict=True)):
            parts = [self.first[i], self.second[j]]
            if "order" in self.tasks and wrong == 1:
                parts.reverse()
            rows.append([self.coder.CLS, *(token for part in parts for token in (*part, self.coder.SEP))])
        self.tokens, self.lengths = padded(rows, self.coder.PAD)
        self.targets = torch.full_like(self.tokens, UNSCORED)
        self.replaced = self.targets
        read = self.tokens
        if "masked" in self.tasks:
            special, mask = self.coder.special, self.coder.MASK
            read, self.targets = mask_tokens(read, len(self.coder), self.rate, generator, special, mask)
        if "replaced" in self.tasks:
            special = self.coder.special
            read, self.replaced = replace_tokens(read, self.targets, self.rate, generator, special)
        self.read = read

    def __getitem__(self, positions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        T = int(self.lengths[positions].max())
        whole = (self.read, self.targets, self.replaced)
        read, targets, replaced = (rows[positions, :T] for rows in whole)
        return read, targets, self.pair[positions], replaced


def require_tasks(tasks: Sequence[Task], rate: float) -> None:
    """
    Raises:
        ValueError: there is no task, an unknown one, or two that exclude one another; or `rate` is no share.
    """
    if not tasks or set(tasks) - set(get_args(Task)):
        raise ValueError(f"tasks is {list(tasks)}: give some of {', '.join(get_args(Task))}.")
    if {"next", "order"} <= set(tasks):
        raise ValueError("tasks has next and order: a pair has one label, choose one of them.")
    if not 0 < rate < 1:
        raise ValueError(f"rate is {rate}: it must be above 0 and below 1.")


def drawn_by(split: str, seed: int) -> tuple[int, int]:
    """Seed and epoch by which `Pairs` of a split begin: validation and test are the same for every seed."""
    return (seed, 0) if split == "train" else (0, FIXED + SPLITS.index(split))


class Gazette(DataModule):
    """Articles of the gazette, hidden and paired for pre-training.

    Args:
        tasks: what is asked for, at least one; "next" and "order" exclude one another.
        rate: share of the words that are hidden, and of those that are replaced.
        batch_size, seed: see `DataModule`; the articles of a split are the same for every seed.
        num_train, num_val, num_test: articles.

    Raises:
        ValueError: an argument is out of range.
    """

    embedded = True

    def __init__(
        self, tasks: Sequence[Task] = ("masked", "next"), rate: float = 0.15, batch_size: int = 64,
        seed: int = 0, num_train: int = 20_000, num_val: int = 1_000, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        super().__init__(batch_size, seed)
        require_tasks(tasks, rate)
        within(1, 10**6, num_train=num_train, num_val=num_val, num_test=num_test)
        self.tasks, self.rate = tuple(tasks), rate
        self.counts = {"train": num_train, "val": num_val, "test": num_test}

    @cached_property
    def tokenizer(self) -> EncoderTokenizer:
        return gazette.tokenizer()

    def articles(self, split: str) -> list[gazette.Article]:
        """Articles of a split ("train", "val" or "test") as text."""
        return gazette.articles(self.counts[split], SPLITS.index(split) + 1)

    def _split(self, split: str) -> Pairs:
        first, second = zip(*self.articles(split), strict=True)
        encode = self.tokenizer.encode
        rows = [encode(text) for text in first], [encode(text) for text in second]
        seed, epoch = drawn_by(split, self.seed)
        return Pairs(*rows, self.tokenizer, self.tasks, self.rate, seed, epoch)

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(self.tokenizer), "tasks": list(self.tasks)}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "Gazette",
            "tasks": list(self.tasks),
            "rate": self.rate,
            "splits": self.counts,
            "seed": self.seed,
            "tokenizer": self.tokenizer.to_dict(),
        }
