"""word2vec watched: a window slides over the reader's text, and every place moves the vectors.

One step of gradient ascent on log p, by hand:

    skip-gram   v_c  += rate · (mean of u_o − Σ_x p(x | c) u_x)              the contexts are predicted
    CBOW        v_o  += rate · (u_c − Σ_x p(x | contexts) u_x) / m           the centre is predicted

and for the table of predicted words u_x += rate · (1[x came] − p(x)) · given vector. In CBOW the given
vector is the mean v̄ of m context words, so each of them gets 1/m of the gradient.

Shapes: `V` words, `d` dimensions, `k` words on each side.

References: [GM] §1.6.1; Mikolov et al. 2013, arXiv:1301.3781.
"""

from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.cooccurrence import counts, windows
from datamodules.tokenizer import words
from lab.errors import UserError
from lab.lenses.training import training_steps
from lab.seeding import seeded
from modules.language.word2vec import CBOW, SkipGram
from modules.trace import Step, Trace

Method = Literal["skip-gram", "CBOW"]
PASSES = (1, 5, 20)
SIZES = (1, 2, 4, 8, 16)  # dimensions that are compared


@dataclass(frozen=True)
class Text:
    """A text as windows.

    Attributes:
        read: its words. vocabulary: the different ones. centres: (N,). contexts: (N, 2k), −1 for none.
    """

    read: list[str]
    vocabulary: list[str]
    centres: Tensor
    contexts: Tensor

    def pairs(self, method: Method) -> Tensor:
        """Number of times that each word was predicted from each given: (G, V). Given is a centre, or all
        the words around one, in any order."""
        V = len(self.vocabulary)
        if method == "skip-gram":
            return counts(self.centres, self.contexts, V)
        _, row = self.contexts.sort(dim=1).values.unique(dim=0, return_inverse=True)
        return torch.bincount(row * V + self.centres, minlength=(int(row.max()) + 1) * V).reshape(-1, V)

    def floor(self, method: Method) -> float:
        """The conditional entropy of what is predicted given what is given, nats: no model does better."""
        share = self.pairs(method).double()
        share = share / share.sum()
        return -float(torch.special.xlogy(share, share / share.sum(1, keepdim=True).clamp(min=1e-300)).sum())


def read(text: str, k: int) -> Text:
    """Windows of a text, taken as one line.

    Raises:
        UserError: fewer than 3 words, or more than 60.
    """
    results = [w for w in words(text) if w.isalnum()]
    if not 3 <= len(results) <= 60:
        raise UserError(f"The text has {len(results)} words: write 3 to 60.")
    vocabulary = list(dict.fromkeys(results))
    ids = torch.tensor([vocabulary.index(w) for w in results])
    return Text(results, vocabulary, *windows([ids], k))


def model(text: Text, d: int, method: Method, seed: int = 0) -> SkipGram | CBOW:
    """Random vectors of both tables, float64."""
    generator = torch.Generator().manual_seed(seed)
    V = len(text.vocabulary)
    kind = SkipGram if method == "skip-gram" else CBOW
    result = seeded(lambda: kind(V, d)).double().requires_grad_(False)
    for parameter in (result.v, result.u):
        parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.5)
    return result


def loss(skip_gram: SkipGram | CBOW, text: Text) -> float:
    """Mean nats of everything the text predicts."""
    return float(skip_gram.step((text.centres, text.contexts), "val"))


def learn(skip_gram: SkipGram | CBOW, centre: Tensor, others: Tensor, rate: float) -> dict[str, Any]:
    """One place: move both tables. centre (), others (m,).

    Returns:
        `p` (V,); `observed`, `expected`, `gradient` (d,); `before`, `after` (d,), the given vector.
    """
    skip = isinstance(skip_gram, SkipGram)
    given, came = (centre[None], others) if skip else (others, centre[None])
    before = skip_gram.v[given].mean(0)
    p = skip_gram.predict_from(before[None])[0].exp()
    observed, expected = skip_gram.u[came].mean(0), p @ skip_gram.u
    gradient = observed - expected
    errors = torch.bincount(came, minlength=len(p)).to(p.dtype) / len(came) - p  # 1[x came] − p(x), averaged
    skip_gram.u.add_(rate * errors[:, None] * before)
    skip_gram.v.index_add_(0, given, (rate / len(given) * gradient).expand(len(given), -1).contiguous())
    return {
        "p": p, "observed": observed, "expected": expected, "gradient": gradient,
        "before": before, "after": skip_gram.v[given].mean(0),
    }  # fmt: skip


def slide(text: str, k: int, d: int, rate: float, method: Method = "skip-gram", seed: int = 0) -> Trace:
    """One pass, one step a place.

    Returns:
        Trace with, a step: what `learn` returns, `given` and `predicted` (places in the text), `share` of
        the gradient that each given word gets, `u`, `v` (V, d) before the step, `loss` of the whole text.
        Result: dict(words, vocabulary, floor, plane), plane (d, 2) being two directions to look along.

    Raises:
        UserError: fewer than 3 words, or more than 60.
    """
    window = read(text, k)
    result = model(window, d, method, seed)
    places = torch.arange(-k, k + 1)[torch.arange(2 * k + 1) != k]
    steps: list[Step] = []
    for t, (centre, around) in enumerate(zip(window.centres, window.contexts, strict=True)):
        there = around >= 0
        near = (t + places[there]).tolist()
        given, predicted = ([t], near) if method == "skip-gram" else (near, [t])
        values: dict[str, Any] = {
            "u": result.u.clone(), "v": result.v.clone(), "loss": loss(result, window), "given": given,
            "predicted": predicted, "share": 1 / len(given),
        }  # fmt: skip
        values |= learn(result, centre, around[there], rate)
        names = [", ".join(window.read[n] for n in side) for side in (given, predicted)]
        part = "" if len(given) == 1 else rf"\tfrac{{1}}{{{len(given)}}}"
        came, due = column(values["observed"]), column(values["expected"])
        steps.append(
            Step(
                f"Given {names[0]}: predict {names[1]}.",
                values,
                rf"\Delta v = {rate:g}\cdot {part}\Bigl(\bar u_{{\text{{came}}}} - \sum_x p(x)\,u_x\Bigr) = "
                rf"{rate:g}\cdot {part}\Bigl({came} - {due}\Bigr)"
                rf" = {column(rate / len(given) * values['gradient'])}",
            )
        )
    results = {
        "words": window.read, "vocabulary": window.vocabulary, "floor": window.floor(method),
        "plane": plane(result),
    }  # fmt: skip
    return Trace(steps, results)


def plane(skip_gram: SkipGram | CBOW) -> Tensor:
    """The two directions along which the vectors of both tables are longest: (d, 2)."""
    d = skip_gram.u.shape[1]
    if d <= 2:
        return torch.eye(d, 2, dtype=skip_gram.u.dtype)
    return torch.linalg.svd(torch.cat([skip_gram.u, skip_gram.v]), full_matrices=False).Vh[:2].T.contiguous()


def flat(trace: Trace) -> dict[str, Tensor]:
    """The steps' u (T, V, 2), before, observed, expected and after (T, 2) along the trace's directions."""
    directions = trace.result["plane"]
    return {
        name: torch.stack([step.values[name] for step in trace.steps]) @ directions
        for name in ("u", "before", "observed", "expected", "after")
    }


def passes(text: str, k: int, d: int, rate: float, method: Method, n: int = PASSES[-1]) -> Tensor:
    """Loss before learning and after each of n passes through the text, window by window: (n + 1,)."""
    window = read(text, k)
    result = model(window, d, method)
    losses = [loss(result, window)]
    for _ in range(n):
        for centre, around in zip(window.centres, window.contexts, strict=True):
            learn(result, centre, around[around >= 0], rate)
        losses.append(loss(result, window))
    return torch.tensor(losses, dtype=torch.float64)


NEEDED = {  # passes, and why it does not take as many
    "1": "One pass moves vectors that start near 0 by little: all words are still about as likely.",
    "2 to 5": "The first passes gain little: products count only once the vectors have parted.",
    "6 to 20": "Rate and windows decide: at these the loss comes near earlier, or not in twenty passes.",
    "more": "There are few windows, and each pass sees all of them: twenty passes are enough.",
}
LOWER = {  # is the last loss, or not
    "yes": "A step is made for one window: it may undo what another has learned.",
    "no": "The steps add up: what one window teaches holds for the windows like it.",
}


def passes_needed(losses: Tensor, goal: float) -> str:
    """After how many passes a loss is at its goal: "1", "2 to 5", "6 to 20" or "more"."""
    there = (losses <= goal).nonzero().flatten().tolist()
    first = there[0] if there else len(losses)
    return "1" if first <= 1 else "2 to 5" if first <= 5 else "6 to 20" if first < len(losses) else "more"


def by_size(text: str, k: int, method: Method, sizes: tuple[int, ...], steps: int = 400) -> Tensor:
    """Loss that each number of dimensions reaches, after `steps` of Adam on the whole text: (len(sizes),).

    All sizes learn at once, in tables of the largest whose further dimensions stay 0.
    """
    window = read(text, k)
    V, largest = len(window.vocabulary), max(sizes)
    there = (window.contexts >= 0).double()
    near = F.one_hot(window.contexts.clamp(min=0), V) * there[..., None]  # (N, 2k, V)
    centre, around = F.one_hot(window.centres, V).double(), near.sum(1)
    if method == "skip-gram":
        weights, came = torch.eye(V, dtype=torch.float64), centre.T @ around  # (V, V), (V, V)
    else:
        weights, came = around / there.sum(1, keepdim=True), centre  # (N, V), (N, V)
    starts = [model(window, d, method) for d in sizes]
    v, u = (
        torch.stack(
            [F.pad(getattr(result, name).detach(), (0, largest - result.u.shape[1])) for result in starts]
        )
        for name in ("v", "u")
    )  # (S, V, largest)
    used = torch.arange(largest) < torch.tensor(sizes)[:, None, None]

    def nats() -> Tensor:
        log_p = (weights @ (v * used) @ (u * used).mT).log_softmax(-1)  # (S, rows, V)
        return -(came * log_p).sum((1, 2)) / came.sum()

    optimizer = torch.optim.Adam((v.requires_grad_(), u.requires_grad_()), 0.1)
    deque(training_steps(lambda: nats().sum(), optimizer, steps), maxlen=0)
    return nats().detach()


def column(vector: Tensor) -> str:
    """The first two entries as LaTeX, dots for more."""
    entries = [f"{float(x):.3f}" for x in vector[:2]] + ([r"\vdots"] if len(vector) > 2 else [])
    return r"\begin{pmatrix} " + r" \\ ".join(entries) + r" \end{pmatrix}"
