"""The next token before and after temperature and truncation."""

from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor

from lab.errors import UserError
from modules.base import NextToken
from modules.language.truncation import SamplingParams, Truncated, truncate, truncation_mask

Order = Literal["temperature", "cuts"]  # which comes first


@torch.no_grad()
def truncate_next(
    model: NextToken, prompt: Tensor, params: SamplingParams, first: Order = "temperature"
) -> Truncated:
    """Distribution of what follows `prompt` (T,), before and after temperature and truncation.

    Args:
        first: "temperature" measures the cuts on what it has bent; "cuts" measures them on the model's own
            distribution, and bends what is left.

    Raises:
        UserError: the model has no distribution here.
    """
    try:
        story = truncate(model.next_log_probs(prompt[None])[0], params)
    except ValueError as error:
        raise UserError(str(error)) from None
    if first == "temperature":
        return story
    kept = truncation_mask(story.before, params.top_k, params.top_p, params.min_p)
    mass = (story.tempered * kept).sum(-1)
    return replace(story, kept=kept, mass=mass, after=story.tempered * kept / mass)
