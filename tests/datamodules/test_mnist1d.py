"""The generator of MNIST-1D: the published numbers."""

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from datamodules.mnist1d import MNIST1D, generate, templates


def test_published_numbers() -> None:
    """Pinned from the `mnist1d` package (make_dataset, random state 42), which gives the same bits."""
    x, y = generate()
    assert x.shape == (5000, 40) and x.dtype == np.float64
    assert x[0, :4] == pytest.approx([-0.33200567, -0.47191037, -0.77869708, -1.00974083], abs=1e-8)
    assert y[:10].tolist() == [2, 6, 4, 5, 6, 6, 6, 0, 3, 1]
    # rounded to 6 places; the nearest number to a rounding edge is 2e-12 away, far beyond float64's noise
    digest = hashlib.sha256(np.round(x, 6).tobytes()).hexdigest()
    assert digest == "a3e49301cd6d81207e6115120e4b369093607da485593686028ea556b9d8928a"
    digest = hashlib.sha256(y.astype(np.uint8).tobytes()).hexdigest()
    assert digest == "4f5f4160c519e3c47f9d3e196c161336fcd32126a9efffe4153d6e7c8b73f963"
    assert abs(x.mean()) < 1e-12 and x.std() == pytest.approx(1, abs=1e-12)


def test_templates_start_and_end_at_zero() -> None:
    t = templates()
    assert t.shape == (10, 12)
    assert np.allclose(t[:, 0], 0) and np.allclose(t[:, -1], 0)
    assert np.allclose(t.std(1), 1 / 6)


@pytest.mark.parametrize("shuffle", [False, True])
def test_equals_the_package(shuffle: bool) -> None:
    pytest.importorskip("mnist1d", exc_type=ImportError)
    from mnist1d.data import get_dataset_args, make_dataset

    arguments = get_dataset_args()
    arguments.shuffle_seq = shuffle
    theirs = make_dataset(arguments)
    x, y = generate(shuffle_positions=shuffle)
    assert np.abs(x - np.concatenate([theirs["x"], theirs["x_test"]])).max() < 1e-12
    assert np.array_equal(y, np.concatenate([theirs["y"], theirs["y_test"]]))


@pytest.mark.real_data
def test_equals_the_published_file(real_data: Callable[[str], Path]) -> None:
    """The numbers are read out of the pickle's bytes; nothing of it is unpickled."""
    content = (real_data("mnist1d") / "mnist1d/mnist1d_data.pkl").read_bytes()
    x, _ = generate()
    for ours in (x[:4000], x[4000:]):
        # opcode B (BINBYTES) and a length in four bytes come before the array's buffer
        start = content.index(b"B" + struct.pack("<I", ours.nbytes)) + 5
        theirs = np.frombuffer(content, "<f8", ours.size, start)
        candidates = [theirs.reshape(ours.shape), theirs.reshape(ours.shape[::-1]).T]  # C or Fortran order
        assert min(np.abs(ours - c).max() for c in candidates) < 1e-14


def test_splits() -> None:
    data = MNIST1D()
    data.setup()
    x, y = generate()
    assert [len(s) for s in (data.train_set, data.val_set, data.test_set)] == [3600, 400, 1000]
    test_x, test_y = data.test_set[torch.arange(1000)]
    assert test_x.shape == (1000, 1, 40) and test_x.dtype == torch.float32 and test_y.dtype == torch.int64
    assert torch.equal(test_x[:, 0], torch.tensor(x[4000:]).float())
    assert test_y.tolist() == y[4000:].tolist()
    rows = {tuple(r) for s in (data.train_set, data.val_set) for r in s.tensors[0][:, 0].tolist()}
    assert rows == {tuple(r) for r in torch.tensor(x[:4000]).float().tolist()}
    # each curve kept its digit
    digit = {tuple(r): d for r, d in zip(torch.tensor(x).float().tolist(), y.tolist(), strict=True)}
    train_x, train_y = data.train_set[torch.arange(3600)]
    assert [digit[tuple(r)] for r in train_x[:, 0].tolist()] == train_y.tolist()
    assert data.sizes == {"event_shape": (40,), "image_shape": (1, 40), "num_classes": 10}
    assert MNIST1D.embedded


def test_seed_moves_validation_but_never_test() -> None:
    first, second = MNIST1D(seed=0), MNIST1D(seed=1)
    first.setup()
    second.setup()
    assert not torch.equal(first.val_set.tensors[0], second.val_set.tensors[0])
    assert torch.equal(first.test_set.tensors[0], second.test_set.tensors[0])


def test_shuffled_positions() -> None:
    x, y = generate()
    shuffled, labels = generate(shuffle_positions=True)
    assert np.array_equal(y, labels)
    assert np.allclose(np.sort(x, 1), np.sort(shuffled, 1), atol=1e-12)
    assert not np.allclose(x, shuffled)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="between 1 and 3999"):
        MNIST1D(val_size=4000)
