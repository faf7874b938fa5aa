"""Look at a word or a digit through each lens, for the strip on Home.

Shapes: `T` tokens of the text, `H` heads of a layer, `V` vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules.tokenizer import Tokenizer
from lab.lenses import attention, latent, receptive_field
from lab.lenses.embeddings import Table
from modules.language.word_vectors import neighbours
from modules.transformer.gpt import GPT

TOP, LENGTH = 8, 12


def readable(coder: Tokenizer, text: str) -> tuple[str, str]:
    """Part of a text that the vocabulary knows, and the characters that it does not, as a reader sees
    them."""
    known = set("".join(coder.tokens))
    strange = dict.fromkeys(c for c in text if c not in known)
    return "".join(c for c in text if c in known), " ".join(strange)


@dataclass(frozen=True)
class Word:
    """A text as a language model reads it and goes on.

    Attributes:
        heads: (H, T, T) attention weights of the first layer.
        surprise: (T − 1,) −log p of each token after the first, nats.
        top: (TOP,) the likeliest next tokens, the likeliest first. p: their probabilities.
        ahead: (LENGTH,) the text goes on with the likeliest token each time. sure: their probabilities.
    """

    heads: Tensor
    surprise: Tensor
    top: Tensor
    p: Tensor
    ahead: Tensor
    sure: Tensor


@torch.no_grad()
def word(model: GPT, tokens: Tensor) -> Word:
    """One recorded pass over tokens (T,), and LENGTH more for what follows."""
    maps = attention.record(model, tokens)
    log_p = maps.logits.log_softmax(-1)
    surprise = -log_p[:-1].gather(1, tokens[1:, None])[:, 0]
    p, top = log_p[-1].exp().topk(TOP)
    text, sure = tokens, []
    for _ in range(LENGTH):
        after = model(text[None, -model.context :])[0, -1].softmax(-1)
        text = torch.cat([text, after.argmax()[None]])
        sure.append(after.max())
    return Word(maps.weights[0], surprise, top, p, text[-LENGTH:], torch.stack(sure))


def company(table: Table, words: Sequence[str], count: int = 6) -> tuple[str, list[str], list[float]] | None:
    """The last of these words that has a vector, its nearest words and their cosines; None if none has."""
    known = [w for w in words if w in table.ids]
    if not known:
        return None
    row = table.ids[known[-1]]
    near, cosines = neighbours(table.vectors, row, count)
    return known[-1], [table.words[i] for i in near.tolist()], cosines.tolist()


@dataclass(frozen=True)
class Digit:
    """A picture as a classifier and an autoencoder see it.

    Attributes:
        p: (10,) of the classes.
        field: (28, 28), |∂ logit of the likeliest class / ∂ pixel|.
        code: (K,) its place.
        near: indices of the examples nearest pixel by pixel, the nearest first.
    """

    p: Tensor
    field: Tensor
    code: Tensor
    near: Tensor


@torch.no_grad()
def digit(classifier: Any, encoder: Any, picture: Tensor, others: Tensor, count: int = 6) -> Digit:
    """The picture (28, 28) in [0, 1] among others (N, 28, 28)."""
    x = picture[None, None]
    p = classifier.predict(x)[0].softmax(-1)
    field = receptive_field.measured(classifier.predict, x, (0, int(p.argmax())))[0, 0]
    code = latent.codes(encoder, latent.as_input(encoder, picture))[0]
    near, _ = latent.neighbours(others.flatten(1), picture.flatten(), count)
    return Digit(p, field, code, near)
