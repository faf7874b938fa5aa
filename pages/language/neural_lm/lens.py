"""A feed-forward language model as it learns, beside two counts of the same text.

Corpus, order n and what is held out are the same for all three: the network (Bengio et al. 2003), counts with
add-one smoothing, and counts by Kneser-Ney.

Shapes: `N` places, `T` = n − 1 tokens of context, `V` tokens.

References: [LLM] neural LMs; Bengio et al. 2003.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules import grammar, pydocs
from datamodules.multi30k import Sentences, contexts
from datamodules.tokenizer import ASCII, CharTokenizer, Tokenizer, WordTokenizer
from lab.errors import UserError
from lab.lenses.embeddings import aligned
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.language import word_vectors as wv
from modules.language.bengio import Bengio
from modules.language.ngram import NGram

DOCS, TOY, OWN = "Python documentation", "class toy", "own text"
CHARACTERS = 40_000  # of the documentation
MAPPED = 16  # tokens on the map
FRAMES = 40  # how often a training is looked at


@dataclass(frozen=True)
class Corpus:
    """A text in two parts, each a list of token lists: lines of words, or one line of characters."""

    coder: Tokenizer
    train: list[list[int]]
    test: list[list[int]]
    discount: float | None = None  # of Kneser-Ney; None estimates it

    @property
    def by_words(self) -> bool:
        return isinstance(self.coder, WordTokenizer)


def corpus(name: str, written: str = "", unit: str = "words") -> Corpus:
    """Training and held-out part: of the toy the hidden sentence, of lines every tenth, of characters the
    last tenth.

    Raises:
        UserError: the text is too short to hold anything out.
    """
    if name == TOY:
        train = [s for s in grammar.sentences() if s != grammar.HIDDEN]
        coder: Tokenizer = grammar.tokenizer()
        return Corpus(coder, [coder.encode(s) for s in train], [coder.encode(grammar.HIDDEN)], 0.75)
    if name == DOCS or unit == "characters":
        text = pydocs.text()[:CHARACTERS] if name == DOCS else written
        if len(text) < 100:
            raise UserError(f"The text has {len(text)} characters: write at least 100.")
        coder = CharTokenizer(ASCII if name == DOCS else sorted(set(text)))
        ids, border = coder.encode(text), int(0.9 * len(text))
        return Corpus(coder, [ids[:border]], [ids[border:]])
    lines = [line for line in written.splitlines() if line.strip()]
    if len(lines) < 4:
        raise UserError(f"The text has {len(lines)} lines: write at least four, a sentence a line.")
    held = lines[3::10]
    kept = [line for n, line in enumerate(lines) if n % 10 != 3]
    coder = WordTokenizer.train(kept)
    return Corpus(coder, [coder.encode(line) for line in kept], [coder.encode(line) for line in held])


def places(result: Corpus, part: list[list[int]], T: int) -> tuple[Tensor, Tensor]:
    """Contexts (N, T) and the tokens (N,) predicted from them. Characters begin after the first T.

    Raises:
        UserError: fewer characters than a context has.
    """
    if result.by_words:
        return contexts(part, T)
    ids = torch.tensor(part[0])
    if len(ids) <= T:
        raise UserError("The held-out tenth is shorter than a context: write more, or lower n.")
    return ids.unfold(0, T, 1)[:-1], ids[T:]


def counted(result: Corpus, n: int, smoothing: str) -> NGram:
    """n-grams of the training part."""
    if result.by_words:
        ends = {"bos": WordTokenizer.BOS, "eos": WordTokenizer.EOS}
        model = NGram(len(result.coder), n, smoothing, discount=result.discount, **ends)  # type: ignore[arg-type]
        lines = Sentences(result.train)
        model.count((lines.tokens, lines.targets))
    else:
        model = NGram(len(result.coder), n, smoothing)  # type: ignore[arg-type]
        model.fit(torch.tensor(result.train))
    return model


def mean_nll(model: NGram, result: Corpus) -> float:
    """Mean nats of the held-out part, at the places that the network predicts too."""
    before, after = places(result, result.test, model.order - 1)
    p = [
        model.next_log_probs(b).gather(1, a[:, None])
        for b, a in zip(before.split(512), after.split(512), strict=True)
    ]
    return -float(torch.cat(p).mean())


@dataclass
class Progress:
    """A training so far.

    Attributes:
        network: as it is now. steps: looked at. train, test: mean nats there. states: its weights there.
    """

    network: Bengio
    steps: list[int] = field(default_factory=list)
    train: list[float] = field(default_factory=list)
    test: list[float] = field(default_factory=list)
    states: list[dict[str, Tensor]] = field(default_factory=list)

    def networks(self) -> Iterator[Bengio]:
        """The network as it was at each of `steps`: one copy, whose weights change under way."""
        network = deepcopy(self.network)
        for state in self.states:
            network.load_state_dict(state)
            yield network


def train(
    result: Corpus, n: int, d: int, hidden: int, rate: float, one_hot: bool, steps: int, batch: int = 256
) -> Iterator[tuple[float, Progress]]:
    """Adam on random places: the share done, and what is reached.

    Raises:
        UserError: see `places`.
    """
    x, y = places(result, result.train, n - 1)
    held = places(result, result.test, n - 1)
    generator = torch.Generator().manual_seed(0)
    settings: dict[str, Any] = {"embedding": "one-hot" if one_hot else "learned", "zero_output": True}
    network = seeded(lambda: Bengio(len(result.coder), n - 1, d, hidden, **settings))
    optimizer = torch.optim.Adam([p for p in network.parameters() if p.requires_grad], rate)
    progress, every = Progress(network), max(1, steps // FRAMES)

    def loss() -> Tensor:
        rows = torch.randint(len(y), (min(batch, len(y)),), generator=generator)
        return network.step((x[rows], y[rows]), "val")

    for done, train_loss in training_steps(loss, optimizer, steps):
        if done % every == 0 or done == steps:
            with torch.no_grad():
                test = network.step(held, "val")
            progress.steps.append(done)
            progress.train.append(train_loss)
            progress.test.append(float(test))
            progress.states.append({key: v.clone() for key, v in network.state_dict().items()})
            yield done / steps, progress


def read(result: Corpus, context: str) -> Tensor:
    """A context as tokens (1, T).

    Raises:
        UserError: a character outside the vocabulary.
    """
    try:
        return torch.tensor([result.coder.encode(context)], dtype=torch.int64)
    except ValueError as error:
        raise UserError(str(error)) from None


def next_tokens(result: Corpus, counts: NGram, network: Bengio | None, context: str) -> dict[str, Tensor]:
    """P(next | context) by Kneser-Ney and by the network: name -> (V,).

    Raises:
        UserError: a character outside the vocabulary.
    """
    prefix = read(result, context)
    p = {"Kneser-Ney": counts.next_log_probs(prefix)[0].exp()}
    if network is not None:
        with torch.no_grad():
            p["network"] = network.next_log_probs(prefix)[0].exp().double()
    return p


@dataclass(frozen=True)
class Film:
    """Activities of a network over a context and its tokens as it learns, at F looks.

    Attributes:
        next: P(next | context), (F, V). points: the most frequent tokens in the plane, (F, N, 2), each look
            turned to the one after it. tokens: N.
    """

    next: Tensor
    points: Tensor
    tokens: list[str]


def film(result: Corpus, progress: Progress, context: str) -> Film:
    """The whole training, look by look.

    Raises:
        UserError: a character outside the vocabulary.
    """
    prefix = read(result, context)
    p, points, tokens = [], [], list[str]()
    for network in progress.networks():
        with torch.no_grad():
            p.append(network.next_log_probs(prefix)[0].exp().double())
        drawn, tokens = plane(result, network)
        points.append(drawn)
    return Film(torch.stack(p), aligned(torch.stack(points)), tokens)


def plane(result: Corpus, network: Bengio, n: int = MAPPED) -> tuple[Tensor, list[str]]:
    """The n most frequent tokens in the plane in which their vectors differ most: (n, 2), and the tokens.

    With one-hot inputs a token's vector is the column of the first layer that it switches on as the last of
    the context.
    """
    ids = torch.tensor([i for line in result.train for i in line])
    top = ids.bincount(minlength=len(result.coder)).argsort(descending=True, stable=True)[:n]
    top = top[torch.isin(top, ids)]
    table = network.embedding.weight.detach()
    if network.one_hot:
        H = network.first.weight.detach()
        table = H.reshape(len(H), network.context, -1)[:, -1].T
    return wv.plane(F.normalize(table[top], dim=1)), [result.coder.tokens[i] for i in top.tolist()]
