"""MNIST and the digits: splits, sizes, and the three binarizations."""

import gzip
import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from datamodules import fetch
from datamodules.digits import Digits
from datamodules.mnist import MNIST, _mix, keyed_uniform, moved, parse_idx, resize, static_draw


def every(split: Any) -> tuple[Tensor, Tensor]:
    return split[torch.arange(len(split))]


def ready(data: Any) -> Any:
    data.prepare_data()
    data.setup()
    return data


def independent_nll(train: Tensor, test: Tensor) -> float:
    """Test nats of pixels that know nothing of each other: counts with half a count added."""
    p = (train.flatten(1).sum(0) + 0.5) / (len(train) + 1)
    x = test.flatten(1)
    return -(x * p.log() + (1 - x) * (1 - p).log()).sum(1).mean().item()


def chain_nll(train: Tensor, test: Tensor) -> float:
    """Test nats where each pixel knows the one before it in the raster, with a table per pixel."""

    def before(x: Tensor) -> Tensor:
        return torch.cat([torch.zeros(len(x), 1), x[:, :-1]], 1)

    train, test = train.flatten(1), test.flatten(1)
    old, new = before(train), before(test)
    nll = 0.0
    for value in (0, 1):
        rows = (old == value).float()
        p = ((train * rows).sum(0) + 0.5) / (rows.sum(0) + 1)
        nll -= ((test * p.log() + (1 - test) * (1 - p).log()) * (new == value)).sum(1).mean().item()
    return nll


# --- the counter-based generator ---------------------------------------------------------------


def test_mix_is_splitmix64() -> None:
    golden = 0x9E3779B97F4A7C15
    states = [(1234567 + golden * i) % 2**64 for i in range(1, 5)]
    signed = torch.tensor([s - 2**64 if s >= 2**63 else s for s in states])
    published = [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
    ]  # fmt: skip
    assert [v % 2**64 for v in _mix(signed).tolist()] == published


def test_uniform_numbers() -> None:
    u = keyed_uniform(torch.arange(2000), 500).double()
    assert u.min() >= 0 and u.max() < 1
    n = u.numel()
    assert abs(u.mean() - 0.5) < 4 * math.sqrt(1 / 12 / n)
    counts = torch.histc(u, 64, 0, 1)
    assert ((counts - n / 64) ** 2 / (n / 64)).sum() < 63 + 4 * math.sqrt(2 * 63)  # χ²
    centred = u - 0.5
    for pair in ((centred[:-1], centred[1:]), (centred[:, :-1], centred[:, 1:])):  # keys, then places
        correlation = (pair[0] * pair[1]).mean() * 12
        assert abs(correlation) < 4 / math.sqrt(n)


def test_numbers_depend_on_the_key_alone() -> None:
    keys = torch.tensor([5, 9, -3])
    assert torch.equal(keyed_uniform(keys, 10), keyed_uniform(keys.flip(0), 10).flip(0))
    assert torch.equal(keyed_uniform(keys, 10), keyed_uniform(keys, 20)[:, :10])


# --- digits ------------------------------------------------------------------------------------


def test_digits_splits() -> None:
    data = ready(Digits())
    parts = [every(s)[0].flatten(1) for s in (data.train_set, data.val_set, data.test_set)]
    assert [len(p) for p in parts] == [1297, 250, 250]
    from sklearn.datasets import load_digits

    whole = torch.as_tensor(load_digits().data / 16, dtype=torch.float32)
    ours = torch.cat(parts)
    order = [sorted(map(tuple, t.tolist())) for t in (ours, whole)]
    assert order[0] == order[1]  # nothing lost, nothing twice
    assert data.describe()["splits"] == {"train": 1297, "val": 250, "test": 250}


def test_seed_moves_validation_but_never_test() -> None:
    first, second = ready(Digits(seed=0)), ready(Digits(seed=1))
    assert not torch.equal(every(first.val_set)[0], every(second.val_set)[0])
    assert torch.equal(every(first.test_set)[0], every(second.test_set)[0])


def test_a_class_can_be_left_out_of_every_split() -> None:
    data, whole = ready(Digits(exclude=9)), ready(Digits())
    for name in ("train_set", "val_set", "test_set"):
        assert sorted(set(every(getattr(data, name))[1].tolist())) == list(range(9))
    images, labels = every(whole.test_set)
    assert torch.equal(every(data.test_set)[0], images[labels != 9])
    sizes = {name: len(getattr(data, f"{name}_set")) for name in ("train", "val", "test")}
    assert data.describe()["splits"] == sizes == {"train": 1138, "val": 250, "test": 229}
    assert whole.num_train == Digits(exclude=0).num_train + 152  # 178 zeros in all, 26 of them in the test
    with pytest.raises(ValueError, match="exclude is 10"):
        Digits(exclude=10)


def test_test_split_is_touched_by_test_alone() -> None:
    data = Digits()
    data.setup("fit")
    assert not hasattr(data, "test_set")
    data.setup("test")
    assert len(data.test_set) == 250


@pytest.mark.parametrize("size", [4, 8, 11, 28])
def test_sizes_are_those_of_the_batch(size: int) -> None:
    data = ready(Digits(image_size=size))
    x, y = next(iter(data.train_dataloader()))
    assert x.shape == (64, 1, size, size) and y.shape == (64,)
    assert x.dtype == torch.float32 and y.dtype == torch.int64
    assert data.sizes == {"event_shape": (size * size,), "image_shape": (1, size, size), "num_classes": 10}
    assert x.min() >= 0 and x.max() <= 1


def test_resize_by_means() -> None:
    x = torch.rand(3, 1, 8, 8)
    by_hand = x.view(3, 1, 4, 2, 4, 2).mean((3, 5))
    assert torch.allclose(resize(x, 4), by_hand)
    assert torch.allclose(resize(torch.full((1, 1, 28, 28), 0.3), 20), torch.tensor(0.3))
    assert resize(x, 8) is x


def test_threshold_of_digits_is_above_7_of_16() -> None:
    grey, binary = ready(Digits("none")), ready(Digits("threshold"))
    levels = (every(grey.train_set)[0] * 16).round()
    assert torch.equal(every(binary.train_set)[0], (levels > 7).float())
    assert (levels == 7).any() and (levels == 8).any()


@pytest.mark.parametrize("size", [8, 4])
def test_fewer_grey_levels_are_evenly_spaced(size: int) -> None:
    grey = every(ready(Digits("none", image_size=size)).test_set)[0]
    for values in (2, 4, 16, 17):
        data = ready(Digits("levels", image_size=size, num_categories=values))
        levels = every(data.test_set)[0]
        assert levels.unique().tolist() == list(range(values))
        assert (levels / (values - 1) - grey).abs().max() <= 0.5 / (values - 1) + 1e-6  # the nearest one
        assert data.describe()["num_categories"] == values
        assert torch.equal(levels, every(data.test_set)[0])
    own = every(ready(Digits("levels", image_size=size)).test_set)[0]
    assert torch.equal(own, levels)  # without the argument: the data's 17


def test_fewer_levels_with_noise_fill_the_unit_interval() -> None:
    data = ready(Digits("dequantize", num_categories=4))
    x, levels = every(data.test_set)[0], every(ready(Digits("levels", num_categories=4)).test_set)[0]
    assert torch.equal((x * 4).floor(), levels) and x.max() < 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"binarize": "static", "num_categories": 4}, "binarize to levels"),
     ({"binarize": "levels", "num_categories": 1}, "between 2 and 17"),
     ({"binarize": "levels", "num_categories": 18}, "between 2 and 17")],
)  # fmt: skip
def test_levels_that_the_data_cannot_have(arguments: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Digits(**arguments)


@pytest.mark.parametrize("binarize", ["threshold", "static", "dynamic"])
def test_binary_means_binary(binarize: Any) -> None:
    data = ready(Digits(binarize))
    for split in (data.train_set, data.val_set, data.test_set):
        assert set(every(split)[0].unique().tolist()) == {0.0, 1.0}


def test_static_never_changes() -> None:
    first, second = ready(Digits("static", seed=0)), ready(Digits("static", seed=5))
    before = every(first.train_set)[0]
    first.train_dataloader().sampler.set_epoch(3)
    assert torch.equal(before, every(first.train_set)[0])
    # another seed is another validation split, but the same draw of every image
    assert torch.equal(every(first.test_set)[0], every(second.test_set)[0])

    def images(data: Digits) -> set[tuple[float, ...]]:
        return {tuple(x.flatten().tolist()) for s in (data.train_set, data.val_set) for x in every(s)[0]}

    assert images(first) == images(second)


def test_dynamic_redraws_training_and_nothing_else() -> None:
    data, static = ready(Digits("dynamic")), ready(Digits("static"))
    rows = torch.arange(200)
    split = data.train_set
    first = split[rows][0]
    again = split[rows][0]
    split.set_epoch(1)
    second_epoch = split[rows][0]
    split.set_epoch(0)
    assert torch.equal(split[rows][0], first)  # an epoch can be replayed
    assert not torch.equal(first, again) and not torch.equal(first, second_epoch)
    for name in ("val_set", "test_set"):  # the very draw of `static`
        fixed = every(getattr(data, name))[0]
        assert torch.equal(fixed, every(getattr(data, name))[0])
        assert torch.equal(fixed, every(getattr(static, name))[0])


def test_dynamic_draws_have_the_probability_of_the_grey_level() -> None:
    grey, data = ready(Digits("none")), ready(Digits("dynamic"))
    p = every(grey.train_set)[0].double()
    mean = torch.zeros_like(p)
    for epoch in range(200):
        data.train_set.set_epoch(epoch)
        mean += every(data.train_set)[0].double() / 200
    assert mean[p == 0].max() == 0 and mean[p == 1].min() > 1 - 1e-9
    inside = (p > 0) & (p < 1)
    z = (mean - p)[inside] / (p * (1 - p) / 200)[inside].sqrt()
    assert abs(z.mean()) < 4 / math.sqrt(len(z)) and abs(z.var() - 1) < 0.05
    assert z.abs().max() < 6  # no pixel is stuck


def test_draws_of_the_epoch_differ_between_seeds_and_examples() -> None:
    one, two = ready(Digits("dynamic", seed=0)), ready(Digits("dynamic", seed=1))
    half = torch.full_like(one.train_set.images, 8)  # every pixel 8/16
    for data in (one, two):
        data.train_set.images = half[: len(data.train_set)]
    x, z = every(one.train_set)[0].flatten(1), every(two.train_set)[0].flatten(1)
    assert abs((x == z).double().mean() - 0.5) < 0.01
    assert abs((x[1:] == x[:-1]).double().mean() - 0.5) < 0.01


def test_moved_images_are_cut_from_the_padded_one() -> None:
    x = torch.arange(1.0, 31).view(1, 1, 5, 6).expand(400, 1, 5, 6)
    result = moved(x, torch.arange(400), 2, mirror=True)
    padded = torch.nn.functional.pad(x[0, 0], [2] * 4)
    windows = [padded[i : i + 5, j : j + 6] for i in range(5) for j in range(5)]
    seen = set()
    for picture in result[:, 0]:
        matches = [
            (place, mirrored)
            for place, window in enumerate(windows)
            for mirrored, p in ((False, picture), (True, picture.flip(1)))
            if torch.equal(p, window)
        ]
        assert len(matches) == 1
        seen.add(matches[0])
    assert len(seen) == 50  # every place, both ways round
    assert torch.equal(moved(x, torch.arange(400), 0), x)


def test_training_images_move_anew_each_epoch_and_no_others() -> None:
    data = Digits(shift=1, mirror=True)
    data.setup()
    plain = Digits()
    plain.setup()
    rows = torch.arange(50)
    first, y = data.train_set[rows]
    data.train_set.set_epoch(1)
    second, _ = data.train_set[rows]
    data.train_set.set_epoch(0)
    assert not torch.equal(first, second) and torch.equal(data.train_set[rows][0], first)
    assert torch.equal(plain.train_set[rows][1], y) and first.max() <= 1
    for split in ("val_set", "test_set"):
        assert torch.equal(getattr(data, split)[rows][0], getattr(plain, split)[rows][0])
    assert data.describe()["shift"] == 1 and "shift" not in plain.describe()


@pytest.mark.parametrize(
    "knobs, words",
    [({"shift": 28}, "shift is 28"), ({"mirror": True, "binarize": "static"}, "binarize is static")],
)
def test_what_cannot_be_moved(knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        MNIST(**knobs)


def test_digits_baseline() -> None:
    """Independent pixels: 24.99 nats were measured on another split of the same digits."""
    data = ready(Digits("threshold"))
    assert independent_nll(every(data.train_set)[0], every(data.test_set)[0]) == pytest.approx(24.99, abs=0.6)


@pytest.mark.parametrize(
    "knobs, match",
    [
        ({"binarize": "statik"}, "none, threshold, static, dynamic"),
        ({"image_size": 1}, "between 2 and 256"),
        ({"val_size": 1547}, "between 1 and 1546"),
        ({"batch_size": 0}, "at least 1"),
    ],
)
def test_bad_arguments(knobs: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        Digits(**knobs)


@pytest.mark.parametrize("padding", [-1, 65])
def test_bad_padding(padding: int) -> None:
    with pytest.raises(ValueError, match="between 0 and 64 pixels"):
        MNIST(padding=padding)


# --- MNIST from files of our own ---------------------------------------------------------------


def idx(array: Tensor) -> bytes:
    return struct.pack(f">2xBB{array.ndim}i", 8, array.ndim, *array.shape) + array.numpy().tobytes()


def test_idx() -> None:
    array = torch.arange(24, dtype=torch.uint8).view(2, 3, 4)
    assert torch.equal(parse_idx(idx(array)), array)
    for broken in (b"", b"\x00\x00\x0d\x03", idx(array)[:-1], idx(array) + b"x", idx(array)[:9]):
        with pytest.raises(ValueError, match="IDX"):
            parse_idx(broken)


def test_mnist_reads_idx_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading, without the data: tiny files of the same format with checksums of their own."""
    import hashlib

    monkeypatch.setenv("LECTERN_DATA", str(tmp_path))
    monkeypatch.setattr(MNIST, "num_train", 30)
    monkeypatch.setattr(MNIST, "num_test", 10)
    files = []
    content = {}
    for name, count in (("train", 30), ("t10k", 10)):
        content[f"{name}-images-idx3-ubyte"] = torch.randint(0, 256, (count, 28, 28), dtype=torch.uint8)
        content[f"{name}-labels-idx1-ubyte"] = torch.arange(count, dtype=torch.uint8) % 10
    (tmp_path / "MNIST/raw").mkdir(parents=True)
    for name, array in content.items():
        path = f"MNIST/raw/{name}.gz"
        (tmp_path / path).write_bytes(gzip.compress(idx(array)))
        files.append(fetch.File(path, (), f"md5:{hashlib.md5(idx(array)).hexdigest()}", len(idx(array))))
    monkeypatch.setitem(fetch.SOURCES, "MNIST", fetch.Source("MNIST", tuple(files), "made-digits"))
    data = ready(MNIST(val_size=10))
    x, y = every(data.test_set)
    assert torch.equal((x[:, 0] * 255).round().byte(), content["t10k-images-idx3-ubyte"])
    assert y.tolist() == list(range(10))
    x, y = (torch.cat(t) for t in zip(every(data.train_set), every(data.val_set), strict=True))
    assert len(x) == 30
    assert sorted(x.sum((1, 2, 3)).mul(255).round().tolist()) == sorted(
        content["train-images-idx3-ubyte"].sum((1, 2)).tolist()
    )


# --- MNIST itself ------------------------------------------------------------------------------


@pytest.fixture
def mnist(real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> type[MNIST]:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("MNIST")))
    return MNIST


@pytest.mark.real_data
def test_clothes(real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("FashionMNIST")))
    data = ready(MNIST(name="FashionMNIST"))
    x, y = (torch.cat(both) for both in zip(every(data.train_set), every(data.val_set), strict=True))
    assert y.bincount().tolist() == [6_000] * 10 and len(every(data.test_set)[1]) == 10_000
    assert x.mean().item() == pytest.approx(0.2860, abs=1e-4)  # as published
    assert x.std().item() == pytest.approx(0.3530, abs=1e-4)
    assert data.describe()["name"] == "FashionMNIST" and not data.embedded
    with pytest.raises(ValueError, match="'fashion': it must be one of MNIST, FashionMNIST"):
        MNIST(name="fashion")  # type: ignore[arg-type]


@pytest.mark.real_data
def test_mnist(mnist: type[MNIST]) -> None:
    data = ready(mnist())
    parts = [every(s) for s in (data.train_set, data.val_set, data.test_set)]
    assert [len(x) for x, _ in parts] == [50_000, 10_000, 10_000]
    x = torch.cat([parts[0][0], parts[1][0]])
    y = torch.cat([parts[0][1], parts[1][1]])
    assert x.mean().item() == pytest.approx(0.1307, abs=1e-4)  # the constants everybody normalises with
    assert x.std().item() == pytest.approx(0.3081, abs=1e-4)
    assert y.bincount().tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert parts[2][1][:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]


@pytest.mark.heavy
@pytest.mark.real_data
def test_mnist_threshold_baselines(mnist: type[MNIST]) -> None:
    """Independent pixels 205.85 nats, raster chain 135.74, counted on all 60,000."""
    data = ready(mnist("threshold"))
    train = torch.cat([every(data.train_set)[0], every(data.val_set)[0]])
    test = every(data.test_set)[0]
    assert independent_nll(train, test) == pytest.approx(205.85, abs=0.005)
    assert chain_nll(train, test) == pytest.approx(135.74, abs=0.005)


@pytest.mark.heavy
@pytest.mark.real_data
def test_mnist_static_baselines(mnist: type[MNIST]) -> None:
    """205.81 and 145.32 nats were measured with another draw: equal up to the noise of a draw."""
    data = ready(mnist("static"))
    train = torch.cat([every(data.train_set)[0], every(data.val_set)[0]])
    test = every(data.test_set)[0]
    assert independent_nll(train, test) == pytest.approx(205.81, abs=0.3)
    assert chain_nll(train, test) == pytest.approx(145.32, abs=0.3)
    dynamic = mnist("dynamic")
    dynamic.setup("test")
    assert torch.equal(every(dynamic.test_set)[0], test)


@pytest.mark.real_data
def test_mnist_pooled(mnist: type[MNIST]) -> None:
    full, small = mnist(), mnist(image_size=14)
    full.setup("test")
    small.setup("test")
    x, z = full.test_set[torch.arange(50)][0], small.test_set[torch.arange(50)][0]
    assert torch.allclose(z, x.view(50, 1, 14, 2, 14, 2).mean((3, 5)), atol=1e-6)


@pytest.mark.real_data
def test_mnist_padded(mnist: type[MNIST]) -> None:
    plain, framed = mnist(), mnist(padding=2)
    assert framed.sizes["image_shape"] == (1, 32, 32) and framed.sizes["event_shape"] == (1024,)
    assert framed.describe()["padding"] == 2 and "padding" not in plain.describe()
    plain.setup("test")
    framed.setup("test")
    x, z = plain.test_set[torch.arange(50)][0], framed.test_set[torch.arange(50)][0]
    assert torch.equal(z[..., 2:-2, 2:-2], x) and z.count_nonzero() == x.count_nonzero()


def test_missing_mnist_names_file_folder_and_sister(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(tmp_path))
    with pytest.raises(fetch.MissingData) as error:
        MNIST().prepare_data()
    for word in ("train-images-idx3-ubyte.gz", str(tmp_path / "MNIST/raw"), "made-digits"):
        assert word in str(error.value)


def test_static_draw_goes_by_number() -> None:
    x = torch.full((3000, 1, 4, 4), 0.5)
    whole = static_draw(x, torch.arange(3000))
    assert torch.equal(static_draw(x[1000:1100], torch.arange(1000, 1100)), whole[1000:1100])
    assert whole.dtype == torch.uint8 and abs(whole.float().mean() - 0.5) < 0.01
