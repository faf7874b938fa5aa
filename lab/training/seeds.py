"""Several seeds of one run: fitted one after the other, told of in one card."""

import torch

from lab import files, weights
from lab.training.cli import LabCLI
from lab.training.folders import seed_folder


def fit_more_seeds(cli: LabCLI, args: list[str]) -> None:
    """Fit the other seeds in folders of their own; keep the weights that validation likes best.

    The card's metrics are means over all seeds, `std` their standard deviations (n - 1).
    """
    settings, folder, resumed = cli.settings, cli.run_folder, cli.config.fit.ckpt_path == "last"
    if resumed and cli.is_finished(folder, settings):
        return
    first, seeds = settings["seed_everything"], settings["seeds"]
    folders = [seed_folder(folder, seed) for seed in range(first, first + seeds)]
    for seed in range(first + 1, first + seeds):
        own = cli.own_settings | {"seed_everything": seed}
        if not (resumed and cli.is_finished(seed_folder(folder, seed), own)):
            LabCLI(cli.experiment, folder, [*args, f"--seed_everything={seed}"], cli.lock, lead=False)
    cards = [weights.read_card(folder) for folder in folders]
    better = min if settings["mode"] == "min" else max
    scores = [card["best"]["value"] for card in cards]
    # where the last epoch ships, or the end came before a validation, no seed is best: the first ships
    best = 0 if None in scores else better(range(seeds), key=scores.__getitem__)
    values = {
        name: torch.tensor([c["metrics"][name] for c in cards], dtype=torch.float64)
        for name in cards[0]["metrics"]
    }
    card = {k: v for k, v in cards[best].items() if k != "error"} | {
        "metrics": {name: v.mean().item() for name, v in values.items()},
        "std": {name: v.std().item() for name, v in values.items()},
        "seeds": list(range(first, first + seeds)),
        "shipped": {"seed": first + best, **{k: cards[best][k] for k in ("metrics", "error")}},
        "minutes": round(sum(c["minutes"] for c in cards), 2),
    }
    files.write(folder / "model.safetensors", (folders[best] / "model.safetensors").read_bytes())
    files.write(folder / "card.json", weights.as_json(card))
    print(
        f"Over {seeds} seeds: "
        + ", ".join(f"{k} {v:.5g} ± {card['std'][k]:.2g}" for k, v in card["metrics"].items())
    )
