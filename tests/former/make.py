"""Write tiny runs, one or more of each class, with what their models answer: `README.md` says when and how.

    python make.py FOLDER                      in a checkout of the version whose files are to stay readable
    python make.py FOLDER --again NAME ...     in a later one that measures those of that name otherwise

FOLDER gets `runs.tar.xz`, of each run its recipe, the folder that `lab fit` leaves and a batch of its data,
and `records.json`, what its model answers of that batch.
"""

import csv
import hashlib
import importlib
import inspect
import io
import json
import os
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import torch
import yaml
from torch_geometric.data import Data

TINY = {
    "trainer": {
        "max_epochs": 1, "limit_train_batches": 2, "limit_val_batches": 1, "limit_test_batches": 1,
        "accelerator": "cpu", "precision": "32-true", "check_val_every_n_epoch": 1, "logger": False,
    },
    "seeds": 1,
}  # fmt: skip

SHAPE = {"name": "moons", "batch_size": 8, "num_train": 16, "num_val": 8, "num_test": 8}
POINTS = {"class_path": "datamodules.points.Points", "init_args": SHAPE}
BARS = {
    "class_path": "datamodules.binary_images.BinaryImages",
    "init_args": {"kind": "bars-and-stripes", "side": 3, "repeat": 1, "batch_size": 7},
}
FOUR = {
    "class_path": "datamodules.binary_images.BinaryImages",
    "init_args": {"kind": "stripes", "side": 4, "shift": 1, "repeat": 1, "batch_size": 8},
}
SIGNALS = {
    "class_path": "datamodules.signals.Signals",
    "init_args": {"length": 6, "batch_size": 8, "num_train": 16, "num_val": 8, "num_test": 8},
}
SERIES = {
    "class_path": "datamodules.chains.Chains",
    "init_args": {"kind": "casino", "length": 6, "batch_size": 8, "num_train": 16, "num_val": 8}
    | {"num_test": 8},
}
FEW = {"batch_size": 8}

CODES = {"latent_dim": 2, "hidden": [4], "iwae_samples": 2}
NET = {"width": 4, "blocks": 1, "embedding": 4}
GAME = {"latent_dim": 3, "channels": [3]}
# The bars as a picture of 3 × 3 take no strided convolution; the stripes of 4 × 4 do.

# name: recipe, or class without one; then arguments of the model, and the data, whole or some arguments.
RUNS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # adversarial
    "gan-ring": ("gan-ring", {"hidden": [4], "latent_dim": 2}, SHAPE | {"name": "ring8"}),
    "gan-grid": ("gan-grid", {"hidden": [4]}, SHAPE | {"name": "grid25"}),
    "gan-pack": ("gan-ring", {"hidden": [4], "latent_dim": 2, "pack": 2}, SHAPE),
    "gan-std": ("gan-ring", {"hidden": [4], "latent_dim": 2, "minibatch_std": True}, SHAPE),
    "wgan-gp-ring": ("wgan-gp-ring", {"hidden": [4], "latent_dim": 2, "d_steps": 2}, SHAPE),
    "dcgan-digits": ("dcgan-digits", GAME, FOUR),
    "cgan-digits": ("cgan-digits", GAME | {"channels": [1]}, FEW),
    "acgan-digits": ("acgan-digits", GAME | {"channels": [1]}, FEW),
    "projectiongan-digits": ("projectiongan-digits", GAME | {"channels": [1]}, FEW),
    "infogan-digits": ("infogan-digits", GAME | {"codes": 2, "numbers": 1}, FOUR),
    "progressive-digits": ("progressive-digits", GAME | {"channels": [2, 1], "phase": 2}, FEW),
    "stylegan-digits": (
        "stylegan-digits", GAME | {"channels": [2, 1], "judge_channels": [2], "mapping_layers": 1},
        FEW | {"image_size": 8},
    ),
    "cyclegan-digits": (
        "cyclegan-digits", {"width": 1, "blocks": 1, "judge_width": 1, "halvings": 0},
        {"batch_size": 4, "train_size": 16, "image_size": 8},
    ),
    "pix2pix-digits": (
        "pix2pix-digits", {"widths": [2, 3], "judge_width": 2, "halvings": 0},
        {"batch_size": 4, "train_size": 16, "image_size": 8},
    ),
    "srgan-digits": (
        "srgan-digits",
        {"factor": 2, "width": 1, "blocks": 1, "judge": [1], "classifier": [1, 2], "warmup": 1},
        {"batch_size": 4, "image_size": 8},
    ),
    "madgan": (
        "modules.adversarial.madgan.MADGAN", {"hidden": [4], "latent_dim": 2, "generators": 2}, POINTS,
    ),
    "trickgan": (
        "modules.adversarial.tricks.TrickGAN", {"hidden": [4], "latent_dim": 2, "history": 12}, POINTS,
    ),
    "trickgan-many": (
        "modules.adversarial.tricks.TrickGAN",
        {"hidden": [4], "latent_dim": 2, "smoothing": 0.9, "noise": 0.1, "best": 0.5, "seeking": 0.1}, POINTS,
    ),
    "veegan": ("modules.adversarial.veegan.VEEGAN", {"hidden": [4], "latent_dim": 2}, POINTS),
    # autoregressive
    "autoencoder-digits": ("autoencoder-digits", {"hidden": 4}, BARS),
    "net-bars": ("net-bars", {}, {}),
    "neighbours-digits": ("neighbours-digits", {}, BARS),
    "fvsbn-digits": ("fvsbn-digits", {}, BARS),
    "gatedpixelcnn-digits": ("gatedpixelcnn-digits", {"channels": 2, "layers": 1}, FEW),
    "gatedpixelcnn-stripes": ("gatedpixelcnn-stripes", {"channels": 2, "layers": 1}, {"side": 3, "shift": 1}),
    "pixelcnn-digits": ("pixelcnn-digits", {"channels": 2, "layers": 1}, BARS),
    "pixelcnn-greys-digits": ("pixelcnn-greys-digits", {"channels": 2, "layers": 1}, FEW),
    "gaussianchain2-signals": ("gaussianchain2-signals", {}, SIGNALS),
    "made-digits": ("made-digits", {"hidden": [8]}, BARS),
    "made-digits-orders": ("made-digits-orders", {"hidden": [8], "ensemble": 3}, BARS),
    "made-masks": (
        "made-digits", {"hidden": [8, 8], "degrees": "random", "num_masks": 3, "direct": True}, BARS,
    ),
    "chain-digits": ("chain-digits", {}, BARS),
    "chain2-shared-digits": ("chain2-shared-digits", {}, BARS),
    "nade-digits": ("nade-digits", {"hidden": 4}, BARS),
    "rnade-moons-k3": ("rnade-moons-k3", {"hidden": 4}, SHAPE),
    "table-bars": ("table-bars", {}, {}),
    "joint-xor": ("joint-xor", {}, {}),
    "untied-digits": ("untied-digits", {"hidden": 2}, BARS),
    # convolution
    "cnn-mnist1d": ("cnn-mnist1d", {"channels": [3, 3]}, FEW),
    "cnn-digits": ("cnn-digits", {"channels": [2, 3]}, FEW),
    "mlp-mnist1d": ("mlp-mnist1d", {"hidden": [4]}, FEW),
    # diffusion
    "ddpm-eight": ("ddpm-eight", NET | {"noise_steps": 10}, SHAPE | {"name": "eight_gaussians"}),
    "ddpm-variance-eight": ("ddpm-variance-eight", NET | {"noise_steps": 10}, SHAPE),
    "ddpm-v": (
        "ddpm-moons",
        NET | {"noise_steps": 10, "target": "v", "noise_schedule": "cosine-zero", "min_snr": 5.0}, SHAPE,
    ),
    "ddpm-digits": (
        "ddpm-digits", {"widths": [2, 2], "heads": 1, "embedding": 2, "noise_steps": 10}, {"batch_size": 4},
    ),
    "fm-eight": ("fm-eight", NET, SHAPE),
    "fm-optimal": ("fm-eight", NET | {"coupling": "optimal"}, SHAPE),
    "reflow-eight": ("reflow-eight", NET | {"reflow_epoch": 1, "pairs": 16}, SHAPE),
    "ldm-digits": (
        "ldm-digits",
        NET | {"width": 4, "latent_dim": 2, "hidden": [2], "autoencoder_epochs": 1, "noise_steps": 10}, FEW,
    ),
    "dsm-eight": ("dsm-eight", NET | {"levels": 3}, SHAPE),
    "ssm-eight": ("ssm-eight", NET | {"levels": 3}, SHAPE),
    # flow
    "cnf-moons": ("cnf-moons", {"hidden": [4], "steps": 2}, SHAPE),
    "linear-moons": ("linear-moons", {}, SHAPE),
    "flowpp-moons": ("flowpp-moons", {"layers": 2, "hidden": [4], "components": 3}, SHAPE),
    "nice-moons": ("nice-moons", {"layers": 2, "hidden": [4]}, SHAPE),
    "realnvp-moons": ("realnvp-moons", {"layers": 2, "hidden": [4]}, SHAPE),
    "realnvp-permuted": ("realnvp-moons", {"layers": 2, "hidden": [4], "permute": True}, SIGNALS),
    "spline-moons": ("spline-moons", {"layers": 2, "hidden": [4], "bins": 3}, SHAPE),
    "glow-digits": ("glow-digits", {"levels": 1, "steps": 1, "width": 1, "samples": 1}, {"batch_size": 4}),
    "glow-conditional": (
        "glow-digits", {"levels": 1, "steps": 1, "width": 1, "samples": 1, "conditional": True},
        {"batch_size": 4},
    ),
    "glow-variational": (
        "glow-digits",
        {"levels": 1, "steps": 1, "width": 1, "samples": 1, "margins": False, "dequantize": "variational"},
        {"batch_size": 4},
    ),
    "hint": ("hint", {"layers": 2}, {"batch_size": 8}),
    "iresnet-moons": ("iresnet-moons", {"blocks": 2, "hidden": [4]}, SHAPE),
    "maf-moons": ("maf-moons", {"layers": 2, "hidden": [8]}, SHAPE),
    "maf-conditional": ("maf-moons", {"layers": 2, "hidden": [4], "conditional": True}, SHAPE),
    "maf": ("maf", {}, {"batch_size": 8}),
    "iaf": ("modules.flow.maf.InverseFlow", {"layers": 2, "hidden": [8]}, POINTS),
    "naf-moons": ("naf-moons", {"layers": 2, "hidden": [8], "units": 2}, SHAPE),
    "planar-moons": ("planar-moons", {"layers": 2}, SHAPE),
    "radial": ("modules.flow.planar.RadialFlow", {"layers": 2}, POINTS),
    # graph, language, transformer
    "gcn-karate": ("gcn-karate", {"hidden": [2]}, {}),
    "bengio-verbs": ("bengio-verbs", {"context": 2, "dim": 2, "hidden": 3}, {"context": 2, "batch_size": 64}),
    "onehot-classes": ("onehot-classes", {"context": 2, "hidden": 3}, {"context": 2, "batch_size": 64}),
    "svd-relations": ("svd-relations", {"dim": 2}, {"num_sentences": 100}),
    "ngram-verbs": ("ngram-verbs", {"order": 2}, {}),
    "cbow-relations": ("cbow-relations", {"dim": 2}, {"batch_size": 64, "num_sentences": 100}),
    "skipgram-relations": ("skipgram-relations", {"dim": 2}, {"num_sentences": 100}),
    "sgns-relations": ("sgns-relations", {"dim": 2}, {"num_sentences": 100}),
    "gpt-senses": ("gpt-senses", {"layers": 1, "width": 4}, {"num_sentences": 40, "batch_size": 4}),
    "gpt-rotary": (
        "gpt-senses", {"layers": 1, "width": 4, "positions": "rotary"},
        {"num_sentences": 40, "batch_size": 4},
    ),
    # latent
    "madevae-digits": ("madevae-digits", CODES, BARS),
    "order1-chains": (
        "order1-chains", CODES,
        {"length": 6, "batch_size": 8, "num_train": 16, "num_val": 8, "num_test": 8},
    ),
    "gru-chains": (
        "gru-chains", CODES, {"length": 6, "batch_size": 8, "num_train": 16, "num_val": 8, "num_test": 8},
    ),
    "pixelvae-digits": ("pixelvae-digits", CODES | {"channels": 2, "blocks": 1}, FOUR),
    "cvae-digits": ("cvae-digits", CODES | {"hidden": [2]}, FEW),
    "convvae-digits": ("convvae-digits", {"channels": [3], "latent_dim": 2, "iwae_samples": 2}, FOUR),
    "ae-digits": ("ae-digits", {"latent_dim": 2, "hidden": [4]}, BARS),
    "dae-digits": ("dae-digits", {"latent_dim": 2, "hidden": [4]}, BARS),
    "fa": ("fa", {}, {}),
    "fa-digits": ("fa-digits", {"factors": 2}, SIGNALS),
    "factorvae": ("factorvae-sprites", CODES | {"discriminator": [4]}, BARS),
    "tcvae": ("tcvae-sprites", CODES | {"data_size": 14}, BARS),
    "iafvae-digits": ("iafvae-digits", CODES | {"flow_hidden": [4], "context": 3}, BARS),
    "planarvae-digits": ("iafvae-digits", CODES | {"flow": "planar", "context": 3}, BARS),
    "gtm-moons": ("gtm-moons", {"bumps": 2, "places": 5, "restarts": 2}, SHAPE | {"batch_size": 16}),
    "hmm-casino": ("hmm-casino", {"length": 6, "restarts": 2}, SERIES["init_args"] | {"batch_size": 16}),
    "hmm-clouds": (
        "hmm-clouds", {"length": 6, "restarts": 2},
        SERIES["init_args"] | {"kind": "clouds", "batch_size": 16},
    ),
    "iwae-digits": ("iwae-digits", CODES | {"train_samples": 3}, BARS),
    "iwae-doubly": (
        "iwae-digits", CODES | {"train_samples": 3, "gradient": "doubly", "resampled": 2}, BARS,
    ),
    "kmeans-digits": ("kmeans-digits", {"components": 2, "restarts": 2}, SIGNALS),
    "ladder-digits": ("ladder-digits", {"latent_dims": [2, 1], "widths": [4, 3], "iwae_samples": 2}, BARS),
    "ladder-up": (
        "ladder-digits",
        {"latent_dims": [2, 1], "widths": [4, 3], "iwae_samples": 2, "inference": "bottom-up"}, BARS,
    ),
    "gmm": ("gmm", {}, {}),
    **{
        f"gmm-{kind}": (
            "gmm-moons", {"components": 2, "covariance": kind, "restarts": 2}, SHAPE | {"batch_size": 16},
        )
        for kind in ("diag", "tied", "spherical")
    },
    "pca-digits": ("pca-digits", {"factors": 2}, SIGNALS),
    "ppca-digits": ("ppca-digits", {"factors": 2}, SIGNALS),
    "mixture-digits": ("mixture-digits", CODES | {"components": 3}, BARS),
    "vamp-digits": ("vamp-digits", CODES | {"components": 3}, BARS),
    "textvae-pydocs": (
        "textvae-pydocs", {"latent_dim": 2, "width": 3, "embedding": 2, "iwae_samples": 2},
        {"batch_size": 8, "length": 8, "shortest": 4, "num_val": 8, "num_test": 8},
    ),
    "vae-digits": ("vae-digits", CODES, BARS),
    "beta4": ("beta4-digits", CODES, BARS),
    "variance-digits": ("variance-digits", CODES, SIGNALS),
    "variance-network": ("variance-digits", CODES | {"variance": "network"}, SIGNALS),
    "vqvae-digits": ("vqvae-digits", {"channels": [2], "codes": 3, "code_dim": 2, "prior_hidden": 3}, FEW),
    "vqvae-ema": (
        "vqvae-digits", {"channels": [2], "codes": 3, "code_dim": 2, "prior_hidden": 3, "ema": 0.9}, FEW,
    ),
}  # fmt: skip
MANY_SEEDS = {"gcn-karate": 2, "fvsbn-digits": 2}
VERSION = "98a4935"
FEWEST, STEPS, SHOWN = 4, 3, 3  # examples asked about, steps of a sampler, numbers of an answer written out
GRAPH = ("x", "edge_index", "y", "train_mask", "val_mask", "test_mask")


def main(out: Path) -> None:
    records: dict[str, Any] = {
        "version": VERSION,
        "torch": torch.__version__,
        "capability": torch.backends.cpu.get_cpu_capability(),
    }
    with (
        tempfile.TemporaryDirectory() as place,
        tarfile.open(out / "runs.tar.xz", "w:xz", preset=9) as archive,
    ):
        for name in RUNS:
            folder = Path(place) / name
            train(name, folder)
            pack(folder, archive)
            records[name] = measured(folder)
    write(records, out)


def again(out: Path, names: list[str]) -> None:
    """Ask the same runs anew, and write what this version answers in place of what was."""
    records = json.loads((out / "records.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        with tarfile.open(out / "runs.tar.xz") as archive:
            archive.extractall(place, filter="data")
        for name in names:
            now = measured(Path(place) / name)
            records[name] |= {part: now[part] for part in ("before", "row", "after")}
    write(records, out)


def write(records: dict[str, Any], out: Path) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in records.items()]
    (out / "records.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def train(name: str, folder: Path) -> None:
    """A run in `folder`, beside its recipe and a batch."""
    from lab import tensorfile
    from lab.__main__ import main as lab

    folder.mkdir()
    config = settings(name)
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    module, _, cls = config["data"]["class_path"].rpartition(".")
    data = getattr(importlib.import_module(module), cls)(**config["data"]["init_args"])
    data.setup("fit")
    batch = {str(i): part.contiguous() for i, part in enumerate(asked(data.val_dataloader()))}
    (folder / "batch.safetensors").write_bytes(tensorfile.save(batch))
    os.environ["LECTERN_RUNS"] = str(folder / "runs")
    if lab(["fit", str(folder / f"{name}.yaml")]):
        sys.exit(f"{name} was not trained.")


def measured(folder: Path) -> dict[str, Any]:
    """What the model of a run in `folder` answers, before and after it is resumed, and how it is asked to
    draw: names and defaults in their order."""
    from lab import tensorfile, weights
    from lab.__main__ import main as lab

    name = folder.name
    (run,) = (folder / "runs" / name).iterdir()
    parts = tensorfile.load((folder / "batch.safetensors").read_bytes())
    batch, model = [parts[str(i)] for i in range(len(parts))], weights.load(run)
    calls = {}
    for method in ("sample", "sample_trace"):
        if hasattr(model, method):
            parameters = inspect.signature(getattr(model, method)).parameters.values()
            named = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
            calls[method] = [[p.name, None if p.default is p.empty else p.default] for p in named]
    before = answers(model, batch)
    os.environ["LECTERN_RUNS"] = str(folder / "runs")
    if lab(["fit", str(folder / f"{name}.yaml"), "--ckpt_path", "last", "--trainer.max_epochs", "2"]):
        sys.exit(f"{name} was not resumed.")
    return {
        "class": f"{type(model).__module__}.{type(model).__qualname__}",
        "calls": calls,
        "before": before,
        "row": row(run),
        "after": answers(weights.load(run), batch),
    }


def row(run: Path) -> dict[str, str]:
    """The numbers of the last epoch, of one seed, but for the time."""
    (path, *_) = sorted(run.glob("**/metrics.csv"))
    with path.open() as file:
        *_, last = csv.DictReader(file)
    return {name: value for name, value in last.items() if name != "seconds"}


def settings(name: str) -> dict[str, Any]:
    """A recipe of its own, whole: the shipped one with the tiny sizes in it."""
    from lab.experiments import catalog, read_yaml

    recipe, model, data = RUNS[name]
    if recipe.startswith("modules."):
        config: dict[str, Any] = {"model": {"class_path": recipe}, "data": POINTS, "monitor": "last"}
    else:
        config = read_yaml(catalog()[recipe].path)
    config["model"]["init_args"] = (config["model"].get("init_args") or {}) | model
    if "class_path" in data:
        config["data"] = data
    else:
        config["data"] = config["data"] | {"init_args": (config["data"].get("init_args") or {}) | data}
    config["trainer"] = (config.get("trainer") or {}) | TINY["trainer"]
    config["seeds"] = MANY_SEEDS.get(name, 1)
    return config


def asked(loader: Any) -> list[torch.Tensor]:
    """The first examples of a loader; of a graph, or of counts, all."""
    batch = next(iter(loader))
    if not isinstance(batch, tuple | list):
        return [getattr(batch, name) for name in GRAPH]
    return [part if len(batch) == 1 and part.ndim == 2 and part.shape[0] == part.shape[1] else part[:FEWEST]
            for part in batch]  # fmt: skip


def answers(model: Any, batch: list[torch.Tensor]) -> dict[str, list[str]]:
    """Numbers that a model answers, each written so that no bit is lost: the loss of a batch, what it says
    of each example, and what it draws."""
    whole: Any = tuple(batch)
    if len(batch) == len(GRAPH):
        whole = Data(**dict(zip(GRAPH, batch, strict=True)))
    results = {}
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        results["loss"] = model.step(whole, "test")
        for name in ("log_prob", "predict"):
            if hasattr(model, name) and len(batch) != len(GRAPH) and not getattr(model, "conditional", False):
                torch.manual_seed(0)
                results[name] = getattr(model, name)(batch[0])
        for name in ("sample", "sample_trace"):
            if hasattr(model, name):
                results[name] = draw(model, name)
                if (given := classes(model, name)) is not None:
                    results[f"{name} of class 1"] = given
    return {name: exactly(value) for name, value in results.items()}


def draw(model: Any, name: str, **given: Any) -> torch.Tensor:
    """What `sample` or `sample_trace` draws from seed 0: a few examples, or as many as a trace has."""
    ask = getattr(model, name)
    names = inspect.signature(ask).parameters
    given |= {"n": FEWEST} if name == "sample" else {}
    given |= {"steps": STEPS} if "steps" in names else {}
    given |= {"generator": torch.Generator().manual_seed(0)} if "generator" in names else {"seed": 0}
    return values(ask(**given))


def values(drawn: Any) -> torch.Tensor:
    """All numbers of what is drawn, or of a trace's result."""
    result = drawn if isinstance(drawn, torch.Tensor) else drawn.result
    parts = result.values() if isinstance(result, dict) else [result]
    return torch.cat([torch.as_tensor(part).flatten().double() for part in parts])


def classes(model: Any, name: str) -> torch.Tensor | None:
    """What is drawn of class 1; None of a model that knows no classes."""
    names = inspect.signature(getattr(model, name)).parameters
    known = getattr(model, "num_classes", 0) and getattr(model, "conditional", True)
    if not known or not names.keys() & {"y", "label", "given"}:
        return None
    if "label" in names:
        return draw(model, name, label=1)
    y = torch.ones(1 if name == "sample_trace" else FEWEST, dtype=torch.int64)
    return draw(model, name, y=y)


def exactly(values: torch.Tensor) -> list[str]:
    """The digest of all bytes, and the first values."""
    values = values.detach().contiguous()
    first = values.flatten()[:SHOWN].tolist()
    digest = hashlib.sha256(values.numpy().tobytes()).hexdigest()[:16]
    return [digest, *(value.hex() if isinstance(value, float) else str(value) for value in first)]


def pack(folder: Path, archive: tarfile.TarFile) -> None:
    """Add the folder's files, without what depends on the day."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "lock":
            info = tarfile.TarInfo(str(path.relative_to(folder.parent)))
            info.size = path.stat().st_size
            archive.addfile(info, io.BytesIO(path.read_bytes()))


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    if "--again" in sys.argv:
        again(Path(sys.argv[1]), sys.argv[3:])
    else:
        main(Path(sys.argv[1]))
