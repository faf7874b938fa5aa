"""What the page says of samples, parts and noise."""

from pages.graph.sampling.lens import SIZES, Noise, Parts, Trees, shares
from pages.graph.sampling.room import STEPS
from pages.graph.sampling.soft import Soft


def tree_captions(one: Trees) -> list[str]:
    return [
        f"{k} step{'s' * (k != 1)} back: {len(f)} of {one.count} nodes are needed ({100 * a:.0f} %), "
        f"{len(s)} of the sample ({100 * b:.0f} %)."
        for k, (f, s, a, b) in enumerate(
            zip(one.full.levels, one.sampled.levels, shares(one.full, one.count),
                shares(one.sampled, one.count), strict=True)
        )
    ]  # fmt: skip


def tree_equations(one: Trees, most: int) -> list[str]:
    return [
        rf"|R_{{{k}}}| = {len(f)}, \qquad |\hat{{R}}_{{{k}}}| = {len(s)} \le (1 + s)^{{{k}}} = "
        rf"(1 + {most})^{{{k}}} = {(1 + most) ** k}"
        for k, (f, s) in enumerate(zip(one.full.levels, one.sampled.levels, strict=True))
    ]


def batch_name(chosen: tuple[int, ...]) -> str:
    return f"part{'s' * (len(chosen) > 1)} {' and '.join(map(str, chosen))}"


def inside(one: Parts, chosen: tuple[int, ...]) -> int:
    """Edges among the nodes of the chosen parts."""
    return sum(int(one.between[a, b]) for a in chosen for b in chosen) // 2


def part_captions(one: Parts) -> list[str]:
    total = one.edges.shape[1] // 2
    return [
        f"Batch {k} of {len(one.batches)}, {batch_name(chosen)}: "
        f"{sum(int((one.parts == p).sum()) for p in chosen)} nodes and the {inside(one, chosen)} edges among "
        f"them; {one.cut} of all {total} edges are cut."
        for k, chosen in enumerate(one.batches, 1)
    ]


def matrix(rows: list[list[int]]) -> str:
    """A small matrix in LaTeX."""
    return r"\begin{pmatrix}" + r" \\ ".join(" & ".join(map(str, row)) for row in rows) + r"\end{pmatrix}"


def part_equation(one: Parts) -> str:
    """SᵀAS, whose diagonal has twice the edges inside, and the cut."""
    ends = int(one.between.sum())
    kept = int(one.between.diagonal().sum())
    said = rf"\mathrm{{cut}} = \frac{{{ends} - {kept}}}{{2}} = {one.cut}"
    if len(one.between) > 4:
        return said
    return rf"S^\top A S = {matrix(one.between.tolist())}, \qquad {said}"


def soft_captions(one: Soft) -> list[str]:
    texts = []
    for step, s, cut in zip(STEPS, one.s, one.cut, strict=True):
        sure, used = int((s.max(1).values > 0.9).sum()), len(s.argmax(1).unique())
        texts.append(
            f"After {step} steps {sure} of {len(s)} nodes are in one part for more than 90 %; by their "
            f"likeliest parts, {used} of them, {cut} edges are cut."
        )
    return texts


def soft_equations(one: Soft, entropy: float) -> list[str]:
    return [
        rf"L = \frac{{\lVert A - S S^\top \rVert}}{{N}} + \lambda H = {link:.3f} + {entropy:g} "
        rf"\cdot {h:.3f} = {link + entropy * h:.3f}"
        for link, h in zip(one.link.tolist(), one.entropy.tolist(), strict=True)
    ]


def noise_equation(one: Noise) -> str:
    return (
        r"\frac{\sqrt{\mathbb{E} \lVert \hat{g} - \mathbb{E}\hat{g} \rVert^2}}{\lVert g \rVert} = "
        + ", ".join(f"{v:.2f}" for v in one.deviation.tolist())
        + rf", \qquad s = {', '.join(map(str, SIZES))}"
    )
