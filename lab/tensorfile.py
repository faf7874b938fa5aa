"""A file of tensors: safetensors, in which a tensor may be packed. No bit is lost and no code is run.

The bytes of a packed tensor are sorted by their place in a number, all first bytes before all second ones
(HDF5 calls it the shuffle filter), and compressed: exponents are alike; what a mask hides, or small counts
leave empty, is zeros. Whole numbers that never fall, such as sorted keys, become differences first. In the
file such a tensor is a vector of bytes, and the metadata say what it is:

    {"packed": {"keys": {"dtype": "I64", "shape": [264627], "differences": true}}}

A tensor that would not become a tenth shorter stays as it is. Shapes are known from the header alone, before
any number is read, and none may stand for more than `MOST_RATIO` times the bytes that hold it.

References: the xz format (LZMA2); the shuffle filter of HDF5.
"""

import io
import json
import lzma
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from safetensors.torch import save as safetensors_save
from torch import Tensor

from lab import untrusted

# The kinds of numbers that a model can have, by their names in a safetensors header.
DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
    "BOOL": torch.bool,
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}
LEAST = 1024  # bytes; shorter tensors stay plain
MOST_RATIO = 64  # what the bytes of a packed tensor may stand for, in bytes; counts reach 20
MOST_MEMORY = 2**24  # of the decoder; it takes 9 MB
PIECE = 2**22  # numbers that are read at once


@dataclass(frozen=True)
class Packed:
    """Tensor that a vector of bytes stands for."""

    dtype: str
    shape: list[int]
    differences: bool = False

    @property
    def size(self) -> int:
        """Bytes of the tensor itself."""
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize


# --- Writing ------------------------------------------------------------------------------------


def save(tensors: Mapping[str, Tensor]) -> bytes:
    """The file of these tensors, each as short as it can be."""
    stored, packed = {}, {}
    for name, tensor in tensors.items():
        stored[name] = tensor.contiguous()
        if tensor.nbytes >= LEAST and tensor.dtype != torch.bool:
            short, entry = pack(tensor)
            if tensor.nbytes / MOST_RATIO <= short.nbytes < 0.9 * tensor.nbytes:
                stored[name], packed[name] = short, asdict(entry)
    return safetensors_save(stored, {"packed": json.dumps(packed)} if packed else None)


def stream(tensors: Mapping[str, Tensor], read: Callable[[str], Tensor]) -> Iterator[bytes | memoryview]:
    """Parts of the file of these tensors, none of them packed, with one of them in memory at a time.

    Args:
        tensors: of the meta device: names, shapes and dtypes.
        read: gives one of them by its name.
    """
    header, end = {}, 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.nbytes
        header[name] = {
            "dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [start, end],
        }  # fmt: skip
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # numbers begin at a multiple of 8
    yield len(text).to_bytes(8, "little") + text
    for name in tensors:
        yield read(name).contiguous().flatten().view(torch.uint8).numpy().data


def pack(tensor: Tensor) -> tuple[Tensor, Packed]:
    """Bytes (S,) and what they stand for."""
    numbers = tensor.flatten()
    rising = tensor.ndim == 1 and not tensor.is_floating_point() and bool((numbers.diff() >= 0).all())
    if rising:
        numbers = numbers.diff(prepend=numbers.new_zeros(1))
    planes = numbers.view(torch.uint8).view(-1, tensor.dtype.itemsize).t().contiguous()  # (bytes, numbers)
    data = lzma.compress(planes.numpy().tobytes(), check=lzma.CHECK_CRC32)
    entry = Packed(NAMES[tensor.dtype], list(tensor.shape), differences=rising)
    return torch.frombuffer(bytearray(data), dtype=torch.uint8), entry


# --- Reading ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Header:
    """What a file says of its tensors.

    Attributes:
        tensors: of the meta device, under their names: shapes and dtypes, no number.
        packed: those that bytes stand for.
        places: first byte in the file, and how many.
    """

    tensors: dict[str, Tensor]
    packed: dict[str, Packed]
    places: dict[str, tuple[int, int]]


def read_header(file: io.BufferedIOBase, size: int) -> Header:
    """Names, shapes, dtypes and places: no number is read.

    Args:
        size: bytes of the file.

    Raises:
        ValueError, KeyError, TypeError, AttributeError, RuntimeError: no whole file: each tensor must
            follow the one before, up to the end, and be as long as its shape says.
    """
    length = int.from_bytes(file.read(8), "little")
    if not 8 + length <= size:
        raise ValueError("it ends within its header")
    if length > untrusted.MOST_JSON:
        raise ValueError("its header is too long")
    header = untrusted.parse_json(file.read(length))
    metadata = header.pop("__metadata__", None) or {}
    stored, places, end = {}, {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        start, stop = entry["data_offsets"]
        stored[name] = announced(name, entry["shape"], DTYPES[entry["dtype"]], most=size)
        if type(start) is not int or start != end or stop - start != stored[name].nbytes:
            raise ValueError(f"{name!r} has another length than its shape")
        places[name], end = (8 + length + start, stop - start), stop
    if end != size - 8 - length:
        raise ValueError(f"it has {size - 8 - length:,} bytes of numbers instead of {end:,}")
    packed = {}
    for name, entry in untrusted.parse_json(metadata.get("packed", "{}")).items():
        what, held = Packed(**entry), stored[name]
        stored[name] = announced(name, what.shape, DTYPES[what.dtype], most=MOST_RATIO * held.nbytes)
        if held.dtype != torch.uint8 or not 0 < what.size <= MOST_RATIO * held.nbytes:
            raise ValueError(f"{name!r} stands for more than it holds")
        packed[name] = what
    return Header(stored, packed, places)


def announced(name: str, shape: Any, dtype: torch.dtype, most: int) -> Tensor:
    """A tensor without numbers; no size of it may be above `most`."""
    if not all(type(n) is int and 0 <= n <= most for n in shape):
        raise ValueError(f"{name!r} has an impossible shape")
    return torch.empty(shape, dtype=dtype, device="meta")


def load(data: bytes) -> dict[str, Tensor]:
    """The tensors of a whole file.

    Raises:
        ValueError: bytes that are not what the header says; and what `read_header` raises.
    """
    file = io.BytesIO(data)
    header = read_header(file, len(data))
    return {name: read(file, header, name) for name in header.tensors}


def read(file: io.BufferedIOBase, header: Header, name: str) -> Tensor:
    """One tensor of a file.

    Raises:
        ValueError: its bytes are not what the header says.
    """
    wanted = header.tensors[name]
    if name in header.packed:
        return unpack(numbers(file, *header.places[name], torch.uint8), header.packed[name])
    start, length = header.places[name]
    return numbers(file, start, length, wanted.dtype).view(wanted.shape)


def read_into(file: io.BufferedIOBase, header: Header, name: str, target: Tensor) -> None:
    """Copy one tensor of a file into a tensor of its shape, whose dtype may be another: numbers that are not
    packed come in pieces, and are never all in memory twice.

    Raises:
        ValueError: as of `read`.
    """
    if name in header.packed or not target.is_contiguous():
        target.copy_(read(file, header, name))
        return
    dtype, (start, _) = header.tensors[name].dtype, header.places[name]
    for piece in target.view(-1).split(PIECE):
        piece.copy_(numbers(file, start, len(piece) * dtype.itemsize, dtype))
        start += len(piece) * dtype.itemsize


def numbers(file: io.BufferedIOBase, start: int, length: int, dtype: torch.dtype) -> Tensor:
    """Numbers of one dtype in `length` bytes of a file from `start` on: (S,).

    Raises:
        ValueError: the file has ended before.
    """
    data = bytearray(length)
    file.seek(start)
    if file.readinto(data) != length:
        raise ValueError("it ends within its numbers")
    return torch.frombuffer(data, dtype=dtype) if length else torch.empty(0, dtype=dtype)


def unpack(short: Tensor, entry: Packed) -> Tensor:
    """The tensor that bytes (S,) stand for; never more memory than `entry` says.

    Raises:
        ValueError: the bytes are damaged, or stand for another number of bytes.
    """
    decoder, dtype = lzma.LZMADecompressor(lzma.FORMAT_XZ, MOST_MEMORY), DTYPES[entry.dtype]
    try:
        data = decoder.decompress(short.numpy().tobytes(), entry.size + 1)
    except lzma.LZMAError as error:
        raise ValueError(f"its packed numbers are damaged: {error}") from None
    if len(data) != entry.size or not decoder.eof or decoder.unused_data:
        raise ValueError("its packed numbers have another length than their shape")
    planes = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(dtype.itemsize, -1)
    values = planes.t().flatten().view(dtype)
    return (values.cumsum(0).to(dtype) if entry.differences else values).view(entry.shape)
