r"""A selective state-space model at work: gates and states token by token, its scan, the hold of its input.

    Δ_t = softplus(z_t),   h_t = e^{Δ_t A} h_{t−1} + B̄_t u_t,   σ(z_t) = 1 − e^{−Δ_t}
    A = −1, B = 1, zero-order hold:   h_t = (1 − σ(z_t)) h_{t−1} + σ(z_t) x_t;    shortcut: B̄ = Δ_t

σ(z_t) is the share that a state with A = −1 forgets and writes at token t; training moves A. The convolution
of four taps stands before the gate: it may open up to three tokens behind the one that it is for.

Shapes: T tokens with the questions, D channels in order of how far they open behind data, N states of each.

References: Gu, Dao 2023, arXiv:2312.00752, theorem 1; [LLM] part 4.
"""

from dataclasses import dataclass
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.algorithmic import CLASSES, SelectiveCopying
from lab.errors import UserError
from lab.lenses import typed
from lab.lenses.scan_rounds import Rounds, rounds_of
from modules.transformer.mamba import Mamba, Selection, SelectiveSSM
from modules.transformer.mixer_tagger import MixerTagger
from modules.transformer.scan import scan
from modules.transformer.stream import record_stream
from pages.transformer.selective_scan.room import MOST, NOISE, SEQUENCES

ASKED, ELEMENTS = 4, 8  # questions behind a sequence; elements of the scan that is drawn
BEHIND = 3  # tokens that the oldest of the four taps lies behind the newest
OPTIONS = ("it forgets and writes nothing", "it replaces the state by the input", "it takes their mean")


# --- What a reader types --------------------------------------------------------------------------------


def sequence(text: str) -> Tensor:
    """Tokens (MOST,) of a text; noise is added where there are fewer.

    Raises:
        UserError: a character is neither data nor noise, or there are too many.
    """
    signs = "".join(text.split())
    strange = [sign for sign in signs if sign != NOISE and sign not in "01234567"]
    if strange:
        raise UserError(f"“{strange[0]}” is neither a data token, 0 to {CLASSES - 1}, nor {NOISE} for noise.")
    if len(signs) > MOST:
        raise UserError(f"The sequence has {len(signs)} tokens: the model was trained on {MOST}.")
    ids = [SelectiveCopying.NOISE if sign == NOISE else int(sign) for sign in signs.ljust(MOST, NOISE)]
    return torch.tensor(ids)


def says(text: str) -> str:
    """What was decided in reading a sequence, "" for nothing."""
    signs = "".join(text.split())
    count, parts = len(signs) - signs.count(NOISE), []
    if len(signs) < MOST:
        parts.append(f"Noise is added up to {MOST} tokens.")
    if count != ASKED:
        parts.append(f"{count} data tokens: the model was trained on {ASKED}.")
    return " ".join(parts)


def numbers(text: str, what: str) -> list[float]:
    values, _ = typed.named(text, 16, -20, 20)
    if not values:
        raise UserError(f"There is no number in {what}: type up to 16, such as 1 2 0 −1.")
    return values


def gates(text: str) -> list[float]:
    return numbers(text, "the row of z")


def inputs(text: str) -> list[float]:
    return numbers(text, "the row of x")


# --- A model at work ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Watched:
    """One layer while it reads a sequence.

    Attributes:
        names: T tokens. order: channels, by how much farther their gates open behind data than at noise.
        gate: σ(z) (T, D), in that order. decay, write, states: (T, D, N), likewise.
        answers, wanted: what the model says at the questions, and the data.
    """

    names: list[str]
    order: list[int]
    gate: Tensor
    decay: Tensor
    write: Tensor
    states: Tensor
    answers: list[int]
    wanted: list[int]


@torch.no_grad()
def selection(model: MixerTagger, tokens: Tensor, layer: int) -> tuple[Selection, Tensor, Tensor]:
    """What a layer does with a sequence and its questions; the tokens (T,), and logits (T, K)."""
    x = torch.cat([tokens, torch.full((ASKED,), SelectiveCopying.QUESTION)])
    block: Any = model.blocks[layer - 1]
    with record_stream() as seen:
        logits = model.predict(x[None])[0]
    return cast(Mamba, block.mixer).mix(block.mixer_norm(seen.values[block, "in"]))[1], x, logits


def gate_of(done: Selection) -> Tensor:
    """σ(z) of Δ = softplus(z): (T, D)."""
    return -(-done.delta[0]).expm1()


def opening(model: MixerTagger, layer: int) -> Tensor:
    """How much farther each gate opens BEHIND tokens behind data than where all taps see noise, on one
    sequence: (D,)."""
    done, x, _ = selection(model, sequence(SEQUENCES["Four"]), layer)
    gate, data = gate_of(done), x < CLASSES
    behind = torch.arange(len(x))[data] + BEHIND
    taps = F.pad(data.float(), (BEHIND, 0), value=1.0).unfold(0, BEHIND + 1, 1).sum(1)  # data that t sees
    quiet = (taps == 0) & (x == SelectiveCopying.NOISE)
    return gate[behind].mean(0) - gate[quiet].mean(0)


def watched(tokens: Tensor, selective: bool, layer: int, mamba: MixerTagger, twin: MixerTagger) -> Watched:
    """A layer of one of the two models on a sequence, with its questions."""
    model = mamba if selective else twin
    done, x, logits = selection(model, tokens, layer)
    order = (opening(model, layer) * 1e4).round().argsort(descending=True, stable=True)
    names = [str(i) if i < CLASSES else NOISE if i == SelectiveCopying.NOISE else "?" for i in x.tolist()]
    return Watched(
        names, order.tolist(), gate_of(done)[:, order], done.decay[0][:, order], done.write[0][:, order],
        done.states[0][:, order], logits[-ASKED:].argmax(-1).tolist(), x[x < CLASSES].tolist(),
    )  # fmt: skip


def right(found: Watched) -> str:
    """Answers beside the data, in words."""
    said, wanted = (" ".join(map(str, each)) or "nothing" for each in (found.answers, found.wanted))
    return f"Asked for the data, the model says {said}; they are {wanted}."


def captions(found: Watched, channel: int) -> list[str]:
    """What the chosen channel does at each token."""
    c = channel - 1
    kinds = {NOISE: "noise", "?": "question"}
    return [
        f"Token {t + 1}, {kinds.get(name, f'data {name}')}: the gate of channel {channel} is "
        f"{float(found.gate[t, c]):.3f}; its first state is {float(found.states[t, c, 0]):.3f}."
        for t, name in enumerate(found.names)
    ]


def equations(found: Watched, channel: int) -> list[str]:
    """The step of the channel's first state at each token, LaTeX."""
    c, texts = channel - 1, []
    for t in range(len(found.names)):
        before = float(found.states[t - 1, c, 0]) if t else 0.0
        decay, write, after = (float(of[t, c, 0]) for of in (found.decay, found.write, found.states))
        texts.append(
            rf"h_t = e^{{\Delta_t A}} h_{{t-1}} + \bar B u_t = {decay:.3f}\cdot({before:.3f}) {write:+.3f}"
            rf" = {after:.3f},\qquad \sigma(z_t) = {float(found.gate[t, c]):.3f}"
        )
    return texts


def rounds(found: Watched, channel: int) -> Rounds:
    """The scan of a channel's first state over the first ELEMENTS tokens."""
    c = channel - 1
    return rounds_of(found.decay[:ELEMENTS, c, 0].double(), found.write[:ELEMENTS, c, 0].double())


def apart(found: Rounds) -> float:
    """Largest difference of the last round from the loop."""
    return float((found.b[-1] - found.states).abs().max())


# --- Zero-order hold and the shortcut -----------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """
    Attributes:
        x, gate, delta: (T,). zoh, euler: h (T,).
    """

    x: Tensor
    gate: Tensor
    delta: Tensor
    zoh: Tensor
    euler: Tensor


def held(z: list[float], x: list[float]) -> Held:
    """N = 1, A = −1, B = 1: states by zero-order hold and by the shortcut.

    Raises:
        UserError: there are not as many z as x.
    """
    if len(z) != len(x):
        raise UserError(f"z has {len(z)} numbers, x {len(x)}: give both equally many.")
    of_z, of_x = torch.tensor(z, dtype=torch.float64), torch.tensor(x, dtype=torch.float64)
    delta = F.softplus(of_z, threshold=50)
    decay = (-delta).exp()[None]  # (1, T)
    zoh = scan(decay, (1 - decay) * of_x, method="loop")[0]
    return Held(of_x, of_z.sigmoid(), delta, zoh, scan(decay, delta * of_x, method="loop")[0])


def held_captions(found: Held) -> list[str]:
    return [
        f"Step {t + 1}: gate {float(g):.4f}; zero-order hold has {float(a):.4g}, the shortcut {float(b):.4g}."
        for t, (g, a, b) in enumerate(zip(found.gate, found.zoh, found.euler, strict=True))
    ]


def held_equations(found: Held) -> list[str]:
    texts = []
    for t in range(len(found.x)):
        before = float(found.zoh[t - 1]) if t else 0.0
        g, x, h = float(found.gate[t]), float(found.x[t]), float(found.zoh[t])
        texts.append(
            rf"h_t = (1-\sigma(z_t))\,h_{{t-1}} + \sigma(z_t)\,x_t = {1 - g:.4f}\cdot({before:.4f}) + "
            rf"{g:.4f}\cdot({x:g}) = {h:.4f},\qquad \Delta_t = {float(found.delta[t]):.4f}"
        )
    return texts


SOURCES = (SelectiveSSM.matrices, SelectiveSSM.recur, Mamba.mix)
