"""Cache of what a model computes once and keeps beside its parameters: masks, a graph's matrix."""

from typing import Any


class Cache(dict):
    """Dict that is empty in every copy and pickle, for what it holds can be computed again.

    Sparse matrices cannot even be copied. What is kept must be made outside of inference mode: else a
    model that was evaluated could not be trained any more in the same process.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> "Cache":
        return Cache()

    def __reduce__(self) -> tuple[type["Cache"], tuple]:
        return Cache, ()
