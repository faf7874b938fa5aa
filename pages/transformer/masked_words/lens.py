"""What an encoder makes of hidden words, and what layers on top of it say of a text.

masked     L = 1/|M| Σ_{t ∈ M} −log p(x_t | x̃)         a term at each hidden word, none elsewhere
sentence   σ(w · h_cls + b)        word   softmax(W h_t + b)        span   p_s(s) p_e(e),  s ≤ e
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import gazette
from lab.errors import UserError
from lab.lenses import attention
from modules.transformer.bert import BERT
from modules.transformer.bert_heads import SentenceClassifier, SpanExtractor, TokenClassifier, span_scores
from modules.transformer.recorder import record_attention

CODER = gazette.tokenizer()
MOST = 60  # tokens, of the 64 that the encoders read, with <cls> and <sep>
TOP = 8  # candidates


def strange(text: str) -> list[str]:
    """Words that the gazette has not."""
    found = re.findall(r"\w+|[^\w\s]", re.sub(r"<mask>|[\[\]]", " ", text.lower()))
    return [word for word in dict.fromkeys(found) if word not in CODER.tokens]


def says(text: str) -> str:
    """Name the words that are read as unknown; "" where there is none."""
    words = strange(text)
    return f"Not in the gazette, read as unknown: {', '.join(words[:5])}." if words else ""


def plain_text(text: str) -> str:
    """
    Raises:
        UserError: there is no word, or there are too many.
    """
    count = len(CODER.encode(text))
    if not count:
        raise UserError("There is no word: write some, such as the examples have.")
    if count > MOST:
        raise UserError(f"There are {count} words and signs: the encoder reads up to {MOST}.")
    return text


def masked_text(text: str) -> str:
    """
    Raises:
        UserError: no word is hidden, a bracket is open, or there are too many words.
    """
    bare = re.sub(r"\[([^\[\]\s]+)\]", r" \1 ", text)
    if "[" in bare or "]" in bare:
        raise UserError("A bracket stands alone, or holds no single word: hide a word as in [bought].")
    if "[" not in text and "<mask>" not in text.lower():
        raise UserError("No word is hidden: put one in brackets, as in [bought], or write <mask>.")
    plain_text(bare)
    return text


@dataclass(frozen=True)
class Masked:
    """
    Attributes:
        words: as they are read, T. places: of the K masks. truths: hidden words, "" where not known.
        p: of the words of the vocabulary at each mask, (K, V).
        looks: where each mask looks, mean over heads: (K, L, T).
    """

    words: list[str]
    places: list[int]
    truths: list[str]
    p: Tensor
    looks: Tensor

    def top(self, k: int) -> tuple[list[str], Tensor]:
        """The likeliest words at mask k, and their probabilities."""
        p, ids = self.p[k].topk(TOP)
        return [CODER.tokens[i] for i in ids.tolist()], p

    @property
    def known(self) -> list[float]:
        """p of the hidden words that are known."""
        rows = zip(self.p, self.truths, strict=True)
        return [float(p[CODER.tokens.index(word)]) for p, word in rows if word in CODER.tokens]


def hide(text: str) -> tuple[Tensor, list[str]]:
    """Token numbers (1, T) with <mask> for what stands in brackets, and the hidden words."""
    truths = [word.lower() for word in re.findall(r"\[([^\[\]\s]+)\]|<mask>", text, re.I)]
    read = re.sub(r"\[[^\[\]\s]+\]", " <mask> ", text)
    return torch.tensor([CODER.encode_parts(read)]), truths


def masked(bert: BERT, text: str) -> Masked:
    """Candidates for the hidden words of a text, and what the masks look at."""
    tokens, truths = hide(text)
    places = (tokens[0] == CODER.MASK).nonzero()[:, 0].tolist()
    with torch.no_grad(), record_attention() as seen:
        p = bert.predict(tokens)[0, places].softmax(-1)
    maps = torch.stack([seen.calls[layer][0].weights[0].mean(0) for layer in attention.layers(bert)])
    words = [CODER.tokens[i] for i in tokens[0].tolist()]
    return Masked(words, places, truths, p, maps[:, places].transpose(0, 1))


@dataclass(frozen=True)
class Judged:
    """
    Attributes:
        words: T. z: log-odds of the fine-tuned encoder. p: of it, and of the frozen one.
        looks: where <cls> looks in each layer, mean over heads: (L, T).
    """

    words: list[str]
    z: float
    p: tuple[float, float]
    looks: Tensor


def judged(reviews: SentenceClassifier, frozen_reviews: SentenceClassifier, review: str) -> Judged:
    """Does a review recommend?"""
    tokens = torch.tensor([CODER.encode_parts(review)])
    with torch.no_grad(), record_attention() as seen:
        z = reviews.logit(tokens)[0]
    with torch.no_grad():
        other = frozen_reviews.logit(tokens)[0]
    maps = [seen.calls[layer][0].weights[0].mean(0)[0] for layer in attention.layers(reviews)]
    words = [CODER.tokens[i] for i in tokens[0].tolist()]
    p = float(z.sigmoid()), float(other.sigmoid())
    return Judged(words, float(z), p, torch.stack(maps))


def tagged(names: TokenClassifier, frozen_names: TokenClassifier, news: str) -> tuple[list[str], Tensor]:
    """Words, and p of the four tags of each, fine-tuned and frozen: (2, 4, T)."""
    tokens = torch.tensor([CODER.encode_parts(news)])
    with torch.no_grad():
        p = torch.stack([model.predict(tokens)[0].softmax(-1).T for model in (names, frozen_names)])
    return [CODER.tokens[i] for i in tokens[0, 1:-1].tolist()], p[..., 1:-1]


@dataclass(frozen=True)
class Answer:
    """
    Attributes:
        words: of the passage, N. start, end: p of each place, (N,). scores: (N, N), NaN where not valid.
        span: first and last place of the best one.
    """

    words: list[str]
    start: Tensor
    end: Tensor
    scores: Tensor
    span: tuple[int, int]

    @property
    def text(self) -> str:
        return " ".join(self.words[self.span[0] : self.span[1] + 1])


def answered(questions: SpanExtractor, question: str, passage: str) -> Answer:
    """Probabilities of all spans of a passage.

    Raises:
        UserError: question and passage together are too long.
    """
    row = CODER.encode_parts(question, passage)
    if len(row) > 64:
        raise UserError(f"Question and passage have {len(row)} tokens: together 64 are read.")
    tokens = torch.tensor([row])
    with torch.no_grad():
        start, end = questions.predict(tokens).unbind(1)
        here = questions.passage(tokens)
        scores = span_scores(start, end, here)[0].exp()
        span = questions.answer(tokens)[0][0].tolist()
    at = here[0].nonzero()[:, 0]
    inner = scores[at][:, at].where(torch.ones(len(at), len(at)).triu() > 0, torch.nan)
    first = int(at[0])
    p_s, p_e = (each.softmax(-1)[0, at] for each in (start, end))
    words = [CODER.tokens[i] for i in tokens[0, at].tolist()]
    return Answer(words, p_s, p_e, inner, (span[0] - first, span[1] - first))


# --- In words ----------------------------------------------------------------------------------------


def captions(one: Masked) -> list[str]:
    """The likeliest word at each mask."""
    count = len(one.words) - 2
    rest = f"{len(one.places)} of {count} words are hidden: the other places add nothing to the loss."
    names = [one.top(k)[0][0] for k in range(len(one.places))]
    return [f"Mask {k + 1}: {name} with {float(one.p[k].max()):.3f}. {rest}" for k, name in enumerate(names)]


def loss(one: Masked) -> str:
    """The loss with its terms, LaTeX; without a known word what is computed."""
    known = one.known[:4]
    if not known or len(known) < len(one.places):
        return r"p(x_t \mid \tilde x) = \text{softmax}(E\,h_t + c)"
    terms = " + ".join(f"{-torch.tensor(p).log().item():.3f}" for p in known)
    value = sum(-torch.tensor(p).log().item() for p in known) / len(known)
    return (
        r"\mathcal{L} = \frac{1}{|M|} \sum_{t \in M} -\log p(x_t \mid \tilde x) = "
        rf"\frac{{1}}{{{len(known)}}} ({terms}) = {value:.3f}"
    )
