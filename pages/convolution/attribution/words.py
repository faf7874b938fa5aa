"""What the page says of maps, and of tests of them."""

import torch
from torch import Tensor

from lab.lenses.attribution import Path
from pages.convolution.attribution.lens import OF_GRADIENTS, Asked, Cascade, Deletion
from pages.convolution.attribution.room import INTEGRATED, RANDOM, TIMES


def score_equation(one: Asked) -> str:
    """S(x) with its logits."""
    value = float(one.logits[one.target])
    if one.against is None:
        return rf"S(x) = f_{{{one.target}}}(x) = {value:.2f}"
    less = float(one.logits[one.against])
    return (
        rf"S(x) = f_{{{one.target}}}(x) - f_{{{one.against}}}(x) = {value:.2f} - ({less:.2f}) = "
        rf"{value - less:.2f}"
    )


def sums(one: Asked, maps: dict[str, Tensor], baseline: float) -> str:
    """Say what the maps sum to, and what integrated gradients should."""
    with torch.no_grad():
        now, start = (float(one.S(v[None])) for v in (one.x, torch.full_like(one.x, baseline)))
    return (
        f"S(x) − S(x′) = {now - start:.2f}; integrated gradients sum to {float(maps[INTEGRATED].sum()):.2f}, "
        f"gradient × input to {float(maps[TIMES].sum()):.2f}."
    )


def path_captions(path: Path) -> list[str]:
    """Of each α: what the step adds, and how far the sum has come."""
    texts = ["α = 0: the input is the baseline everywhere, and nothing is attributed yet."]
    for k, (alpha, total) in enumerate(zip(path.alphas[1:].tolist(), path.reached[1:].tolist(), strict=True)):
        added, change = total - float(path.reached[k]), float(path.scores[k + 1] - path.scores[0])
        texts.append(
            f"α = {alpha:.2f}: this step adds {added:+.2f}; the sum is {total:.2f}, S has changed by "
            f"{change:.2f}."
        )
    return texts


def path_equations(path: Path) -> list[str]:
    """Of each α: the sum of the attributions so far, and the change of S."""
    start = float(path.scores[0])
    return [
        rf"\sum_i \int_0^{{{alpha:.2f}}} (x_i - x'_i) \frac{{\partial S}}{{\partial x_i}} d\alpha \approx "
        rf"{total:.2f}, \qquad S({alpha:.2f}) - S(0) = {now:.2f} - ({start:.2f}) = {now - start:.2f}"
        for alpha, total, now in zip(
            path.alphas.tolist(), path.reached.tolist(), path.scores.tolist(), strict=True
        )
    ]


def cascade_captions(result: Cascade) -> list[str]:
    """Of each number of random layers: the correlation of every map."""
    count = result.correlations.shape[1] - 1
    texts = ["All weights are trained: every map is compared with itself."]
    for k in range(1, count + 1):
        what = "The last layer has" if k == 1 else f"The last {k} of {count} layers have"
        values = zip(OF_GRADIENTS, result.correlations[:, k].tolist(), strict=True)
        texts.append(f"{what} random weights: " + ", ".join(f"{name} {v:.2f}" for name, v in values) + ".")
    return texts


def cascade_equations(result: Cascade) -> list[str]:
    """Of each number of layers: the correlation of the gradients, and of the gradients × input."""
    return [
        rf"\rho(\nabla S, \nabla S_{{{k}}}) = {gradient:.2f}, \qquad "
        rf"\rho(x \odot \nabla S, x \odot \nabla S_{{{k}}}) = {times:.2f}"
        for k, (gradient, times) in enumerate(result.correlations[:2].T.tolist())
    ]


def deletion_captions(result: Deletion, method: str) -> list[str]:
    """Of each cut: S in this order, and at random."""
    texts, last = [], int(result.counts[-1])
    for k, count in enumerate(result.counts.tolist()):
        random = f"{float(result.scores[RANDOM][k]):.2f} in random order"
        here = "" if method == RANDOM else f"{float(result.scores[method][k]):.2f} by {method}, "
        texts.append(f"{count} of {last} inputs are gone: S is {here}{random}.")
    return texts


def deletion_equations(result: Deletion, method: str) -> list[str]:
    """Of each cut: S before and after."""
    first, *_ = values = result.scores[method].tolist()
    return [
        rf"S(x) = {first:.2f}, \qquad S(x_{{-{count}}}) = {value:.2f}"
        for count, value in zip(result.counts.tolist(), values, strict=True)
    ]
