"""Gradients of captioners: how noisy the score function is, and what a baseline takes of it.

Of a batch of training scenes and the weights of a captioner, the gradient of the loss by the weights of the
score is estimated again and again, each time from new places: the sum of the variances of its components,
beside that without baseline and reward-to-go. Soft attention draws nothing: given the batch, its variance
is 0. `hard-scenes` is measured as it ships, and the weights of `soft-scenes` as hard attention, which they
were not trained for.

References: Xu et al. 2015, arXiv:1502.03044, 4.1; Mnih & Gregor 2014, arXiv:1402.0030 (baselines); [DGM]
deck 2.
"""

from typing import Any

import torch
from torch import Tensor, nn

from datamodules.scenes import Scenes
from lab import weights
from lab.bench.timing import Row
from modules.recurrent.captioning import Captioner
from modules.recurrent.hard_captions import ScoreFunctionLoss

BATCH, DRAWS = 48, 400
SETTINGS: dict[str, dict[str, Any]] = {
    "whole reward": {"baseline": "none", "to_go": False},
    "reward to go": {"baseline": "none"},
    "reward to go, moving average": {"baseline": "average"},
    "reward to go, learned baseline": {"baseline": "learned"},
}
SOURCES = {"hard-scenes": "hard attention, trained", "soft-scenes": "soft attention, read as hard"}
FITTING = 300  # batches of draws that a baseline is fitted to


def captioner(source: str, batch: tuple[Tensor, ...], steps: int, **options: Any) -> Captioner:
    """Hard attention by the weights of a captioner, with another loss: its baseline alone is fitted."""
    model, trained = weights.load("hard-scenes"), weights.load(source)
    assert isinstance(model, Captioner)
    model.load_state_dict(trained.state_dict(), strict=False)  # soft attention has no baseline
    model.warm_start_epochs = 0  # draw at once
    model.score_function = ScoreFunctionLoss(model.hidden, **options)
    if options["baseline"] != "none":
        value = list(model.score_function.parameters())
        optimizer = torch.optim.Adam(value, lr=1e-2) if value else None
        for _ in range(steps):
            gradient = grad(model, batch, value)  # the moving average moves by itself
            for parameter, each in zip(value, gradient, strict=True):
                parameter.grad = each
            if optimizer:
                optimizer.step()
    return model


def grad(model: Captioner, batch: tuple[Tensor, ...], parameters: list[nn.Parameter]) -> list[Tensor]:
    """Gradient of the loss of a word, from new draws."""
    loss, _ = model.hard_step(model.begin(batch[0]), batch, "train")  # type: ignore[arg-type]
    return list(torch.autograd.grad(loss, parameters)) if parameters else []


def variance(model: Captioner, batch: tuple[Tensor, ...], draws: int) -> tuple[float, float]:
    """Sum of the variances of the components of the gradient by the weights of the score, and the squared
    norm of its mean."""
    parameters = list(model.decoder.context.parameters())
    each = torch.stack(
        [torch.cat([part.flatten() for part in grad(model, batch, parameters)]) for _ in range(draws)]
    ).double()
    spread = float(each.var(0).sum())
    mean = float(each.mean(0).square().sum()) - spread / draws  # without what noise adds to it
    return spread, mean


def measure(quick: bool = False) -> list[Row]:
    """Variance of each setting beside that of the whole reward."""
    draws, steps = (4, 2) if quick else (DRAWS, FITTING)
    data = Scenes(level=2, side=32, batch_size=BATCH, num_train=2 * BATCH)
    data.setup("fit")
    batch = data.train_set[torch.arange(BATCH)]
    rows = []
    for source, what in SOURCES.items():
        whole = float("nan")
        for setting, options in SETTINGS.items():
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                spread, mean = variance(captioner(source, batch, steps, **options), batch, draws)
            whole = spread if setting == "whole reward" else whole
            rows.append(
                Row("captions", f"{what}: {setting}", spread, whole, spread / whole,
                    note=f"squared mean {mean:.2g}", unit="variance")
            )  # fmt: skip
    return rows
