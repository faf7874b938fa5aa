"""One word, two senses: a table has one vector for it, a Transformer one for each place where it stands.

Shapes: `M` occurrences, `L` layers, `T` places, `C` channels.

References: [GM] §1.6.1, §1.6.4; Ethayarajh 2019, arXiv:1909.00512.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from sklearn.cluster import KMeans
from torch import Tensor

from datamodules import senses
from datamodules.tokenizer import WordTokenizer
from lab.errors import UserError
from lab.lenses.embeddings import Table, aligned
from modules.language import word_vectors as wv
from modules.transformer.gpt import GPT


def sense_of(word: str) -> int | None:
    """Sense of a word: 0 river, 1 money, None neither."""
    for n, sense in enumerate(senses.SENSES):
        if any(word in slot for slot in senses.CUES[sense].values()):
            return n
    return None


def static(table: Table, n: int = 8) -> list[tuple[str, float, str]]:
    """The n nearest to the ambiguous word in a table of vectors: word, cosine, its sense."""
    ids, cosines = wv.neighbours(table.vectors, table.ids[senses.WORD], n)
    kinds = [sense_of(table.words[i]) for i in ids.tolist()]
    return [
        (table.words[i], float(c), "neither" if kind is None else senses.SENSES[kind])
        for i, c, kind in zip(ids.tolist(), cosines, kinds, strict=True)
    ]


@torch.no_grad()
def states(model: GPT, tokens: Tensor) -> Tensor:
    """States at each place before the first block and after each: (N, T) -> (L + 1, N, T, C)."""
    return torch.stack(list(model.residual_stream(tokens)))


@dataclass(frozen=True)
class Occurrences:
    """The ambiguous word in sentences of the generator.

    Attributes:
        sentences: M. senses: (M,), 0 river, 1 money. states: (L + 1, M, C).
    """

    sentences: Sequence[str]
    senses: Tensor
    states: Tensor


def tokens(sentences: Sequence[str]) -> Tensor:
    """Sentences of one length behind a begin token: (N, T)."""
    coder = senses.tokenizer()
    return torch.tensor([[WordTokenizer.BOS, *coder.encode(s)] for s in sentences])


def occurrences(model: GPT, n: int, seed: int) -> Occurrences:
    """n sentences with the ambiguous word, fresh ones for each seed, and what the model makes of it."""
    # half of the sentences have it; training and test use the seeds 0 to 2
    lines, kinds = senses.sentences(4 * n + 40, 1000 + seed)
    chosen = [(line, kind) for line, kind in zip(lines, kinds, strict=True) if senses.WORD in line.split()][
        :n
    ]
    texts = [s for s, _ in chosen]
    return Occurrences(texts, torch.tensor([kind for _, kind in chosen]), at_word(model, texts))


def at_word(model: GPT, sentences: Sequence[str]) -> Tensor:
    """The states of the ambiguous word in each sentence: (L + 1, M, C)."""
    ids = tokens(sentences)
    place = (ids == senses.tokenizer().encode(senses.WORD)[0]).int().argmax(1)
    return states(model, ids)[:, torch.arange(len(ids)), place]


def own(model: GPT, sentence: str) -> Tensor:
    """The states of the ambiguous word in a reader's sentence: (L + 1, C).

    Raises:
        UserError: the word is missing, another is unknown, or there are too many.
    """
    words = sentence.lower().split()
    if senses.WORD not in words:
        raise UserError(f"The sentence has no {senses.WORD!r}: put it somewhere.")
    unknown = [w for w in words if w not in senses.VOCABULARY]
    if unknown:
        raise UserError(f"The model has never seen {unknown[0]!r}: use the words listed below.")
    if len(words) > model.context - 1:
        raise UserError(f"The sentence has {len(words)} words: {model.context - 1} at most.")
    return at_word(model, [" ".join(words)])[:, 0]


@dataclass(frozen=True)
class Clusters:
    """Two groups that k-means finds without knowing the senses.

    Attributes:
        labels: (M,), named so that most agree with the senses. hits: how many do. centres: (2, C).
    """

    labels: Tensor
    hits: int
    centres: Tensor

    def nearest(self, state: Tensor) -> int:
        """The group whose centre is nearest to a state (C,)."""
        return int((self.centres - state).norm(dim=1).argmin())


def cluster(result: Tensor, truth: Tensor) -> Clusters:
    """k-means with two groups: states (M, C), senses (M,). Equal states are all in one group."""
    if torch.allclose(result, result[:1].expand_as(result), rtol=0, atol=1e-6):
        most = int(truth.double().mean() > 0.5)
        labels, centres = torch.full_like(truth, most), result[:1].expand(2, -1)
    else:
        fitted = KMeans(2, n_init=4, random_state=0).fit(result.double().numpy())
        labels = torch.from_numpy(fitted.labels_).long()
        centres = torch.from_numpy(fitted.cluster_centers_).to(result.dtype)
        if 2 * int((labels == truth).sum()) < len(truth):
            labels, centres = 1 - labels, centres.flip(0)
    return Clusters(labels, int((labels == truth).sum()), centres)


def planes(result: Tensor, mine: Tensor) -> Tensor:
    """States (L, M, C), and a reader's (L, C), in the plane of each layer: (L, M + 1, 2), the reader's last.
    Each is turned to the one after it and drawn to one size; equal states are one point."""
    flat = torch.stack([wv.plane(layer) for layer in torch.cat([result, mine[:, None]], 1)])
    reach = flat.abs().amax((1, 2), keepdim=True)
    return aligned(torch.where(reach > 1e-4, flat / reach, 0.0))
