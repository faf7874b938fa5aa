"""Every model class with a row: small arguments, a batch, and a question that it answers.

From this table every contract runs for every class. A class of `modules` that is trained and has no row
here fails `test_members.py`.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple, get_args

import lightning as L
import torch
from torch import Tensor
from torch_geometric.data import Data

import modules
from modules.base import Density, Latent, NextToken, Predictor, Sampler
from modules.transformer.stack import Positions


def drawn(high: int, *shape: int) -> Tensor:
    return torch.randint(high, shape, generator=torch.Generator().manual_seed(0))


def to(model: Any, x: Any) -> Any:
    """x in the precision of the model."""
    return x.to(next((p.dtype for p in model.parameters()), x.dtype))


class Member(NamedTuple):
    """Settings of a small model, a batch for it, and a question that it answers.

    Attributes:
        offers: its surfaces.
        given: what `encode` and `decode` want beside x and z.
        mass: over what its density sums to one: "bits", "texts" or "plane"; None where a test of its own
            says so, or where it has none.
        asked: of what it is asked for a density; None is the batch's first.
        still: how the names of those parameters begin that no gradient reaches, by construction.
    """

    settings: dict[str, Any]
    batch: Any
    call: Callable[[Any], Tensor]
    offers: tuple[type, ...] = ()
    given: dict[str, Tensor] = {}  # noqa: RUF012  # of a tuple: never changed
    mass: str | None = None
    still: tuple[str, ...] = ()
    asked: Tensor | None = None


PICTURES = drawn(2, 8, 1, 2, 3).float(), drawn(3, 8)
SQUARES = drawn(256, 8, 1, 4, 4).float(), drawn(3, 8)
CLOUDS = torch.randn(8, 6, generator=torch.Generator().manual_seed(1)), drawn(3, 8)
POINTS = (CLOUDS[0][:, :2], PICTURES[1])
PROMPTS = CLOUDS[0].repeat(1, 2)[:, :9].reshape(8, 3, 3), CLOUDS[0][:, :3]  # x and y of three examples
CURVES = drawn(9, 8, 1, 40).float() / 4 - 1, drawn(10, 8)
FOURS = drawn(2, 8, 1, 4, 4).float(), drawn(3, 8)
TEXTS = drawn(3, 8, 6), drawn(3, 8, 6)
CONTEXTS = drawn(3, 8, 2), drawn(3, 8)
LENGTHS = torch.tensor([6, 2, 4, 1, 6, 3, 5, 2])  # of sources
ENDS = (torch.arange(6) >= LENGTHS.flip(0)[:, None]).roll(1, 0)
PAIRS = (TEXTS[0], LENGTHS, TEXTS[1], TEXTS[1].roll(-1, 1).masked_fill(ENDS, -100))  # source, inputs, targets
SPOKEN = drawn(3, 8, 3).masked_fill(torch.arange(3) >= (1 + drawn(3, 8))[:, None], -100)  # of pictures
BOXES = torch.tensor([0.0, 0.0, 1.0, 1.0]).expand(8, 3, 4)
CAPTIONED = FOURS[0], SPOKEN.roll(1, 1).clamp(min=0), SPOKEN, BOXES
WINDOWS = drawn(3, 8), drawn(3, 8, 4)
COUNTS = (drawn(9, 5, 5).float(),)
EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 0], [1, 2, 3, 4, 5, 0, 3]])
EVERY = torch.ones(6, dtype=torch.bool)
PAIRS_OF_NODES = torch.tensor([[0, 1, 2, 0, 1, 3], [1, 2, 3, 2, 4, 5]])
GRAPH = Data(
    x=drawn(2, 6, 4).float(),
    edge_index=EDGES,
    pairs=PAIRS_OF_NODES,
    linked=torch.tensor([1.0, 1, 1, 0, 0, 0]),
    y=drawn(3, 6),
    train_mask=EVERY,
    val_mask=EVERY,
    test_mask=EVERY,
)
# three graphs, the last of one node
UNION = Data(
    x=drawn(2, 6, 4).float(), edge_index=torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]),
    batch=torch.tensor([0, 0, 0, 1, 1, 2]), ptr=torch.tensor([0, 3, 5, 6]), y=drawn(3, 3),
    edge_type=torch.tensor([0, 0, 1, 1, 2, 2]),
)  # fmt: skip

# a path, a triangle, four nodes, and two nodes
GRAPH_ROWS = (
    torch.tensor([[[1, 0], [1, 0], [0, 0]], [[1, 0], [1, 1], [0, 0]], [[1, 0], [0, 1], [1, 1]],
                  [[1, 0], [0, 0], [0, 0]]] * 2).float(),
)  # fmt: skip

VECTOR, IMAGE = {"event_shape": (1, 2, 3)}, {"image_shape": (1, 2, 3)}
PIXELS = IMAGE | {"channels": 4, "layers": 1}
WORDS = {"vocab_size": 3, "dim": 4}
RECURRENT = {"vocab_size": 3, "embedding": 4, "hidden": 5}
PIXEL_GPT = {"num_categories": 2, "layers": 1, "heads": 2, "width": 8}
ENCODER = {"vocab_size": 5, "length": 6, "layers": 1, "heads": 2, "width": 8}
READ = drawn(4, 8, 6)  # 1 is <sep>, 4 would be <pad>
GPT = {"vocab_size": 3, "context": 6, "layers": 1, "heads": 2, "width": 8}


def density(
    settings: dict[str, Any], mass: str | None = "bits", offers: tuple[type, ...] = (Density, Sampler)
) -> Member:
    return Member(settings, PICTURES, lambda model: model.log_prob(to(model, PICTURES[0])), offers, mass=mass)


def flow(settings: dict[str, Any]) -> Member:
    return density(VECTOR | settings, "plane", (Density, Sampler, Latent))


def coded(settings: dict[str, Any], mass: str | None = None, offers: tuple[type, ...] = ()) -> Member:
    return Member(
        VECTOR | settings,
        PICTURES,
        lambda model: model.decode(model.encode(to(model, PICTURES[0]))),
        offers,
        mass=mass,
    )


def language(settings: dict[str, Any], batch: Any = TEXTS, next_token: bool = True) -> Member:
    offers = (Density, Sampler, NextToken) if next_token else (Density, Sampler)
    return Member(settings, batch, lambda model: model.log_prob(TEXTS[0]), offers, mass="texts")


def pooling(settings: dict[str, Any]) -> Member:
    """A classifier of graphs."""

    def call(model: Any) -> Tensor:
        return model(to(model, UNION.x), UNION.edge_index, UNION.batch, 3)

    return Member(settings, UNION, call, (Predictor,))


def relational(settings: dict[str, Any]) -> Member:
    """A classifier of graphs with edges of several kinds."""

    def call(model: Any) -> Tensor:
        return model.predict(UNION.clone().update({"x": to(model, UNION.x)}))

    sizes = {"num_features": 4, "num_classes": 3, "relations": 3, "hidden": (3,)}
    return Member(sizes | settings, UNION, call, (Predictor,))


def translator(settings: dict[str, Any]) -> Member:
    given = {"source": TEXTS[0].flip(0), "lengths": LENGTHS}

    def call(model: Any) -> Tensor:
        """log p, and what is drawn."""
        generator = torch.Generator().manual_seed(0)
        drawn = model.translate(**given, length=6, temperature=1.0, generator=generator)
        return torch.cat([model.log_prob(TEXTS[1], **given), drawn.sum(1)])

    return Member({"vocab_size": 3} | settings, PAIRS, call, (Density,), given)


def captioner(settings: dict[str, Any]) -> Member:
    source, captions = CAPTIONED[0], CAPTIONED[2]

    def call(model: Any) -> Tensor:
        """log p, and what is written."""
        generator = torch.Generator().manual_seed(0)
        drawn = model.caption(to(model, source), 3, temperature=1.0, generator=generator)
        return torch.cat([model.log_prob(captions, to(model, source)), drawn.sum(1)])

    sizes = {"image_shape": (1, 4, 4), "vocab_size": 3, "channels": [3], "embedding": 3, "hidden": 4}
    return Member(sizes | settings, CAPTIONED, call, (Density,), {"source": source}, asked=captions)


def vectors(settings: dict[str, Any], batch: Any = WINDOWS) -> Member:
    return Member(settings, batch, lambda model: model.vectors)


def nodes(settings: dict[str, Any]) -> Member:
    """Classifies the nodes of a graph."""

    def call(model: Any) -> Tensor:
        return model(to(model, GRAPH.x), EDGES)

    return Member({"num_features": 4, "num_classes": 3} | settings, GRAPH, call, (Predictor,))


def links(settings: dict[str, Any]) -> Member:
    """Says which pairs of nodes are joined."""

    def call(model: Any) -> Tensor:
        return model.logits(model(to(model, GRAPH.x), EDGES), PAIRS_OF_NODES)

    return Member({"num_features": 4, "hidden": [3], "dim": 2} | settings, GRAPH, call, (Predictor,))


def classifier(settings: dict[str, Any], batch: tuple[Tensor, Tensor]) -> Member:
    return Member(settings, batch, lambda model: model.predict(to(model, batch[0])), (Predictor,))


def coder(settings: dict[str, Any], batch: tuple[Tensor, Tensor] = PICTURES, **given: Tensor) -> Member:
    """Encodes and decodes."""

    def call(model: Any) -> Tensor:
        return model.decode(model.encode(to(model, batch[0]), **given), **given)

    return Member(settings, batch, call, (Sampler, Latent), given)


def game(
    settings: dict[str, Any], batch: tuple[Tensor, Tensor] = FOURS, still: tuple[str, ...] = ()
) -> Member:
    """Samples, and D's output."""

    def call(model: Any) -> Tensor:
        x = to(model, batch[0])
        return torch.cat(
            [
                model.sample(len(x), generator=torch.Generator().manual_seed(0)).flatten(1),
                model.discriminate(x)[:, None],
            ],
            1,
        )

    return Member({"latent_dim": 3} | settings, batch, call, (Sampler,), still=still)


def conditional_game(settings: dict[str, Any]) -> Member:
    def call(model: Any) -> Tensor:
        x = to(model, FOURS[0])
        samples = model.sample(len(x), y=FOURS[1], generator=torch.Generator().manual_seed(0))
        return torch.cat([samples.flatten(1), model.discriminate(x, y=FOURS[1])[:, None]], 1)

    sizes = {"image_shape": (1, 4, 4), "channels": [3], "latent_dim": 3, "num_classes": 3}
    return Member(sizes | settings, FOURS, call, (Sampler,))


def pictures_of(model: Any, x: Tensor) -> Tensor:
    """What a model of pictures makes of some, both ways where it has two."""
    return torch.cat(
        [way(to(model, x)) for way in (model.translate, getattr(model, "translate_back", model.translate))]
    )


DIGITS = drawn(9, 8, 1, 28, 28).float() / 4 - 1, drawn(10, 8)
TWELVES = drawn(9, 8, 1, 12, 12).float() / 4 - 1, drawn(10, 8)
MASKS = drawn(9, 8, 1, 20, 20).float() / 4 - 1, drawn(2, 8, 20, 20)
FOUND = (
    drawn(9, 8, 1, 16, 16).float() / 8,
    torch.tensor([[[1.0, 2, 3, 9, 12], [0, 8, 6, 15, 14]], [[2.0, 1, 1, 6, 9], [-1, 0, 0, 0, 0]]]).repeat(
        4, 1, 1
    ),
)
JOINTS = drawn(9, 8, 1, 8, 8).float() / 4 - 1, drawn(8, 8, 2, 3).float()
EIGHTS = drawn(2, 8, 1, 8, 8).float(), drawn(2, 8, 1, 8, 8).flip(0).float()
CODES = {"latent_dim": 2, "hidden": [4], "iwae_samples": 2}

# Of each class the small models, one or, where they keep different things, several.
MEMBERS: dict[str, list[Member]] = {
    "modules.adversarial.conditional.ConditionalGAN": [
        conditional_game({"condition": kind}) for kind in ("channel", "projection", "auxiliary")
    ],
    "modules.adversarial.cyclegan.CycleGAN": [
        Member(
            {
                "image_shape": (1, 8, 8),
                "width": 2,
                "blocks": 1,
                "discriminator_width": 2,
                "halvings": 0,
                **more,
            },
            EIGHTS,
            lambda model: pictures_of(model, EIGHTS[0]),
        )
        for more in ({"history": 5}, {"content": "before", "history": 0})
    ],
    "modules.adversarial.super_resolution.SuperResolution": [
        Member(
            {
                "image_shape": (1, 4, 4),
                "num_classes": 3,
                "width": 2,
                "blocks": 1,
                "discriminator_channels": (2,),
                "classifier_channels": (2, 3),
                "warmup": 1,
            },
            FOURS,
            lambda model: model.enlarge(to(model, FOURS[0])),
        )
    ],
    "modules.adversarial.translation.Pix2Pix": [
        Member(
            {"image_shape": (1, 8, 8), "widths": (2, 3), "discriminator_width": 2, **more},
            EIGHTS,
            lambda model: pictures_of(model, EIGHTS[0]),
            still=still,
        )
        for more, still in (({"halvings": 0}, ()), ({"adversarial": 0.0}, ("discriminator",)))
    ],
    "modules.adversarial.infogan.InfoGAN": [
        game({"image_shape": (1, 4, 4), "channels": [3], "categories": 2, "continuous": 1, **more})
        for more in ({}, {"q_hidden": 2, "jitter": 0.2})
    ],
    "modules.adversarial.growing.ProgressiveGAN": [
        game({"image_shape": (1, 4, 4), "channels": [3], "phase": 2}),
        game({"image_shape": (1, 8, 8), "channels": [3, 2], "phase": 2}, (EIGHTS[0], drawn(3, 8))),
    ],
    "modules.adversarial.stylegan.StyleGAN": [
        game({"image_shape": (1, 4, 4), "channels": [3], "mapping_layers": 2, "discriminator_channels": [3]})
    ],
    "modules.adversarial.dcgan.DCGAN": [
        game({"image_shape": (1, 4, 4), "channels": [3]}),
        game(
            {"image_shape": (1, 4, 4), "channels": [3], "batch_norm": False, "loss": "Wasserstein"}
            | {"penalty": 10.0},
            still=("discriminator.head.bias",),  # it moves no gap of two means
        ),
    ],
    "modules.adversarial.gan.GAN": [
        game({"hidden": [4], **more}, POINTS)
        for more in ({"modes": [[0, 0], [1, 1]], "mode_sd": 0.5}, {"minibatch_std": True, "ema": 0.0})
    ],
    "modules.autoregressive.autoencoder.Autoencoder": [
        Member(VECTOR | {"hidden": 4}, PICTURES, lambda model: model.reconstruct(to(model, PICTURES[0])))
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
    "modules.autoregressive.gaussian_chain.GaussianChain": [density(VECTOR, "plane")],
    "modules.autoregressive.made.MADE": [
        density(VECTOR | {"hidden": [8]}),
        density(VECTOR | {"hidden": [8], "degrees": "random", "num_masks": 3, "direct": True}),
        density(VECTOR | {"hidden": [8], "num_orders": 0, "ensemble": 3}),
        density(VECTOR | {"hidden": [3], "degrees": [[1, 4, 2]]}),
    ],
    "modules.autoregressive.markov.MarkovChain": [density(VECTOR)],
    "modules.autoregressive.nade.NADE": [density(VECTOR | {"hidden": 4})],
    "modules.autoregressive.pixelcnn.PixelCNN": [density(PIXELS | {"positions": True})],
    "modules.autoregressive.rnade.RNADE": [density(VECTOR | {"hidden": 4, "components": 2}, "plane")],
    "modules.autoregressive.tables.ChainRuleTable": [density(VECTOR)],
    "modules.autoregressive.tables.JointTable": [density(VECTOR)],
    "modules.autoregressive.untied.Untied": [density(VECTOR | {"hidden": 2})],
    "modules.convolution.cnn1d.CNN1d": [classifier({}, CURVES)],
    "modules.convolution.cnn2d.CNN2d": [
        classifier(
            {"image_shape": (1, 12, 12), "channels": (2, 3)}, (drawn(2, 8, 1, 12, 12).float(), drawn(10, 8))
        )
    ],
    "modules.convolution.group_convolution.P4CNN": [
        classifier({"image_shape": (1, 12, 12), "channels": (2, 3)}, TWELVES)
    ],
    "modules.convolution.mlp.MLP": [classifier({"hidden": (6,)}, CURVES)],
    "modules.convolution.lenet.LeNet": [
        classifier({"image_shape": (1, 12, 12), "channels": (2, 3), "hidden": (6,)}, TWELVES)
    ],
    "modules.convolution.alexnet.AlexNet": [
        classifier(
            {"image_shape": (1, 28, 28), "num_classes": 10, "channels": (2, 4, 4, 4, 4), "hidden": (6,)}
            | {"kernel": 3, "stride": 1, "dropout": 0.0},
            DIGITS,
        )
    ],
    "modules.convolution.vgg.VGG": [
        classifier(
            {"image_shape": (1, 12, 12), "num_classes": 10, "blocks": (1, 1), "channels": (2, 3)}
            | {"hidden": (6,), "dropout": 0.0},
            TWELVES,
        )
    ],
    "modules.convolution.resnet.ResNet": [
        classifier({"image_shape": (1, 12, 12), "blocks": (1, 1), "widths": (2, 3), **more}, TWELVES)
        for more in ({}, {"order": "v1", "norm": "none", "scale": "skip-init", "shortcut": "zeros"})
    ],
    "modules.convolution.residual_mlp.ResidualMLP": [
        classifier({"width": 6, "blocks": 2, **more}, CURVES)
        for more in ({}, {"norm": "none", "scale": "fixup", "block_depth": 2})
    ],
    "modules.convolution.densenet.DenseNet": [
        classifier({"image_shape": (1, 12, 12), "blocks": (1, 1), "growth": 2, "bottleneck": 2}, TWELVES)
    ],
    "modules.convolution.segmentation.SegmentationUNet": [
        classifier({"image_shape": (1, 20, 20), "width": 2, "levels": 1, **more}, MASKS)
        for more in ({}, {"skips": False})
    ],
    "modules.convolution.detection.Detector": [
        Member(
            {
                "image_shape": (1, 16, 16),
                "num_classes": 3,
                "channels": (4, 6),
                "strides": (2, 2),
                "repeats": (0, 1),
                "threshold": 0.0,
            },
            FOUND,
            lambda model: model.detect(to(model, FOUND[0])),
        )
    ],
    "modules.convolution.hourglass.StackedHourglass": [
        Member(
            {"image_shape": (1, 8, 8), "joints": 2, "channels": 2, "stacks": 2, "levels": 1, "halvings": 1},
            JOINTS,
            lambda model: model.heatmaps(to(model, JOINTS[0])),
        )
    ],
    "modules.diffusion.ddpm.DDPM": [
        Member(
            {"event_shape": (6,), "width": 8, "blocks": 1, "embedding": 4, "noise_steps": 40} | more,
            CLOUDS,
            lambda model: model.sample(3, steps=3, generator=torch.Generator().manual_seed(0)),
            (Sampler, Latent),
        )
        for more in (
            {},
            {"target": "v", "noise_schedule": "cosine-zero", "min_snr_gamma": 5.0},
            {"variance": "learned"},
        )
    ],
    "modules.diffusion.flow_matching.FlowMatching": [
        Member(
            {"event_shape": (6,), "width": 8, "blocks": 1, "embedding": 4, "pairs": 16} | more,
            CLOUDS,
            lambda model: model.sample(3, steps=3, generator=torch.Generator().manual_seed(0)),
            (Sampler,),
        )
        for more in ({}, {"reflow_epoch": 1, "coupling": "optimal"})
    ],
    "modules.diffusion.latent.LatentDDPM": [
        Member(
            {"event_shape": (6,), "latent_dim": 2, "hidden": [4], "width": 8, "blocks": 1, "embedding": 4}
            | {"noise_steps": 40, "autoencoder_epochs": epochs},
            CLOUDS,
            lambda model: model.sample(3, steps=3, generator=torch.Generator().manual_seed(0)),
            (Sampler, Latent),
            still=("net",) if epochs > 3 else (),  # while the autoencoder alone is trained
        )
        for epochs in (1, 5)
    ],
    "modules.diffusion.score_matching.ScoreModel": [
        Member(
            {"event_shape": (6,), "width": 8, "blocks": 1, "embedding": 4, "levels": 3, "objective": how},
            CLOUDS,
            lambda model: model.sample(3, steps=2, generator=torch.Generator().manual_seed(0)),
            (Sampler,),
        )
        for how in ("denoising", "sliced", "implicit")
    ],
    "modules.diffusion.ddpm.ImageDDPM": [
        Member(
            {
                "image_shape": (1, 4, 4),
                "widths": (4, 4),
                "heads": 2,
                "embedding": 4,
                "noise_steps": 40,
                "levels": 17,
                "conditional": True,
                "num_classes": 3,
            },
            FOURS,
            lambda model: model.sample(3, steps=3, guidance=1.0, generator=torch.Generator().manual_seed(0)),
            (Sampler, Latent),
        )
    ],
    "modules.diffusion.noisy_classifier.NoisyClassifier": [
        classifier({"image_shape": (1, 4, 4), "num_classes": 3, "widths": (4, 4), "embedding": 4}, FOURS)
    ],
    **{
        f"modules.flow.{name}": [flow(settings)]
        for name, settings in {
            "coupling.LinearFlow": {},
            "coupling.NICE": {"layers": 2, "hidden": [4]},
            "coupling.RealNVP": {"layers": 2, "hidden": [4], "permute": True},
            "coupling.NSF": {"layers": 2, "hidden": [4], "bins": 3},
            "coupling.FlowPlusPlus": {"layers": 2, "hidden": [4], "components": 3},
            "hint.HINT": {"layers": 2, "hidden": [8]},
            "naf.NAF": {"layers": 2, "hidden": [8], "units": 2},
            "cnf.CNF": {"hidden": [4], "steps": 2},
            "iresnet.IResNet": {"blocks": 2, "hidden": [4]},
            "maf.MAF": {"layers": 2, "hidden": [8]},
            "planar.PlanarFlow": {"layers": 2},
        }.items()
    },
    "modules.flow.glow.Glow": [
        Member(
            {"image_shape": (1, 4, 4), "levels": 1, "steps": 1, "width": 3, **more},
            SQUARES,
            lambda model: model.log_prob(to(model, SQUARES[0])),
            (Density, Sampler, Latent),
        )
        for more in ({}, {"dequantize": "variational"}, {"margins": True})
    ],
    "modules.graph.depth.DeepGCN": [
        nodes({"hidden": [3, 3], "jump": "max", "pair_norm": 1.0, "drop_edge": 0.5}),
        nodes({"hidden": [3, 2], "jump": "concat", "residual": "concat"}),
        nodes({"hidden": [], "propagation": "max", "combine": "none"}),
    ],
    "modules.graph.gae.GAE": [
        links({}),
        links({"propagation": "max"}),
        links({"propagation": "sum", "hidden": []}),
    ],
    "modules.graph.gat.GAT": [
        nodes({"hidden": [2], "heads": [2, 1], "score": score}) for score in ("additive", "dynamic", "dot")
    ],
    "modules.graph.gcn.GCN": [
        nodes({}),
        nodes({"propagation": "max", "combine": "separate", "residual": "concat"}),
        nodes({"hidden": [4], "propagation": "sum", "combine": "diagonal", "residual": "sum"}),
        nodes({"hidden": [3], "propagation": "lstm", "combine": "separate"}),
    ],
    "modules.graph.gin.GIN": [
        pooling({"num_features": 4, "num_classes": 3, "width": 3, "norm": False, **more})
        for more in ({}, {"aggregation": "max", "pooling": "max"})
    ],
    "modules.graph.mixhop.MixHop": [nodes({"hidden": [3], "powers": [0, 2]})],
    "modules.graph.mixture.MoNet": [nodes({"hidden": [3], "kernels": 2})],
    "modules.graph.pooled_gcn.PooledGCN": [
        pooling({"num_features": 4, "num_classes": 3, "hidden": (3, 3), **more})
        for more in ({}, {"pooling": "sort", "kept": 2}, {"pooling": "diff", "kept": 2})
    ],
    "modules.graph.relations.RelationalGCN": [relational({"bases": bases}) for bases in (0, 2)],
    "modules.graph.graph_rnn.GraphRNN": [
        Member(
            {"event_shape": (3, 2), "hidden": 4, "entries": entries},
            GRAPH_ROWS,
            lambda model: model.log_prob(to(model, GRAPH_ROWS[0])),
            (Density, Sampler),
        )
        for entries in (0, 3)
    ],
    "modules.graph.vgae.VGAE": [links({}), links({"propagation": "max", "hidden": []})],
    "modules.language.bengio.Bengio": [language(WORDS | {"context": 2, "hidden": 4}, CONTEXTS)],
    "modules.language.count_vectors.CountSVD": [vectors({"vocab_size": 5, "dim": 2}, COUNTS)],
    "modules.language.ngram.NGram": [language({"vocab_size": 3, "order": 2})],
    "modules.language.word2vec.CBOW": [vectors(WORDS), vectors(WORDS | {"loss": "negative"})],
    "modules.recurrent.captioning.Captioner": [
        captioner({}),
        captioner({"context": "hard"}),
        captioner({"context": "hard", "baseline": "learned"}),
        captioner({"context": "pooled"}),
        captioner({"positions": True}),
    ],
    "modules.recurrent.grid_features.AttributeClassifier": [
        Member(
            {"image_shape": (1, 4, 4), "attributes": (2, 3), "channels": [2, 3]},
            (FOURS[0], torch.stack([drawn(2, 8), drawn(3, 8)], 1)),
            lambda model: torch.cat(model(to(model, FOURS[0])), 1),
        )
    ],
    "modules.recurrent.seq2seq.Seq2Seq": [
        translator({"embedding": 3, "hidden": 4} | more)
        for more in (
            {},
            {"context": "dot"},
            {"context": "ends", "cell": "lstm", "every_step": False, "layers": 2},
            {"context": "last", "bidirectional": False},
            {"tied": True},
        )
    ],
    "modules.language.word2vec.SkipGram": [vectors(WORDS)],
    "modules.latent.factor_analysis.FactorAnalysis": [
        coded({"factors": 2}, "plane", (Density, Sampler, Latent))
    ],
    "modules.latent.flow_posterior.FlowPosteriorVAE": [
        coder(VECTOR | CODES | {"flow": flow, "flow_hidden": [4], "context": 3}) for flow in ("iaf", "planar")
    ],
    "modules.latent.gtm.GTM": [
        density(VECTOR | {"num_basis": 2, "grid_size": 5, "floor": 0.01, "restarts": 2}, "plane")
    ],
    "modules.latent.hmm.HMM": [
        language({"states": 2, "emission": "categorical", "vocab_size": 3, "restarts": 2}, next_token=False),
        Member(
            {"states": 2, "emission": "gaussian", "num_features": 1},
            CLOUDS,
            lambda model: model.log_prob(CLOUDS[0]),
            (Density, Sampler),
            mass="plane",
        ),
    ],
    "modules.latent.kmeans.KMeans": [coded({"components": 2})],
    "modules.latent.mixture.GaussianMixture": [
        density(
            VECTOR | {"components": 2, "covariance": kind, "floor": 0.01, "restarts": 2},
            "plane",
            (Density, Sampler, Latent),
        )
        for kind in ("full", "diag", "spherical", "tied")
    ],
    "modules.latent.pca.PCA": [coded({"factors": 2})],
    "modules.latent.ppca.PPCA": [
        coded({"factors": 2, "closed_form": closed}, "plane", (Density, Sampler, Latent))
        for closed in (False, True)
    ],
    "modules.latent.autoregressive_decoder.AutoregressiveVAE": [
        coder(VECTOR | CODES | {"kind": kind}) for kind in ("order1", "made", "gru")
    ]
    + [coder({"event_shape": (1, 4, 4), "kind": "pixelcnn", "channels": 2, "blocks": 1} | CODES, FOURS)],
    "modules.latent.conditional.CVAE": [coder(VECTOR | CODES | {"num_classes": 3}, y=PICTURES[1])],
    "modules.latent.conv_vae.ConvVAE": [
        coder({"image_shape": (1, 4, 4), "channels": [3], "latent_dim": 2, "iwae_samples": 2}, FOURS)
    ],
    "modules.latent.denoising.DenoisingAutoencoder": [
        coded({"latent_dim": 2, "hidden": [4], "kind": kind}) for kind in ("mask", "flip", "noise")
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
    "modules.latent.score_vae.ScoreVAE": [
        coder(VECTOR | CODES | {"estimator": estimator, "samples": 2})
        for estimator in ("learned", "score", "running_mean", "leave_one_out", "pathwise")
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
    "modules.recurrent.labelling.SequenceClassifier": [
        classifier({"hidden": 4, "cell": cell, "layers": 2, "bidirectional": both}, CURVES)
        for cell, both in (("gru", False), ("lstm", True))
    ],
    "modules.recurrent.labelling.Tagger": [
        Member(
            {"vocab_size": 3, "num_classes": 3, "embedding": 4, "hidden": 4, "layers": 2},
            (TEXTS[0], TEXTS[1].where(TEXTS[0] > 0, -100)),
            lambda model: model.predict(TEXTS[0]),
            (Predictor,),
        )
    ],
    "modules.recurrent.language_model.RecurrentLM": [
        language(RECURRENT | {"cell": cell, "layers": layers})
        for cell, layers in (("lstm", 1), ("gru", 2), ("rnn", 1))
    ],
    "modules.transformer.associative.AssociativeMemory": [
        Member(
            {"vocab_size": 3, "num_classes": 3, "width": 4, "mixer": mixer, "layers": 2, "heads": 2} | more,
            (torch.stack([TEXTS[0], TEXTS[1]], -1), TEXTS[1][:, 0]),
            lambda model: model.predict(torch.stack([TEXTS[0], TEXTS[1]], -1)),
            (Predictor,),
        )
        for mixer, more in (("softmax", {}), ("elu", {}), ("positive", {"count": 3}), ("hyperbolic", {}))
    ],
    "modules.transformer.in_context.InContextRegression": [
        Member(
            {"num_features": 3, "shots": 2, "layers": 2, "heads": 2, "width": 4, "positions": name},
            PROMPTS,
            lambda model: model(*(each.to(model.dtype) for each in PROMPTS)),
        )
        for name in ("learned", "rotary")
    ],
    "modules.transformer.mixer_tagger.MixerTagger": [
        Member(
            {"vocab_size": 3, "num_classes": 3, "layers": 2, "width": 4, "states": 2, **more},
            (TEXTS[0], TEXTS[1].where(TEXTS[0] > 0, -100)),
            lambda model: model.predict(TEXTS[0]),
            (Predictor,),
        )
        for more in ({}, {"selective": False}, {"mixer": "s4"})
    ],
    "modules.transformer.gpt.GPT": [
        language(GPT | more)
        for more in (
            *({"positions": name} for name in get_args(Positions)),
            {"mixer": ["softmax", "random", "dense"], "layers": 3, "feedforward": "gated"},
            {"residual": "rezero", "normalization": "rms", "kv_heads": 1, "norm": "post"},
            {"feedforward": "experts", "expert_options": {"experts": 3}, "mixer": ["linear", "positive"]},
        )
    ]
    + [language(GPT, PAIRS[2:])],
    "modules.transformer.bert.BERT": [
        Member(
            ENCODER | {"tasks": tasks},
            (READ, READ.where(READ == 3, -100), drawn(2, 8), drawn(2, 8, 6)),
            lambda model: model.pair_logits(model(READ)) if model.pairs else model.predict(READ),
            (Predictor,),
        )
        for tasks in (["masked", "next"], ["masked"], ["masked", "order", "replaced"])
    ],
    **{
        f"modules.transformer.bert_heads.{name}": [
            Member(
                ENCODER | {"frozen": frozen} | more,
                (READ, labels),
                lambda model: model.predict(READ),
                (Predictor,),
                still=("encoder",) if frozen else (),
            )
            for frozen in (False, True)
        ]
        for name, labels, more in (
            ("SentenceClassifier", drawn(2, 8), {}),
            ("TokenClassifier", READ.where(READ < 3, -100), {"num_classes": 3}),
            ("SpanExtractor", torch.tensor([[1, 2]]).expand(8, 2), {}),
        )
    },
    "modules.transformer.vit.ViT": [
        classifier(
            {"image_shape": (1, 4, 4), "patch": 2, "layers": 1, "heads": 2, "width": 8, "pool": pool}, FOURS
        )
        for pool in ("cls", "mean")
    ],
    "modules.transformer.swin.Swin": [
        classifier(
            {"image_shape": (1, 4, 4), "patch": 1, "window": 2, "depths": (2, 1), "heads": 2, "width": 4}
            | more,
            FOURS,
        )
        for more in ({}, {"merge": False})
    ],
    "modules.transformer.davit.DaViT": [
        classifier(
            {"image_shape": (1, 4, 4), "patch": 2, "layers": 2, "heads": 2, "groups": groups, "width": 8},
            FOURS,
        )
        for groups in (1, 2)
    ],
    "modules.transformer.image_gpt.ImageGPT": [density(IMAGE | PIXEL_GPT)],
    "modules.transformer.image_gpt.ImageGPTClassifier": [
        density(IMAGE | PIXEL_GPT | {"num_classes": 3}, offers=(Density, Sampler, Predictor))
    ],
    "modules.transformer.translator.Translator": [
        translator({"encoder_layers": 1, "decoder_layers": 1, "heads": 2, "width": 8, "length": 8} | more)
        for more in ({}, {"tied": True, "norm": "post"})
    ],
    "modules.adversarial.madgan.MADGAN": [
        game({"hidden": [4], "generators": 2}, POINTS),
    ],
    "modules.adversarial.toy.ToyGAN": [
        Member(
            {},
            (CLOUDS[0][:, :1],),
            lambda model: torch.cat(
                [
                    model.sample(8, generator=torch.Generator().manual_seed(0)),
                    model.discriminate(to(model, CLOUDS[0][:, :1]))[:, None],
                ]
            ),
            (Sampler,),
        )
    ],
    "modules.adversarial.tricks.TrickGAN": [
        game({"hidden": [4], **more}, POINTS)
        for more in (
            {},
            {"history": 12},
            {"smoothing": 0.9, "instance_noise": 0.1, "top_share": 0.5, "mode_seeking": 0.1},
        )
    ],
    "modules.adversarial.veegan.VEEGAN": [game({"hidden": [4]}, POINTS)],
    "modules.flow.maf.IAF": [flow({"layers": 2, "hidden": [8]})],
    "modules.flow.planar.RadialFlow": [flow({"layers": 2})],
}

# Classes that others are built on: each has a row through what is made of it.
BASES = [
    "modules.adversarial.base.BaseGAN",
    "modules.adversarial.alternating.AlternatingTraining",
    "modules.autoregressive.base.Autoregressive",
    "modules.autoregressive.nade.NADEBase",
    "modules.autoregressive.pixelcnn.PixelModel",
    "modules.autoregressive.tables.ConditionalTables",
    "modules.autoregressive.tables.TableModel",
    "modules.base.CountModel",
    "modules.graph.nodes.NodeClassifier",
    "modules.language.translation.TranslationModel",
    "modules.base.Module",
    "modules.convolution.classifier.Classifier",
    "modules.graph.graphs.GraphClassifier",
    "modules.labels.Labels",
    "modules.transformer.bert_heads.FineTuned",
    "modules.transformer.vit.PatchClassifier",
    "modules.recurrent.labelling.Labeller",
    "modules.diffusion.gaussian_diffusion.GaussianDiffusion",
    "modules.flow.coupling.CouplingFlow",
    "modules.flow.flow.Flow",
    "modules.language.word2vec.Word2Vec",
    "modules.latent.em.EMDensity",
    "modules.latent.em.EMModel",
    "modules.latent.linear_gaussian.LinearGaussian",
]
ROWS = [(name, number) for name in sorted(MEMBERS) for number in range(len(MEMBERS[name]))]
IDS = [f"{name.rpartition('.')[2]}-{number}" for name, number in ROWS]


def class_of(name: str) -> Any:
    """The class of that dotted name."""
    module, _, cls = name.rpartition(".")
    return getattr(importlib.import_module(module), cls)


def classes() -> dict[str, type[L.LightningModule]]:
    """Every LightningModule that `modules` has, by its dotted name."""
    results: dict[str, type[L.LightningModule]] = {}
    for place in pkgutil.walk_packages(modules.__path__, "modules."):
        for value in vars(importlib.import_module(place.name)).values():
            if inspect.isclass(value) and issubclass(value, L.LightningModule):
                results[f"{value.__module__}.{value.__qualname__}"] = value
    return {name: cls for name, cls in sorted(results.items()) if name.startswith("modules.")}


def make(name: str, number: int = 0, **other: Any) -> Any:
    """A fresh small model of seed 0."""
    torch.manual_seed(0)
    return class_of(name)(**MEMBERS[name][number].settings | other)
