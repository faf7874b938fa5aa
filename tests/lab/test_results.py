"""The tables of results: what is compared with what, and where they are written."""

from pathlib import Path

import pytest

from lab import results
from lab.errors import UserError
from lab.experiments import find


def test_the_best_are_the_lowest_on_equal_real_data() -> None:
    best = {e.name: e for e in results.best()}
    assert {
        "pixelcnn-mnist",
        "gatedpixelcnn-mnist",
        "ngram-shakespeare",
        "gpt-shakespeare",
        "iwae-mnist",
    } <= set(best)
    assert not [name for name, e in best.items() if e.embedded or name.startswith("leaky")]
    # bits drawn anew on 28×28, by NLL; the bound of the other family is not compared with them
    rivals = [find(name).card["metrics"]["test/nll"] for name in ("made-mnist", "nade-mnist", "fvsbn-mnist")]
    assert best["pixelcnn-mnist"].card["metrics"]["test/nll"] < min(rivals)
    # one data set under the names of two data modules
    assert "bengio-shakespeare" not in best and "vae2d-mnist" not in best


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("made-mnist", "gatedpixelcnn-mnist"),
        ("made-mnist", "made-onemask-mnist"),
        ("pixelcnn-greys16-mnist", "pixelcnn-greys4-mnist"),
        ("ngram-shakespeare", "ngram-bpe500-shakespeare"),
        ("ngram-bpe500-shakespeare", "ngram-bpe2000-shakespeare"),
        ("ngram-multi30k", "cbow-multi30k"),
        ("gcn-cora", "gcn-citeseer"),
        ("rnade-moons", "rnade-rings"),
    ],
)
def test_different_data_has_different_words(one: str, other: str) -> None:
    words = [results.measured_on(find(name).card["data"]) for name in (one, other)]
    assert words[0] != words[1]


def test_nothing_is_written_where_a_table_has_no_place(tmp_path: Path) -> None:
    old = f"{results.BEGIN}\nold\n{results.END}"
    (tmp_path / "README.md").write_text(old)
    with pytest.raises(UserError, match=r"lab/zoo/README\.md has no <!-- results -->"):
        results.rebuild(tmp_path)
    assert (tmp_path / "README.md").read_text() == old
