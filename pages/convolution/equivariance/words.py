"""What the page says of shifts and of turns."""

from pages.convolution.equivariance.lens import Compared, Read
from pages.convolution.equivariance.room import ANGLE, CIRCULAR, CONVOLUTION
from pages.convolution.equivariance.rotation import Angles, Turned

ZERO = 1e-9  # ε below is rounding


def counted(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


def captions(one: Compared, layer: str, stride: int, border: str) -> list[str]:
    """Of each shift: by how many cells the output moves, and whether that is all."""
    step, texts = 1 if layer == CONVOLUTION else stride, []
    where = "everywhere" if border == CIRCULAR else "away from the border"
    for t, (cells, inside) in enumerate(zip(one.cells, one.inside, strict=True)):
        e = float(one.errors[layer][t])
        if inside[0] >= inside[1]:
            texts.append(f"t = {t}: what enters reaches all of the output; nothing is left to compare.")
        elif e < ZERO:
            texts.append(f"t = {t}: the output moves by {counted(cells)}, and the difference is 0 {where}.")
        else:
            texts.append(
                f"t = {t} is no multiple of {step}: the best whole shift, {counted(cells)}, "
                f"leaves ε = {e:.2f}."
            )
    return texts


def equations(one: Compared, layer: str) -> list[str]:
    """Of each shift: the two sides, and how far they are apart."""
    signs = {True: "=", False: r"\ne"}
    return [
        rf"f(\tau_{{{t}}} x) {signs[e < ZERO]} \tau_{{{cells}}} f(x), \qquad \epsilon = {e:.3f}"
        for t, (cells, e) in enumerate(zip(one.cells, one.errors[layer].tolist(), strict=True))
    ]


def class_captions(one: Read) -> list[str]:
    """Of each shift: what the network reads."""
    best = one.probabilities.argmax(-1).tolist()
    return [
        f"Moved by {t}: the network reads {label} with probability {float(one.probabilities[t, label]):.2f}."
        for t, label in enumerate(best)
    ]


def class_equations(one: Read) -> list[str]:
    values = one.probabilities[:, one.label].tolist()
    return [
        rf"p(y = {one.label} \mid x) = {values[0]:.3f}, \qquad "
        rf"p(y = {one.label} \mid \tau_{{{t}}} x) = {p:.3f}"
        for t, p in enumerate(values)
    ]


def lost(one: Read) -> int | None:
    """The first shift at which another class is likelier."""
    other = (one.probabilities.argmax(-1) != one.label).nonzero().flatten().tolist()
    return other[0] if other else None


def turn_captions(one: Turned) -> list[str]:
    """Of each number of quarter turns: whether the maps turn with the picture."""
    texts = []
    for k, e in enumerate(one.errors.tolist()):
        degrees = f"Turned by {90 * k}°"
        if e > ZERO:
            texts.append(f"{degrees}: the map of the turned picture is another one, ε = {e:.2f}.")
        elif k and len(one.kernels) > 1:
            texts.append(f"{degrees}: each map turns too and moves from r to r + {k}; the difference is 0.")
        else:
            texts.append(f"{degrees}: the difference is 0.")
    return texts


def turn_equations(one: Turned) -> list[str]:
    """Of each number of quarter turns: the two sides, and how far they are apart."""
    several, texts = len(one.kernels) > 1, []
    for k, e in enumerate(one.errors.tolist()):
        left, right = rf"f(\rho^{k} x)", rf"\rho^{k} f(x)"
        if several:
            left, right = left + "_r", right + rf"_{{r - {k}}}"
        texts.append(rf"{left} {'=' if e < ZERO else chr(92) + 'ne'} {right}, \qquad \epsilon = {e:.3f}")
    return texts


def angle_captions(one: Angles) -> list[str]:
    """Of each angle: what both networks read."""
    best, sure = one.p.argmax(-1).tolist(), one.p.amax(-1).tolist()
    return [
        f"Turned by {ANGLE * f}°: the CNN reads {best[0][f]} (p = {sure[0][f]:.2f}), "
        f"the network over p4 {best[1][f]} (p = {sure[1][f]:.2f})."
        for f in range(len(one.x))
    ]


def angle_equations(one: Angles) -> list[str]:
    own = one.p[:, :, one.label].tolist()
    return [
        rf"\alpha = {ANGLE * f}: \quad p_{{\mathrm{{CNN}}}} = {own[0][f]:.3f}, \quad "
        rf"p_{{\mathrm{{p4}}}} = {own[1][f]:.3f}"
        for f in range(len(one.x))
    ]
