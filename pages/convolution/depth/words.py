"""What the page says of the paths of a residual network."""

from pages.convolution.depth.unravelled import Paths


def route(one: Paths, row: int) -> str:
    """The blocks of a path, in words."""
    chosen = [str(k + 1) for k in one.through[row].nonzero()[:, 0].tolist()]
    return "past all blocks" if not chosen else f"through f{', f'.join(chosen)}"


def captions(one: Paths) -> list[str]:
    count, K = len(one.added), one.through.shape[1]
    total = f"{2**K} paths, {count} of them left"
    texts = [f"{total}. None is added yet."]
    sums = one.by_length.sum(1)
    for f, row in enumerate(one.added, 1):
        texts.append(
            f"Path {f} of {count}, {route(one, row)}: {one.terms[row]:z.3f}. Sum so far: {sums[f]:z.3f}."
        )
    return texts


def equations(one: Paths, scalar: bool) -> list[str]:
    """Sum of the paths so far, and dy/dx by backpropagation."""
    product = r"\prod_{k=1}^K (1 + a_k)" if scalar else r"u\,(I + J_K) \cdots (I + J_1)\, v"
    return [
        rf"\frac{{\partial y}}{{\partial x}} = {product} = {signed(row.tolist())} = {float(row.sum()):z.3f}"
        if f == len(one.added)
        else rf"{signed(row.tolist())} = {float(row.sum()):z.3f}\quad\text{{({f} of {len(one.added)} paths)}}"
        for f, row in enumerate(one.by_length)
    ]


def signed(values: list[float]) -> str:
    """A sum of numbers."""
    return " ".join(f"{v:+z.3f}" for v in values).removeprefix("+")


def about(one: Paths, scalar: bool) -> str:
    """What to notice."""
    P, kept = len(one.kept), len(one.added)
    texts = [
        f"The terms of {kept} of {P} paths add up to {float(one.terms[one.kept].sum()):z.3f}, the derivative "
        f"by backpropagation is {one.left:z.3f}"
        + (f"; with all blocks it is {one.whole:z.3f}." if kept < P else ".")
    ]
    if scalar:
        texts.append(
            "Each block is on half of the paths. A block of a = −1 cancels what comes in: every path has one "
            "that takes its term away, and the output and its derivative are 0 in spite of the skip."
        )
    else:
        texts.append(
            "The derivative is that of the true class's logit at one test example. A plain network has one "
            "path, and any deleted block cuts it; in the residual one the first block is missed most."
        )
    return " ".join(texts)
