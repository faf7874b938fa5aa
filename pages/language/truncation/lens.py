"""The next token before and after temperature and truncation."""

import torch
from torch import Tensor

from lab.errors import UserError
from modules.base import NextToken
from modules.language.truncation import SamplingParams, Truncated, truncate


@torch.no_grad()
def truncate_next(model: NextToken, prompt: Tensor, params: SamplingParams) -> Truncated:
    """What follows `prompt` (T,), before and after temperature and truncation.

    Raises:
        UserError: the model has no distribution here.
    """
    try:
        return truncate(model.next_log_probs(prompt[None])[0], params)
    except ValueError as error:
        raise UserError(str(error)) from None
