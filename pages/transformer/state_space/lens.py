r"""A linear state-space model as recurrence, convolution and FFT; its step; a scan in rounds.

    exact output between the steps: zero-order hold with Δ/M for an input that is held over M such steps

Shapes: T steps, N states, F frames.

References: Gu, Goel, Ré 2021, arXiv:2111.00396; [LLM] part 4.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from lab.lenses.scan_rounds import Rounds, rounds_of
from modules.transformer.state_space import (
    METHODS,
    convolution,
    fft_convolution,
    kernel,
    recurrence,
    zero_order_hold,
)
from pages.transformer.state_space.room import DELTAS, DOUBLE, LEAKY, MOST, TURN, TWO

ABC = {  # A, B, C
    LEAKY: ([[-1.0]], [1.0], [1.0]),
    TWO: ([[-1.0, 0.5], [0.0, -2.0]], [1.0, 1.0], [1.0, -1.0]),
    TURN: ([[0.0, 1.0], [-1.0, 0.0]], [0.0, 1.0], [1.0, 0.0]),
    DOUBLE: ([[0.0, 1.0], [0.0, 0.0]], [0.0, 1.0], [1.0, 0.0]),
}
FINE = 20  # points of a step between its ends


def signal(text: str) -> list[float]:
    """Numbers of a text.

    Raises:
        UserError: there are none.
    """
    values, _ = typed.named(text, MOST, -9, 9)
    if not values:
        raise UserError("There is no number: type up to 16, such as 1 2 0 −1.")
    return values


def says(text: str) -> str:
    return typed.named(text, MOST, -9, 9)[1]


def double(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def matrices(system: str) -> tuple[Tensor, Tensor, Tensor]:
    A, B, C = map(double, ABC[system])
    return A, B, C


# --- Three forms -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forms:
    """
    Attributes:
        x, response: (T,). by_recurrence, by_convolution, by_fft: y (T,).
    """

    x: Tensor
    response: Tensor
    by_recurrence: Tensor
    by_convolution: Tensor
    by_fft: Tensor

    @property
    def apart(self) -> float:
        """Largest difference of the FFT from the recurrence."""
        return float((self.by_fft - self.by_recurrence).abs().max())


def forms(signal: list[float], system: str, delta: float, padded: bool) -> Forms:
    A, B, C = matrices(system)
    held, x = zero_order_hold(A, B, delta), double(signal)
    response = kernel(held, C, len(x))
    return Forms(
        x,
        response,
        recurrence(held, C, x),
        convolution(response, x),
        fft_convolution(response, x, 2 * len(x) if padded else len(x)),
    )


def form_captions(found: Forms) -> list[str]:
    return [
        f"Token {t}: recurrence {a:.4f}, convolution {b:.4f}, FFT {c:.4f}."
        for t, (a, b, c) in enumerate(
            zip(found.by_recurrence, found.by_convolution, found.by_fft, strict=True), start=1
        )
    ]


def form_equations(found: Forms) -> list[str]:
    """Output at each token as a sum over the tokens so far; the three newest are written out."""
    texts = []
    for t in range(len(found.x)):
        terms = "".join(
            rf"{found.response[lag]:+.3f}\cdot({found.x[t - lag]:.2g})" for lag in range(min(3, t + 1))
        )
        more = r"+\cdots" if t > 2 else ""
        texts.append(
            rf"y=C\,h=\sum_{{s\le t}}\bar K_{{t-s}}\,x_s={terms.removeprefix('+')}{more}"
            rf"={found.by_recurrence[t]:.4f}"
        )
    return texts


# --- Step size ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steps:
    """
    Attributes:
        exact: y between and at the steps (F, T FINE). outputs: method -> y (F, T).
        poles: method -> eigenvalues of Ā (F, N). continuous: eigenvalues of A (N,).
    """

    exact: Tensor
    outputs: dict[str, Tensor]
    poles: dict[str, Tensor]
    continuous: Tensor


def steps(signal: list[float], system: str) -> Steps:
    """All methods at every one of DELTAS."""
    A, B, C = matrices(system)
    x = double(signal)
    exact = [
        recurrence(zero_order_hold(A, B, delta / FINE), C, x.repeat_interleave(FINE)) for delta in DELTAS
    ]
    made = {name: [method(A, B, delta) for delta in DELTAS] for name, method in METHODS.items()}
    return Steps(
        torch.stack(exact),
        {name: torch.stack([recurrence(one, C, x) for one in each]) for name, each in made.items()},
        {name: torch.stack([torch.linalg.eigvals(one.A) for one in each]) for name, each in made.items()},
        torch.linalg.eigvals(A),
    )


def farthest(poles: Tensor) -> float:
    """|λ̄| of the pole that is farthest from 0."""
    return float(poles.abs().max())


def step_captions(found: Steps) -> list[str]:
    return [
        f"Δ = {delta:g}: the farthest pole is at "
        + ", ".join(f"{farthest(poles[f]):.2f} ({name})" for name, poles in found.poles.items())
        + "."
        for f, delta in enumerate(DELTAS)
    ]


def step_equations(found: Steps) -> list[str]:
    """The fastest pole by zero-order hold and by Euler."""
    pole = complex(found.continuous[found.continuous.abs().argmax()])
    texts = []
    for delta in DELTAS:
        held, euler = abs(np.exp(delta * pole)), abs(1 + delta * pole)
        texts.append(
            rf"|e^{{\Delta\lambda}}|={held:.3f},\qquad |1+\Delta\lambda|={euler:.3f},\qquad "
            rf"\Delta={delta:g},\;\lambda={complex_number(pole)}"
        )
    return texts


def complex_number(z: complex) -> str:
    if abs(z.imag) < 1e-9:
        return f"{z.real:.2g}"
    return rf"{z.real:.2g}{z.imag:+.2g}\,i"


# --- A scan in rounds --------------------------------------------------------------------------------


def scan(signal: list[float], decay: float) -> Rounds:
    b = double(signal)
    return rounds_of(torch.full_like(b, decay), b)
