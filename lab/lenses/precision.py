"""Models in double precision, where single precision would be seen in the numbers of a page."""

from copy import deepcopy
from typing import TypeVar

from torch import nn

M = TypeVar("M", bound=nn.Module)


def double(model: M) -> M:
    """A copy in double precision, without gradients."""
    return deepcopy(model).double().eval().requires_grad_(False)
