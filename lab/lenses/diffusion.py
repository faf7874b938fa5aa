"""What the rooms of diffusion share: the note on the texts, the stops of a long walk, and digits to begin
with."""

from functools import lru_cache

from torch import Tensor

from lab.lenses import stock

SAID = "The texts only name this family; what is here goes beyond them."


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
