"""What layers on top of an encoder say of a text, after fine-tuning.

sentence   σ(w · h_cls + b)        word   softmax(W h_t + b)        span   p_s(s) p_e(e),  s ≤ e
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules import gazette
from lab.errors import UserError
from lab.lenses import attention
from lab.lenses.hidden_words import strange
from modules.transformer.bert_heads import SentenceClassifier, SpanExtractor, TokenClassifier, span_scores
from modules.transformer.recorder import record_attention
from pages.transformer.masked_words.lens import MOST

CODER = gazette.tokenizer()


def says(text: str) -> str:
    """Name the words that are read as unknown; "" where there is none."""
    words = strange(CODER, text)
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
    if len(row) > (most := len(questions.encoder.positions.table)):
        raise UserError(f"Question and passage have {len(row)} tokens: together {most} are read.")
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
