"""Classes y of a model that is conditioned on one of C: checked, in turn where none is given, and one-hot."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor


class ClassConditional:
    """Mixin of models that may be conditioned on a class.

    Attributes:
        num_classes: C; 0 where the model knows none.
    """

    num_classes: int

    def classes(self, n: int, y: int | Sequence[int] | Tensor | None = None) -> Tensor | None:
        """The classes of n draws, (n,) int64 on the CPU.

        Args:
            y: one class for all, or n of them; without it they come in turn, 0, 1, …, C − 1, 0, …

        Returns:
            None where the model knows no classes.

        Raises:
            ValueError: no such class, not n of them, or a model that knows none.
        """
        if not self.num_classes:
            if y is not None:
                raise ValueError("This model knows no classes: leave y out.")
            return None
        if y is None:
            return torch.arange(n, device="cpu") % self.num_classes
        y = torch.as_tensor(y, device="cpu")
        if y.is_floating_point() or y.dtype == torch.bool or ((y < 0) | (y >= self.num_classes)).any():
            raise ValueError(f"y must be whole numbers from 0 to {self.num_classes - 1}.")
        if y.shape not in ((), (1,), (n,)):
            raise ValueError(f"y has shape {list(y.shape)}: give one class, or one for each of the {n}.")
        return y.long().expand(n)

    def one_hot(self, y: Tensor | None, n: int) -> Tensor:
        """One-hot rows (n, C) of the classes y (n,) of n examples, int64 on the device of y.

        Raises:
            ValueError: no class is given, or one that there is not.
        """
        if y is None or y.shape != (n,) or not ((y >= 0) & (y < self.num_classes)).all():
            raise ValueError(
                f"Give y, the class of each example: whole numbers from 0 to {self.num_classes - 1}."
            )
        return F.one_hot(y, self.num_classes)
