"""The gazette: what its texts promise, and what is hidden of them."""

from collections import Counter

import pytest
import torch

from datamodules import gazette
from datamodules.labelled_gazette import Names, Questions, Reviews
from datamodules.masking import Gazette, mask_tokens, replace_tokens
from datamodules.tokenizer import EncoderTokenizer, Tokenizer

CODER = gazette.tokenizer()


def test_no_word_of_the_gazette_is_unknown_and_all_rows_fit() -> None:
    rows = [CODER.encode_parts(*article) for article in gazette.articles(3000, 5)]
    assert CODER.UNKNOWN not in {token for row in rows for token in row}
    assert max(map(len, rows)) <= 64
    used = {token for row in rows for token in row}
    unused = {CODER.tokens[i] for i in set(range(len(CODER))) - used}
    assert unused <= {*EncoderTokenizer.SPECIAL, *gazette.QUESTIONS.split(), "buy", "sell", "paint", "share"}
    with pytest.raises(ValueError, match="draw at least one"):
        gazette.articles(0)


def test_the_tokenizer_hides_words_and_comes_back_from_its_card() -> None:
    ids = CODER.encode_parts("The <mask> was good.", "we")
    assert ids[0] == CODER.CLS and ids.count(CODER.MASK) == 1 and ids.count(CODER.SEP) == 2
    assert CODER.decode(ids) == "the <mask> was good . we"
    again = Tokenizer.from_dict(CODER.to_dict())
    assert isinstance(again, EncoderTokenizer) and again.encode("<mask><mask> red") == [3, 3, ids_of("red")]
    assert CODER.encode("") == [] and CODER.encode("xylophone") == [CODER.UNKNOWN]


def ids_of(word: str) -> int:
    return CODER.tokens.index(word)


def test_fifteen_percent_are_hidden_in_three_ways() -> None:
    """TF-O27: of 512 tokens 76.8 are chosen; .12 of all read <mask>, .015 another word."""
    V, N = 1000, 400_000
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(5, V, (N // 500, 500), generator=generator)
    tokens[:, 0], tokens[:, -1] = 0, 4
    read, targets = mask_tokens(tokens, V, generator=generator)
    chosen = targets != -100
    assert (targets[chosen] == tokens[chosen]).all() and (read[~chosen] == tokens[~chosen]).all()
    assert not chosen[:, [0, -1]].any() and (read[chosen] >= 3).all()
    n = tokens[:, 1:-1].numel()
    shares = {
        0.15: chosen, 0.12: read == 3, 0.015 * (1 - 1 / 995): chosen & (read != 3) & (read != tokens),
        0.015 * (1 + 1 / 995): chosen & (read == tokens),
    }  # fmt: skip
    for p, where in shares.items():
        assert abs(int(where.sum()) / n - p) < 5 * (p / n) ** 0.5, p
    assert round(512 * 0.15, 1) == 76.8


def test_replaced_words_are_those_of_the_rows_and_their_labels_say_which() -> None:
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(5, 9, (50, 40), generator=generator)
    tokens[:, 0] = 0
    targets = torch.full_like(tokens, -100)
    targets[:, 1] = tokens[:, 1]
    read, labels = replace_tokens(tokens, targets, 0.5, generator)
    assert (labels[:, :2] == -100).all() and (read[:, :2] == tokens[:, :2]).all()
    assert ((read != tokens)[:, 2:].long() == labels[:, 2:]).all()
    assert 0.3 < labels[:, 2:].float().mean() < 0.45  # half are drawn, a quarter of these the same word
    assert read.max() < 9
    assert replace_tokens(torch.zeros(1, 2).long(), torch.full((1, 2), -100))[0].tolist() == [[0, 0]]


@pytest.mark.parametrize("task", ["next", "order"])
def test_a_pair_is_true_or_made(task: str) -> None:
    data = Gazette(tasks=[task], num_train=200, num_val=20, num_test=20)  # type: ignore[list-item]
    data.setup()
    read, targets, pair, replaced = data.train_set[torch.arange(200)]
    assert (targets == -100).all() and (replaced == -100).all()
    assert 70 < int(pair.sum()) < 130
    for row, wrong, article in zip(read.tolist(), pair.tolist(), data.articles("train"), strict=True):
        whole = [token for token in row if token != CODER.PAD]
        told = CODER.encode_parts(*article)
        if not wrong:
            assert whole == told
        elif task == "order":
            assert whole == CODER.encode_parts(*reversed(article))
        else:
            assert whole[: whole.index(CODER.SEP)] == told[: told.index(CODER.SEP)]


def test_each_epoch_hides_other_words_and_validation_always_the_same() -> None:
    data, again = (Gazette(num_train=40, num_val=20, num_test=20, seed=seed) for seed in (0, 1))
    data.setup()
    again.setup()
    every = torch.arange(20)
    first = data.train_set[every][0]
    data.train_set.set_epoch(1)  # type: ignore[attr-defined]
    second = data.train_set[every][0]
    assert first.shape != second.shape or (first != second).any()
    data.train_set.set_epoch(0)  # type: ignore[attr-defined]
    assert torch.equal(data.train_set[every][0], first)
    assert torch.equal(data.val_set[every][0], again.val_set[every][0])
    assert data.sizes == {"vocab_size": len(CODER), "tasks": ["masked", "next"]}


def test_a_bag_of_words_cannot_judge_a_review() -> None:
    """Each bag is as often of the one verdict as of the other: by chance alone they differ."""
    examples = Reviews(labels=20_000).examples("train")
    bags: dict[tuple[str, ...], Counter[int]] = {}
    for (text,), good in examples:
        bags.setdefault(tuple(sorted(text.split())), Counter())[good] += 1
    often = [bag for bag in bags.values() if bag.total() >= 20]
    assert len(often) > 100
    assert all(abs(bag[1] - bag[0]) < 5 * bag.total() ** 0.5 for bag in often)
    assert sum(bag[1] for bag in bags.values()) / len(examples) == pytest.approx(0.5, abs=0.02)


def test_ambiguous_names_have_each_of_their_tags_by_context() -> None:
    seen: dict[str, set[int]] = {}
    for (text,), tags in Names(labels=5000).examples("train"):
        for word, tag in zip(text.split(), tags, strict=True):
            seen.setdefault(word, set()).add(tag)
    assert {len(seen[name]) for name in gazette.AMBIGUOUS} == {2, 3}
    assert seen["lincoln"] == {1, 2, 3} and seen["anna"] == {1} and seen["oslo"] == {2} and seen["the"] == {0}


def test_each_question_has_one_answer() -> None:
    data = Questions(labels=400)
    for (question, passage), (start, end) in data.examples("train"):
        row = [CODER.tokens[i] for i in CODER.encode_parts(question, passage)]
        answer = " ".join(row[start : end + 1])
        told = [sentence.strip() for sentence in passage.split(".") if sentence.strip()]
        kind, *asked = question.split()
        keys = {word for word in asked if word in (*gazette.PEOPLE, *gazette.THINGS)}
        holds = [s for s in told if keys <= set(s.split())]
        assert len(holds) == 1 and answer in holds[0]
        assert (answer in gazette.PEOPLE) == (kind == "who") and (answer in gazette.PLACES) == (
            kind == "where"
        )
        assert answer.startswith("a ") == (kind == "what")


def test_the_labels_are_the_first_of_a_draw_of_their_seed() -> None:
    few, many, other = Names(labels=5), Names(labels=50), Names(labels=5, seed=1)
    assert few.examples("train") == many.examples("train")[:5] != other.examples("train")
    assert few.examples("test") == other.examples("test")
    with pytest.raises(ValueError, match="labels is 0"):
        Names(labels=0)
    for settings in ({"tasks": ["next", "order"]}, {"tasks": []}, {"rate": 0.0}, {"num_val": 0}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            Gazette(**settings)  # type: ignore[arg-type]
