"""`lab size`: the sizes of a mixture, a factor model and a chain, on built-in data and on a reader's own."""

import math
from pathlib import Path

import pytest
import torch

from lab import sizes
from lab.__main__ import main
from modules.flow.maf import MAF
from tests.lab.conftest import complaint


def three_heaps(path: Path) -> str:
    generator = torch.Generator().manual_seed(0)
    centres = 8 * torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    x = centres[torch.arange(300) % 3] + torch.randn(300, 2, generator=generator)
    path.write_text("a,b\n" + "".join(f"{a:.4f},{b:.4f}\n" for a, b in x.tolist()))
    return str(path)


def test_both_criteria_find_three_heaps(tmp_path: Path) -> None:
    torch.manual_seed(0)
    rows = sizes.table("gmm", {"path": three_heaps(tmp_path / "heaps.csv")}, most=4, steps=30)
    assert [row["size"] for row in rows] == [1, 2, 3, 4]
    assert min(rows, key=lambda row: row["bic"])["size"] == 3
    assert rows[2]["held_out"] < rows[1]["held_out"] - 0.1 < rows[0]["held_out"] - 0.1


def test_a_factor_model_stops_where_there_are_no_more_numbers() -> None:
    torch.manual_seed(0)
    assert [row["size"] for row in sizes.table("fa", {}, most=9, steps=5)] == [1, 2, 3, 4]


def test_command_prints_and_names_the_best(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = three_heaps(tmp_path / "heaps.csv")
    assert main(["size", "gmm", "--path", path, "--most", "3", "--steps", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "best by BIC and held out" in lines[-1] and lines[-1].split()[0] == "3"
    assert main(["size", "hmm", "--most", "1", "--steps", "1"]) == 0


def months(path: Path) -> str:
    """A dated series with decimal commas: a yearly swing, one cell empty."""
    lines = (f"{1949 + i // 12}-{1 + i % 12:02};{i % 12},5;{'' if i == 7 else i % 5}\n" for i in range(144))
    path.write_text("Monat;Grad;Regen\n" + "".join(lines))
    return str(path)


def test_own_series_and_columns_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = months(tmp_path / "months.csv")
    assert main(["size", "hmm", "--path", path, "--length", "12", "--most", "2", "--steps", "3"]) == 0
    shown = capsys.readouterr().out
    assert "decimal marks" in shown and "Monat (dates)" in shown and "best by" in shown
    assert main(["size", "gmm", "--path", path, "--columns", "Grad", "--most", "2", "--steps", "3"]) == 0
    assert "Regen" not in capsys.readouterr().out


def test_flows_are_compared_by_their_layers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    rows = sizes.table("maf", {"path": three_heaps(tmp_path / "heaps.csv")}, most=2, steps=60)
    assert [row["size"] for row in rows] == [1, 2] and rows[1]["parameters"] == 2 * rows[0]["parameters"]
    assert all(row["held_out"] < 2.8 for row in rows)  # N(0, I) has 2.84 on columns of variance 1


def test_the_bic_of_a_flow_counts_its_parameters() -> None:
    """−2 ln L + k ln N, of the flow before the first step."""
    torch.manual_seed(0)
    x, flow = torch.randn(50, 2), MAF((2,), layers=2, hidden=(8,))
    log_likelihood = flow.log_prob(x).double().sum().item()
    row = sizes.fit_flow(2, flow, x, x, 0, 0.01)
    parameters = sum(p.numel() for p in flow.parameters())
    assert row["parameters"] == parameters > 50
    bic = parameters * math.log(50) - 2 * log_likelihood
    assert row["bic"] == pytest.approx(bic, rel=1e-5)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["size", "vae-digits"], "of class VAE, whose size nothing chooses"),
        (["size", "kmeans-digits"], "of class KMeans"),
        (["size", "gmm-moons", "--path", "x.csv"], "reads no table"),
        (["size", "gmm", "--path", "none.csv"], "no such file"),
        (["size", "gmm", "--length", "5"], "reads no series"),
        (["size", "gmm", "--columns", "x"], "no column 'x'"),
        (["size", "hmm", "--length", "0"], "length is 0"),
        (["size", "gmm", "--most", "0"], "from 1 to 50"),
        (["size", "gmm", "--seed", "-1"], "--seed is -1"),
        (["size"], "experiment"),
    ],
)
def test_mistakes_get_one_sentence(args: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    assert words in complaint(capsys)
