"""Two languages: the second is the first backwards in other letters, and windows are of one of them."""

import string
from pathlib import Path

import pytest
import torch

from datamodules.two_languages import Both, TwoLanguages, exchange, second_language


@pytest.fixture(scope="module")
def data() -> TwoLanguages:
    data = TwoLanguages(context=16, batch_size=8, windows_per_epoch=40)
    data.setup()
    return data


@pytest.mark.parametrize("seed", range(5))
def test_the_exchange_is_a_permutation_that_moves_every_letter(seed: int) -> None:
    table = exchange(seed)
    assert sorted(table.values()) == sorted(string.ascii_letters)
    for i in range(26):
        lower, upper = table[ord(string.ascii_lowercase[i])], table[ord(string.ascii_uppercase[i])]
        assert lower.upper() == upper and lower != string.ascii_lowercase[i]
    assert exchange(seed) == table and table != exchange(seed + 1)


def test_the_second_language_can_be_read_back() -> None:
    text = "For i in range(10):\n    print(i)"
    back = {ord(new): chr(old) for old, new in exchange(3).items()}
    assert second_language(text, 3).translate(back)[::-1] == text
    assert second_language("") == "" and second_language("1 2") == "2 1"


def test_windows_are_of_one_language_each(data: TwoLanguages) -> None:
    plain, windows = data.split_text("val"), data.val_set
    assert isinstance(windows, Both) and len(windows) == 2 * ((len(plain) - 1) // 16)
    half = len(windows) // 2
    turned = second_language(plain)
    positions = torch.tensor([0, half, 1, len(windows) - 1, half - 1])
    tokens, targets = windows[positions]
    assert windows.languages(positions).tolist() == [0, 1, 0, 1, 0]
    last = 16 * (half - 1)
    for row, (text, start) in enumerate(
        [(plain, 0), (turned, 0), (plain, 16), (turned, last), (plain, last)]
    ):
        assert data.tokenizer.decode(tokens[row].tolist()) == text[start : start + 16]
        assert data.tokenizer.decode(targets[row].tolist()) == text[start + 1 : start + 17]


def test_training_draws_from_both_and_no_split_from_another(data: TwoLanguages) -> None:
    (positions, *_) = list(data.train_dataloader().sampler)
    assert isinstance(data.train_set, Both)
    assert len(data.train_set) == 2 * (len(data.split_text("train")) - 16)
    drawn = data.train_set.languages(
        torch.randint(len(data.train_set), (2000,), generator=torch.Generator().manual_seed(0))
    )
    assert 800 < int(drawn.sum()) < 1200 and len(positions) == 8
    assert sum(len(batch[0]) for batch in data.test_dataloader()) == len(data.test_set)
    assert data.describe()["languages"] == 2 and data.embedded


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="cipher is -1"):
        TwoLanguages(cipher=-1)


def test_a_text_that_lacks_letters(tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("the cat sat on the mat . " * 400)
    data = TwoLanguages(str(tmp_path / "few.txt"), context=16)
    data.setup()
    text = data.split_text("test")
    assert data.tokenizer.decode(data.tokenizer.encode(second_language(text))) == second_language(text)
    assert isinstance(data.test_set, Both) and len(data.test_set) == 2 * len(data.test_set.parts[0])
