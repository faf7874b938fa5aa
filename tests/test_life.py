"""The life-cycle contract of every model class that the catalog trains."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import contracts
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from lab import experiments


def drawn(high: int, *shape: int) -> Tensor:
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(0))


def to(model: Any, x: Any) -> Any:
    """x in the precision of the model."""
    return x.to(next((p.dtype for p in model.parameters()), x.dtype))


class Small(NamedTuple):
    """Settings of a small model, a batch for it, and a question that it answers."""

    settings: dict[str, Any]
    batch: Any
    call: Callable[[Any], Tensor]


PICTURES = drawn(2, 8, 1, 2, 3).float(), drawn(3, 8)
SQUARES = drawn(256, 8, 1, 4, 4).float(), drawn(3, 8)
CLOUDS = (torch.randn(8, 6, generator=torch.Generator().manual_seed(1)),)
CURVES = drawn(9, 8, 1, 40).float() / 4 - 1, drawn(10, 8)
FOURS = drawn(2, 8, 1, 4, 4).float(), drawn(3, 8)
TEXTS = drawn(3, 8, 6), drawn(3, 8, 6)
CONTEXTS = drawn(3, 8, 2), drawn(3, 8)
WINDOWS = drawn(3, 8), drawn(3, 8, 4)
COUNTS = (drawn(9, 5, 5).float(),)
EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3]])
EVERY = torch.ones(6, dtype=torch.bool)
GRAPH = Data(
    x=drawn(2, 6, 4).float(),
    edge_index=EDGES,
    y=drawn(3, 6),
    train_mask=EVERY,
    val_mask=EVERY,
    test_mask=EVERY,
)

VECTOR, IMAGE = {"event_shape": (1, 2, 3)}, {"image_shape": (1, 2, 3)}
PIXELS = IMAGE | {"channels": 4, "layers": 1}
WORDS = {"vocab_size": 3, "dim": 4}
GPT = {"vocab_size": 3, "context": 6, "layers": 1, "heads": 2, "width": 8}


def density(settings: dict[str, Any]) -> Small:
    return Small(settings, PICTURES, lambda model: model.log_prob(to(model, PICTURES[0])))


def coded(settings: dict[str, Any]) -> Small:
    return Small(
        VECTOR | settings, PICTURES, lambda model: model.decode(model.encode(to(model, PICTURES[0])))
    )


def language(settings: dict[str, Any], batch: Any = TEXTS) -> Small:
    return Small(settings, batch, lambda model: model.log_prob(TEXTS[0]))


def vectors(settings: dict[str, Any], batch: Any = WINDOWS) -> Small:
    return Small(settings, batch, lambda model: model.vectors)


def classifier(settings: dict[str, Any], batch: tuple[Tensor, Tensor]) -> Small:
    return Small(settings, batch, lambda model: model.predict(to(model, batch[0])))


def coder(settings: dict[str, Any], batch: tuple[Tensor, Tensor] = PICTURES, **given: Tensor) -> Small:
    """Encodes and decodes."""

    def call(model: Any) -> Tensor:
        return model.decode(model.encode(to(model, batch[0]), **given), **given)

    return Small(settings, batch, call)


def game(settings: dict[str, Any], batch: tuple[Tensor, Tensor] = FOURS) -> Small:
    """Draws, and judges what is given."""

    def call(model: Any) -> Tensor:
        x = to(model, batch[0])
        return torch.cat([model.sample(len(x), seed=0).flatten(1), model.judge(x)[:, None]], 1)

    return Small({"latent_dim": 3} | settings, batch, call)


def conditional_game(settings: dict[str, Any]) -> Small:
    def call(model: Any) -> Tensor:
        x = to(model, FOURS[0])
        made = model.sample(len(x), seed=0, y=FOURS[1])
        return torch.cat([made.flatten(1), model.judge(x, y=FOURS[1])[:, None]], 1)

    sizes = {"image_shape": (1, 4, 4), "channels": [3], "latent_dim": 3, "num_classes": 3}
    return Small(sizes | settings, FOURS, call)


def pictures_of(model: Any, x: Tensor) -> Tensor:
    """What a model of pictures makes of some, both ways where it has two."""
    return torch.cat(
        [way(to(model, x)) for way in (model.translate, getattr(model, "translate_back", model.translate))]
    )


EIGHTS = drawn(2, 8, 1, 8, 8).float(), drawn(2, 8, 1, 8, 8).flip(0).float()
CODES = {"latent_dim": 2, "hidden": [4], "iwae_samples": 2}

# Of each class the small models, one or, where they keep different things, several.
SMALL: dict[str, list[Small]] = {
    "modules.adversarial.conditional.ConditionalGAN": [
        conditional_game({"condition": kind}) for kind in ("channel", "projection", "auxiliary")
    ],
    "modules.adversarial.cyclegan.CycleGAN": [
        Small(
            {"image_shape": (1, 8, 8), "width": 2, "blocks": 1, "judge_width": 2, "halvings": 0, **more},
            EIGHTS,
            lambda model: pictures_of(model, EIGHTS[0]),
        )
        for more in ({"history": 5}, {"content": "before", "history": 0})
    ],
    "modules.adversarial.super_resolution.SuperResolution": [
        Small(
            {
                "image_shape": (1, 4, 4),
                "num_classes": 3,
                "width": 2,
                "blocks": 1,
                "judge": (2,),
                "classifier": (2, 3),
                "warmup": 1,
            },
            FOURS,
            lambda model: model.enlarge(to(model, FOURS[0])),
        )
    ],
    "modules.adversarial.translation.Pix2Pix": [
        Small(
            {"image_shape": (1, 8, 8), "widths": (2, 3), "judge_width": 2, **more},
            EIGHTS,
            lambda model: pictures_of(model, EIGHTS[0]),
        )
        for more in ({"halvings": 0}, {"adversarial": 0.0})
    ],
    "modules.adversarial.infogan.InfoGAN": [
        game({"image_shape": (1, 4, 4), "channels": [3], "codes": 2, "numbers": 1, **more})
        for more in ({}, {"reader": 2, "jitter": 0.2})
    ],
    "modules.adversarial.growing.ProgressiveGAN": [
        game({"image_shape": (1, 4, 4), "channels": [3], "phase": 2})
    ],
    "modules.adversarial.stylegan.StyleGAN": [
        game({"image_shape": (1, 4, 4), "channels": [3], "mapping_layers": 2, "judge_channels": [3]})
    ],
    "modules.adversarial.dcgan.DCGAN": [
        game({"image_shape": (1, 4, 4), "channels": [3], **more})
        for more in ({}, {"batch_norm": False, "loss": "Wasserstein", "penalty": 10.0})
    ],
    "modules.adversarial.gan.GAN": [
        game({"hidden": [4], **more}, (CLOUDS[0][:, :2], PICTURES[1]))
        for more in ({"modes": [[0, 0], [1, 1]], "mode_sd": 0.5}, {"minibatch_std": True, "ema": 0.0})
    ],
    "modules.autoregressive.autoencoder.Autoencoder": [
        Small(VECTOR | {"hidden": 4}, PICTURES, lambda model: model.reconstruct(to(model, PICTURES[0])))
    ],
    "modules.autoregressive.bayesnet.BayesNet": [
        density(VECTOR | {"parents": [[], [0], [0, 1], [], [3], [2]]})
    ],
    "modules.autoregressive.bayesnet.NeighbourNet": [density(IMAGE)],
    "modules.autoregressive.fvsbn.FVSBN": [density(VECTOR)],
    "modules.autoregressive.gated_pixelcnn.GatedPixelCNN": [
        density(PIXELS),
        density(PIXELS | {"conditional": True, "num_classes": 3}),
    ],
    "modules.autoregressive.gaussian_chain.GaussianChain": [density(VECTOR)],
    "modules.autoregressive.made.MADE": [
        density(VECTOR | {"hidden": [8]}),
        density(VECTOR | {"hidden": [8], "degrees": "random", "num_masks": 3, "direct": True}),
        density(VECTOR | {"hidden": [8], "num_orders": 0, "ensemble": 3}),
        density(VECTOR | {"hidden": [3], "degrees": [[1, 4, 2]]}),
    ],
    "modules.autoregressive.markov.MarkovChain": [density(VECTOR)],
    "modules.autoregressive.nade.NADE": [density(VECTOR | {"hidden": 4})],
    "modules.autoregressive.pixelcnn.PixelCNN": [density(PIXELS | {"positions": True})],
    "modules.autoregressive.rnade.RNADE": [density(VECTOR | {"hidden": 4, "components": 2})],
    "modules.autoregressive.tables.ChainRuleTable": [density(VECTOR)],
    "modules.autoregressive.tables.JointTable": [density(VECTOR)],
    "modules.autoregressive.untied.Untied": [density(VECTOR | {"hidden": 2})],
    "modules.convolution.cnn1d.CNN1d": [classifier({}, CURVES)],
    "modules.convolution.cnn2d.CNN2d": [
        classifier(
            {"image_shape": (1, 12, 12), "channels": (2, 3)}, (drawn(2, 8, 1, 12, 12).float(), drawn(10, 8))
        )
    ],
    "modules.convolution.mlp.MLP": [classifier({"hidden": (6,)}, CURVES)],
    "modules.diffusion.ddpm.DDPM": [
        Small(
            {"event_shape": (6,), "width": 8, "blocks": 1, "embedding": 4} | more,
            CLOUDS,
            lambda model: model.sample(3, steps=3, seed=0),
        )
        for more in (
            {},
            {"target": "v", "noise_schedule": "cosine-zero", "min_snr": 5.0},
            {"variance": "learned"},
        )
    ],
    "modules.diffusion.flow_matching.FlowMatching": [
        Small(
            {"event_shape": (6,), "width": 8, "blocks": 1, "embedding": 4, "pairs": 16} | more,
            CLOUDS,
            lambda model: model.sample(3, steps=3, seed=0),
        )
        for more in ({}, {"reflow_epoch": 1, "coupling": "optimal"})
    ],
    "modules.diffusion.latent.LatentDDPM": [
        Small(
            {"event_shape": (6,), "latent_dim": 2, "hidden": [4], "width": 8, "blocks": 1, "embedding": 4}
            | {"autoencoder_epochs": epochs},
            CLOUDS,
            lambda model: model.sample(3, steps=3, seed=0),
        )
        for epochs in (1, 5)
    ],
    "modules.diffusion.score_matching.ScoreModel": [
        Small(
            {"event_shape": (6,), "width": 8, "blocks": 1, "embedding": 4, "levels": 3, "objective": how},
            CLOUDS,
            lambda model: model.sample(3, steps=2, seed=0),
        )
        for how in ("denoising", "sliced", "implicit")
    ],
    "modules.diffusion.ddpm.ImageDDPM": [
        Small(
            {
                "image_shape": (1, 4, 4),
                "widths": (4, 4),
                "heads": 2,
                "embedding": 4,
                "levels": 17,
                "conditional": True,
                "num_classes": 3,
            },
            FOURS,
            lambda model: model.sample(3, steps=3, guidance=1.0, seed=0),
        )
    ],
    **{
        f"modules.flow.{name}": [density(VECTOR | settings)]
        for name, settings in {
            "coupling.LinearFlow": {},
            "coupling.NICE": {"layers": 2, "hidden": [4]},
            "coupling.RealNVP": {"layers": 2, "hidden": [4], "permute": True},
            "coupling.SplineFlow": {"layers": 2, "hidden": [4], "bins": 3},
            "coupling.LogisticFlow": {"layers": 2, "hidden": [4], "components": 3},
            "hint.HINT": {"layers": 2, "hidden": [4]},
            "neural.NeuralFlow": {"layers": 2, "hidden": [4], "units": 2},
            "cnf.CNF": {"hidden": [4], "steps": 2},
            "iresnet.IResNet": {"blocks": 2, "hidden": [4]},
            "maf.MaskedFlow": {"layers": 2, "hidden": [8]},
            "planar.PlanarFlow": {"layers": 2},
        }.items()
    },
    "modules.flow.glow.Glow": [
        Small(
            {"image_shape": (1, 4, 4), "levels": 1, "steps": 1, "width": 3, **more},
            SQUARES,
            lambda model: model.log_prob(to(model, SQUARES[0])),
        )
        for more in ({}, {"dequantize": "variational"}, {"margins": True})
    ],
    "modules.graph.gcn.GCN": [
        Small({"num_features": 4, "num_classes": 3}, GRAPH, lambda model: model(to(model, GRAPH.x), EDGES))
    ],
    "modules.language.bengio.Bengio": [language(WORDS | {"context": 2, "hidden": 4}, CONTEXTS)],
    "modules.language.count_vectors.CountSVD": [vectors({"vocab_size": 5, "dim": 2}, COUNTS)],
    "modules.language.ngram.NGram": [language({"vocab_size": 3, "order": 2})],
    "modules.language.word2vec.CBOW": [vectors(WORDS), vectors(WORDS | {"loss": "negative"})],
    "modules.language.word2vec.SkipGram": [vectors(WORDS)],
    "modules.latent.factor_analysis.FactorAnalysis": [coded({"factors": 2})],
    "modules.latent.flow_posterior.FlowPosteriorVAE": [
        coder(VECTOR | CODES | {"flow": flow, "flow_hidden": [4], "context": 3}) for flow in ("iaf", "planar")
    ],
    "modules.latent.gtm.GTM": [density(VECTOR | {"bumps": 2, "places": 5, "floor": 0.01, "restarts": 2})],
    "modules.latent.hmm.HMM": [
        language({"states": 2, "emission": "categorical", "vocab_size": 3, "restarts": 2}),
        Small(
            {"states": 2, "emission": "gaussian", "num_features": 1},
            CLOUDS,
            lambda model: model.log_prob(CLOUDS[0]),
        ),
    ],
    "modules.latent.kmeans.KMeans": [coded({"components": 2})],
    "modules.latent.mixture.GaussianMixture": [
        density(VECTOR | {"components": 2, "covariance": kind, "floor": 0.01, "restarts": 2})
        for kind in ("full", "diag", "spherical", "tied")
    ],
    "modules.latent.pca.PCA": [coded({"factors": 2})],
    "modules.latent.ppca.PPCA": [coded({"factors": 2}), coded({"factors": 2, "closed_form": True})],
    "modules.latent.autoregressive_decoder.AutoregressiveVAE": [
        coder(VECTOR | CODES | {"kind": kind}) for kind in ("order1", "made", "gru")
    ]
    + [coder({"event_shape": (1, 4, 4), "kind": "pixelcnn", "channels": 2, "blocks": 1} | CODES, FOURS)],
    "modules.latent.conditional.CVAE": [coder(VECTOR | CODES | {"num_classes": 3}, y=PICTURES[1])],
    "modules.latent.conv_vae.ConvVAE": [
        coder({"image_shape": (1, 4, 4), "channels": [3], "latent_dim": 2, "iwae_samples": 2}, FOURS)
    ],
    "modules.latent.denoising.DenoisingAutoencoder": [
        coder(VECTOR | {"latent_dim": 2, "hidden": [4], "kind": kind}) for kind in ("mask", "flip", "noise")
    ],
    "modules.latent.factor_vae.FactorVAE": [coder(VECTOR | CODES | {"discriminator": [4]})],
    "modules.latent.iwae.IWAE": [
        coder(VECTOR | CODES | {"train_samples": 3}),
        coder(VECTOR | CODES | {"train_samples": 3, "gradient": "doubly", "resampled": 2}),
    ],
    "modules.latent.ladder.LadderVAE": [
        coder(VECTOR | {"latent_dims": [2, 1], "widths": [4, 3], "iwae_samples": 2, "inference": way})
        for way in ("top-down", "bottom-up")
    ],
    "modules.latent.priors.LearnedPriorVAE": [
        coder(VECTOR | CODES | {"kind": kind, "components": 3}) for kind in ("mixture", "vamp")
    ],
    "modules.latent.tcvae.TCVAE": [coder(VECTOR | CODES | {"data_size": 8})],
    "modules.latent.text_vae.TextVAE": [
        coder(
            {"event_shape": (6,), "vocab_size": 3, "embedding": 2, "width": 3, "latent_dim": 2}
            | {"iwae_samples": 2},
            TEXTS,
        )
    ],
    "modules.latent.vae.VAE": [coder(VECTOR | CODES)],
    "modules.latent.variance.VarianceVAE": [
        coder(VECTOR | CODES | {"variance": variance}) for variance in ("pixel", "network")
    ],
    "modules.latent.vq_vae.VQVAE": [
        coder(
            {
                "image_shape": (1, 4, 4),
                "channels": [3],
                "codes": 3,
                "code_dim": 2,
                "prior_hidden": 3,
                "ema": ema,
            },
            FOURS,
        )
        for ema in (None, 0.9)
    ],
    "modules.transformer.gpt.GPT": [
        language(GPT | {"positions": positions}) for positions in ("learned", "sinusoidal", "rotary")
    ],
}
CLASSES = sorted({experiment.module for experiment in experiments.catalog().values()})
LIVES = [(name, number) for name in CLASSES for number in range(len(SMALL.get(name, [None])))]


@pytest.mark.parametrize(("name", "number"), LIVES, ids=[f"{n.rpartition('.')[2]}-{i}" for n, i in LIVES])
def test_every_model_of_the_catalog_survives_a_life(name: str, number: int, tmp_path: Path) -> None:
    assert name in SMALL, (
        f"{name} is new in the catalog: give it small settings here, so that its life is tried."
    )
    small = SMALL[name][number]
    module, _, cls = name.rpartition(".")
    torch.manual_seed(0)
    model = getattr(importlib.import_module(module), cls)(**small.settings)
    contracts.survives_a_life(model, small.batch, small.call, tmp_path)
