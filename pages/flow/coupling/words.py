"""Couplings in words: why they can be undone, a sentence and an equation for every layer."""

from torch import Tensor

from pages.flow.coupling.lens import HINT, Look


def why(turns: str) -> str:
    """Reason why a layer can be inverted, and its determinant read off."""
    if turns == HINT:
        return (
            "A network reads the first half and maps the second, which has been mapped by a smaller coupling "
            "of its own; so has the first. Every number hears all before it, so the triangle of the Jacobian "
            "is full, as of an autoregressive layer; the determinant is the product of its diagonal. To go "
            "back, D − 1 networks wait for each other. "
        )
    return (
        "The conditioner is never inverted: on the way back it sees the same half and answers the same s "
        "and t. In the Jacobian of a layer the rows of copied numbers are those of the identity; the other "
        "rows hold the slope of g on the diagonal, and anything below the copied half: block-triangular, so "
        "the determinant is the product of the slopes. "
    )


def named(which: Tensor) -> str:
    """The positions that a mask names, from 1."""
    return ", ".join(str(i + 1) for i in which.nonzero()[:, 0].tolist()) or "none"


def captions(results: list[Look]) -> list[str]:
    text, total = [], 0.0
    for number, look in enumerate(results, start=1):
        total += look.ladj
        waits = "every input has been changed by now"
        if not look.changed.all():
            left = sorted(look.came_from[i] + 1 for i in (~look.changed).nonzero()[:, 0].tolist())
            waits = f"no layer has changed input {', '.join(map(str, left))}"
        text.append(
            f"Layer {number} copies {named(look.copied)} and changes {named(~look.copied)}. "
            f"ladj {signed(look.ladj)}, in all {signed(total)}; {waits}."
        )
    return text


def signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def equations(results: list[Look], kind: str) -> list[str]:
    """The first changed number of each layer."""
    result = []
    for look in results:
        at = int((~look.copied).nonzero()[0])
        h, after, slope = (float(v[at]) for v in (look.before, look.after, look.slope))
        if look.shift is None:
            how = rf"g({h:.3f};\ \varphi(h_1))"
        elif kind == "affine":
            how = rf"{h:.3f} \cdot e^{{{slope:.3f}}} + ({float(look.shift[at]):.3f})"
        else:
            how = rf"{h:.3f} + ({float(look.shift[at]):.3f})"
        result.append(rf"h'_{{{at + 1}}} = {how} = {after:.3f}")
    return result
