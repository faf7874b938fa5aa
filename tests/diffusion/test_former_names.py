"""Calls, arguments and tensors of earlier versions: accepted, with the bits of present ones."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
import torch

from lab import renames
from lab.seeding import seeded
from modules.base import Module
from modules.diffusion.ddpm import DDPM
from modules.diffusion.flow_matching import FlowMatching
from modules.diffusion.latent import LatentDDPM
from modules.diffusion.score_matching import ScoreModel

SMALL: dict[str, Any] = {"width": 8, "blocks": 1, "embedding": 4}
CLASSES: dict[str, Any] = {"conditional": True, "num_classes": 3, "noise_steps": 20}


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def stirred(build: Callable[[], Any]) -> Any:
    """A model whose last layer is not zero."""
    model = seeded(build).eval()
    torch.nn.init.normal_(model.net.last.weight, generator=generator())
    return model


@pytest.mark.parametrize(
    "build",
    [
        lambda: DDPM((2,), **SMALL, **CLASSES),
        lambda: LatentDDPM((6,), latent_dim=2, hidden=[4], **SMALL, **CLASSES),
    ],
)
def test_former_calls_of_a_chain_draw_the_same(build: Callable[[], Any]) -> None:
    model = stirred(build)
    now = model.sample(4, y=2, generator=generator(), steps=5, eta=0.5, guidance=1.0)
    for call in (
        lambda: model.sample(4, 5, 0.5, 1.0, 2, generator()),
        lambda: model.sample(4, 5, 0.5, 1.0, 2, None, 3),
        lambda: model.sample(4, steps=5, eta=0.5, guidance=1.0, label=2, seed=3),
    ):
        with pytest.warns(DeprecationWarning, match="one more release"):
            assert torch.equal(call(), now)
    trace = model.sample_trace(4, y=2, generator=generator(), steps=5, eta=0.5, guidance=1.0)
    with pytest.warns(DeprecationWarning):
        assert model.sample_trace(4, 5, 0.5, 1.0, 2, 3).digest() == trace.digest()
    assert torch.equal(trace.result, now)
    each = model.sample(
        4, y=torch.tensor([2, 2, 2, 2]), generator=generator(), steps=5, eta=0.5, guidance=1.0
    )
    assert torch.equal(each, now)  # a class for all is that class for each
    in_turn = model.sample(4, y=torch.tensor([0, 1, 2, 0]), generator=generator(), steps=5)
    assert torch.equal(in_turn, model.sample(4, generator=generator(), steps=5))


def test_former_calls_of_velocities_and_scores_draw_the_same() -> None:
    flow, scores = stirred(lambda: FlowMatching(**SMALL)), stirred(lambda: ScoreModel(**SMALL, levels=3))
    now = [flow.sample(4, generator=generator(), steps=5), scores.sample(4, generator=generator(), steps=2)]
    with pytest.warns(DeprecationWarning):
        former = [flow.sample(4, 5, None, 3), scores.sample(4, 2, 0.1, None, 3)]
    assert all(map(torch.equal, former, now))
    trace = flow.sample_trace(2, generator=generator(), steps=5)
    with pytest.warns(DeprecationWarning):
        assert flow.sample_trace(2, 5, 3).digest() == trace.digest()


@pytest.mark.parametrize(
    ("path", "former", "present"),
    [
        (
            "modules.diffusion.ddpm.DDPM",
            {"drop_label": 0.3, "hybrid": 0.1, "min_snr": 5.0},
            {"label_dropout": 0.3, "vlb_weight": 0.1, "min_snr_gamma": 5.0},
        ),
        (
            "modules.diffusion.score_matching.ScoreModel",
            {"first": 2.0, "last": 0.5},
            {"sigma_max": 2.0, "sigma_min": 0.5},
        ),
    ],
)
def test_former_arguments_are_read(path: str, former: dict[str, Any], present: dict[str, Any]) -> None:
    assert renames.present_arguments(path, former) == present
    module, name = path.rsplit(".", 1)
    model: Module = getattr(importlib.import_module(module), name)(**present)
    sigmas = dict(model.named_buffers()).get("sigmas")
    if sigmas is not None:
        assert float(sigmas[0]) == pytest.approx(2.0) and float(sigmas[-1]) == pytest.approx(0.5)


def test_former_tensors_of_latent_diffusion_are_read() -> None:
    model = LatentDDPM((6,), latent_dim=2, hidden=[4], **SMALL)
    former = model.state_dict() | {"center": torch.tensor([1.0, 2.0]), "spread": torch.tensor([3.0, 4.0])}
    del former["latent_mean"], former["latent_std"]
    model.load_state_dict(LatentDDPM.present_names(former))
    assert model.latent_mean.tolist() == [1.0, 2.0] and model.latent_std.tolist() == [3.0, 4.0]
    assert torch.equal(model.postprocess(torch.ones(1, 2)), torch.tensor([[4.0, 6.0]]))
