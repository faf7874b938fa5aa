"""What the page says of states, influences and gradients."""

from torch import Tensor

from pages.graph.depth_lab.lens import Influences, Smoothing
from pages.graph.depth_lab.room import STEPS
from pages.graph.depth_lab.training import Trained


def number(value: float | Tensor) -> str:
    """Three digits that count, a power of ten where it is far from 1, in LaTeX."""
    v = float(value)
    if v == 0 or 0.01 <= abs(v) < 1000:
        return f"{v:.3g}"
    digits, power = f"{v:.1e}".split("e")
    return rf"{digits} \cdot 10^{{{int(power)}}}"


def smoothing_captions(one: Smoothing) -> list[str]:
    return [
        f"After {k} layers {100 * far:.0f} % of the length is outside; Dirichlet energy {energy:.2f}, "
        f"mean cosine of two nodes {cosine:.2f}."
        for k, (far, energy, cosine) in enumerate(
            zip(one.far.tolist(), one.energy.tolist(), one.cosine.tolist(), strict=True)
        )
    ]


def smoothing_equations(one: Smoothing) -> list[str]:
    rate = f"{one.rate:.3f}"
    return [
        rf"\frac{{\lVert H_{{{k}}} - P H_{{{k}}} \rVert}}{{\lVert H_{{{k}}} \rVert}} = {number(far)}, \qquad "
        rf"\left|\frac{{\lambda_2}}{{\lambda_1}}\right|^{{{k}}} = {rate}^{{{k}}} = {number(one.rate**k)}"
        for k, far in enumerate(one.far)
    ]


def influence_captions(one: Influences, node: int) -> list[str]:
    texts = []
    for k, (gradient, walk) in enumerate(zip(one.by_gradient, one.by_walk, strict=True)):
        r = min(k, len(walk) - 1)
        many = int((one.away == r).sum())
        texts.append(
            f"{k} layers: {'the node' if many == 1 else f'the {many} nodes'} at distance {r} "
            f"{'has' if many == 1 else 'have'} {100 * walk[r]:.1f} % of the influence on node {node} "
            f"by walks, {100 * gradient[r]:.1f} % by gradients."
        )
    return texts


def influence_equations(one: Influences, node: int) -> list[str]:
    texts = []
    for k, (gradient, walk) in enumerate(zip(one.by_gradient, one.by_walk, strict=True)):
        r = min(k, len(walk) - 1)
        texts.append(
            rf"I_{{{r}}} \propto \sum_{{\mathrm{{hops}}(m, {node}) = {r}}} \sum_{{i,j}} "
            rf"\left|\frac{{\partial h^{{({k})}}_{{{node},i}}}}{{\partial x_{{m,j}}}}\right|: \ "
            rf"{number(gradient[r])}, \qquad \text{{linear:}}\ I_{{{r}}} \propto "
            rf"\sum_{{\mathrm{{hops}}(m, {node}) = {r}}} (S^{{{k}}})_{{m,{node}}}: \ {number(walk[r])}"
        )
    return texts


def training_captions(one: Trained) -> list[str]:
    return [
        f"Step {step}: {100 * train:.0f} % of the 14 training nodes right, {100 * test:.0f} % of the "
        f"other 20; loss {loss:.3f}."
        for step, train, test, loss in zip(
            STEPS, one.train.tolist(), one.test.tolist(), one.loss.tolist(), strict=True
        )
    ]


def training_equations(one: Trained) -> list[str]:
    return [
        rf"\left\lVert \frac{{\partial L}}{{\partial \Omega_1}} \right\rVert = {number(norms[0])}, \qquad "
        rf"\left\lVert \frac{{\partial L}}{{\partial \Omega_{{{len(norms)}}}}} \right\rVert = "
        rf"{number(norms[-1])}"
        for norms in one.gradients
    ]
