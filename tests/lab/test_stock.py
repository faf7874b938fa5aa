"""The stock hands out what the data hold, in order, and once per process."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from datamodules.two_chains import TwoChains
from lab.lenses import stock


@pytest.mark.parametrize("form", ["none", "threshold", "levels"])
def test_digits_are_those_of_the_data(form: str) -> None:
    data = Digits(binarize=form)  # type: ignore[arg-type]
    data.setup()
    parts = [split[torch.arange(len(split))] for split in (data.val_set, data.test_set)]
    x, y = stock.digits(*stock.HELD_OUT, form=form)  # type: ignore[arg-type]
    assert torch.equal(x, torch.cat([part for part, _ in parts]))
    assert torch.equal(y, torch.cat([labels for _, labels in parts]))


def test_a_class_may_be_left_out_and_pictures_resampled() -> None:
    x, y = stock.digits("test", side=20, exclude=9)
    assert x.shape == (len(y), 1, 20, 20) and set(y.tolist()) == set(range(9))


def test_what_was_read_is_not_read_again() -> None:
    assert stock.digits("train")[0] is stock.digits("train")[0]
    assert stock.digits("train")[0] is not stock.digits("train", form="threshold")[0]


def test_photographs_are_squares_in_colour() -> None:
    for name, picture in stock.photographs(12):
        assert name in ("flower", "temple") and picture.shape == (3, 12, 12)
        assert 0 <= float(picture.min()) < float(picture.max()) <= 1
    assert float(dict(stock.photographs(12))["flower"][0].max()) > 0.9  # its petals are red


def test_examples_of_any_data() -> None:
    x, source = stock.examples(TwoChains, "val", length=12)
    assert x.shape[1] == 12 and len(x) == len(source)
    few, _ = stock.examples(TwoChains, "val", "test", most=3, length=12)
    assert len(few) == 6 and torch.equal(few[:3], x[:3])


def test_grey_digits_where_mnist_is_not() -> None:
    small, y = stock.grey(8, 30, mnist=False)
    framed, same = stock.grey(28, 30, mnist=False)
    assert small.shape == (30, 8, 8) and framed.shape == (30, 28, 28) and torch.equal(y, same)
    assert torch.equal(small, stock.digits("val")[0][:30, 0])


def test_grey_digits_of_mnist(real_data: Callable[[str], Path]) -> None:
    real_data("MNIST")
    data = MNIST()
    data.setup("fit")
    x, y = data.val_set[torch.arange(20)]
    result, labels = stock.grey(28, 20, mnist=stock.has_mnist())
    assert torch.equal(result, x[:, 0]) and torch.equal(labels, y)
