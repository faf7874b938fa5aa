"""Files of tensors: short, the same to the bit, and never more memory than their bytes answer for."""

import json
import lzma
import struct
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from lab import tensorfile


def noise(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def half_hidden() -> Tensor:
    return noise(80, 80, dtype=torch.float16).tril()


KINDS = {
    "weights": lambda: noise(40, 60),
    "half precision": lambda: noise(40, 60, dtype=torch.float16),
    "bfloat16": lambda: noise(40, 60, dtype=torch.bfloat16),
    "masked": half_hidden,
    "negative zeros": lambda: -torch.zeros(50, 50),
    "extremes": lambda: torch.tensor([torch.inf, -torch.inf, torch.nan, 5e-324] * 500, dtype=torch.float64),
    "sorted keys": lambda: torch.arange(3000) ** 5,
    "keys from below zero": lambda: torch.arange(-3000, 3000) ** 3,
    "the widest difference": lambda: torch.tensor([-(2**63)] * 600 + [2**63 - 1] * 600),
    "counts": lambda: (noise(50, 50) ** 2 * 10).long(),
    "short counts": lambda: (noise(50, 50) ** 2 * 10).to(torch.int16),
    "whole numbers as real ones": lambda: (noise(50, 50, dtype=torch.float64) ** 2 * 10).round(),
    "bytes": lambda: torch.zeros(5000, dtype=torch.uint8),
    "yes and no": lambda: torch.zeros(5000, dtype=torch.bool),
    "one number": lambda: torch.tensor(3.0),
    "nothing": lambda: torch.zeros(0, 4),
    "transposed": lambda: half_hidden().t(),
}


def bits(tensor: Tensor) -> list[int]:
    return tensor.flatten().view(torch.uint8).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_is_loaded_to_the_bit(kind: str) -> None:
    tensor = KINDS[kind]()
    (again,) = tensorfile.load(tensorfile.save({"a": tensor})).values()
    assert (again.shape, again.dtype) == (tensor.shape, tensor.dtype)
    assert bits(again) == bits(tensor)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=128, max_size=200), st.booleans())
def test_whole_numbers_come_back(numbers: list[int], rising: bool) -> None:
    tensor = torch.tensor(sorted(numbers) if rising else numbers)
    assert torch.equal(tensorfile.unpack(*tensorfile.pack(tensor)), tensor)


def test_what_is_saved_is_short() -> None:
    """Half of a matrix under a mask, keys in order and small counts take a fraction of their bytes."""
    for kind, share in (("masked", 0.55), ("sorted keys", 0.65), ("counts", 0.15)):
        tensor = KINDS[kind]()
        assert len(tensorfile.save({"a": tensor})) < share * tensor.nbytes, kind
    plain = torch.randint(0, 256, (5000,), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    assert len(tensorfile.save({"a": plain})) < 5000 + 200  # what does not become shorter stays as it is


def file(short: bytes, entry: Any, kind: str = "U8") -> bytes:
    """A file of one packed tensor `a`, as one who wants to deceive writes it."""
    header = {
        "__metadata__": {"packed": json.dumps({"a": entry})},
        "a": {"dtype": kind, "shape": [len(short)], "data_offsets": [0, len(short)]},
    }
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + short


FOUR = lzma.compress(bytes(4))
BOMB = lzma.compress(bytes(2**24))  # 2.5 kB
TRUE = {"dtype": "F32", "shape": [1], "differences": False}


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    "data",
    [
        file(FOUR, TRUE | {"shape": [2]}),
        file(FOUR, TRUE | {"shape": []}, "I8"),
        file(FOUR, TRUE | {"shape": [0]}),
        file(FOUR, TRUE | {"shape": [-1, -1]}),
        file(FOUR, TRUE | {"shape": [True]}),
        file(FOUR, TRUE | {"shape": 1}),
        file(FOUR, TRUE | {"shape": [10**9]}),
        file(FOUR, TRUE | {"shape": [200] * 8}),
        file(FOUR, TRUE | {"dtype": "C64"}),
        file(FOUR, TRUE | {"dtype": []}),
        file(FOUR, TRUE | {"more": 1}),
        file(FOUR, [1]),
        file(FOUR[:-1], TRUE),
        file(FOUR + b"x", TRUE),
        file(b"no packed bytes", TRUE),
        file(BOMB, {"dtype": "U8", "shape": [2**24]}),
        file(BOMB, {"dtype": "U8", "shape": [2**12, 2**12]}),
        file(BOMB, {"dtype": "U8", "shape": [2**16]}),
        file(FOUR, TRUE).replace(b'"a\\"', b'"b\\"'),
    ],
    ids=range(19),
)
def test_bytes_that_stand_for_something_else_are_refused(data: bytes) -> None:
    assert torch.equal(tensorfile.load(file(FOUR, TRUE))["a"], torch.zeros(1))
    with pytest.raises((ValueError, KeyError, TypeError, AttributeError, RuntimeError)):
        tensorfile.load(data)
