"""What the page says of its numbers."""

import math

from torch import Tensor

from lab.lenses.attention import number
from pages.convolution.normalization.by_hand import Worked
from pages.convolution.normalization.cube import EQUAL, Cube
from pages.convolution.normalization.graphs import at_move, shorter
from pages.convolution.normalization.room import MOVES, NORMS, ROOT, STEPS
from pages.convolution.normalization.testing import Tested

# --- By hand --------------------------------------------------------------------------------------------

FORWARD = {
    "z": "the batch", "f1": r"\tfrac{1}{N}\sum_i z_i", "f2": r"z_i - f_1", "f3": "f_2^2",
    "f4": r"\tfrac{1}{N}\sum_i f_3", "f6": "1 / f_5", "f7": r"f_2\, f_6", "y": r"\gamma f_7 + \delta",
}  # fmt: skip
GRADIENT = {
    "y": r"\text{given}", "f7": r"\gamma\, \frac{\partial L}{\partial y}",
    "f6": r"\sum_i f_2 \frac{\partial L}{\partial f_7}", "f5": r"-f_6^2\, \frac{\partial L}{\partial f_6}",
    "f4": r"\frac{1}{2 f_5} \frac{\partial L}{\partial f_5}",
    "f3": r"\frac{1}{N} \frac{\partial L}{\partial f_4}",
    "f2": r"f_6 \frac{\partial L}{\partial f_7} + 2 f_2 \frac{\partial L}{\partial f_3}",
    "f1": r"-\sum_i \frac{\partial L}{\partial f_2}",
    "z": r"\frac{\partial L}{\partial f_2} + \frac{1}{N} \frac{\partial L}{\partial f_1}",
}  # fmt: skip


def listed(values: Tensor) -> str:
    """A number or several, LaTeX."""
    texts = [number(v + 0.0) for v in values.reshape(-1).tolist()]
    return texts[0] if len(texts) == 1 else "(" + r",\; ".join(texts) + ")"


def symbol(node: str) -> str:
    return node if len(node) == 1 else f"f_{node[1]}"


def hand_equations(one: Worked, form: str) -> list[str]:
    """What each step computes, with its numbers."""
    texts = []
    for move in MOVES:
        node, back = at_move(move)
        if back:
            formula = GRADIENT[node]
            if node == "f4" and form != ROOT:
                formula = r"\frac{1}{2\sqrt{f_4}} \frac{\partial L}{\partial f_5}"
            left, values = rf"\frac{{\partial L}}{{\partial {symbol(node)}}}", one.backward[node]
            texts.append(rf"{left} = {formula} = {listed(values)}")
        elif node == "z":
            texts.append(f"z = {listed(one.forward[node])}")
        else:
            root = r"\sqrt{f_4 + \epsilon}" if form == ROOT else r"\sqrt{f_4} + \epsilon"
            formula = root if node == "f5" else FORWARD[node]
            texts.append(f"{symbol(node)} = {formula} = {listed(one.forward[node])}")
    return texts


def hand_captions(one: Worked) -> list[str]:
    names = {"z": "the batch", "y": "scale and shift"}
    texts = []
    for move in MOVES:
        node, back = at_move(move)
        texts.append(f"{'Backwards' if back else 'Forwards'}: {names.get(node, 'node ' + node)}.")
    same = (
        "autograd has no number (0/0)"
        if math.isnan(one.gap)
        else f"autograd differs by {one.gap:.0e} at most"
    )
    texts[-1] = (
        f"Backwards, at the batch: {same}. ∂L/∂γ = {shorter(one.gamma)}, ∂L/∂δ = {shorter(one.delta)}."
    )
    return texts


def hand_about(one: Worked, c: float) -> str:
    z, d = one.before, one.slope
    texts = [
        "Values above, gradients below. Mean and variance depend on the whole batch, so that a gradient at "
        f"one y reaches every z. They sum to {shorter(float(d.sum()))}: shifting the batch changes nothing; "
        f"and Σ z ∂L/∂z is {shorter(float((z * d).sum()))}: scaling it changes nearly nothing."
    ]
    if c != 1:
        ratio = float(one.unscaled.norm() / d.norm()) if float(d.norm()) > 0 else math.nan
        texts.append(
            f"Weights before the norm times {c:g} leave y as it is, and divide the gradient by {ratio:.4g}: "
            f"exactly {c:g} as ε → 0, with ε off by the order of ε/s²."
        )
    else:
        texts.append(
            "[UDL] adds ε to s in equation 11.8, under the root in 11.10, as libraries do: other digits."
        )
    return " ".join(texts)


# --- Training and test ----------------------------------------------------------------------------------


def test_captions(one: Tested) -> list[str]:
    return [
        f"Batch {t}: training {float(one.training[i]):z.3f}; test {float(one.running[i]):z.3f} by running "
        f"averages, {one.frozen:z.3f} by the whole set."
        for i, t in enumerate(STEPS)
    ]


def test_equations(one: Tested, size: int) -> list[str]:
    return [
        rf"\bar{{s}}^2 = {float(u):.3f}\;\text{{(each 1/(B − 1), as torch)}},\quad {float(b):.3f}\;"
        rf"\text{{(each 1/B)}},\quad s^2 = {one.variance:.3f}\;\text{{(whole set)}}\qquad B = {size}"
        for u, b in zip(one.unbiased, one.biased, strict=True)
    ]


def test_about(one: Tested, size: int, spread: float) -> str:
    return (
        f"Over its mates the training output of the example has a deviation of {spread:.2f} in batches of "
        f"{size}. Three test networks are taught: frozen statistics of the whole training set ([UDL], blue); "
        "running averages of what training used ([BB], green); and torch's, which averages the unbiased "
        f"variance (orange) but trains with the biased one, {(size - 1) / size:.2f} of it on average here."
    )


# --- Cube -----------------------------------------------------------------------------------------------


def cube_captions(one: Cube) -> list[str]:
    N, C, S = one.x.shape
    texts = []
    for f in range(one.count):
        n = int(one.statistics(f)[0])
        texts.append(f"Set {f + 1} of {one.count}: {n} of {N * C * S} cells share a mean and a variance.")
    return texts


def cube_equations(one: Cube) -> list[str]:
    texts = []
    for f in range(one.count):
        size, mean, variance = one.statistics(f)
        texts.append(
            rf"\hat{{x}} = \frac{{x - m}}{{\sqrt{{v + \epsilon}}}}\qquad m = {mean:z.3f},\quad "
            rf"v = {variance:.3f}\quad\text{{({'one cell' if size == 1 else f'{size} cells'})}}"
        )
    return texts


def cube_about(one: Cube) -> str:
    M = len(NORMS)
    same = [f"{NORMS[i]} = {NORMS[j]}" for i in range(M) for j in range(i + 1, M) if one.gaps[i, j] <= EQUAL]
    return (
        ("Equal here: " + "; ".join(same) + ". " if same else "No two norms agree on this cube. ")
        + "Group with 1 group is layer over (C, HW), with as many as channels it is instance; batch of one "
        "example is instance; ghost of the whole batch is batch. Layer has two meanings: an example over "
        "channels and space ([UDL]), or each position over channels ([BB], [LLM], transformers). γ and δ are "
        "one pair a channel in all. Layer, group and instance are the same in training and at the test."
    )
