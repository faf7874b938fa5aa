"""Homographs: both senses are equally frequent after every beginning, and the whole sentence decides."""

from collections import Counter, defaultdict

import pytest
import torch

from datamodules.homographs import HOMOGRAPHS, LEXICON, SENSES, TAGS, Homographs, pairs, tagged


@pytest.mark.parametrize("asides", [0, 2])
def test_a_left_to_right_tagger_reaches_exactly_half(asides: int) -> None:
    """By counting: the most frequent tag after each beginning is right on half; after all words on all."""
    data = Homographs(asides, scored="homographs")
    data.setup()
    for split in (data.train_set, data.val_set, data.test_set):
        tokens, tags = split.tensors
        assert ((tags >= 0).sum(1) == 1).all()
        places, senses = (tags >= 0).int().argmax(1), tags.max(1).values
        past: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        whole: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for row, place, sense in zip(tokens.tolist(), places.tolist(), senses.tolist(), strict=True):
            past[tuple(row[: place + 1])][sense] += 1
            whole[tuple(row)][sense] += 1
        assert sum(max(c.values()) for c in past.values()) * 2 == len(tokens)
        assert sum(max(c.values()) for c in whole.values()) == len(tokens)


def test_what_decides_comes_later() -> None:
    distances = set()
    for (first, one), (second, other) in pairs(2):
        assert one != other and one in SENSES and other in SENSES
        a, b = first.split(), second.split()
        place = next(i for i, word in enumerate(a) if word in HOMOGRAPHS)
        # "was" begins what follows of either sense: then the word after it decides
        parted = next(i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
        distances.add(parted - place - (a[parted - 1] == "was"))
    assert distances == {1, 1 + 4, 1 + 7}


def test_tags() -> None:
    text = "the old bank , they say , of the river was quiet ."
    assert tagged(text, "place") == [
        "determiner", "adjective", "place", "other", "other", "verb", "other", "other", "determiner", "noun",
        "verb", "adjective", "other",
    ]  # fmt: skip
    texts = {text for pair in pairs(1) for text, _ in pair}
    assert "the bank of the river was quiet ." in texts and "the bank approved the loan ." in texts
    assert {word for text in texts for word in text.split()} == {*LEXICON, *HOMOGRAPHS}
    assert {tag for pair in pairs(1) for sentence in pair for tag in tagged(*sentence)} == {*TAGS}


def test_a_batch() -> None:
    data = Homographs(asides=1, batch_size=7)
    data.setup()
    (tokens, tags) = next(iter(data.test_dataloader()))
    assert torch.equal(tokens == 0, tags == -100) and data.sizes["num_classes"] == len(TAGS)
    seen = [set(map(tuple, s.tensors[0].tolist())) for s in (data.train_set, data.val_set, data.test_set)]
    strip = [{tuple(i for i in row if i) for row in rows} for rows in seen]
    assert not strip[0] & strip[1] and not (strip[0] | strip[1]) & strip[2]
    assert data.describe()["splits"] == {
        "train": len(data.train_set), "val": len(data.val_set), "test": len(data.test_set)
    }  # fmt: skip
    with pytest.raises(ValueError, match="scored is 'none'"):
        Homographs(scored="none")  # type: ignore[arg-type]
