"""What the page says of a mask, and of the edges that are kept."""

from torch import Tensor

from pages.graph.explanation.lens import Found
from pages.graph.explanation.room import GRADIENT, MASK, STEPS


def answer(one: Found) -> str:
    return one.case.classes[one.found.target]


def area(one: Found, scores: Tensor) -> str:
    """The area, where the truth is known, behind a comma."""
    value = one.auc(scores)
    return "" if value is None else f", AUC {value:.2f}"


def fit_captions(one: Found) -> list[str]:
    """Of each step: what the masked graph is answered, and how the mask ranks the planted edges."""
    whole = float(one.p[one.found.target])
    return [
        f"Step {step}: p({answer(one)}) is {float(one.found.probability[step]):.2f} of the masked graph, "
        f"{whole:.2f} of the whole; the mask sums to {float(mask.sum()):.1f} of {len(mask)} edges"
        f"{area(one, mask)}."
        for step, mask in zip(STEPS, one.masks, strict=True)
    ]


def fit_equations(one: Found, size: float) -> list[str]:
    """What is minimised, with the numbers of each step."""
    texts = []
    for step in STEPS:
        p, loss = float(one.found.probability[step]), float(one.found.loss[step])
        total = float(one.found.edges[step][one.found.field].sum())
        nll = -float(one.found.probability[step].clamp(min=1e-30).log())
        texts.append(
            rf"\mathcal{{L}} = -\log p_c + \alpha \sum_e \sigma(M_e) + \ldots = -\log {p:.2f} + "
            rf"{size:g} \cdot {total:.1f} + \ldots = {nll:.2f} + {size * total:.2f} + "
            rf"{loss - nll - size * total:.2f} = {loss:.2f}"
        )
    return texts


def keep_captions(one: Found, way: str) -> list[str]:
    """Of each k: both probabilities, and how many of the edges were planted."""
    texts, order = [], one.order[way]
    for k, (kept, rest) in enumerate(zip(one.kept[way].tolist(), one.rest[way].tolist(), strict=True)):
        hit = ""
        if one.truth is not None:
            right = int(one.truth[order[:k]].sum())
            hit = f" {right} of them were planted, of {int(one.truth.sum())}."
        texts.append(
            f"The {k} best edges alone: p({answer(one)}) is {kept:.2f}; without them it is {rest:.2f}.{hit}"
        )
    return texts


def keep_equations(one: Found, way: str) -> list[str]:
    return [
        rf"p_c(\text{{{k} best edges}}) = {kept:.3f}, \qquad p_c(\text{{the others}}) = {rest:.3f}"
        for k, (kept, rest) in enumerate(zip(one.kept[way].tolist(), one.rest[way].tolist(), strict=True))
    ]


def notice(one: Found) -> str:
    """What was asked, how the ways compare, and what a mask can mean."""
    who = "the graph" if one.case.node is None else f"node {one.case.node}"
    said = f"The network answers {answer(one)} for {who}, p {float(one.p[one.found.target]):.2f}"
    if one.case.label is not None:
        said += ", rightly" if one.case.label == one.found.target else (
            f", wrongly: the class is {one.case.classes[one.case.label]}"
        )  # fmt: skip
    mask, gradient = one.auc(one.masks[-1]), one.auc(one.gradient[one.pairs])
    if mask is not None and gradient is not None:
        said += (
            f". Green rings mark what was planted; AUC is the probability that a planted edge ranks above "
            f"another one: {mask:.2f} by {MASK}, {gradient:.2f} by {GRADIENT}, .5 by chance"
        )
    if one.truth is not None:
        said += f". Of the planted edges alone p({answer(one)}) is {one.planted:.2f}"
    return f"{said}. A mask shows what this network uses, which need not be what was planted."
