"""Captions and equations of the frames, and numbers of many digits in words."""

import numpy as np
from numpy.typing import NDArray

from modules.transformer.scaling_laws import Chinchilla
from pages.transformer.scaling_laws.lens import LARGE, SMALL, Budgets, Joint, chosen
from pages.transformer.scaling_laws.room import BUDGETS, TOKENS

Array = NDArray[np.float64]


def big(value: float) -> str:
    """A count in words of three figures: 32.5 B."""
    for size, unit in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def power_of_ten(value: float) -> str:
    """5.88 · 10²³, or 10²⁴."""
    mantissa, exponent = f"{value:.2e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    raised = str(int(exponent)).translate(str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"))
    return f"10{raised}" if mantissa == "1" else f"{mantissa} · 10{raised}"


def latex(value: float) -> str:
    """The same in LaTeX."""
    if 1e-2 <= value < 1e4:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def budget_captions(found: Budgets) -> list[str]:
    texts = []
    for i, C in enumerate(BUDGETS):
        N, D, loss = found.best[i]
        text = (
            f"C = {power_of_ten(C)}: best at {big(N)} parameters and {big(D)} tokens, {D / N:.3g} for each, "
        )
        text += f"loss {loss:.4f}."
        if found.served is not None:
            n, d, _ = found.served[i]
            text += f" With serving, {big(n)} and {big(d)} tokens reach it at the least cost."
        texts.append(text)
    return texts


def budget_equations(found: Budgets) -> list[str]:
    law, (a, _) = found.law, found.law.exponents
    size, data = rf"\frac{{{law.A:g}}}{{N^{{{law.alpha:g}}}}}", rf"\frac{{{law.B:g}}}{{D^{{{law.beta:g}}}}}"
    return [
        rf"L = {law.E:g} + {size} + {data},\quad N^* = {latex(N)},\; D^* = {latex(D)},"
        rf"\; N^* \propto C^{{{a:.3f}}}"
        for N, D, _ in found.best
    ]


def ratio_captions(found: dict[str, Array]) -> list[str]:
    return [
        f"C = {power_of_ten(C)}: " + ", ".join(f"{name} {ratio[i]:.3g}" for name, ratio in found.items())
        + " tokens per parameter."
        for i, C in enumerate(BUDGETS)
    ]  # fmt: skip


def ratio_equations(preset: str, own: Chinchilla) -> list[str]:
    law = chosen(preset, own)
    return [
        rf"\frac{{\alpha A}}{{N^{{*\alpha}}}} = \frac{{\beta B}}{{D^{{*\beta}}}},\quad 6 N^* D^* = {latex(C)}"
        rf"\;\Rightarrow\; \frac{{D^*}}{{N^*}} = \frac{{{latex(D)}}}{{{latex(N)}}} = {D / N:.3g}"
        for C in BUDGETS
        for N, D in [law.optimum(C)]
    ]


def joint_captions(found: Joint) -> list[str]:
    return [
        f"{big(SMALL)} parameters reach {loss:.3f} with {big(D)} tokens; {big(LARGE)} with {big(fewer)}, "
        f"{D / fewer:.3g} times fewer."
        for D, loss, fewer in zip(TOKENS, found.loss, found.fewer, strict=True)
    ]


def joint_equations(found: Joint) -> list[str]:
    return [
        r"L = \left[\left(\frac{N_c}{N}\right)^{\alpha_N/\alpha_D} + \frac{D_c}{D}\right]^{\alpha_D}"
        rf",\quad \frac{{{latex(D)}}}{{{latex(fewer)}}} = {D / fewer:.3g}"
        for D, fewer in zip(TOKENS, found.fewer, strict=True)
    ]
