"""A reader's CSV: what is read, and the sentence where it cannot be."""

import math
from pathlib import Path

import pytest
import torch

from datamodules import table
from datamodules.table import Series, Table, parse


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def numbers(rows: int) -> str:
    return "a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(rows))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_names_numbers_and_holes(delimiter: str) -> None:
    text = "\n".join(
        delimiter.join(row) for row in (["length", "width"], ["1.5", "-2e3"], ["", "7"], ["NA", " 8 "])
    )
    names, rows = parse(text + "\n\n")
    assert names == ["length", "width"]
    assert rows.tolist()[0] == [1.5, -2000.0] and rows[1:, 1].tolist() == [7.0, 8.0]
    assert rows[1:, 0].isnan().all()


def test_without_names() -> None:
    names, rows = parse("1,2\n3,4\n")
    assert names == ["column 1", "column 2"] and rows.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("a,b\n", "no numbers"),
        ("a,b\n1,2\n3\n", "row 3, has 1 cells"),
        ("a,b\n1,2\n3,red\n", "row 3, has 'red' in 'b'"),
        ("1,2\n3,inf\n", "row 2, has 'inf' in 'column 2'"),
        (",".join(["1"] * 501), "501 columns"),
    ],
)
def test_bad_tables_get_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        parse(text, "my.csv")
    assert "\n" not in str(error.value) and "my.csv" in str(error.value)


def test_bad_files_get_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="no such file"):
        Table(str(tmp_path / "none.csv"))
    (tmp_path / "latin.csv").write_bytes(b"a\n\xff\n")
    with pytest.raises(ValueError, match="byte 2"):
        Table(str(tmp_path / "latin.csv"))
    path = write(tmp_path / "a.csv", numbers(40))
    monkeypatch.setattr(table, "MOST_BYTES", 100)
    with pytest.raises(ValueError, match="more than"):
        Table(path)


def test_splits_and_scale(tmp_path: Path) -> None:
    data = Table(write(tmp_path / "a.csv", numbers(100)), batch_size=1000)
    data.setup()
    assert [len(s) for s in (data.train_set, data.val_set, data.test_set)] == [70, 15, 15]
    (train,) = data.train_set[torch.arange(70)]
    assert train.mean(0).abs().max() < 1e-5
    assert torch.allclose(train.std(0, unbiased=False), torch.ones(2), atol=1e-5)
    everything = torch.cat([s.tensors[0] for s in (data.train_set, data.val_set, data.test_set)]).double()
    mean, deviation = data.scale
    assert sorted((everything * deviation + mean)[:, 0].round().tolist()) == list(range(100))
    assert data.sizes == {"event_shape": (2,), "num_features": 2}
    assert data.describe()["columns"] == ["a", "b"]
    assert not torch.equal(Table(data.path, seed=1).parts["train"], data.parts["train"])


def test_holes_are_refused_dropped_or_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", numbers(20) + "20,\n")
    with pytest.raises(ValueError, match="data row 21 has nothing in 'b'"):
        Table(path)
    assert len(Table(path, missing="drop").rows) == 20
    kept = Table(path, missing="keep")
    assert len(kept.rows) == 21 and kept.rows[-1, 1].isnan() and kept.scale[1].isfinite().all()
    with pytest.raises(ValueError, match="refuse, drop, keep"):
        Table(path, missing="guess")  # type: ignore[arg-type]


def test_too_little_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 7"):
        Table(write(tmp_path / "a.csv", numbers(5))).setup()
    with pytest.raises(ValueError, match="'b' never changes"):
        Table(write(tmp_path / "b.csv", "a,b\n" + "".join(f"{i},1\n" for i in range(20)))).setup()


def test_irises_without_a_path() -> None:
    data = Table()
    data.setup()
    assert Series().rows.shape == (4000, 2) and Series().describe()["kind"] == "clouds"
    assert data.rows.shape == (150, 4) and Table.embedded and data.describe()["kind"] == "irises"


def test_series_keeps_the_order_of_time(tmp_path: Path) -> None:
    data = Series(write(tmp_path / "a.csv", numbers(100)), length=5)
    data.setup()
    mean, deviation = data.scale
    (train,) = data.train_set[torch.arange(len(data.train_set))]
    (held_out,) = data.test_set[torch.arange(len(data.test_set))]
    assert train.shape == (14, 5, 2) and held_out.shape == (3, 5, 2)
    back = train.double() * deviation + mean
    assert back[..., 0].flatten().round().tolist() == list(range(70))
    assert (held_out.double() * deviation + mean)[0, 0, 0].item() == pytest.approx(85, abs=1e-4)
    assert data.sizes["event_shape"] == (5, 2) and math.isfinite(float(train.mean()))
    with pytest.raises(ValueError, match="refuse or keep"):
        Series(data.path, missing="drop")  # type: ignore[arg-type]
