"""A noise schedule and what it leaves of the data at every t."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import typed
from lab.lenses.attention import number
from lab.lenses.diffusion import stops
from modules.diffusion import schedule
from modules.diffusion.schedule import Schedule

GONE = 0.01  # SNR under which next to nothing of the data is left
MOST = 10  # typed ᾱ


def noise_schedule(
    kind: str, T: int, top: float, s: float, zero: bool, bars: Sequence[float] = ()
) -> Schedule:
    """The schedule of the controls; `top` is β at T = 1000, `s` the cosine's offset, `bars` of one's own."""
    if kind == "own":
        result = through(bars, T)
    else:
        result = schedule.linear(T, beta_end=top) if kind == "linear" else schedule.cosine(T, s)
    return schedule.zero_terminal(result) if zero else result


def chosen(kind: str, T: int, top: float, s: float, zero: bool, bars: Sequence[float]) -> Schedule:
    """The schedule that the controls ask for."""
    return noise_schedule(kind, T, top, s, zero, bars)


def typed_bars(text: str) -> list[float]:
    """Typed ᾱ.

    Raises:
        UserError: there are none, or one does not lie under the one before.
    """
    return falling(typed.named(text, MOST, 1e-9, 1.0)[0])


def left_out(text: str) -> str:
    """Part of typed ᾱ that is no number to be used, "" if nothing."""
    return typed.named(text, MOST, 1e-9, 1.0)[1]


def falling(bars: Sequence[float]) -> list[float]:
    """The same numbers.

    Raises:
        UserError: there are none, or one does not lie under the one before.
    """
    for before, bar in zip([1.0, *bars], bars, strict=False):
        if bar > 0.9999 * before:
            raise UserError(f"ᾱ falls from 1 on: {bar:g} must lie under {before:g}, so type a smaller one.")
    if not bars:
        raise UserError(f"Give 1 to {MOST} numbers between 0 and 1 that fall, such as 0.98 0.5 0.02.")
    return list(bars)


def through(bars: Sequence[float], T: int) -> Schedule:
    """One β over each of as many equal stretches as there are `bars`, after which ᾱ is what they say."""
    place = torch.arange(T + 1, dtype=torch.float64) * len(bars) / T
    before = place.floor().long().clamp(max=len(bars) - 1)
    logs = torch.tensor([1.0, *bars], dtype=torch.float64).log()
    return Schedule((logs[before] + (place - before) * logs.diff()[before]).exp())


def times(result: Schedule) -> list[int]:
    """The frames: t from 1 to T."""
    return [t + 1 for t in stops(result.T)]


def log_snr(result: Schedule) -> Tensor:
    """log₁₀ SNR_t for t = 1 … T, (T,); NaN where it is −∞."""
    values = result.snr[1:].log10()
    return torch.where(values.isfinite(), values, torch.nan)


def spent(result: Schedule) -> float:
    """Share of the steps at which SNR is below GONE."""
    return float((result.snr[1:] < GONE).double().mean())


def clipped(result: Schedule) -> int:
    """Steps whose β is the cap of 0.999, or 1."""
    return int((result.beta[1:] > 0.998999).sum())


def captions(result: Schedule) -> list[str]:
    """Caption of what is left at each frame."""
    return [
        f"t = {t}: {100 * float(result.alpha_bar[t].sqrt()):.1f} % of the data's size, noise of "
        f"{float((1 - result.alpha_bar[t]).sqrt()):.3f}."
        for t in times(result)
    ]


def equations(result: Schedule) -> list[str]:
    """ᾱ_t and SNR_t with their numbers."""
    return [
        rf"\bar\alpha_{{{t}}} = \prod_{{s \le {t}}} (1 - \beta_s) = "
        rf"{number(float(result.alpha_bar[t]))}, \quad "
        rf"\mathrm{{SNR}} = \frac{{\bar\alpha}}{{1 - \bar\alpha}} = {number(float(result.snr[t]))}"
        for t in times(result)
    ]
