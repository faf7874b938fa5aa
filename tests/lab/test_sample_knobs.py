"""`lab sample`: steps, η, guidance and class of diffusion; truncation and class of games; what is refused."""

from pathlib import Path
from typing import Any

import pytest
import torch

from lab import weights
from lab.__main__ import main


@pytest.mark.parametrize(
    ("name", "knobs"),
    [
        ("ddpm-digits", "--steps 3 --eta 0.5 --guidance 1 --label 3"),
        ("ldm-digits", "--steps 3 --eta 0.5 --guidance 1 --label 3"),
        ("dcgan-digits", "--truncation 0.5"),
        ("acgan-digits", "--truncation 0.5 --label 3"),
    ],
)
def test_knobs_reach_the_model(name: str, knobs: str, tmp_path: Path) -> None:
    files = [tmp_path / f"{i}.png" for i in range(3)]
    for file, text in zip(files, (knobs, knobs, ""), strict=True):
        steps = "--steps 3" if "ddpm" in name and not text else ""
        assert main(["sample", name, "-n", "3", "--out", str(file), *text.split(), *steps.split()]) == 0
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ("ddpm-digits --steps 1001", "steps is 1001: it must be from 1 to 1000."),
        ("ddpm-digits --steps 0", "steps is 0"),
        ("ddpm-digits --steps 3 --eta 1.5", "eta is 1.5: it must be from 0 to 1."),
        ("ddpm-digits --eta nan", "eta is nan"),
        ("ddpm-digits --label 10", "y must be whole numbers from 0 to 9."),
        ("ddpm-eight --guidance 1", "knows no classes"),
        ("acgan-digits --y 10", "y must be whole numbers from 0 to 9."),
        ("dcgan-digits --truncation 0", "tau is 0"),
        ("dcgan-digits --given 1", "Its parameters: truncation."),
    ],
)
def test_what_is_refused(args: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sample", *args.split(), "-n", "2", "--out", str(tmp_path / "x.png")]) == 2
    complaint = capsys.readouterr().err
    assert text in complaint and "Traceback" not in complaint and not (tmp_path / "x.png").exists()


def test_truncated_samples_are_more_alike_and_of_the_class_asked_for() -> None:
    game: Any = weights.load("acgan-digits")
    draws = torch.Generator()
    free, cut = (
        game.sample(200, y=3, generator=draws.manual_seed(0), truncation=t).flatten(1) for t in (None, 0.3)
    )
    assert cut.var(0).sum() < 0.7 * free.var(0).sum()
    network = weights.load("cnn-digits")
    named = network.predict(cut.reshape(-1, 1, 8, 8)).argmax(1)  # type: ignore[operator]
    assert (named == 3).double().mean() > 0.6
    assert torch.equal(cut, game.sample(200, y=3, generator=draws.manual_seed(0), truncation=0.3).flatten(1))
