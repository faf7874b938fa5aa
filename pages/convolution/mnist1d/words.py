"""What is said of the two networks, in captions and equations."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from pages.convolution.mnist1d.lens import NAMES, Look, Moved, Written
from pages.convolution.mnist1d.room import REACH


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share == share else "not finite"


def course_captions(looks: Sequence[Look]) -> list[str]:
    return [
        f"Step {look.step:,}: "
        + "; ".join(
            f"{name} {percent(float(train))} of training and {percent(float(test))} of test curves wrong"
            for name, (train, test) in zip(NAMES, look.errors, strict=True)
        )
        + "."
        for look in looks
    ]


def of_the_text(errors: Mapping[tuple[str, bool], tuple[float, float]]) -> str:
    """What the text's protocol comes to, by network, and whether positions are shuffled."""
    said = {case: f"{mean:.1f} ± {deviation:.1f} %" for case, (mean, deviation) in errors.items()}
    return (
        "After 100,000 steps of gradient descent, as the text takes them, the CNN errs on "
        f"{said['CNN', False]} of the test curves and the MLP on {said['MLP', False]}, both on no training "
        f"curve; with shuffled positions on {said['CNN', True]} and {said['MLP', True]} "
        "(`lab bench mnist1d`)."
    )


def course_equations(looks: Sequence[Look]) -> list[str]:
    texts = []
    for look in looks:
        parts = [
            rf"E_{{\mathrm{{{name}}}}} = {100 * float(test):.1f}\,\%" if test == test else
            rf"E_{{\mathrm{{{name}}}}} = \text{{not finite}}"
            for name, (_, test) in zip(NAMES, look.errors, strict=True)
        ]  # fmt: skip
        texts.append(r", \quad ".join(parts))
    return texts


def class_captions(looks: Sequence[Look], p: Tensor) -> list[str]:
    """What both networks say of the reader's curve, (2, F, 10)."""
    return [
        f"Step {look.step:,}: "
        + "; ".join(
            f"{name} says {int(row[f].argmax())}, P {float(row[f].max()):.2f}"
            for name, row in zip(NAMES, p, strict=True)
        )
        + "."
        for f, look in enumerate(looks)
    ]


def shift_captions(one: Moved, names: Sequence[str]) -> list[str]:
    texts = []
    for f, s in enumerate(range(-REACH, REACH + 1)):
        where = "Where it was" if s == 0 else f"{abs(s)} to the {'right' if s > 0 else 'left'}"
        said = "; ".join(
            f"{name} says {int(row[f].argmax())}, P {float(row[f].max()):.2f}"
            for name, row in zip(names, one.p, strict=True)
        )
        texts.append(f"{where}: {said}.")
    return texts


def shift_equations(one: Moved, told: int) -> list[str]:
    cnn, mlp = one.p[..., told]
    return [
        rf"s = {s}: \quad P_{{\mathrm{{CNN}}}} = {float(cnn[f]):.3f}, "
        rf"\quad P_{{\mathrm{{MLP}}}} = {float(mlp[f]):.3f}"
        for f, s in enumerate(range(-REACH, REACH + 1))
    ]


def layer_captions(layers: Sequence[Written]) -> list[str]:
    return [
        f"Layer {k}: a matrix of {layer.matrix.numel():,} entries, {percent(layer.zeros)} of them 0, "
        f"made of {layer.different:,} learned numbers, biases included."
        for k, layer in enumerate(layers, 1)
    ]


def layer_equations(layers: Sequence[Written]) -> list[str]:
    texts = []
    for layer in layers:
        rows, columns = layer.matrix.shape
        texts.append(
            rf"\Omega\ ({rows} \times {columns}): \quad {layer.different}\ \text{{numbers, not}}\ "
            rf"{rows} \cdot {columns} + {rows} = {rows * columns + rows}"
        )
    return texts


def counted(layers: Sequence[Written]) -> str:
    own = sum(layer.different for layer in layers)
    dense = sum(layer.matrix.numel() + len(layer.matrix) for layer in layers)
    return (
        f"{own:,} learned numbers fill {dense:,} weights and biases of a dense network that computes the "
        "same function. Of all dense networks of these widths the CNN can reach a few alone: those whose "
        "rows repeat along bands."
    )
