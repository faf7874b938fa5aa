"""The drawing pad: draw, pick from a shelf, or upload a picture; answers its pixels."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from lab.ui import state

LEVELS = 15  # grey levels a pixel has in a link: 4 bits


def draw(
    label: str, *, key: str, size: int = 28, shelf: Sequence[tuple[str, Any]] = (), help: str | None = None
) -> Tensor:
    """A picture the reader draws, picks or uploads.

    Args:
        size: pixels a side.
        shelf: (name, picture) with pictures (size, size) in [0, 1]; the first is shown at the start.

    Returns:
        (size, size) float32 in [0, 1]; zeros while nothing is drawn.
    """
    state.register(key, "draw")
    names = [name for name, _ in shelf]
    start = names[0] if names else ""
    token = state.get(key)
    if token is None:
        token = start
    pictures = {
        name: torch.as_tensor(picture, dtype=torch.float32).reshape(size, size) for name, picture in shelf
    }
    if names:
        choice = st.selectbox(label, names, key=f"{key}-pick")
        token = choice
    state.publish(key, start)
    return pictures.get(token, torch.zeros(size, size))
