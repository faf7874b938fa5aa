"""What ships: how large it may be, and that rounding its numbers changed nothing that is shown."""

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest
import torch

from lab import weights
from lab.experiments import ZOO, catalog
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.made import MADE
from modules.autoregressive.pixelcnn import MaskedConv2d
from tests.lab.test_experiments import CATALOG, data_of

SHIPPED = [name for name, e in catalog().items() if e.weights == ZOO / name]
BUDGETS = {
    "autoregressive": 16e6,
    "latent": 14e6,
    "recurrent": 12e6,
    "transformer": 16e6,
}  # bytes; any other 8 MB
REASON = re.compile(r"^save_dtype: \w+ +# (\d\.\d) MB: \w.*", re.MULTILINE)
BITS = {"float16": 11, "bfloat16": 8}  # of a number, its first 1 among them


def size(folder: Path) -> int:
    """Bytes of weights; cards and metrics are text."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors"))


def test_what_ships_stays_within_its_budget() -> None:
    total: Counter[str] = Counter()
    for name in SHIPPED:
        total[CATALOG[name].family] += size(ZOO / name)
    assert {family: n for family, n in total.items() if n > BUDGETS.get(family, 8e6)} == {}
    assert total.total() <= 88e6
    assert {path.name for path in ZOO.iterdir() if path.is_dir()} == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_file_above_two_megabytes_says_why_in_its_yaml(name: str) -> None:
    """`save_dtype: float16  # 2.3 MB: why it cannot be less`, with the size that it has."""
    text = REASON.search(CATALOG[name].path.read_text(encoding="utf-8"))
    result = (ZOO / name / "model.safetensors").stat().st_size / 1e6
    if text:
        assert float(text[1]) == pytest.approx(result, abs=0.06)
    else:
        assert result <= 2


@pytest.mark.parametrize("name", SHIPPED)
def test_weights_are_as_long_as_the_yaml_says(name: str) -> None:
    card = weights.read_card(ZOO / name)
    assert card["dtype"] == card["config"]["save_dtype"] == CATALOG[name].config.get("save_dtype", "float32")


HALVES = [n for n in SHIPPED if weights.read_card(ZOO / n)["dtype"] in BITS]
DENSITIES = [n for n in HALVES if CATALOG[n].family == "autoregressive" and "autoencoder" not in n]
QUICK = ("nade-digits", "made-digits", "gatedpixelcnn-digits", "nade-greys-mnist")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.heavy]) for n in DENSITIES]
)
def test_rounded_weights_give_the_same_numbers(name: str, real_data) -> None:
    """Weights that round to those that ship, drawn anew: log p of each example is the same to 1e-3."""
    if (data := data_of(name)) is not None:
        real_data(data)
    card, model = weights.read_card(ZOO / name), weights.load(name)
    module, _, class_name = CATALOG[name].datamodule.rpartition(".")
    split = getattr(importlib.import_module(module), class_name)(**card["config"]["data"]["init_args"])
    split.setup("test")
    x = split.test_set[torch.arange(50)][0]
    assert isinstance(model, Autoregressive)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        shipped = model.log_prob(x)
        for p in model.parameters():
            spacing = torch.ldexp(torch.ones_like(p), p.frexp().exponent - BITS[card["dtype"]])
            noise = (torch.rand(p.shape, generator=generator) - 0.5) * spacing
            p += noise.where(p != 0, 0)
        other = model.log_prob(x)
    assert not torch.equal(other, shipped)
    assert ((other - shipped).abs() / shipped.abs().clamp(min=1)).max() < 1e-3


MASKED = [n for n in SHIPPED if re.search(r"\.(made\.MADE|\w*pixelcnn\.\w+)$", CATALOG[n].module)]


@pytest.mark.parametrize("name", MASKED)
def test_what_a_mask_hides_for_good_is_zero(name: str) -> None:
    """It packs to nothing."""
    model = weights.load(name)
    for layer in (m for m in model.modules() if isinstance(m, MaskedConv2d)):
        assert not layer.weight[layer.mask == 0].any()
    if isinstance(model, MADE) and model.num_orders == 1:
        masks = model.masks()
        if model.skip is not None:
            assert not model.skip.weight[masks[-1] == 0].any()
        if model.num_masks == 1:
            for layer, mask in zip([*model.layers, model.out], masks, strict=False):
                assert not layer.weight[mask == 0].any()
