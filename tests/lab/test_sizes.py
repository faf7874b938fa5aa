"""`lab size`: the sizes of a mixture, a factor model and a chain, on built-in data and on a reader's own."""

from pathlib import Path

import pytest
import torch

from lab import sizes
from lab.__main__ import main
from tests.lab.conftest import complaint


def three_heaps(path: Path) -> str:
    generator = torch.Generator().manual_seed(0)
    centres = 8 * torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    x = centres[torch.arange(300) % 3] + torch.randn(300, 2, generator=generator)
    path.write_text("a,b\n" + "".join(f"{a:.4f},{b:.4f}\n" for a, b in x.tolist()))
    return str(path)


def test_both_criteria_find_three_heaps(tmp_path: Path) -> None:
    torch.manual_seed(0)
    rows = sizes.table("gmm", three_heaps(tmp_path / "heaps.csv"), most=4, steps=30)
    assert [row["size"] for row in rows] == [1, 2, 3, 4]
    assert min(rows, key=lambda row: row["bic"])["size"] == 3
    assert rows[2]["held_out"] < rows[1]["held_out"] - 0.1 < rows[0]["held_out"] - 0.1


def test_a_factor_model_stops_where_there_are_no_more_numbers() -> None:
    torch.manual_seed(0)
    assert [row["size"] for row in sizes.table("fa", None, most=9, steps=5)] == [1, 2, 3, 4]


def test_command_prints_and_names_the_best(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = three_heaps(tmp_path / "heaps.csv")
    assert main(["size", "gmm", "--path", path, "--most", "3", "--steps", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "best by BIC and held out" in lines[-1] and lines[-1].split()[0] == "3"
    assert main(["size", "hmm", "--most", "1", "--steps", "1"]) == 0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["size", "vae-digits"], "a VAE, whose size nothing chooses"),
        (["size", "kmeans-digits"], "a KMeans"),
        (["size", "gmm-moons", "--path", "x.csv"], "reads no table"),
        (["size", "gmm", "--path", "none.csv"], "no such file"),
        (["size", "gmm", "--most", "0"], "from 1 to 50"),
        (["size", "gmm", "--seed", "-1"], "--seed is -1"),
        (["size"], "experiment"),
    ],
)
def test_mistakes_get_one_sentence(args: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    assert words in complaint(capsys)
