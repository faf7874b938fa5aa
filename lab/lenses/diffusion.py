"""Share what the rooms of diffusion have in common: the note on the texts, the classes that a reader asks
for, the stops of a long trajectory, and digits to begin with."""

from functools import lru_cache
from typing import Literal

from torch import Tensor

from lab.errors import UserError
from lab.lenses import stock
from modules.diffusion.gaussian_diffusion import GaussianDiffusion

SAID = "The texts only name this family; what is here goes beyond them."

ANY: Literal["any"] = "any"
Wanted = int | Literal["any"] | None


def classes(model: GaussianDiffusion, count: int, wanted: Wanted, w: float) -> Tensor | None:
    """Classes (count,) of what is to be drawn: one of them, each in turn (None), or no class named (ANY).

    Raises:
        UserError: guidance without a class, or a class that the model does not know.
    """
    if wanted == ANY:
        if w:
            raise UserError("Guidance needs a class: choose a digit or “each”, or set w to 0.")
        return None
    known = model.num_classes
    if not known and (w or wanted is not None):
        raise UserError("This model was trained without classes: choose “each”, and set w to 0.")
    if wanted is not None and wanted >= known:
        raise UserError(f"This model knows the classes 0 to {known - 1}: choose one of them.")
    return model.classes(count, wanted)


def stops(count: int, most: int = 41) -> list[int]:
    """At most so many of 0 … count − 1, evenly spread, both ends among them."""
    if count <= most:
        return list(range(count))
    return [round(i * (count - 1) / (most - 1)) for i in range(most)]


@lru_cache(maxsize=1)
def digits() -> list[tuple[str, Tensor]]:
    """A test digit of each class, (8, 8) in [0, 1]."""
    x, y = stock.digits("test")
    return [(str(k), x[y == k][0, 0]) for k in [*range(2, 10), 0, 1]]
