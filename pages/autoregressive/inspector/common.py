"""Parts that the views of the inspector share: the model, the reader's digit, a class."""

from typing import Any

import torch

from lab import ui
from lab.lenses import drawing
from pages.autoregressive.inspector import lens

START = "nade-digits"  # in every view, so that a scene of one view names no model of another
DRAWN, LIKELIEST = "drawn", "likeliest"


def model_and_side(only: Any = drawing.of_pictures) -> tuple[str, Any, int]:
    """The reader's choice of a model: name, model, pixels a side."""
    name = ui.experiment("Model", family="autoregressive", key="model", default=START, only=only)
    model = ui.load(name)
    if not drawing.side(model):
        ui.stop(f"{name} is no model of square pictures: pick another one.")
    return name, model, drawing.side(model)


def class_choice(model: Any, first: str) -> int | None:
    """A class, of models that know classes; None for `first`."""
    if not lens.classes(model):
        return None
    chosen = ui.choice("Class", [first, *map(str, range(lens.classes(model)))], key="class", as_list=True)
    return None if chosen == first else int(chosen)


def literal(x: torch.Tensor) -> str:
    """Whole numbers as a program spells a tensor of them."""
    values = [int(v) for v in x.flatten().tolist()]
    if max(values) < 10:
        return f'torch.tensor([float(c) for c in "{"".join(map(str, values))}"])'
    return f"torch.tensor({[float(v) for v in values]})"
