"""One wire format from Python to the browser: a header of JSON, then arrays that are used without a copy.

    [length of the header, 4 bytes, little-endian][header, padded to 8][arrays, each padded to 8]

The header's "arrays" say where each begins: name -> [type, shape, offset]. `js/wire.js` reads it.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lab.figures.basic import array

# What a browser has no array for, or where less is enough.
KINDS = {"f8": "f4", "f2": "f4", "i8": "i4", "u8": "u4", "b1": "u1"}


def pack(header: Mapping[str, Any], arrays: Mapping[str, Any] | None = None) -> bytes:
    """Header and arrays (tensors, lists, numpy) as bytes; floats go as float32, whole numbers as int32."""
    index: dict[str, Any] = {}
    blobs: list[bytes] = []
    at = 0
    for name, values in (arrays or {}).items():
        a = np.ascontiguousarray(array(values))
        kind = a.dtype.str[1:]
        a = a.astype("<" + KINDS.get(kind, kind))
        raw = a.tobytes()
        index[name] = [a.dtype.str[1:], list(a.shape), at]
        blobs += [raw, b"\0" * (-len(raw) % 8)]
        at += len(raw) + (-len(raw) % 8)
    head = json.dumps({**header, "arrays": index}, separators=(",", ":"), allow_nan=False).encode()
    head += b" " * (-(4 + len(head)) % 8)
    return b"".join([len(head).to_bytes(4, "little"), head, *blobs])


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of `pack`."""
    end = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:end])
    arrays = {}
    for name, (kind, shape, at) in header.pop("arrays").items():
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, "<" + kind, count, end + at).reshape(shape)
    return header, arrays
