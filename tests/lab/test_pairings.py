"""Any model with any data: it trains, or one sentence says what does not fit."""

import contextlib
import io
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml
from members import MEMBERS

from lab.__main__ import main
from lab.training.pairing import LINKED
from tests.datamodules.test_base import ABSTRACT, CLASSES
from tests.lab.test_complaints import PARSERS_WORDS

# Data that need no file, with what makes them so, and small.
DATA: dict[str, dict[str, Any]] = {
    f"{c.__module__}.{c.__name__}": {} for c in CLASSES if c.embedded and c.__name__ not in ABSTRACT
} | {
    "datamodules.contexts.Contexts": {"corpus": "pydocs"},
    "datamodules.cooccurrence.Cooccurrence": {"corpus": "relations"},
    "datamodules.lines.Lines": {"corpus": "pydocs"},
    "datamodules.streams.StreamedText": {"corpus": "pydocs"},
    "datamodules.text.Text": {"corpus": "pydocs"},
    "datamodules.letters.Letters": {"num_train": 100},
}
PAIRS = [(name, data) for name in sorted(MEMBERS) for data in sorted(DATA)]
SAMPLE = PAIRS[::127]
# What Python and torch say of their own affairs.
PYTHONS_WORDS = re.compile(
    "|".join(map(re.escape, PARSERS_WORDS))
    + r"|__|not supported|[Tt]ensor|dtype|mat1|attribute|unhashable|subscript|iterable|unpack|\bint\b"
    r"|\bfloat\b|keyword|positional|out of (range|bounds)|must match|dimension \d|shape \'|Long|Float|None"
)


def plain(value: Any) -> Any:
    """A setting as a file has it."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


def outcome(name: str, data: str, path: Path) -> str | None:
    """What `lab fit` says of a class with these data, all sizes being theirs; None where it has trained."""
    given = {k: plain(v) for k, v in MEMBERS[name][0].settings.items() if k not in LINKED}
    recipe = {
        "monitor": "last",
        "model": {"class_path": name, "init_args": given},
        "data": {"class_path": data, "init_args": DATA[data]},
    }
    path.write_text(yaml.safe_dump(recipe))
    errors = io.StringIO()
    try:
        with contextlib.redirect_stderr(errors), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = main(["fit", str(path), "--trainer.fast_dev_run=1", "--trainer.accelerator=cpu"])
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    texts = [line for line in errors.getvalue().splitlines() if line.startswith("lab: ")]
    assert (code, len(texts)) in ((0, 0), (2, 1)), texts
    return texts[0] if texts else None


@pytest.mark.parametrize(
    "pairs",
    [
        SAMPLE,
        *(
            pytest.param([pair for pair in PAIRS if pair[0] == name], marks=pytest.mark.soak)
            for name in MEMBERS
        ),
    ],
    ids=["sample", *(name.rpartition(".")[2] for name in MEMBERS)],
)
def test_a_model_trains_on_data_or_says_why_not(pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    results = {pair: outcome(*pair, tmp_path / "own.yaml") for pair in pairs}
    wrong = {
        pair: text
        for pair, text in results.items()
        if text and (not text.startswith("lab: ") or PYTHONS_WORDS.search(text) or text[-1] != ".")
    }
    assert not wrong, "\n".join(f"{name} on {data}: {text}" for (name, data), text in wrong.items())
    ran = sum(text is None for text in results.values())
    print(f"{ran} of {len(results)} pairs train")
    # what all of its data are too long, or another kind of example, for, trains on none
    assert ran < len(results) and (ran or pairs is not SAMPLE)


def test_a_sentence_names_the_model_the_data_and_what_they_lack(tmp_path: Path) -> None:
    def complaint(model: str, data: str) -> str:
        return str(outcome(f"modules.{model}", f"datamodules.{data}", tmp_path / "own.yaml"))

    assert "MLP needs num_classes, which Sprites does not have" in complaint(
        "convolution.mlp.MLP", "sprites.Sprites"
    )
    batches = (
        "CycleGAN cannot use batches of Digits, 64 × 1 × 8 × 8 numbers and 64 whole numbers: take data like"
    )
    assert batches in complaint("adversarial.cyclegan.CycleGAN", "digits.Digits")
    assert "image_shape, which Points does not have" in complaint("adversarial.dcgan.DCGAN", "points.Points")
