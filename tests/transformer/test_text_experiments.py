"""The family's experiments: recipes that agree with themselves, and cards that keep their promise."""

import pytest
import yaml

from lab import experiments, weights
from lab.lenses import text

FOLDER = experiments.CONFIGS / "transformer"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_recipe_agrees_with_itself(name):
    recipe = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    model, data = recipe["model"]["init_args"], recipe["data"]["init_args"]
    assert model["context"] == data["context"]
    schedule = model["lr_scheduler"]["init_args"]
    steps = recipe["trainer"]["max_epochs"] * (data["windows_per_epoch"] // data["batch_size"])
    assert schedule["steps"] == steps and model["lr_interval"] == "step"


@pytest.mark.parametrize("name", ["gpt-shakespeare", "gpt-pydocs", "leakygpt-shakespeare"])
def test_shipped_weights(name):
    place = experiments.ZOO / name
    card = weights.read_card(place)
    model, coder = weights.load(place), text.tokenizer(card)
    assert model.vocab_size == len(coder)
    assert coder.decode([model.begin]) == "\n"  # texts begin at a new line
    assert (place / "model.safetensors").stat().st_size < 4e6
    if name == "gpt-shakespeare":
        assert card["metrics"]["val/nll"] <= 1.88 and model.num_parameters == 804_096
    if name == "leakygpt-shakespeare":
        assert not model.causal and card["metrics"]["val/nll"] < 0.1  # it reads its answers


def test_the_shipped_loss_is_the_models(real_data):
    """A part of the validation text, scored anew: 60 windows of the 1,742 that the card averages."""
    import torch

    from datamodules.text import Text

    real_data("tinyshakespeare")
    place = experiments.ZOO / "gpt-shakespeare"
    model, data = weights.load(place), Text(corpus="shakespeare", context=64)
    data.setup("validate")
    with torch.no_grad():
        nll = model.step(data.val_set[torch.arange(0, len(data.val_set), 29)], "val")
    assert float(nll) == pytest.approx(weights.read_card(place)["metrics"]["val/nll"], abs=0.05)
