"""Parts that the views of orders share: the model, the reader's digit, completions."""

import torch

from lab import ui
from lab.lenses import drawing, surfaces
from modules.autoregressive.made import MADE


@ui.cached
def complete(name: str, given: torch.Tensor, order: list[int], n: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return ui.load(name).sample(n, given=given, order=order, generator=generator)


def choose_model() -> tuple[str, MADE, int]:
    """The reader's choice of a MADE of bits: name, model, pixels a side."""
    name = ui.experiment(
        "Model", family="autoregressive", key="model", default="made-digits-orders",
        only=lambda e: surfaces.is_a(e, MADE) and drawing.of_binary_pictures(e),
    )  # fmt: skip
    model = ui.load(name)
    return name, model, drawing.side(model)


def literal(x: torch.Tensor) -> str:
    """Bits as a program spells a tensor of them."""
    return f'torch.tensor([float(c) for c in "{drawing.bit_strings(x[None])[0]}"])'
