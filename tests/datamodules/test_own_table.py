"""A reader's CSV: what is read, and the sentence where it cannot be."""

import math
from pathlib import Path

import pytest
import torch

from datamodules.table import Series, Table


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def numbers(rows: int) -> str:
    return "a,b\n" + "".join(f"{i},{i * i % 7}\n" for i in range(rows))


def test_bad_files_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such file"):
        Table(str(tmp_path / "none.csv"))
    with pytest.raises(ValueError, match="cannot be read"):
        Table("~nosuchuser/x.csv")
    with pytest.raises(ValueError, match="workbook"):
        (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
        Table(str(tmp_path / "a.xlsx"))
    with pytest.raises(ValueError, match="no column 'c': the table has a, b"):
        Table(write(tmp_path / "a.csv", numbers(40)), columns="a,c")


GERMAN = "Datum;Ort;Höhe;Temperatur\n" + "".join(
    f"{1 + i % 28:02}.01.2020;{('Kiel', 'Ulm')[i % 2]};{i},5;{f'{i % 7},25' if i != 3 else ''}\n"
    for i in range(40)
)


def test_a_german_file_as_windows_writes_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(GERMAN.encode("cp1252"))
    data = Table(str(tmp_path / "a.csv"))
    assert (
        data.names == ["Höhe", "Temperatur"] and data.rows[4].tolist() == [5.5, 5.25] and len(data.rows) == 39
    )
    text = " ".join(data.notes)
    for words in (
        "Windows-1252",
        "decimal marks",
        "Datum (dates)",
        "Ort (text)",
        "1 of 40 rows are left out",
    ):
        assert words in text
    assert data.describe()["notes"] == data.notes
    chosen = Table(data.path, columns="Temperatur, Ort")
    assert chosen.names == ["Temperatur", "Ort"] and chosen.rows[0].tolist() == [0.25, 0.0]
    assert Table(data.path, columns=["3"]).names == ["Höhe"]


@pytest.mark.parametrize("backwards", [False, True])
def test_a_dated_series_is_as_long_as_it_allows(tmp_path: Path, backwards: bool) -> None:
    months = [(f"{1949 + i // 12}-{1 + i % 12:02}", 100 + i) for i in range(144)]
    lines = "".join(f'"{month}",{count}\n' for month, count in (months[::-1] if backwards else months))
    data = Series(write(tmp_path / "a.csv", '"Month","Passengers"\n' + lines), missing="keep")
    data.setup()
    assert (
        data.names == ["Passengers"]
        and data.length == 14
        and data.rows[:, 0].tolist() == list(range(100, 244))
    )
    assert len(data.train_set) == 8 and ("backwards" in " ".join(data.notes)) == backwards
    with pytest.raises(ValueError, match=r"set length to 20 or less"):
        Series(data.path, length=50).setup()


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
    with pytest.raises(ValueError, match="line 22, has nothing in 'b'"):
        Table(path, missing="refuse")
    assert len(Table(path).rows) == 20
    assert len(Table(path, missing="drop").rows) == 20
    kept = Table(path, missing="keep")
    assert len(kept.rows) == 21 and kept.rows[-1, 1].isnan() and kept.scale[1].isfinite().all()
    with pytest.raises(ValueError, match="refuse, drop, keep"):
        Table(path, missing="guess")  # type: ignore[arg-type]


def test_too_little_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 7"):
        Table(write(tmp_path / "a.csv", numbers(5))).setup()
    with pytest.raises(ValueError, match="at least 7"):
        Series(write(tmp_path / "c.csv", numbers(3)), length=20).setup()
    with pytest.raises(ValueError, match="'a' has 1e200: numbers up to"):
        Table(write(tmp_path / "d.csv", "a,b\n" + "1e200,1\n" * 20))
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
