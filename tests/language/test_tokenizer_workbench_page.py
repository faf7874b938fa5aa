"""The tokenizer page: what it shows is what the tokenizers give."""

import re
from functools import partial

import pytest
from opening import figure, film, open_page, open_warned, table_with

from datamodules.text import Text
from datamodules.tokenizer import BPETokenizer
from modules.language import subwords, tokenization
from modules.language.tokenization import BPE
from pages.language.tokenizer_workbench import figures, lens

opened = partial(open_page, "language/tokenizer_workbench")


def test_six_tokenizers_of_one_text() -> None:
    training = "low low low lower newest newest widest"
    bench = lens.Bench(training, BPE.train(training, 12))
    coded = {one.name: one for one in bench.encode("lower café")}
    assert list(coded) == [*lens.KINDS, *lens.LIBRARY]
    assert coded["word"].tokens == ["lower", "café"] and coded["word"].unknown == 1
    assert coded["character"].unknown == 4 and len(coded["character"].tokens) == 10  # c, a, f, é
    assert coded["byte"].ids == list("lower café".encode()) and coded["byte"].unknown == 0
    assert coded["byte"].vocabulary == 256
    assert "".join(coded["BPE"].tokens) == "lower·café·"
    assert coded["WordPiece"].tokens[-1] == "[UNK]" and coded["unigram"].tokens[-1] == "[UNK]"
    for one in coded.values():
        assert len(one.tokens) == len(one.ids) and one.unknown == sum(i < 0 for i in one.ids)


def test_tokens_are_readable() -> None:
    assert lens.readable("he</w>", "word") == "he·"
    assert lens.readable(" a", "byte") == "␣a"
    assert lens.readable("é".encode().decode("latin-1"), "byte") == "é"
    assert lens.readable("\xc3", "byte") == "\\xC3"


def test_lanes_wrap_and_show_their_ids() -> None:
    one = lens.Coded("word", ["word"] * 60, [7] * 59 + [-1], 9)
    two = lens.Coded("BPE", ["a", "b"], [0, -1], 2)
    fig = figures.lanes([one, two])
    (bar,) = fig.data
    assert max(b + w for b, w in zip(bar.base, bar.x, strict=True)) <= figures.WRAP + 0.1
    assert set(bar.y) == {0, 1, 2}  # two lines, an ellipsis for the rest, and the next lane
    assert (
        bar.text[0] == "word<br><sub>7</sub>" and bar.text[-3] == "…" and bar.text[-1] == "b<br><sub>?</sub>"
    )
    assert len(set(bar.marker.color)) == 3
    assert "60 of 9<br>1 unknown" in fig.layout.annotations[0].text


def test_the_film_is_the_text_after_each_merge() -> None:
    text = "sea sea see the deep blue sea"
    for kind in ("word", "byte"):
        bpe = lens.learn(text, lens.MERGES, kind, "first").result
        steps = lens.merged(text, bpe)
        assert len(steps) == len(bpe.merges)
        for n, step in enumerate(steps, start=1):
            small = bpe.first(n)
            assert step.units == small.encode(text) and step.ids == small.ids(step.units)
            assert step.new == [u == "".join(bpe.merges[n - 1]) for u in step.units]
        fig, frames = figures.merging(steps, 2)
        count = len(steps[0].tokens)
        assert frames["data.0.x"].shape == (len(steps), count) and len(frames["data.0.text"]) == len(steps)
        assert frames["data.0.text"][2][: len(steps[2].tokens)] == steps[2].tokens
        x, y = fig.data[1].x, fig.data[1].y
        for i in range(len(steps[2].tokens)):
            assert figures.pressed(steps, 2, round(x[i]), y[i]) == i
        assert figures.pressed(steps, 2, -5, 0) is None


@pytest.mark.parametrize("base", ["characters", "bytes"])
def test_the_equation_and_the_table_are_of_the_shown_merge(base: str) -> None:
    at = opened(base=base, step="3", train="sea sea see the deep blue sea", text="see the sea")
    kind = {"characters": "word", "bytes": "byte"}[base]
    trace = BPE.train_trace("sea sea see the deep blue sea", lens.MERGES, kind)
    values = trace[3].values
    shown = film(at)
    assert shown["at"] == 3 and shown["count"] == len(trace)
    units, merges, total, size, tokens, ratio = map(
        float, re.findall(r">(\d+\.?\d*)<", shown["equations"][3])
    )
    assert (merges, total, tokens) == (4, values["vocabulary"], values["tokens"])
    assert units + merges == total and size == 29
    assert ratio == pytest.approx(size / tokens, abs=5e-4)
    bpe = trace.result.first(4)
    assert len(bpe.encode("sea sea see the deep blue sea")) == values["tokens"]
    lengths = table_with(at, "tokenizer").set_index("tokenizer")
    assert lengths.loc["BPE", "tokens"] == len(bpe.encode("see the sea"))
    assert lengths.loc["BPE", "tokens"] > len(
        trace.result.encode("see the sea")
    )  # of this step, not the last
    assert lengths.loc["word", "tokens"] == 3 and lengths.loc["byte", "tokens"] == 11
    assert (
        f"→ {lens.readable(''.join(values['pair']), kind)}, {values['count']} times" in shown["captions"][3]
    )


def test_texts_without_words_get_a_sentence() -> None:
    at = open_warned("language/tokenizer_workbench", train=" ")
    assert "type at least one word" in at.warning[0].value
    at = opened(train="a b c", text="x")
    assert at.warning or film(at)


def test_library_tokenizers_are_of_the_same_size_and_cut_as_ours_would() -> None:
    training = "the cat sat on the mat and the rat sat on the hat " * 3
    bench = lens.Bench(training, BPE.train(training, 15))
    wordpiece, unigram = (bench.library[name] for name in lens.LIBRARY)
    assert len(bench.wordpieces) <= len(wordpiece) <= len(bench.wordpieces) + 1
    assert len(unigram) <= len(bench.pieces) + 1
    shown = {one.name: one for one in bench.encode("the hat sat zzz")}
    pieces, known = shown[lens.LIBRARY[0]], set(wordpiece.tokens)
    assert pieces.tokens == [
        p for word in ("the", "hat", "sat", "zzz") for p in subwords.wordpiece_encode(word, known)
    ]
    assert pieces.unknown == 1 and pieces.ids[-1] == -1 and pieces.vocabulary == len(wordpiece)
    assert "".join(shown[lens.LIBRARY[1]].tokens).startswith("thehatsat")


def test_the_tree_of_merges_is_the_bpes() -> None:
    bpe = BPE.train({"low": 5, "lower": 2, "newest": 6, "widest": 3}, 10)
    merge_tree = lens.merge_tree(bpe, "newest</w>")
    assert [t for t, y in zip(merge_tree.tokens, merge_tree.y, strict=True) if y == 0] == [*"newest", "</w>"]
    for node, (token, merge) in enumerate(zip(merge_tree.tokens, merge_tree.merge, strict=True)):
        parts = [n for n, p in enumerate(merge_tree.parent) if p == node]
        assert len(parts) == (2 if merge else 0)
        if merge:
            assert tuple(merge_tree.tokens[n] for n in parts) == bpe.merges[merge - 1]
            assert "".join(merge_tree.tokens[n] for n in parts) == token
            assert all(merge_tree.merge[n] < merge and merge_tree.y[n] < merge_tree.y[node] for n in parts)
    assert merge_tree.parent[0] == -1 and sorted(x for x, y in zip(merge_tree.x, merge_tree.y,
    strict=True) if y == 0) == [
        0, 1, 2, 3, 4, 5, 6,
    ]  # fmt: skip
    assert lens.merge_tree(bpe, "n").tokens == ["n"]


def test_a_chosen_token_shows_its_tree() -> None:
    at = opened(view="Merge tree", train="sea sea see", text="sea", step="4", token="sea·")
    tree = str(figure(at, "merge-tree")[0]["figure"]["data"])
    assert "merge 1" in tree and "merge 3" in tree and "merge 5" not in tree  # of that token, not the newest


def test_merges_learned_first_are_the_smaller_tokenizer() -> None:
    text = "how much wood would a woodchuck chuck if a woodchuck could chuck wood? " * 5
    large = BPETokenizer.train(text, 300)
    for size in (256, 260, 299):
        assert large.first(size).to_dict() == BPETokenizer.train(text, size).to_dict()


@pytest.mark.heavy
def test_bytes_a_token_on_shakespeare(real_data, monkeypatch: pytest.MonkeyPatch) -> None:
    """The measured table splits off words with their space, other signs, and spaces; this project
    also splits off 's and other contractions, and digits, as GPT-2 does: it needs a little more tokens."""
    real_data("tinyshakespeare")
    training = Text("shakespeare").split_text("train")
    assert len(training.encode()) == 1_003_854
    largest = BPETokenizer.train(training, 2256)
    published = {356: 1.634, 500: 1.938, 756: 2.249, 1000: 2.443, 1256: 2.598, 2000: 2.902, 2256: 2.974}
    for size, ratio in published.items():
        ours = 1_003_854 / len(largest.first(size).encode(training))
        assert ours == pytest.approx(ratio, rel=0.01) and ours < ratio
    monkeypatch.setattr(tokenization, "PRESPLIT", re.compile(r" ?\w+|[^\w\s]+|\s+"))
    pairs = BPE.counts(training, "byte")
    merges = BPE.train(training, 100, "byte", "id").merges
    for pair in merges:
        pairs.merge(pair)
    assert pairs.tokens() == 614_528
    assert ["".join(pair) for pair in merges[:5]] == [" t", "he", " a", "ou", " s"]
