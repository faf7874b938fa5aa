"""What the page says of its numbers."""

import math

from lab.lenses.attention import number
from pages.convolution.variance.room import (
    BACKWARD,
    BATCH,
    DRAWS,
    FIXUP,
    HALF,
    LINEAR_FIRST,
    NONE,
    SHARE,
    SKIP_INIT,
    TANH,
    TRIALS,
)
from pages.convolution.variance.start import GAUSSIAN, HE, ORTHOGONAL, STARTS, XAVIER, Started
from pages.convolution.variance.through_depth import Cloud, Measured


def plain(value: float) -> str:
    """A number, in words' type."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:z.3g}"
    return f"{value:.0e}" if math.isfinite(value) else "beyond all numbers"


# --- Through depth --------------------------------------------------------------------------------------


def depth_captions(one: Measured) -> list[str]:
    q, v = one.theory[-1].second, one.theory[-1].batch
    return [
        f"Draw {draw}: E[h²] {plain(float(one.second[f, -1]))}, batch variance "
        f"{plain(float(one.batch[f, -1]))} after the last block; in theory {plain(q)} and {plain(v)}."
        for f, draw in enumerate(DRAWS)
    ]


def depth_equations(one: Measured, scheme: str, order: str, alpha: float) -> list[str]:
    """Theory of the last block, and the draw."""
    K, q, v = len(one.theory) - 1, one.theory[-1].second, one.theory[-1].batch
    known = {
        NONE: f"2^{{{K}}} =", HALF: "1^K =", SHARE: rf"\left(1 + \tfrac{{1}}{{{K}}}\right)^{{{K}}} =",
        BATCH: f"1 + {K} =", SKIP_INIT: rf"(1 + {alpha:g}^2)^{{{K}}} =", FIXUP: "",
    }[scheme]  # fmt: skip
    formula = known if order != LINEAR_FIRST else ""
    return [
        rf"\mathbb{{E}}[h_K^2] = {formula} {number(q)}\;\text{{(drawn: {plain(float(one.second[f, -1]))})}}"
        rf"\qquad \mathrm{{Var}}_B[h_K] = {number(v)}\;\text{{(drawn: {plain(float(one.batch[f, -1]))})}}"
        for f in range(len(DRAWS))
    ]


def depth_about(scheme: str, order: str) -> str:
    texts = [
        "Lines are the limit of infinite width, dots one draw of weights and data, faint dots all draws. "
        "The book's “variance doubles, or with batch norm grows by one” is of E[h²] with ReLU → linear. The "
        "batch variance, by which batch norm divides, grows more slowly: units of different examples become "
        "alike."
    ]
    if order == LINEAR_FIRST:
        texts.append(
            "The order in the caption of figure 11.6, linear → ReLU, adds only what is not negative: the "
            "mean of the units grows, and E[h²] with it, by 2, 2.45, 2.69, … → 2.904 a block. Batch norm "
            "after the linear layer makes it add more in each block. Of few units the batch variance lies "
            "above its line: examples differ in length."
        )
    if scheme in (SKIP_INIT, FIXUP):
        texts.append(
            "At the start the branch adds nothing. SkipInit learns α from 0, and α must stay below √(1/K); "
            "Fixup sets the last layer of each branch to 0 and divides the others by a root of K."
        )
    return " ".join(texts)


# --- Order ----------------------------------------------------------------------------------------------


def cloud_captions(one: Cloud) -> list[str]:
    return [
        f"Block {k}: {100 * float(share):.0f} % of the units are below 0, mean {float(h.mean()):z.2f}."
        for k, (share, h) in enumerate(zip(one.below, one.h, strict=True))
    ]


def cloud_equations(one: Cloud, order: str) -> list[str]:
    update = r"h_k \ge h_{k-1}" if order == LINEAR_FIRST else r"h_k = h_{k-1} + f[h_{k-1}]"
    steps = one.h.diff(dim=0)
    texts = [rf"{update}\qquad \text{{(the input)}}"]
    for k, step in enumerate(steps, 1):
        low, high = float(step.min()), float(step.max())
        texts.append(rf"{update}\qquad h_{{{k}}} - h_{{{k - 1}}} \in [{low:z.2f},\, {high:z.2f}]")
    return texts


CLOUD = (
    "Branches are times √(1/K), which holds their size and changes no sign. linear → ReLU can only add what "
    "is not negative, so that no unit ever falls. ReLU → linear moves units both ways, but of inputs that "
    "are all negative its ReLU leaves nothing: a block adds its bias alone, here 0. A linear layer before "
    "the blocks cures that; another one stands after the last block."
)

# --- Start ----------------------------------------------------------------------------------------------


def size_of(one: Started, name: str, f: int, backward: bool) -> float:
    return float(one.sizes[STARTS.index(name), f, 0 if backward else -1])


def start_captions(one: Started, backward: bool) -> list[str]:
    names = (XAVIER, HE, ORTHOGONAL)
    place = "at the input" if backward else "after the last layer"
    return [
        f"Draw {t}, {place}: "
        + ", ".join(f"{name} {plain(size_of(one, name, f, backward))}" for name in names)
        + "."
        for f, t in enumerate(TRIALS)
    ]


def start_equations(one: Started, backward: bool, layers: int) -> list[str]:
    texts = []
    for f in range(len(TRIALS)):
        parts = [
            rf"{number(size_of(one, name, f, backward))}\;\text{{({name})}}"
            for name in (GAUSSIAN, HE, ORTHOGONAL)
        ]
        ratio = (
            r"\mathrm{rms}(\partial L/\partial h_0) / \mathrm{rms}(\partial L/\partial h_K)"
            if backward
            else r"\mathrm{rms}(h_K) / \mathrm{rms}(h_0)"
        )
        texts.append(f"{ratio} = " + r",\quad ".join(parts) + rf"\qquad K = {layers}")
    return texts


def start_about(activation: str, shown: str) -> str:
    texts = [
        "Convolutions of 3 taps and 16 channels on a circle, with no bias; each layer begins with its "
        "activation. A Gaussian start that keeps E[h²] (Xavier without an activation, He with ReLU) keeps it "
        "in the mean over draws: a single draw drifts, faster in narrow networks. Delta-orthogonal is one "
        "orthogonal matrix at each position, and keeps every length."
    ]
    if activation == TANH:
        texts.append("tanh makes every length shorter, the orthogonal one too.")
    elif activation != "none":
        texts.append(
            "With ReLU delta-orthogonal is taken times √2 and drifts, too: half of the units are cut."
        )
    if shown == BACKWARD:
        texts.append(
            "Gradients are those of a random weighted sum of the outputs, from the right to the left."
        )
    return " ".join(texts)
