"""n-grams: counting the Python documentation and scoring its last tenth, vectorised against a loop."""

import math
from collections import Counter
from functools import partial

import torch
from torch import Tensor

from lab.bench.timing import Row, interleaved, paired_row
from modules.language.ngram import NGram


def plain(train: list[int], test: list[int], order: int, vocab_size: int) -> float:
    """The mean nats of add-one smoothing by dictionaries, a token at a time."""
    grams = Counter(tuple(train[i : i + order]) for i in range(len(train) - order + 1))
    contexts: Counter[tuple[int, ...]] = Counter()
    for gram, count in grams.items():
        contexts[gram[:-1]] += count
    total = 0.0
    for i in range(order - 1, len(test)):
        gram = tuple(test[i - order + 1 : i + 1])
        total -= math.log((grams[gram] + 1) / (contexts[gram[:-1]] + vocab_size))
    return total / (len(test) - order + 1)


def measure(quick: bool = False) -> list[Row]:
    """Training and scoring together; the result of both sides is compared first."""
    from datamodules.text import Text

    order, repeats = (3, 3) if quick else (6, 5)
    data = Text("pydocs", context=None, batch_size=1, windows_per_epoch=1)
    data.setup("fit")
    train, test = (split.ids.long()[: 20_000 if quick else None] for split in (data.train_set, data.val_set))  # type: ignore[attr-defined]
    vocab_size = data.sizes["vocab_size"]

    def score(smoothing: str) -> Tensor:
        model = NGram(vocab_size, order, smoothing)  # type: ignore[arg-type]
        model.count((train[None, :-1], train[None, 1:]))
        return -model.token_log_probs(test[None, :-1], test[None, 1:])[0, order - 2 :].mean()

    a, b = train.tolist(), test.tolist()
    if not torch.isclose(
        score("add"), torch.tensor(plain(a, b, order, vocab_size), dtype=torch.float64), atol=1e-4
    ):
        raise AssertionError("both sides score differently: nothing to compare.")
    peer = partial(plain, a, b, order, vocab_size)
    case = f"{order}-grams: count {len(a):,} characters and score {len(b):,}"
    add = interleaved(partial(score, "add"), peer, repeats, warmup=0)
    kneser_ney = interleaved(partial(score, "kneser-ney"), peer, repeats, warmup=0)
    return [
        paired_row("ngram", f"{case}, add-one", add, "", "peer: dictionaries, same result"),
        paired_row("ngram", f"{case}, Kneser-Ney", kneser_ney, "≤ 10 s", "peer: dictionaries, add-one"),
    ]
