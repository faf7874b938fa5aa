"""Fill in what each algorithm computes, frame by frame: values and colours of the nodes, the ways taken, the
sum with its numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pages.latent.hidden_markov.lens import Algorithm, Found


@dataclass(frozen=True)
class Film:
    """One algorithm on one sequence, F frames.

    Attributes:
        values: (F, T, K) what stands at each node, NaN where nothing does yet.
        colours: (F, T, K) the same over its sum at that t, 0 where nothing stands.
        ways: (F, T − 1, K, K) which transitions are drawn.
        path: (F, T) the best path as far as it is known, −1 elsewhere.
        captions, equations: F.
    """

    values: Tensor
    colours: Tensor
    ways: Tensor
    path: Tensor
    captions: list[str]
    equations: list[str]


def number(v: float) -> str:
    """A number in LaTeX, three digits."""
    text = f"{v:.3g}" if v == 0 or v >= 1e-3 else f"{v:.2e}"
    digits, e, power = text.partition("e")
    return rf"{digits}\cdot 10^{{{int(power)}}}" if e else digits


def film(result: Found, algorithm: Algorithm, states: Sequence[str]) -> Film:
    """All frames of an algorithm."""
    t, k = result.b.shape
    table = {
        "forward": result.alpha, "backward": result.beta, "smoothing": result.gamma, "Viterbi": result.delta
    }[algorithm]  # fmt: skip
    orders = {"backward": list(range(t - 1, -1, -1)), "Viterbi": [*range(t), *range(t - 1, -1, -1)]}
    order = orders.get(algorithm, list(range(t)))
    shape = (len(order), t, k)
    values = torch.full(shape, torch.nan, dtype=torch.float64)
    ways = torch.zeros(len(order), max(t - 1, 0), k, k, dtype=torch.bool)
    path = torch.full((len(order), t), -1)
    captions, equations = [], []
    for f, at in enumerate(order):
        back = algorithm == "Viterbi" and f >= t
        done = slice(at, t) if algorithm == "backward" else slice(0, t if back else at + 1)
        values[f, done] = table[done]
        if algorithm == "Viterbi":
            upto = t if back else at + 1
            for s in range(1, upto):
                ways[f, s - 1, result.pointers[s], torch.arange(k)] = True
            if back:
                path[f, at:] = result.path[at:]
        elif algorithm == "backward" and at < t - 1:
            ways[f, at] = result.model.transition > 0
        elif algorithm in ("forward", "smoothing") and at:
            ways[f, at - 1] = result.model.transition > 0
        caption, equation = caption_and_equation(result, algorithm, at, back, states)
        captions.append(caption)
        equations.append(equation)
    sums = values.nansum(2, keepdim=True)
    colours = (values / sums.clamp(min=1e-300)).nan_to_num(0.0)
    return Film(values, colours, ways, path, captions, equations)


def caption_and_equation(
    result: Found, algorithm: Algorithm, at: int, back: bool, states: Sequence[str]
) -> tuple[str, str]:
    """Caption and equation of one frame, with the numbers of its likeliest state."""
    model, last = result.model, len(result.b) - 1
    a = model.transition
    if back:
        k = int(result.path[at])
        if at == last:
            return (
                f"Back: the best path ends in the state with the largest δ, {states[k]}.",
                rf"z_{{{at + 1}}}=\mathrm{{argmax}}_k\;\delta_{{{at + 1}}}(k),\quad "
                rf"p(x,z)={number(result.best)}",
            )
        into = int(result.path[at + 1])
        return (
            f"Back: the way into {states[into]} came from {states[k]}.",
            rf"z_{{{at + 1}}}=\mathrm{{argmax}}_j\;\delta_{{{at + 1}}}(j)\,A_{{j,{into + 1}}}",
        )
    if algorithm == "smoothing":
        k = int(result.gamma[at].argmax())
        return (
            f"t = {at + 1}: with all observations, {states[k]} has {float(result.gamma[at, k]):.3f}.",
            rf"\gamma_{{{at + 1}}}({k + 1})=\frac{{\alpha\beta}}{{p(x)}}="
            rf"\frac{{{number(float(result.alpha[at, k]))}\cdot {number(float(result.beta[at, k]))}}}"
            rf"{{{number(result.total)}}}={number(float(result.gamma[at, k]))}",
        )
    if algorithm == "backward":
        k = int(result.beta[at].argmax())
        if at == last:
            return f"t = {at + 1}: nothing comes after it.", rf"\beta_{{{at + 1}}}=1"
        terms = [
            f"{number(float(a[k, j]))}\\cdot {number(float(result.b[at + 1, j]))}"
            f"\\cdot {number(float(result.beta[at + 1, j]))}"
            for j in range(model.states)
        ]
        return (
            f"t = {at + 1}: from {states[k]}, all that comes after has {float(result.beta[at, k]):.3g}.",
            rf"\beta_{{{at + 1}}}({k + 1})={'+'.join(terms)}={number(float(result.beta[at, k]))}",
        )
    table, letter = (result.alpha, r"\alpha") if algorithm == "forward" else (result.delta, r"\delta")
    k = int(table[at].argmax())
    b = number(float(result.b[at, k]))
    if not at:
        start = number(float(model.initial[k]))
        caption = f"t = 1: {states[k]} begins with {float(table[0, k]):.3g}."
        return caption, rf"{letter}_1({k + 1})=\pi b={start}\cdot {b}={number(float(table[0, k]))}"
    terms = [f"{number(float(table[at - 1, j]))}\\cdot {number(float(a[j, k]))}" for j in range(model.states)]
    value = number(float(table[at, k]))
    if algorithm == "forward":
        return (
            f"t = {at + 1}: into {states[k]} lead {model.states} ways; all are added up.",
            rf"\alpha_{{{at + 1}}}({k + 1})={b}\,({'+'.join(terms)})={value}",
        )
    return (
        f"t = {at + 1}: of {model.states} ways into {states[k]} the best is kept, that from "
        f"{states[int(result.pointers[at, k])]}.",
        rf"\delta_{{{at + 1}}}({k + 1})={b}\,\max(" + r",\;".join(terms) + rf")={value}",
    )
