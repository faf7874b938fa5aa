"""Every argument of every class with a row: another value, and what it changes.

An argument of a base class has its row once, under the base's name, and is tried on every class that takes
it; a class that differs has a row of its own. There is no kind for "ignored".
"""

from typing import Any, Literal, NamedTuple

SIZES = ("event_shape", "image_shape", "num_classes", "num_features", "vocab_size")  # the data say them


class Other(NamedTuple):
    """Another value of an argument.

    Attributes:
        needs: what must stand beside it for it to matter; the same on both sides.
        kind: "model" (parameters, losses or answers differ after three epochs), "measure" (a metric differs),
            "cost" (all is equal to 10⁻⁶, and `saves` says what is saved), "refused", in a sentence,
        or a "size" of the data.
    """

    value: Any
    needs: dict[str, Any] = {}  # noqa: RUF012
    kind: Literal["model", "measure", "cost", "refused", "size"] = "model"
    saves: str = ""
    member: int = 0  # which of the class's rows in members.py it is tried on


def measure(value: Any, **needs: Any) -> Other:
    return Other(value, needs, "measure")


def refused(value: Any, **needs: Any) -> Other:
    return Other(value, needs, "refused")


def beside(value: Any, **needs: Any) -> Other:
    return Other(value, needs)


CLASSES = {"conditional": True, "num_classes": 3}
GAUSSIAN = {"decoder": "gaussian"}
F_DIVERGENCE = {"loss": "f-divergence", "loss_settings": {"divergence": "KL"}}
MODES = [[0.0, 0.0], [1.0, 1.0]]

ARGUMENTS: dict[str, dict[str, Any]] = {
    # --- adversarial ---
    "BaseGAN": {
        "event_shape": (3,),
        "latent_dim": 2,
        "prior": "uniform",
        "loss": "saturating",
        "loss_settings": beside({"divergence": "Pearson"}, **F_DIVERGENCE),
        "d_steps": 2,
        "g_steps": 2,
        "clip": 0.01,
        "penalty": 1.0,
        "spectral": True,
        "discriminator_rate": 0.02,
        "ema": measure(0.1),  # what is judged is the averaged generator
        "modes": refused(MODES, mode_sd=0.5),
        "mode_sd": refused(0.1, modes=MODES),
    },
    "GAN": {"hidden": [5], "discriminator_hidden": [6], "pack": 2, "minibatch_std": True,
        "event_shape": beside((3,), modes=None, mode_sd=None),
        "modes": measure([[5.0, 5.0], [6.0, 6.0]], modes=MODES, mode_sd=0.5),
        "mode_sd": measure(0.1, modes=MODES, mode_sd=0.5),
    },
    "DCGAN": {
        "image_shape": (1, 8, 8), "channels": [2], "kernel": 5, "penalty": beside(1.0, batch_norm=False),
        "strided": False, "batch_norm": False,
        "negative_slope": 0.1, "init_std": 0.1, "bias": False, "pack": 2, "minibatch_std": True, "hidden": 4,
    },
    "ConditionalGAN": {"num_classes": 4, "condition": "projection", "pack": refused(2)},
    "InfoGAN": {"categories": 3, "continuous": 2, "weight": 0.5, "continuous_std": 0.5, "q_hidden": 2,
        "jitter": 0.2, "pack": refused(2)},
    "ProgressiveGAN": {"image_shape": refused((1, 8, 8)), "channels": [4], "penalty": refused(1.0),
        "phase": Other(3, member=1), "first_level": Other(1, member=1)},
    "StyleGAN": {
        "image_shape": refused((1, 8, 8)), "channels": [4], "mapping_layers": 3,
        "discriminator_channels": [4], "mixing": 1.0,
        "r1": 5.0, "r1_every": 1, "penalty": refused(1.0),
    },
    "ToyGAN": {
        "theta": 1.0, "intercept": 0.5, "slope": 0.5, "clip": 1e-3, "spectral": refused(True),
        "modes": measure([[0.0], [1.0]], mode_sd=0.5),
        "mode_sd": measure(0.1, modes=[[0.0], [1.0]], mode_sd=0.5),
    },
    "TrickGAN": {
        "smoothing": 0.9, "instance_noise": 0.2, "history": 8, "top_share": 0.5, "mode_seeking": 0.5,
        "orthogonal": beside(0.5, hidden=[4, 4]),
    },
    "MADGAN": {
        "generators": 3, "penalty": refused(1.0), "loss_settings": refused({"divergence": "KL"}),
        "pack": refused(2), "spectral": refused(True),
    },
    "VEEGAN": {"weight": 2.0, "penalty": refused(1.0), "pack": refused(2)},
    "CycleGAN": {
        "image_shape": (1, 12, 12), "width": 3, "blocks": 2, "discriminator_width": 3, "halvings": 1,
        "cycle": 5.0, "content": "before", "content_weight": 1.0, "history": 3, "discriminator_rate": 0.02,
    },
    "Pix2Pix": {
        "image_shape": (2, 8, 8), "widths": (3, 4), "discriminator_width": 3, "halvings": 1,
        "loss": "saturating", "content": 10.0, "adversarial": 2.0, "paired": False, "noise": 2,
        "discriminator_rate": 0.02,
    },
    "SuperResolution": {
        "image_shape": (1, 8, 8), "num_classes": 4, "factor": 2, "width": 3, "blocks": 2,
        "discriminator_channels": (3,), "classifier_channels": (3, 3), "warmup": 3, "pixels": 1.0,
        "perceptual": 2.0, "adversarial": 0.1, "discriminator_rate": 0.02,
    },
    # --- autoregressive ---
    "Autoregressive": {
        "event_shape": (2, 2), "order": "reversed", "num_categories": 3, "seed": beside(1, order="random"),
    },
    "Autoencoder": {"event_shape": (4,), "hidden": 3},
    "ConditionalTables": {"smoothing": 2.0, "event_shape": (2, 2)},
    "JointTable": {"smoothing": 2.0},
    "BayesNet": {"event_shape": beside((4,), parents=None), "parents": [[], [0], [1], [2], [3], [4]]},
    "NeighbourNet": {"image_shape": (1, 2, 2), "template": "neighbours12", "shared": True},
    "GatedPixelCNN": {
        "conditional": beside(True, num_classes=3), "num_classes": beside(4, **CLASSES),
    },
    "PixelModel": {
        "image_shape": (1, 2, 2), "channels": 6, "layers": 2, "kernel": beside(5, channels=8),
        "first_kernel": 5,
    },
    "PixelCNN": {"bottleneck": 3, "positions": False, "first_mask": "B"},
    "GaussianChain": {"event_shape": (2, 2), "memory": 2, "min_variance": 0.5},
    "MADE": {
        "hidden": [5], "direct": True, "degrees": "random", "num_orders": 2,
        "num_masks": beside(3, degrees="random"),
        "ensemble": beside(3, num_orders=0),
        "seed": beside(1, degrees="random"),
    },
    "MarkovChain": {"memory": 2, "homogeneous": True},
    "NADE": {"one_hot": beside(True, num_categories=3)},
    "NADEBase": {"hidden": 5, "chunk": Other(2, kind="cost", saves="memory: fewer activations at once")},
    "RNADE": {"components": 3, "min_log_sigma": 0.5},
    "Untied": {"hidden": 3},
    # --- convolution, graph ---
    "Classifier": {"image_shape": (1, 20), "num_classes": 12},
    "CNN1d": {
        "channels": (8, 8, 8), "kernel_sizes": (2,), "strides": (1,), "paddings": (1,), "dilations": (2,),
        "dropout": 0.5,
    },
    "CNN2d": {"image_shape": (1, 10, 10), "channels": (3, 3), "kernel_sizes": (5,), "pool": 3,
              "convolutions": 2, "mean_pool": True,
        "dropout": 0.0},
    "P4CNN": {"image_shape": (2, 8, 8), "channels": (3, 3), "kernel_size": 5, "pool": 4, "dropout": 0.5,
              "convolutions": 2},
    "MLP": {"hidden": (5,)},
    "LeNet": {
        "image_shape": (2, 12, 12), "channels": (2, 4), "hidden": (5,), "activation": "relu",
        "pool": "max", "padding": 3, "spatial_dropout": 0.5,
        "standardize": True,
    },
    "AlexNet": {
        "image_shape": (2, 28, 28), "num_classes": 12, "channels": (2, 4, 4, 4, 6), "hidden": (5,),
        "kernel": 5, "stride": 2, "padding": 3, "pool": 2,
        "groups": 2, "dropout": 0.5,
    },
    "VGG": {"image_shape": (2, 12, 12), "blocks": (1, 2), "channels": (2, 4), "hidden": (5,), "dropout": 0.5},
    "ResNet": {
        "image_shape": (2, 12, 12), "blocks": (2, 1), "widths": (3, 4), "bottleneck": True,
        "order": "linear-first", "stem": "7x7", "shortcut": "zeros", "norm": "group", "scale": "half",
        "stride_at": beside("1x1", bottleneck=True),
    },
    "ResidualMLP": {
        "width": 7, "blocks": 3, "block_depth": 2, "order": "v1", "shortcut": "none", "norm": "layer",
        "scale": "depth",
    },
    "DenseNet": {
        "image_shape": (2, 12, 12), "blocks": (2, 1), "growth": 3, "bottleneck": 0, "compression": 1.0,
        "stem": "7x7",
    },
    "SegmentationUNet": {
        "image_shape": (2, 20, 20), "num_classes": 3, "width": 3, "levels": beside(2, padded=True),
        "padded": True, "skips": False,
    },
    "Detector": {
        "image_shape": (2, 16, 16), "num_classes": 4, "channels": (4, 5), "strides": (4, 1),
        "repeats": (1, 0), "boxes": 3, "lambda_coord": 1.0, "lambda_noobj": 2.0, "threshold": 0.2,
        "overlap": 1.0, "suppression": "soft",
    },
    "StackedHourglass": {
        "image_shape": (2, 8, 8), "joints": Other(3, kind="size"), "channels": 4, "stacks": 1, "levels": 2,
        "halvings": Other(0, kind="size"), "sd": 2.0, "alpha": measure(0.4),
    },
    "NodeClassifier": {"num_classes": 4},
    "GAE": {"num_features": 5, "hidden": [4], "dim": 3, "propagation": "mean", "dropout": 0.3},
    "VGAE": {"num_features": 5},
    "GraphRNN": {"event_shape": Other((3, 3), kind="size"), "hidden": 5, "layers": 2, "entries": 3},
    "GAT": {
        "num_features": 5, "hidden": [3], "heads": [1, 2], "score": "dot", "slope": 0.5, "dropout": 0.0,
        "weight_dropout": 0.0,
    },
    "GIN": {
        "num_features": 5, "num_classes": 4, "width": 4, "layers": 2, "aggregation": "mean",
        "pooling": "mean", "norm": True, "dropout": 0.5,
    },
    "PooledGCN": {
        "num_features": 5, "num_classes": 4, "hidden": (4,), "propagation": "mean", "combine": "separate",
        "pooling": "sum", "dropout": 0.5,
        "kept": beside(3, pooling="sort"), "link": beside(5.0, pooling="diff"),
        "entropy": beside(2.0, pooling="diff"),
    },
    "RelationalGCN": {
        "num_features": 5, "num_classes": 4, "relations": 4, "hidden": (4,), "bases": 1, "pooling": "mean",
        "dropout": 0.5,
    },
    "MixHop": {
        "num_features": 5, "hidden": (4,), "powers": [0, 1, 2], "dropout": 0.0, "weight_decay": 0.5,
    },
    "MoNet": {"num_features": 5, "hidden": (4,), "kernels": 3, "dropout": 0.0},
    "GCN": {
        "num_features": 5, "hidden": (8,), "propagation": "mean", "dropout": 0.0, "weight_decay": 0.5,
        "combine": beside("separate", propagation="mean"), "residual": "concat",
    },
    "DeepGCN": {"jump": "none", "pair_norm": 2.0, "drop_edge": 0.2, "residual": "sum"},
    # --- diffusion ---
    "GaussianDiffusion": {
        "event_shape": (5,), "noise_steps": 500, "noise_schedule": "cosine", "target": "v",
        "min_snr_gamma": 5.0,
        "conditional": beside(True, num_classes=3), "num_classes": beside(4, **CLASSES),
        "label_dropout": beside(0.9, **CLASSES), "shift": 0.5, "scale": 2.0, "clip": 0.5,
        "clip_bound": measure(True, clip=0.5), "levels": measure(9), "variance": "learned",
        "vlb_weight": beside(0.5, variance="learned"), "bound_draws": measure(3), "objective": "vlb",
        "test_draws": measure(3),
    },
    "DDPM": {"width": 12, "blocks": 2, "embedding": 6},
    "ImageDDPM": {
        "image_shape": (1, 8, 8), "widths": (4, 8), "blocks": 2, "attention": (1,),
        "heads": beside(1, attention=(1,)), "embedding": 6, "patch": 2, "levels": measure(9),
        "conditional": False,
        "clip_bound": measure(True),
    },
    "LatentDDPM": {
        "latent_dim": 3, "hidden": [5], "beta": 1.0, "autoencoder_epochs": 2, "width": 12, "blocks": 2,
        "embedding": 6, "clip_bound": measure(True),
    },
    "FlowMatching": {
        "event_shape": (5,), "width": 12, "blocks": 2, "embedding": 6, "coupling": "optimal", "scale": 2.0,
        "reflow_epoch": 1, "pairs": beside(5, reflow_epoch=1),
    },
    "ScoreModel": {
        "event_shape": (5,), "width": 12, "blocks": 2, "embedding": 6, "objective": "sliced", "levels": 4,
        "sigma_max": 8.0, "sigma_min": 0.2,
    },
    "NoisyClassifier": {
        "image_shape": (1, 8, 8), "num_classes": 4, "widths": (4, 8), "embedding": 6, "noise_steps": 500,
        "noise_schedule": "linear",
    },
    # --- flow ---
    "Flow": {
        "event_shape": (3,), "image_shape": (1, 8, 8), "conditional": beside(True, num_classes=3),
        "num_classes": beside(4, **CLASSES), "context": beside(1, conditional=False),
        "hidden": [5], "layers": 4,
    },
    "CouplingFlow": {"permute": True, "seed": beside(1, permute=True, layers=3)},
    "RealNVP": {"permute": False, "init_std": 0.1},
    "NSF": {"bins": 4, "bound": 2.0},
    "FlowPlusPlus": {"components": 2},
    "HINT": {"seed": beside(5, layers=3)},
    "NAF": {"units": 3},
    "CNF": {"solver": "euler", "steps": 3, "tolerance": beside(1e-7, solver="dopri5"),
        "trace": "hutchinson"},
    "IResNet": {
        "blocks": 3, "coefficient": 0.5, "estimator": "series", "terms": beside(2, estimator="series"),
        "probes": beside(2, estimator="hutchinson"),
    },
    "MAF": {"spline": True, "bins": beside(4, spline=True), "bound": beside(1.0, spline=True),
        "gated": True},
    "PlanarFlow": {"fit_data": False},
    "Glow": {
        "levels": 2, "steps": 2, "width": 4, "num_categories": 300, "dequantize": "variational",
        "margins": True, "samples": measure(2), "seed": 1,
    },
    # --- language ---
    "Bengio": {
        "vocab_size": 4, "context": Other(3, kind="size"), "dim": 5, "hidden": 5, "direct": True,
        "embedding": "one-hot",
        "bos": 1, "zero_output": True, "eos": 2,
    },
    "CountSVD": {"vocab_size": 6, "dim": 3, "weighting": "counts", "power": 1.0},
    "NGram": {
        "vocab_size": 4, "order": 3, "smoothing": "add", "alpha": beside(0.2, smoothing="add"),
        "discount": 0.9, "uniform": beside(False, discount=0.5, vocab_size=4), "bos": 0, "eos": 1,
    },
    "Word2Vec": {
        "vocab_size": 4, "dim": 5, "loss": "negative", "negatives": beside(3, loss="negative"),
        "noise_power": beside(0.0, loss="negative"),
    },
    "Seq2Seq": {
        "vocab_size": 4, "source_vocab_size": Other(4, kind="size"), "context": "scaled",
        "every_step": Other(True, member=2), "cell": "lstm", "embedding": 4, "hidden": 5, "score_width": 3,
        "layers": 2, "bidirectional": False, "reverse": Other(True, member=3), "tied": True, "dropout": 0.5,
        "scheduled_sampling": 1.0, "bos": 1, "eos": 2,
    },
    "GPT": {
        "vocab_size": 4, "context": 7, "layers": 2, "heads": 1, "width": 12, "positions": "rotary",
        "norm": "post", "activation": "relu", "bias": True, "tied": False, "dropout": 0.5, "bos": 1,
        "causal": False, "mixer": "dense", "feedforward": "gated", "feedforward_width": 5,
        "normalization": "rms", "eps": 0.1, "residual": "none", "kv_heads": 1, "scaled": False,
        "expert_options": beside({"experts": 3, "active": 1}, feedforward="experts"),
        "balance_weight": beside(1.0, feedforward="experts"),
    },
    "Translator": {
        "vocab_size": 4, "source_vocab_size": Other(4, kind="size"), "encoder_layers": 2, "decoder_layers": 2,
        "heads": 1, "width": 12, "feedforward_width": 5, "length": beside(9, positions="learned"),
        "positions": "rotary", "norm": "post", "activation": "gelu", "bias": False, "dropout": 0.5,
        "tied": True, "label_smoothing": 0.5, "bos": 1, "eos": 2,
    },
    "BERT": {
        "vocab_size": 6, "length": 9, "layers": 2, "heads": 1, "width": 12, "feedforward_width": 5,
        "dropout": 0.5, "tasks": ["masked", "replaced"], "separator": 2, "padding": 2,
        "activation": "relu", "eps": 0.1,
    },
    **{
        name: {
            "vocab_size": 6, "length": 9, "layers": 2, "heads": 1, "width": 12, "feedforward_width": 5,
            "dropout": 0.5, "frozen": True, "separator": 2, "padding": 2,
        } | more
        for name, more in (
            ("SentenceClassifier", {}), ("TokenClassifier", {"num_classes": 4}), ("SpanExtractor", {})
        )
    },
    "ViT": {
        "image_shape": (1, 8, 8), "patch": 4, "layers": 2, "heads": 1, "width": 12, "feedforward_width": 5,
        "pool": "mean", "positions": "none", "norm": "post", "activation": "relu", "bias": False,
        "dropout": 0.5, "num_classes": 4,
    },
    "Swin": {
        "image_shape": (1, 8, 8), "num_classes": 4, "patch": 2, "window": 4, "depths": (1, 1), "heads": 1,
        "width": 8, "dropout": 0.5, "shift": False, "merge": Other(False),
    },
    "DaViT": {
        "image_shape": (1, 8, 8), "num_classes": 4, "patch": 4, "layers": 1, "heads": 1, "groups": 4,
        "width": 12, "dropout": 0.5,
    },
    "ImageGPT": {
        "image_shape": (1, 3, 3), "num_categories": 3, "layers": 2, "heads": 1, "width": 12, "dropout": 0.5,
    },
    "ImageGPTClassifier": {"num_classes": 4, "generative_weight": 0.5},
    "AssociativeMemory": {
        "vocab_size": 4, "num_classes": 4, "mixer": "elu", "width": 8, "heads": 1, "layers": 1,
        "count": beside(3, mixer="positive"),
    },
    "InContextRegression": {
        "num_features": Other(4, kind="size"), "shots": 4, "layers": 1, "heads": 1, "width": 8,
        "positions": "sinusoidal",
    },
    "MixerTagger": {
        "vocab_size": 4, "num_classes": 4, "mixer": "s4", "layers": 1, "width": 8, "states": 3,
        "selective": Other(False), "expand": 1, "delta": (0.5, 0.6),
    },
    # --- recurrent ---
    "Labeller": {
        "num_classes": 11, "cell": "rnn", "hidden": 5, "layers": 3, "bidirectional": Other(False),
        "dropout": 0.5, "cell_options": {"start": "orthogonal"},
    },
    "SequenceClassifier": {"image_shape": refused((0, 40)), "bidirectional": True},
    "Tagger": {"vocab_size": 4, "embedding": 5, "pad": 2},
    "RecurrentLM": {
        "vocab_size": 4, "cell": "gru", "embedding": 5, "hidden": 6, "layers": 2, "dropout": 0.5,
        "tied": beside(True, embedding=5), "bos": 1, "eos": 2,
    },
    "AttributeClassifier": {
        "image_shape": (1, 8, 8), "attributes": Other((2, 4), kind="size"), "channels": [4], "kernel": 3,
    },
    "Captioner": {
        "image_shape": (1, 8, 8), "vocab_size": 4, "context": "hard", "normalize": False, "freeze": False,
        "positions": True,
        "channels": [4], "kernel": 3, "embedding": 4, "hidden": 5, "score_width": 3, "gate": False,
        "penalty": 1.0, "draws": Other(3, member=1), "baseline": Other("none", member=1),
        "to_go": Other(False, member=1), "entropy_weight": Other(1.0, member=1),
        "expected": Other(1.0, member=1), "warm_start_epochs": Other(2, member=1), "bos": 1, "eos": 2,
    },
    # --- latent ---
    "VAE": {
        "event_shape": (4,), "image_shape": (1, 8, 8), "latent_dim": 3, "hidden": [5], "activation": "tanh",
        "decoder": "gaussian", "sigma": beside(0.5, **GAUSSIAN), "learn_sigma": beside(True, **GAUSSIAN),
        "beta": 4.0, "warmup_epochs": 3, "iwae_samples": measure(3),
        "warmup_cycles": beside(2, warmup_epochs=1),
        "free_bits": 0.5, "free_bits_per": beside("datum", free_bits=0.1), "channels": [2],
    },
    "AutoregressiveVAE": {
        "kind": "gru", "channels": Other(3, member=3), "blocks": Other(2, member=3),
        "image_shape": Other((1, 2, 8), member=3),
        "decoder": refused("gaussian"), "sigma": refused(0.5), "learn_sigma": refused(True),
    },
    "ConvVAE": {"free_bits_per": beside("datum", free_bits=0.03)},
    "CVAE": {"num_classes": 4, "free_bits_per": beside("datum", free_bits=0.03)},
    "FactorVAE": {"gamma": 3.0, "discriminator": [5], "discriminator_rate": 0.05},
    "FlowPosteriorVAE": {"flow": "planar", "layers": 3, "flow_hidden": [5], "context": 4},
    "IWAE": {
        "train_samples": 4, "gradient": "doubly", "resampled": beside(1, gradient="doubly"),
        "elbo_epochs": 2,
        "beta": refused(2.0), "warmup_epochs": beside(2, elbo_epochs=3),
        "warmup_cycles": beside(2, warmup_epochs=1, elbo_epochs=3),
        "free_bits": beside(0.5, elbo_epochs=3),
        "free_bits_per": beside("datum", free_bits=0.1, elbo_epochs=3),
    },
    "LadderVAE": {"latent_dims": [2, 2], "widths": [5, 3], "inference": "bottom-up"},
    "LearnedPriorVAE": {"kind": "vamp", "components": 2, "spread": 1.0},
    "ScoreVAE": {
        "estimator": "pathwise", "samples": 3, "decay": Other(0.5, member=2),
        "free_bits": Other(0.5, member=4), "free_bits_per": Other("datum", {"free_bits": 0.1}, member=4),
    },
    "TCVAE": {"alpha": 3.0, "gamma": 3.0, "sampler": beside("weighted", beta=3.0, data_size=20),
        "data_size": beside(100, beta=3.0), "free_bits": refused(0.5),
        "free_bits_per": refused("datum", free_bits=0.1)},
    "TextVAE": {"vocab_size": 4, "embedding": 3, "width": 4, "event_shape": (5,)},
    "VarianceVAE": {"variance": "network", "min_sigma": 0.9, "sigma": 0.5,
        "decoder": refused("bernoulli"), "learn_sigma": refused(False)},
    "DenoisingAutoencoder": {
        "event_shape": (4,), "latent_dim": 3, "hidden": [5], "activation": "tanh", "decoder": "gaussian",
        "kind": "noise", "corruption": 0.6,
    },
    "VQVAE": {
        "image_shape": (1, 8, 8), "channels": [2], "codes": 4, "code_dim": 3, "beta": 1.0, "ema": 0.9,
        "prior_hidden": 4, "activation": "tanh",
    },
    "EMModel": {"event_shape": (4,), "restarts": beside(8, restarts=1),
        "trial_steps": beside(0, restarts=4), "floor": 0.3},
    "LinearGaussian": {"factors": 3},
    "PPCA": {"closed_form": True},
    "PCA": {"factors": 3, "restarts": refused(3), "trial_steps": refused(0)},
    "GTM": {"num_basis": 3, "grid_size": 6},
    "HMM": {
        "states": 3, "emission": Other("gaussian-full", member=1), "vocab_size": 4,
        "num_features": Other(2, member=1),
        "length": 7, "floor": Other(0.9, member=1),
    },
    "KMeans": {"components": 3},
    "GaussianMixture": {"components": 3, "covariance": "diag"},
}  # fmt: skip
