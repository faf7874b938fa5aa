"""Inputs of classifiers of pictures and of signals: one of a shelf, or the reader's own drawing."""

from torch import Tensor

from lab.lenses import drawing, signals
from modules.base import Module

OWN = "own"


def shape(model: Module) -> tuple[int, ...]:
    """Shape of an input: (1, n) of a signal, (1, H, W) of a picture."""
    return tuple(model.hparams["image_shape"])


def sees_pictures(model: Module) -> bool:
    return len(shape(model)) == 3


def sees_signals(model: Module) -> bool:
    return not sees_pictures(model)


def side(model: Module) -> int:
    return shape(model)[-1]


def digits(model: Module) -> list[tuple[str, Tensor]]:
    return drawing.examples(side(model))


def curves() -> list[str]:
    """Names of the signals to choose from, the reader's own last."""
    return [*dict(signals.signals()), OWN]


def sketches() -> list[tuple[str, Tensor]]:
    """The signals as drawings to start from."""
    return [(label, signals.sketch(curve)) for label, curve in signals.signals()]


def signal(name: str, drawn: Tensor | None) -> Tensor:
    """The curve (1, n) of this name, or the drawn one."""
    return dict(signals.signals())[name] if drawn is None else signals.curve(drawn)


def chosen(model: Module, digit: Tensor | None, name: str, curve: Tensor | None) -> Tensor:
    """The input (C, positions...): the digit of a model of pictures, else the drawn or the named curve."""
    if sees_pictures(model):
        assert digit is not None  # it is drawn
        return digit[None]
    return signal(name, curve)
