"""What the page says of slices of the loss."""

from pages.convolution.loss_surface.lens import Slices, Trained, Walked
from pages.convolution.loss_surface.room import LOOKS, TENTHS, TURNS

NEITHER = "neither"
SAME = (
    "A ReLU lets a positive factor through: both networks give the same outputs. Raw directions disturb the "
    "divided layer as much as before and make a minimum look sharp that is the same function; "
    "filter-normalised ones shrink with it. So a picture of raw directions says nothing of sharpness."
)


def size(value: float) -> str:
    """A loss."""
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}" if value < 1e5 else f"{value:.1e}"


def tex(value: float) -> str:
    """A loss, LaTeX."""
    text = size(value)
    if "e" not in text:
        return text.replace(",", "{,}")
    mantissa, exponent = text.split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def rougher(slices: Slices) -> str:
    """The name of the slice that is not convex at more places."""
    first, second = slices.bends
    return NEITHER if first == second else slices.names[second > first]


def at(slices: Slices, alpha: int, beta: int) -> list[float]:
    """The two losses at a place, in tenths of the range."""
    return [float(one[TENTHS + alpha, TENTHS + beta]) for one in slices.losses]


def equation(slices: Slices, alpha: int, beta: int) -> str:
    a, b = (float(slices.places[TENTHS + k]) for k in (alpha, beta))
    first, second = (
        rf"{tex(v)}\;\text{{{name}}}" for v, name in zip(at(slices, alpha, beta), slices.names, strict=True)
    )
    moved = "".join(rf" {v:+.3g}\,d_{i}" for i, v in ((1, a), (2, b)) if v)
    return rf"L(\theta^*{moved}) = {first},\quad {second}"


def about(slices: Slices, networks: tuple[Trained, Trained]) -> str:
    """What to notice of the two networks."""
    bends, spreads, bent = slices.bends, slices.spreads, slices.curvatures
    errors = [100 * one.error for one in networks]
    return (
        f"Without and with skips: the loss is not convex at {100 * bends[0]:.0f} % and "
        f"{100 * bends[1]:.0f} % of the places; within half of the range its variance is {size(spreads[0])} "
        f"and {size(spreads[1])}; the curvature dᵀHd at the centre is {bent[0]:.1f} and {bent[1]:.1f}. The "
        f"test error is {errors[0]:.0f} % and {errors[1]:.0f} %. It is one plane in a space of thousands of "
        "dimensions: look at several draws."
    )


def of_same(slices: Slices) -> str:
    first, second = slices.spreads
    return f"{SAME} The variance within half of the range is {size(first)} and {size(second)}."


def turns(slices: Slices) -> list[str]:
    shares = " and ".join(f"{100 * share:.0f} %" for share in slices.bends)
    return [f"Seen from {phi}°. Height and colour are log L; not convex at {shares} of the places."
            for phi in TURNS]  # fmt: skip


def turned(slices: Slices) -> list[str]:
    """The largest loss of both slices, at each turn alike."""
    first, second = (tex(float(one.max())) for one in slices.losses)
    names = slices.names
    return [
        rf"\max_{{\alpha,\beta}} L(\theta^* + \alpha d_1 + \beta d_2) = {first}\;\text{{{names[0]}}},\quad "
        rf"{second}\;\text{{{names[1]}}}"
    ] * len(TURNS)


def steps(pair: tuple[Walked, Walked]) -> list[str]:
    return [
        f"Step {look}: loss " + ", ".join(f"{float(one.true[f]):.2f} {one.name}" for one in pair) + "."
        for f, look in enumerate(LOOKS)
    ]


def walk_equations(pair: tuple[Walked, Walked]) -> list[str]:
    texts = []
    for f, _ in enumerate(LOOKS):
        parts = [rf"\theta^* {float(one.path[f, 0]):+.2f}\,u_1 {float(one.path[f, 1]):+.2f}\,u_2\;"
                 rf"\text{{{one.name}}}" for one in pair]  # fmt: skip
        texts.append(r"\theta \approx " + r",\quad ".join(parts))
    return texts


def of_walks(pair: tuple[Walked, Walked]) -> str:
    first, second = pair
    return (
        f"Of the path's squared distances from its end the plane of its two main directions holds "
        f"{100 * first.share:.0f} % and {100 * second.share:.0f} %; a plane of two random directions "
        f"{100 * first.random:.2f} % and {100 * second.random:.2f} %: in that one the path would be a point. "
        "The map is the loss on the plane, the line the path's shadow on it; batch norm has the averages of "
        "the end everywhere on the map."
    )
