"""A recipe that starts with a part of a trained model."""

import json
from pathlib import Path

import pytest

from lab import weights
from lab.__main__ import main

ATTRIBUTES = """
model: {class_path: modules.recurrent.grid_features.AttributeClassifier, init_args: {channels: [4]}}
data: {class_path: datamodules.scenes.Attributes, init_args: {num_train: 8, num_val: 4, num_test: 4}}
trainer: {max_epochs: 1, accelerator: cpu}
"""
CAPTIONS = """
model:
  class_path: modules.recurrent.captioning.Captioner
  init_args: {channels: [CHANNELS], freeze: FREEZE, embedding: 3, hidden: 4}
data: {class_path: datamodules.scenes.Scenes, init_args: {num_train: 8, num_val: 4, num_test: 4}}
trainer:
  max_epochs: 1
  accelerator: cpu
  callbacks: [{class_path: lab.training.callbacks.StartFrom, init_args: {source: SOURCE, part: PART}}]
"""


def test_a_captioner_starts_with_the_encoder_that_its_recipe_names(
    own_runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (recipe := tmp_path / "attributes.yaml").write_text(ATTRIBUTES)
    assert main(["fit", str(recipe)]) == 0
    source = next(own_runs.rglob("card.json")).parent
    classifier = weights.load(source)

    def fit(channels: int, part: str, freeze: bool = True, name: str = "captions", *more: str) -> int:
        text = CAPTIONS.replace("CHANNELS", str(channels)).replace("SOURCE", json.dumps(str(source)))
        text = text.replace("PART", part).replace("FREEZE", json.dumps(freeze))
        (recipe := tmp_path / f"{name}.yaml").write_text(text)
        return main(["fit", str(recipe), *more])

    assert fit(4, "encoder") == 0
    captioner = weights.load(next(own_runs.glob("captions/**/card.json")).parent)
    theirs, ours = classifier.encoder.state_dict(), captioner.encoder.state_dict()
    assert theirs.keys() == ours.keys() and all((theirs[name] == ours[name]).all() for name in ours)
    for channels, part, words in ((5, "encoder", "does not fit"), (4, "reader", "has no part 'reader'")):
        capsys.readouterr()
        assert fit(channels, part) != 0
        assert words in capsys.readouterr().err

    # a training that goes on does not start again: the encoder has moved on since
    two = "--trainer.max_epochs", "2"
    assert fit(4, "encoder", False, "whole", *two) == 0
    assert fit(4, "encoder", False, "parts") == 0
    assert fit(4, "encoder", False, "parts", "--ckpt_path", "last", *two) == 0
    whole, parts = (
        weights.load(next(own_runs.glob(f"{name}/**/card.json")).parent).encoder.state_dict()
        for name in ("whole", "parts")
    )
    assert all((whole[name] == parts[name]).all() for name in whole)
    assert any((whole[name] != theirs[name]).any() for name in whole)
