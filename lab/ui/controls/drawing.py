"""The drawing pad: draw, take an example, or upload a picture; answers its pixels."""

import base64
import binascii
import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from lab.ui.browser.components import hidden_until_loaded, last_message
from lab.ui.session import state

LEVELS = 15  # grey levels of a pixel: 4 bits, so that a drawing fits into a link
INK = "ink."  # a link's value that starts so is a drawing; any other is the name of an example
COLOUR = "rgb."  # ... and one that starts so is a picture of three planes: red, green, blue

HERE = Path(__file__).parent
HTML, CSS, JS = ((HERE / f"pad.{part}").read_text(encoding="utf-8") for part in ("html", "css", "js"))
mount = st.components.v2.component("lectern_pad", html=hidden_until_loaded(HTML), css=CSS, js=JS)


def draw(
    label: str, *, key: str, size: int = 28, examples: Sequence[tuple[str, Any]] = (), colour: bool = False
) -> Tensor:
    """A picture the reader draws, picks or uploads; in the URL as the name of an example or its ink.

    Args:
        size: pixels a side.
        examples: (name, picture) with pictures (size, size) in [0, 1]; the first is shown at the start.
        colour: pictures are (3, size, size), light as it is; else they are ink, 1, on paper, 0.

    Returns:
        (size, size) float32 in [0, 1], of 16 levels, or (3, size, size); zeros while nothing is drawn.
    """
    state.register(key, "text")
    planes = 3 if colour else 1
    pictures = {name: quantise(picture, size, planes) for name, picture in examples}
    start = next(iter(pictures), None)
    token = state.get(key)
    levels = read(token, pictures, size, planes)
    if token is not None and levels is None:
        state.put(key, None)
        state.set_warning(
            key,
            f"The link's drawing {key} cannot be read: draw it again here, or copy the whole link.",
        )
        token = None
    if levels is None:
        levels = pictures[start] if start is not None else torch.zeros(shape(size, planes), dtype=torch.uint8)
    name = f"{key}-pad"

    def drawn() -> None:
        message = last_message(name, "drawing")
        if isinstance(message, dict):
            st.session_state[f"_seq:{key}"] = int(message.get("seq") or 0)
            ink = unpack_bytes(message.get("pixels"), size, planes)
            if message.get("example") in pictures:
                state.put(key, message["example"])
            elif ink is not None:
                state.put(key, (COLOUR if colour else INK) + spell(ink))

    st.markdown(label)
    mount(
        key=name,
        data={
            "label": label,
            "size": size,
            "planes": planes,
            "seq": st.session_state.get(f"_seq:{key}", 0),
            "pixels": to_text(levels),
            "examples": [[example, to_text(picture)] for example, picture in pictures.items()],
        },
        on_drawing_change=drawn,
    )
    state.show_warning(key, token is None)
    state.publish(key, start)
    return levels.float() / LEVELS


def shape(size: int, planes: int) -> tuple[int, ...]:
    """Shape of a picture of these planes."""
    return (size, size) if planes == 1 else (planes, size, size)


def ink(picture: Any) -> str:
    """A picture of one plane or three, in [0, 1], as a link's text, for the `draw` of another page."""
    values = torch.as_tensor(picture)
    planes = 1 if values.ndim == 2 else len(values)
    return (INK if planes == 1 else COLOUR) + spell(quantise(values, values.shape[-1], planes))


def ink_code(picture: Any) -> str:
    """A program's words for a picture that `draw` answered, with `drawing` imported from here."""
    return f"drawing.pixels({ink(picture)!r}, {picture.shape[-1]})"


def planes(ink: str) -> int:
    """Planes of a picture by the beginning of its `ink`."""
    return 3 if ink.startswith(COLOUR) else 1


def pixels(ink: str, size: int) -> Tensor:
    """(size, size) or (3, size, size) float32 in [0, 1] of a picture's `ink`."""
    levels = read(ink, {}, size, planes(ink))
    assert levels is not None  # it is what `draw` answered
    return levels.float() / LEVELS


def side(ink: str) -> int:
    """Pixels a side of the picture that `draw` has answered with this ink: two of them are a byte."""
    packed = zlib.decompress(base64.urlsafe_b64decode(ink[len(INK) :] + "=="))
    return math.isqrt(2 * len(packed) // planes(ink))


def quantise(picture: Any, size: int, planes: int = 1) -> Tensor:
    """Bytes 0..15 of a picture in [0, 1], in the `shape` of its planes."""
    values = torch.as_tensor(picture, dtype=torch.float32).reshape(shape(size, planes))
    return (values.clamp(0, 1) * LEVELS).round().to(torch.uint8)


def read(token: str | None, examples: dict[str, Tensor], size: int, planes: int = 1) -> Tensor | None:
    """The picture that a link's text stands for, bytes 0..15 in the `shape` of its planes; None if none."""
    start, count = INK if planes == 1 else COLOUR, planes * size * size
    if token is None or not token.startswith(start):
        return examples.get(token or "")
    try:
        packed = zlib.decompressobj().decompress(base64.urlsafe_b64decode(token[len(start) :] + "=="), count)
    except (ValueError, zlib.error, binascii.Error):
        return None
    halves = torch.frombuffer(bytearray(packed), dtype=torch.uint8) if packed else torch.empty(0)
    if len(halves) != -(-count // 2):
        return None
    return torch.stack([halves >> 4, halves & 15], 1).flatten()[:count].reshape(shape(size, planes))


def spell(levels: Tensor) -> str:
    """A picture as a link's text: two pixels a byte, compressed."""
    flat = torch.cat([levels.flatten(), levels.new_zeros(levels.numel() % 2)]).reshape(-1, 2)
    packed = zlib.compress(bytes((flat[:, 0] * 16 + flat[:, 1]).tolist()), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def to_text(levels: Tensor) -> str:
    """A picture as the pad knows it: base64 of one byte a pixel."""
    return base64.b64encode(bytes(levels.flatten().tolist())).decode()


def unpack_bytes(text: Any, size: int, planes: int = 1) -> Tensor | None:
    """The pad's message as bytes 0..15 in the `shape` of its planes; None if it is no such picture."""
    try:
        raw = base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error):
        return None
    if len(raw) != planes * size * size or max(raw) > LEVELS:
        return None
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8).reshape(shape(size, planes))
