"""Games on small modes: how many does each loss, each failing preset and each cure reach, over seeds.

One protocol for all: two layers of 128 units, Adam at 10⁻³ with β₁ = ½, 256 examples a batch, no averaging.
A mode is reached that has 20 of 2,500 samples within three deviations; quality is the share of all samples
that are so near to some mode.
"""

from typing import Any

import torch

from datamodules import points
from lab.bench.timing import Row
from lab.seeding import seeded
from modules.adversarial.gan import GAN
from modules.adversarial.judges import ModeCoverage

RATE = 1e-3
DATA = ("ring8", "grid25")
PENALISED = {"loss": "Wasserstein", "penalty": 1.0}
SLOW = {"g_steps": 5}

# name -> settings of the model; "rate" is of the generator alone
LOSSES: dict[str, dict[str, Any]] = {
    "saturating": {"loss": "saturating"},
    "non-saturating": {"loss": "non-saturating"},
    "least squares": {"loss": "least squares"},
    "hinge": {"loss": "hinge"},
    "hinge, spectral norm": {"loss": "hinge", "spectral": True},
    "relativistic": {"loss": "relativistic"},
    "energy": {"loss": "energy"},
    "f-divergence, Pearson": {"loss": "f-divergence", "loss_settings": {"divergence": "Pearson"}},
    "Wasserstein, clipped": {"loss": "Wasserstein", "clip": 0.1},
    "Wasserstein, penalty": PENALISED,
}
# on the ring alone: what makes the plain game fail, and what is said to help
PRESETS: dict[str, dict[str, Any]] = {
    "G's rate × 10": {"rate": 10 * RATE},
    "5 turns of G": SLOW,
    "5 turns of G, minibatch std": SLOW | {"minibatch_std": True},
    "5 turns of G, packs of 4": SLOW | {"pack": 4},
    "5 turns of G, penalty": SLOW | PENALISED,
    "D of 8 units": {"discriminator_hidden": [8]},
}


def play(data: Any, settings: dict[str, Any], batches: int, seed: int) -> dict[str, float]:
    """Train one game; modes, quality and KL of 2,500 samples."""
    settings = dict(settings)
    rates = {"generator": settings.pop("rate", RATE), "discriminator": RATE}
    model = seeded(lambda: GAN(hidden=(128, 128), ema=0.0, **settings), seed)
    players = model.players()
    optimizers = {
        name: torch.optim.Adam(parameters, lr=rates[name], betas=(0.5, 0.999), fused=True)
        for name, parameters in players.items()
    }
    x = points.sample(data, 20_000, seed=1)[0]
    generator = torch.Generator().manual_seed(seed)
    for _ in range(batches):
        batch = x[torch.randint(len(x), (256,), generator=generator)]
        for whose, loss in model.turns(batch, generator):
            optimizers[whose].zero_grad()
            loss.backward(inputs=players[whose])  # type: ignore[no-untyped-call]
            optimizers[whose].step()
    made = model.eval().sample(2500, generator)
    centres, sd = points.MIXTURES[data]
    found = {}
    for measure in ("modes", "quality", "kl"):
        metric = ModeCoverage(centres.tolist(), sd, measure)  # type: ignore[arg-type]
        metric.update(made)
        found[measure] = metric.compute().item()
    return found


def measure(quick: bool = False) -> list[Row]:
    """One row a case: modes on average, and the rest as mean ± standard deviation over seeds."""
    seeds, batches = (2, 3) if quick else (5, 2000)
    rows = []
    for data in DATA:
        cases = LOSSES | (PRESETS if data == "ring8" else {})
        for name, settings in cases.items():
            runs = [play(data, settings, batches, seed) for seed in range(seeds)]
            values = {key: torch.tensor([run[key] for run in runs]) for key in runs[0]}
            said = ", ".join(f"{key} {v.mean():.2f} ± {v.std():.2f}" for key, v in values.items())
            rows.append(
                Row("games", f"{data}: {name}", values["modes"].mean().item(), unit="modes", note=said)
            )
    return rows
