"""What an encoder makes of hidden words.

L = 1/|M| Σ_{t ∈ M} −log p(x_t | x̃)         a term at each hidden word, none elsewhere
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import attention
from lab.lenses.hidden_words import HIDDEN, Card, hide, predicts_words, strange, tokenizer
from modules.transformer.bert import BERT
from modules.transformer.recorder import record_attention

MOST = 60  # tokens, of the 64 that the encoders read, with <cls> and <sep>
TOP = 8  # candidates
fits = predicts_words  # what the room admits


def unknown(bert_card: Card, text: str) -> str:
    """Name the words that are read as unknown by the chosen model; "" where there is none."""
    words = strange(tokenizer(bert_card), text)
    return f"Not in its vocabulary, read as unknown: {', '.join(words[:5])}." if words else ""


def masked_text(text: str) -> str:
    """The text, [MASK] as <mask>.

    Raises:
        UserError: no word is hidden, or a bracket is open.
    """
    text = re.sub(r"\[mask\]", "<mask>", text, flags=re.I)
    bare = HIDDEN.sub(" ", text)
    if "[" in bare or "]" in bare:
        raise UserError("A bracket stands alone, or holds no single word: hide a word as in [bought].")
    if bare == text:
        raise UserError("No word is hidden: put one in brackets, as in [bought], or write <mask>.")
    return text


@dataclass(frozen=True)
class Masked:
    """
    Attributes:
        words: as they are read, T. places: of the K masks. targets: tokens that are hidden there, None where
            nobody knows.
        p: of the tokens of the vocabulary at each mask, (K, V).
        looks: where each mask looks, mean over heads: (K, L, T).
        vocabulary: how each token reads.
    """

    words: list[str]
    places: list[int]
    targets: list[int | None]
    p: Tensor
    looks: Tensor
    vocabulary: list[str]

    def top(self, k: int) -> tuple[list[str], Tensor]:
        """The likeliest words at mask k, and their probabilities."""
        p, ids = self.p[k].topk(min(TOP, len(self.vocabulary)))
        return [self.vocabulary[i] for i in ids.tolist()], p

    @property
    def known(self) -> list[float]:
        """p of the hidden words that are known."""
        rows = zip(self.p, self.targets, strict=True)
        return [float(p[target]) for p, target in rows if target is not None]


def masked(bert: BERT, bert_card: Card, text: str) -> Masked:
    """Candidates for the hidden words of a text, and what the masks look at.

    Raises:
        UserError: there are too many tokens.
    """
    coder = tokenizer(bert_card)
    tokens, targets = hide(coder, text)
    most = min(MOST, len(bert.encoder.positions.table) - 2)
    if (count := tokens.shape[1] - 2) > most:
        raise UserError(f"There are {count} words and signs: the encoder reads up to {most}.")
    places = (tokens[0] == coder.MASK).nonzero()[:, 0].tolist()
    with torch.no_grad(), record_attention() as seen:
        p = bert.predict(tokens)[0, places].softmax(-1)
    maps = torch.stack([seen.calls[layer][0].weights[0].mean(0) for layer in attention.layers(bert)])
    words = [coder.tokens[i] for i in tokens[0].tolist()]
    return Masked(words, places, targets, p, maps[:, places].transpose(0, 1), coder.tokens)


# --- In words ----------------------------------------------------------------------------------------


def about(bert_card: Card) -> str:
    """What an encoder has read, and how often it is right."""
    data = bert_card["data"]
    hides = (
        "It hides 15 % of the words: a language model has a loss at every word, but sees the left side alone."
    )
    if data.get("name") != "Gazette":
        return (
            f"The encoder has its own vocabulary, {len(tokenizer(bert_card)):,} tokens: a hidden word of "
            f"several pieces gets a mask for each. {hides}"
        )
    right = 100 * float(bert_card["metrics"]["test/acc"])
    return (
        f"Trained on {data['splits']['train']:,} articles of a templated gazette, the encoder is right on "
        f"{right:.1f} % of the hidden words of test articles; many cannot be known, such as a name. {hides} "
        "What one sentence says of another it has learned little: of two sales it does not know whose kite "
        "was red."
    )


def captions(one: Masked) -> list[str]:
    """The likeliest word at each mask."""
    count = len(one.words) - 2
    rest = f"{len(one.places)} of {count} words are hidden: the other places add nothing to the loss."
    names = [one.top(k)[0][0] for k in range(len(one.places))]
    return [f"Mask {k + 1}: {name} with {float(one.p[k].max()):.3f}. {rest}" for k, name in enumerate(names)]


def loss(one: Masked) -> str:
    """The loss with its terms, LaTeX; without a known word what is computed."""
    known = [-torch.tensor(p).log().item() for p in one.known]
    if not known or len(known) < len(one.places):
        return r"p(x_t \mid \tilde x) = \text{softmax}(E\,h_t + c)"
    terms = " + ".join([f"{value:.3f}" for value in known[:4]] + [r"\dots"] * (len(known) > 4))
    return (
        r"\mathcal{L} = \frac{1}{|M|} \sum_{t \in M} -\log p(x_t \mid \tilde x) = "
        rf"\frac{{1}}{{{len(known)}}} ({terms}) = {sum(known) / len(known):.3f}"
    )
