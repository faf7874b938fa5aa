"""The tokenizer page: what it shows is what the tokenizers give."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from lab import experiments
from lab.figures import tokenizers as figures
from lab.lenses import tokenizers as lens
from modules.language.tokenization import BPE

PAGE = experiments.ZOO.parents[1] / "pages" / "language" / "tokenizer_workbench.py"


def page(**values: str) -> AppTest:
    at = AppTest.from_file(str(PAGE), default_timeout=120)
    for key, value in values.items():
        at.query_params[key] = value
    at.run()
    assert not at.exception
    return at


def test_six_tokenizers_of_one_text() -> None:
    training = "low low low lower newest newest widest"
    bench = lens.Bench(training, BPE.train(training, 12))
    coded = {one.name: one for one in bench.encode("lower café")}
    assert list(coded) == list(lens.KINDS)
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


def test_pieces_wrap_and_show_their_ids() -> None:
    figure = figures.pieces(["word"] * 30, [7] * 29 + [-1])
    (bar,) = figure.data
    assert max(b + w for b, w in zip(bar.base, bar.x, strict=True)) <= figures.WRAP + 0.1
    assert len(set(bar.y)) == 4 and bar.hovertext[0] == "word: id 7" and bar.hovertext[-1] == "word: id ?"
    assert len(set(bar.marker.color)) == 2
    assert len(figures.pieces(["a"] * 500, [0] * 500).data[0].x) == 401


@pytest.mark.parametrize("base", ["characters", "bytes"])
def test_the_equation_and_the_table_are_of_the_shown_merge(base: str) -> None:
    at = page(base=base, step="3", train="sea sea see the deep blue sea", text="see the sea")
    kind = {"characters": "word", "bytes": "byte"}[base]
    trace = BPE.train_trace("sea sea see the deep blue sea", lens.MERGES, kind)
    values = trace[3].values
    numbers = re.findall(r"\d+\.?\d*", at.latex[0].value.replace("\\mathcal V", ""))
    units, merges, total, size, tokens, ratio = map(float, numbers)
    assert (merges, total, tokens) == (4, values["vocabulary"], values["tokens"])
    assert units + merges == total and size == 29
    assert ratio == pytest.approx(size / tokens, abs=5e-4)
    bpe = trace.result.first(4)
    assert len(bpe.encode("sea sea see the deep blue sea")) == values["tokens"]
    lengths = next(t.value for t in at.dataframe if "tokenizer" in t.value.columns).set_index("tokenizer")
    assert lengths.loc["BPE", "tokens"] == len(bpe.encode("see the sea"))
    assert lengths.loc["BPE", "tokens"] > len(
        trace.result.encode("see the sea")
    )  # of this step, not the last
    assert lengths.loc["word", "tokens"] == 3 and lengths.loc["byte", "tokens"] == 11
    pair = "".join(values["pair"])
    assert any(lens.readable(pair, kind) in m.value for m in at.markdown if m.value.startswith("Merge 4"))


def test_texts_without_words_get_a_sentence() -> None:
    at = page(train=" ")
    assert "type at least one word" in at.warning[0].value
    at = page(train="a b c", text="x")
    assert at.warning or at.latex
