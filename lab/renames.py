"""Translate what files of earlier versions call things: cards, YAML and checkpoints are read as if written
today.

Names of tensors are the business of each class (`Module.FORMER_TENSORS`).

A row stays for as long as anybody may have such a file. Imports nothing heavy: `lab list` reads cards.
"""

from collections.abc import Mapping
from typing import Any

# --- Class paths: former -> now --------------------------------------------------------------------

LAB: dict[str, str] = {
    f"lab.training.{name}": f"lab.training.callbacks.{name}"
    for name in ("EpochSeed", "ClipsFused", "WholeBatch", "StopOnNaN", "Record")
}

DATA: dict[str, str] = {}

AUTOREGRESSIVE: dict[str, str] = {}

LANGUAGE: dict[str, str] = {}

TRANSFORMER: dict[str, str] = {}

CONVOLUTION: dict[str, str] = {}

GRAPH: dict[str, str] = {}

LATENT: dict[str, str] = {}

FLOW: dict[str, str] = {
    "modules.flow.maf.MaskedFlow": "modules.flow.maf.MAF",
    "modules.flow.maf.InverseFlow": "modules.flow.maf.IAF",
    "modules.flow.coupling.SplineFlow": "modules.flow.coupling.NSF",
    "modules.flow.coupling.LogisticFlow": "modules.flow.coupling.FlowPlusPlus",
    "modules.flow.neural.NeuralFlow": "modules.flow.naf.NAF",
}

ADVERSARIAL: dict[str, str] = {}

DIFFUSION: dict[str, str] = {}

CLASSES: dict[str, str] = (
    LAB | DATA | AUTOREGRESSIVE | LANGUAGE | TRANSFORMER | CONVOLUTION | GRAPH | LATENT | FLOW | ADVERSARIAL
    | DIFFUSION
)  # fmt: skip

# --- Arguments: by present class path, or by a package for all its classes: former -> now --------------

ARGUMENTS: dict[str, dict[str, str]] = {
    # data
    "datamodules.cooccurrence.Cooccurrence": {"thin": "subsample"},
    "datamodules.digits.Digits": {"without": "exclude"},
    "datamodules.grammar.Grammar": {"toy": "grammar", "hidden": "held_out"},
    "datamodules.lines.Lines": {"shortest": "min_length"},
    # autoregressive
    "modules.autoregressive.gaussian_chain.GaussianChain": {"least_variance": "min_variance"},
    # language
    # transformer
    # convolution
    # graph
    # latent
    "modules.latent.denoising.DenoisingAutoencoder": {"damage": "corruption"},
    "modules.latent.gtm.GTM": {"bumps": "num_basis", "places": "grid_size"},
    "modules.latent.variance.VarianceVAE": {"least_sigma": "min_sigma"},
    # flow
    "modules.flow.coupling.RealNVP": {"start": "init_std"},
    # adversarial
    "modules.adversarial.dcgan.DCGAN": {"slope": "negative_slope", "init_sd": "init_std"},
    "modules.adversarial.conditional.ConditionalGAN": {"slope": "negative_slope", "init_sd": "init_std"},
    "modules.adversarial.infogan.InfoGAN": {
        "slope": "negative_slope",
        "init_sd": "init_std",
        "codes": "categories",
        "numbers": "continuous",
        "number_sd": "continuous_std",
        "reader": "q_hidden",
    },
    "modules.adversarial.stylegan.StyleGAN": {"judge_channels": "discriminator_channels"},
    "modules.adversarial.tricks.TrickGAN": {
        "noise": "instance_noise",
        "best": "top_share",
        "seeking": "mode_seeking",
    },
    "modules.adversarial.cyclegan.CycleGAN": {"judge_width": "discriminator_width"},
    "modules.adversarial.translation.Pix2Pix": {"judge_width": "discriminator_width"},
    "modules.adversarial.super_resolution.SuperResolution": {
        "judge": "discriminator_channels",
        "classifier": "classifier_channels",
    },
    # diffusion
    "modules.diffusion": {"drop_label": "label_dropout", "hybrid": "vlb_weight", "min_snr": "min_snr_gamma"},
    "modules.diffusion.score_matching.ScoreModel": {"first": "sigma_max", "last": "sigma_min"},
}

# --- Values: by present class path or package, and present argument: former -> now ---------------------

VALUES: dict[str, dict[str, dict[Any, Any]]] = {
    # autoregressive
    # language
    # transformer
    # convolution
    # graph
    # latent
    # flow
    # adversarial
    # diffusion
}


def upgrade(settings: Any) -> Any:
    """Settings under present names: a copy in which every mapping with a `class_path` is renamed, and its
    `init_args` with it; all else as it is."""
    if isinstance(settings, list):
        return [upgrade(value) for value in settings]
    if not isinstance(settings, Mapping):
        return settings
    settings = {key: upgrade(value) for key, value in settings.items()}
    if isinstance(former := settings.get("class_path"), str):
        settings["class_path"] = path = CLASSES.get(former, former)
        if isinstance(arguments := settings.get("init_args"), dict):
            settings["init_args"] = present_arguments(path, arguments)
    return settings


def present_arguments(path: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Constructor arguments of the class at `path` under present names, with present values."""
    names, values = of_class(ARGUMENTS, path), of_class(VALUES, path)
    present = {names.get(name, name): value for name, value in arguments.items()}
    for name, renamed in values.items():
        if isinstance(value := present.get(name), str | int | float | bool):
            present[name] = renamed.get(value, value)
    return present


def of_class(table: Mapping[str, dict[str, Any]], path: str) -> dict[str, Any]:
    """All that a table says of a class: the rows of its packages, then its own."""
    rows = (row for row in sorted(table) if path == row or path.startswith(f"{row}."))
    return {name: value for row in rows for name, value in table[row].items()}
