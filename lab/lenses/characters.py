"""Models of the same characters on one axis: counts of every order, a network, a Transformer.

All are scored on the last 10 % of a corpus, the text that published numbers of tiny Shakespeare mean, in
nats a character; and on its second half alone, the test, which chose nobody's epoch. They are not compared
at equal steps: counts are taken once, and the neural models were trained as long as their cards say.

References: Kneser and Ney 1995; [LLM] part 1; nanoGPT's README (the published anchors).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.text import Text
from modules.language.ngram import NGram

# nats a character of tiny Shakespeare's last 10 %, as nanoGPT publishes them
PUBLISHED = {"nanoGPT, 4 layers, 2,000 steps": 1.88, "nanoGPT, 6 layers, best of 5,000 steps": 1.4697}


@dataclass(frozen=True)
class Order:
    """Counts of order n. Numbers in nats a character.

    Attributes:
        types: different n-grams of the training text. unseen: share of the held-out ones that are new.
        train: maximum likelihood on the training text itself. add_one, kneser_ney: on the held-out text.
        test: `kneser_ney` on the second half of it.
    """

    n: int
    types: int
    unseen: float
    train: float
    add_one: float
    kneser_ney: float
    test: float


def counted(training: Tensor, held_out: Tensor, vocab_size: int, most: int = 8) -> list[Order]:
    """Counts of the orders 1 … `most` of a text (T,), scored on another (S,), whose first token is given."""
    top = NGram(vocab_size, most)
    top.fit(training[None])
    tokens, targets = held_out[None, :-1], held_out[None, 1:]
    rows = []
    for n in range(1, most + 1):
        plain, add, kn = (top.lowered(n, smoothing=s) for s in ("none", "add", "kneser-ney"))
        whole = torch.ones_like(plain.keys, dtype=torch.bool)  # not the ones that reach before the text
        for i in range(n):
            whole &= plain.keys // plain.base**i % plain.base != plain.pad
        nats = -kn.token_log_probs(tokens, targets)[0]
        rows.append(
            Order(
                n,
                int(whole.sum()),
                plain.token_log_probs(tokens, targets).isinf().double().mean().item(),
                plain.train_nll(),
                -add.token_log_probs(tokens, targets).mean().item(),
                nats.mean().item(),
                nats[-(len(held_out) // 2) :].mean().item(),
            )
        )
    return rows


@dataclass(frozen=True)
class Trained:
    """A trained model on the same axis.

    Attributes:
        held_out: nats a character over validation and test. test: over the test alone.
        steps: of its training; 1 for counts.
    """

    name: str
    held_out: float
    test: float
    steps: int


def trained(card: Mapping[str, Any], data: Text) -> Trained:
    """A card's numbers, if it is of the same characters.

    Raises:
        ValueError: it was measured on another text, other splits or other tokens.
    """
    own, here = card["data"], data.describe()
    if any(own[key] != here[key] for key in ("sha256", "splits", "tokenizer")):
        raise ValueError(f"{card['experiment']} was measured on another text or in another unit.")
    sizes = [last - first for first, last in (own["splits"][split] for split in ("val", "test"))]
    val, test = card["metrics"]["val/nll"], card["metrics"]["test/nll"]
    args = card["config"]["data"]["init_args"]
    steps = card["epochs"] * (args["windows_per_epoch"] // args["batch_size"])
    return Trained(card["experiment"], (sizes[0] * val + sizes[1] * test) / sum(sizes), test, steps)
