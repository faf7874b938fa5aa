"""The sizes of a machine's parts, read by forward hooks while a copy of the model makes one pass.

    machine_of(model)  -> "gan", or None where the model is none of the eight
    read(model)        -> {"G": Reading("16→128→2", "3 layers, 19,000 parameters"), …}

Which module is which part follows from what the model is: its surfaces, and the order in which its modules
are called. Nothing here knows the name of an experiment.
"""

import copy
import inspect
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast, get_args

import torch
from torch import Tensor, nn

from modules.adversarial.alternating import AlternatingTraining
from modules.adversarial.base import BaseGAN
from modules.adversarial.cyclegan import CycleGAN
from modules.adversarial.super_resolution import SuperResolution
from modules.base import Module
from modules.convolution.classifier import Classifier
from modules.convolution.unet import UNet
from modules.diffusion.flow_matching import FlowMatching
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.latent import LatentDDPM
from modules.diffusion.noisy_classifier import NoisyClassifier
from modules.diffusion.score_matching import ScoreModel
from modules.flow.flow import Flow
from modules.flow.image import MultiScale
from modules.flow.layer import FlowLayer, FlowStack, Inverse
from modules.graph.attention import GraphAttention
from modules.graph.convolution import GraphConvolution
from modules.graph.gat import GAT
from modules.graph.gcn import GCN
from modules.graph.mixhop import MixHopConvolution
from modules.latent.vae import VAE
from modules.latent.vq_vae import VQVAE
from modules.recurrent.captioning import Captioner
from modules.recurrent.labelling import Labeller, SequenceClassifier
from modules.recurrent.language_model import RecurrentLM
from modules.recurrent.seq2seq import Seq2Seq
from modules.recurrent.stack import CELLS, Recurrent
from modules.transformer.attention import Attention
from modules.transformer.bert import BERT
from modules.transformer.bert_heads import FineTuned
from modules.transformer.block import Block
from modules.transformer.davit import DaViT
from modules.transformer.experts import Experts
from modules.transformer.feedforward import FeedForward, GatedFeedForward
from modules.transformer.gpt import GPT
from modules.transformer.image_gpt import ImageGPT
from modules.transformer.mixer_tagger import MixerTagger
from modules.transformer.swin import Swin, WindowAttention
from modules.transformer.translator import Translator
from modules.transformer.vit import PatchClassifier, ViT

Transformer = GPT | ImageGPT | Translator | ViT | Swin | DaViT | BERT | FineTuned | MixerTagger

LONGEST = 13  # letters of widths that are spelled out


@dataclass(frozen=True)
class Reading:
    """
    Attributes:
        shape: its sizes, short.
        more: the same in words, for whoever asks.
        name: what it is called in this model, where that is not the machine's word.
    """

    shape: str
    more: str = ""
    name: str | None = None


Readings = dict[str, Reading]


@dataclass(frozen=True)
class Call:
    """A module's first call: the shapes that it took and gave, the batch included."""

    name: str
    module: nn.Module
    takes: tuple[int, ...]
    gives: tuple[int, ...]


def machine_of(model: nn.Module) -> str | None:
    """Find the one of `lab.machines` that the model is."""
    kinds: dict[str, type | tuple[type, ...]] = {
        "gan": AlternatingTraining,
        "diffusion": (GaussianDiffusion, ScoreModel, FlowMatching),
        "flow": Flow,
        "transformer": get_args(Transformer),
        "recurrent": (RecurrentLM, Labeller, Seq2Seq, Captioner),
        "message passing": (GCN, GAT),
        "convolution": (Classifier, NoisyClassifier),
    }
    for name, kind in kinds.items():
        if isinstance(model, kind):
            return name
    coded = all(isinstance(getattr(model, part, None), nn.Module) for part in ("encoder", "decoder"))
    return "vae" if coded else None


def sample_of(model: nn.Module) -> str | None:
    """The part that stands for the samples of a generative model; None where no machine has one."""
    return {"gan": "made", "vae": "p", "diffusion": "xt", "flow": "x"}.get(machine_of(model) or "")


def read(model: Module) -> Readings:
    """The parts that this model has, by their keys in its machine.

    Raises:
        ValueError: it is none of the machines.
    """
    which = machine_of(model)
    if which is None:
        raise ValueError(f"{type(model).__name__} is none of the machines.")
    return READERS[which](copy.deepcopy(model).eval())


def watched(model: nn.Module, go: Callable[[], Any]) -> list[Call]:
    """The modules that `go` calls, in order, each once."""
    results: dict[str, Call] = {}

    def hook(name: str) -> Callable[..., None]:
        def heard(module: nn.Module, args: tuple[Any, ...], given: dict[str, Any], out: Any) -> None:
            tensors = [a for a in (*args, *given.values()) if isinstance(a, Tensor)]
            first = out[0] if isinstance(out, tuple) else out  # recurrent layers give their state too
            if tensors and isinstance(first, Tensor):
                results.setdefault(name, Call(name, module, tuple(tensors[0].shape), tuple(first.shape)))

        return heard

    handles = [m.register_forward_hook(hook(name), with_kwargs=True) for name, m in model.named_modules()]
    try:
        with torch.no_grad():
            go()
    finally:
        for handle in handles:
            handle.remove()
    return list(results.values())


# --- In few letters -----------------------------------------------------------------------------


def of_shape(shape: Sequence[int]) -> str:
    """1×28×28."""
    return "×".join(map(str, shape))


def count(n: int) -> str:
    """A number of parameters, in three digits."""
    for unit, size in (("M", 10**6), ("k", 10**3)):
        if n >= 0.9995 * size:
            return f"{n / size:.3g} {unit}" if n < 999.5 * size else f"{n / size:.0f} {unit}"
    return str(n)


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def weighted(calls: Sequence[Call], within: str = "") -> list[Call]:
    """Those of layers with a matrix of weights, of the module of this name or of all."""
    inside = [c for c in calls if not within or c.name == within or c.name.startswith(f"{within}.")]
    return [c for c in inside if isinstance(c.module, Recurrent) or matrix(c.module)]


def matrix(module: nn.Module) -> bool:
    weight = getattr(module, "weight", None)
    return isinstance(weight, Tensor) and weight.ndim >= 2


def several(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"


def network(module: nn.Module, layers: Sequence[Call], name: str | None = None) -> Reading:
    """A network: the widths of its layers where all are dense and few, else how many and how large."""
    size = parameters(module)
    more = f"{several(len(layers), 'layer')}, {size:,} parameters"
    dense = bool(layers) and all(isinstance(c.module, nn.Linear) for c in layers)
    chained = all(a.gives[-1] == b.takes[-1] for a, b in pairwise(layers))
    widths = "→".join(str(n) for n in [layers[0].takes[-1], *(c.gives[-1] for c in layers)]) if dense else ""
    if dense and chained:
        more = f"{widths}, {more}"
    short = dense and chained and len(widths) <= LONGEST
    if not layers:  # a formula with a few numbers
        return Reading(several(size, "number"), f"{several(size, 'parameter')}", name)
    return Reading(widths if short else f"{several(len(layers), 'layer')}, {count(size)}", more, name)


def classes(model: Any, method: Callable[..., Any], n: int) -> dict[str, Tensor]:
    """The class of each example where a method asks for it."""
    takes = inspect.signature(method).parameters
    named = "y" in takes or any(p.kind is p.VAR_KEYWORD for p in takes.values())
    result = named and hasattr(model, "num_classes") and model.num_classes > 0
    return {"y": torch.zeros(n, dtype=torch.long)} if result else {}


# --- The eight ----------------------------------------------------------------------------------


def of_gan(model: Any) -> Readings:
    """A generator and its discriminator; of two of each, those of one way."""
    draws = torch.Generator().manual_seed(0)
    d: Any = getattr(model, "discriminator", None)
    n = 2 * (d.pack if hasattr(d, "pack") else 1)
    given: dict[str, Tensor] = {}
    start, end = "z", "x"
    if isinstance(model, BaseGAN):
        given = classes(model, model.decode, n)
        first = model.noise(n, draws)
        generator, discriminator = model.ema_generator(), model.discriminator

        def go() -> None:
            fake = generator(model.generator_input(first, **given))
            model.discriminate(fake, **given)

    elif isinstance(model, CycleGAN):
        start, end, generator, discriminator = "a", "b", model.a_to_b, model.discriminator_b
        first = torch.zeros(n, *model.hparams["image_shape"])

        def go() -> None:
            discriminator(generator(first))

    elif isinstance(model, SuperResolution):
        start, generator, discriminator = "c", model.generator, model.discriminator
        colours, *sides = model.hparams["image_shape"]
        first = torch.zeros(n, colours, *(side // model.factor for side in sides))

        def go() -> None:
            discriminator(generator(first))

    else:
        start, generator, discriminator = "c", model.generator, model.discriminator
        first = torch.zeros(n, *model.hparams["image_shape"])

        def go() -> None:
            model.discriminate(first, model.generate(first, draws))

    calls = watched(model, go)
    name = {id(module): name for name, module in model.named_modules()}
    result = next(c for c in calls if c.module is generator).gives[1:]
    size = of_shape(first.shape[1:])
    if isinstance(model, BaseGAN) and (
        beside := model.generator_input(first, **given).shape[1] - model.latent_dim
    ):
        size = f"{model.latent_dim} + {beside}"  # classes, codes, or noise for each pixel
    return {
        "z": Reading(size, f"{size} numbers", None if start == "z" else start),
        "G": network(generator, weighted(calls, name[id(generator)])),
        "made": Reading(of_shape(result), name=f"{end}*" if end != "x" else None),
        "D": network(discriminator, weighted(calls, name[id(discriminator)])),
        "x": Reading(of_shape(result), name=end if end != "x" else None),
    }


def of_autoencoder(model: Any) -> Readings:
    """An encoder, a code, a decoder; between them, where there is one, a posterior or a book of codes."""
    given = classes(model, model.encode, 1)
    shape = model.event_shape
    x = torch.zeros(1, *shape)
    if hasattr(model, "sample"):
        x = model.sample(1, generator=torch.Generator().manual_seed(0), **given)

    def go() -> None:
        if hasattr(model, "elbo"):
            model.elbo(x, **given)
        else:
            model.decode(model.encode(x))

    calls = watched(model, go)
    begin = next(i for i, c in enumerate(calls) if c.name.startswith("decoder"))
    own = weighted(calls, "encoder")
    layers = own or weighted(calls[:begin])  # of a ladder the encoder is a list of others
    results = {
        "x": Reading(of_shape(shape)),
        "encoder": network(model.encoder if own else nn.ModuleList([c.module for c in layers]), layers),
        "decoder": network(model.decoder, weighted(calls, "decoder")),
    }
    if isinstance(model, VQVAE):
        results["q"] = Reading(
            f"{model.codes} vectors",
            f"{model.codes} vectors of {model.code_dim} numbers",
            "codebook",
        )
        results["z"] = Reading(several(model.places, "code"), f"a grid of {of_shape(model.grid)} codes")
    else:
        K = model.latent_dim if isinstance(model, VAE) else model.hparams["latent_dim"]
        if isinstance(model, VAE):
            results["q"] = Reading(f"μ, σ: {K} each", f"{K} means μ and {K} deviations σ")
        results["z"] = Reading(str(K), f"{K} numbers")
    results["p"] = Reading(of_shape(shape), name=None if isinstance(model, VAE | VQVAE) else "x̂")
    return results


PREDICTED = {"eps": ("ε̂", "x̂₀"), "x0": ("x̂₀", "ε̂"), "v": ("v̂", "x̂₀"), "score": ("∇ log p", "x̂₀")}


def of_diffusion(model: Any) -> Readings:
    """The denoiser, whatever it predicts, and what follows from that in a step."""
    shape = tuple(getattr(model, "code_shape", model.event_shape))
    x, t = torch.zeros(1, *shape), torch.ones(1)

    def go() -> None:
        model.net(x, t) if len(shape) > 1 else model.net(x.flatten(1), t)

    calls = watched(model, go)
    size = of_shape(shape)
    unet = next((m for m in model.net.modules() if isinstance(m, UNet)), None)
    layers = weighted(calls, "net")
    net = network(model.net, layers, "U-Net" if unet else "network")
    if unet is not None:
        net = Reading(
            f"{several(len(unet.shrink) + 1, 'level')}, {count(parameters(model.net))}",
            f"{several(len(unet.shrink) + 1, 'level')}, {net.more}", "U-Net",
        )  # fmt: skip
    results = {"xt": Reading(size), "net": net}
    if isinstance(model, GaussianDiffusion):
        text, prediction = PREDICTED[model.target]
        results |= {
            "said": Reading(size, name=text),
            "x0": Reading(size, name=prediction),
            "next": Reading(size),
        }
    elif isinstance(model, ScoreModel):
        results |= {"said": Reading(size, name="∇ log p"), "next": Reading(size)}
    else:
        results |= {"said": Reading(size, name="velocity v"), "next": Reading(size, name="xₜ₊dₜ")}
    if isinstance(model, LatentDDPM):
        decoder = model.autoencoder.decoder
        held = watched(decoder, lambda: decoder(torch.zeros(1, *shape)))
        results["decoder"] = network(decoder, weighted(held))
    return results


def layers_of(layer: nn.Module) -> Iterator[FlowLayer]:
    """The layers of a stack, those of its levels and those turned around too."""
    inner: Sequence[Any] = ()
    if isinstance(layer, FlowStack):
        inner = list(layer.layers)
    elif isinstance(layer, MultiScale):
        inner = list(layer.levels)
    elif isinstance(layer, Inverse):
        inner = [layer.layer]
    elif isinstance(layer, FlowLayer):
        yield layer
    for each in inner:
        yield from layers_of(each)


def of_flow(model: Flow) -> Readings:
    """The kind of layer with most parameters, of those with a network; how often it stands there."""
    result = torch.zeros(1, model.context_features) if model.context_features else None
    x = model.sample(1, generator=torch.Generator().manual_seed(0), context=result)
    calls = watched(model, lambda: model.log_prob(x, result))
    layers = [layer for layer in layers_of(model.stack) if parameters(layer)]
    layers = [layer for layer in layers if conditioner(layer) is not None] or layers
    held: Counter[type] = Counter()
    for layer in layers:
        held[type(layer)] += parameters(layer)
    kind = held.most_common(1)[0][0]
    same = [layer for layer in layers if type(layer) is kind]
    word = spelled(kind.__name__)
    size = parameters(model.stack)
    results = {
        "z": Reading(str(model.event_dim), f"{model.event_dim} numbers"),
        "layer": Reading(
            f"{len(same)} × {word}" if len(same) > 1 else word,
            f"{several(len(same), 'layer')} of the kind {word}, {size:,} parameters in all",
        ),
        "x": Reading(of_shape(model.event_shape)),
        "density": Reading("1 number", f"one number for all {model.event_dim} of x"),
    }
    if (net := conditioner(same[0])) is not None:
        name = {id(module): name for name, module in model.named_modules()}
        inside = weighted(calls, name[id(net)]) or by_weights(net)
        own = {"Residual": "f", "Continuous": "field"}.get(kind.__name__)
        results["net"] = network(net, inside, own)
    return results


def conditioner(layer: FlowLayer) -> nn.Module | None:
    """The network inside a layer: its largest module that is no layer itself."""
    nets = [m for m in layer.children() if not isinstance(m, FlowLayer) and parameters(m)]
    return max(nets, key=parameters, default=None)


def by_weights(net: nn.Module) -> list[Call]:
    """The layers of a network that is asked by other ways than its forward pass, as if it had been called."""
    dense = [(name, m) for name, m in net.named_modules() if isinstance(m, nn.Linear)]
    return [Call(name, m, (1, m.in_features), (1, m.out_features)) for name, m in dense]


# what the boxes of a machine have no room for
ABBREVIATED = {"MaskedAutoregressive": "MAF", "InverseAutoregressive": "IAF"}


def spelled(name: str) -> str:
    """RecursiveCoupling as "recursive coupling"; an abbreviation as it is."""
    name = ABBREVIATED.get(name, name)
    words = "".join(f" {c}" if c.isupper() and not name.isupper() else c for c in name).split()
    return name if name.isupper() else " ".join(words).lower()


def of_transformer(model: Transformer) -> Readings:
    """The first block of its first stack stands for all."""
    blocks, heads = blocks_of(model)
    first = blocks[0]
    parts = [part for part in (first.mixer, first.cross) if part is not None]
    each = f"{several(len(blocks), 'block')} of {several(heads, 'head')}"
    size = sum(map(parameters, parts))
    results = {
        **tokens_of(model),
        "attention": Reading(
            f"{len(blocks)} × {several(heads, 'head')}", f"{each}, {size:,} parameters in the first block"
        ),
    }
    if isinstance(model, MixerTagger):  # a state in place of heads
        more = f"{several(len(blocks), 'block')}, {size:,} parameters in the first"
        results["attention"] = Reading(several(len(blocks), "block"), more, "SSM")
    mlp = first.feedforward
    if isinstance(mlp, FeedForward | GatedFeedForward):
        results["mlp"] = network(mlp, by_weights(mlp))
    elif isinstance(mlp, Experts):
        size = parameters(mlp)
        results["mlp"] = Reading(
            f"{mlp.active} of {mlp.experts}", f"{mlp.experts} experts, {size:,} parameters", "experts"
        )
    if isinstance(model, PatchClassifier | FineTuned | MixerTagger):
        answers = model.head.out_features
    else:
        answers = embedding_of(model).num_embeddings
    results["logits"] = Reading(str(answers), f"{parameters(model):,} parameters in the whole model")
    return results


def blocks_of(model: Transformer) -> tuple[list[Block], int]:
    """Blocks in the order in which they run, and the heads of the first."""
    if isinstance(model, Swin | DaViT):
        mixer = cast(Block, model.blocks[0]).mixer
        attention = mixer.attention if isinstance(mixer, WindowAttention) else mixer
        return [cast(Block, block) for block in model.blocks], cast(Attention, attention).heads
    if isinstance(model, MixerTagger):
        return [cast(Block, block) for block in model.blocks], 1
    if isinstance(model, Translator):
        stacks = [model.encoder, model.decoder]
    else:
        stacks = [model.encoder.stack if isinstance(model, BERT | FineTuned) else model.stack]
    return [cast(Block, block) for stack in stacks for block in stack.blocks], stacks[0].heads


def embedding_of(model: GPT | ImageGPT | Translator | BERT | FineTuned | MixerTagger) -> nn.Embedding:
    """The table of its tokens."""
    return model.encoder.embedding if isinstance(model, BERT | FineTuned) else model.embedding


def tokens_of(model: Transformer) -> Readings:
    """What is read, and how it becomes vectors."""
    if isinstance(model, PatchClassifier):
        (C, height, width), (rows, columns), P = model.image_shape, model.grid, model.patch
        said = f"{rows * columns} patches of {P} × {P} pixels of a picture {height} × {width}"
        width = model.embedding.out_channels
        return {
            "tokens": Reading(str(rows * columns), said, "patches"),
            "embedding": Reading(f"{C * P * P}→{width}", f"a matrix from each patch to {width} numbers"),
        }
    V, C = embedding_of(model).weight.shape
    embedded = Reading(f"{V}→{C}", f"{V} tokens, {C} numbers each")
    if isinstance(model, MixerTagger):
        return {"tokens": Reading("any number", "as many as there are"), "embedding": embedded}
    if isinstance(model, BERT | FineTuned):
        most = len(model.encoder.positions.table)
    elif isinstance(model, ImageGPT):
        most = model.n
    else:
        most = model.length if isinstance(model, Translator) else model.context
    return {
        "tokens": Reading(f"≤ {most}", f"up to {most} at once"),
        "embedding": embedded,
    }


def of_recurrent(model: Any) -> Readings:
    """What is read, the cell that reads it, what is predicted; of a translator encoder and context too."""
    if isinstance(model, Captioner):
        return of_captioner(model)
    results = {}
    if isinstance(model, SequenceClassifier):
        results["x"] = Reading(of_shape(model.image_shape))
    else:
        first = getattr(model, "source_embedding", None) or model.embedding  # tied: one for both
        V, D = first.weight.shape
        results["x"] = Reading(str(V), f"one of a vocabulary of {V} in each step", "tokens")
        results["embedding"] = Reading(f"{V}→{D}", f"{V} tokens, {D} numbers each")
    if isinstance(model, Seq2Seq):
        results["encoder"] = cells(model.encoder)
        results["context"] = Reading(str(model.context.width), f"{model.context.width} numbers in each step")
    results["cell"] = cells(model.decoder if isinstance(model, Seq2Seq) else model.recurrent)
    K = model.embedding.num_embeddings if isinstance(model, Seq2Seq) else model.head.out_features
    results["logits"] = Reading(str(K), f"{parameters(model):,} parameters in the whole model")
    return results


def of_captioner(model: Captioner) -> Readings:
    """The picture, its locations, the vector that is read of them, the LSTM that writes."""
    encoder, decoder = model.encoder, model.decoder
    (L, D), hidden = (math.prod(encoder.grid), encoder.width), decoder.cell.hidden
    size = f"{hidden} numbers in a state, {parameters(decoder.cell):,} parameters"
    return {
        "x": Reading(of_shape(encoder.image_shape), "a picture", "picture"),
        "encoder": Reading(f"{L} × {D}", f"convolution: {L} locations, {D} numbers each"),
        "context": Reading(str(D), f"{D} numbers in each step"),
        "cell": Reading(f"LSTM {hidden}", size),
        "logits": Reading(
            str(decoder.head.out_features), f"{parameters(model):,} parameters in the whole model"
        ),
    }


def cells(network: Recurrent) -> Reading:
    """2 × LSTM 64, 2 ways: layers, kind, size of the state of each layer and direction."""
    kind = next(name for name, cls in CELLS.items() if isinstance(network.cells[0], cls)).upper()
    short = f"{network.layers} × {kind}" if network.layers > 1 else kind
    ways = ", 2 ways" if network.bidirectional else ""
    size = f"{network.hidden} numbers in a state, {parameters(network):,} parameters"
    return Reading(f"{short} {network.hidden}{ways}", f"{several(network.layers, 'layer')}, {size}")


def of_graph(model: GCN | GAT) -> Readings:
    """All layers are one formula; they differ in their widths."""
    first = model.layers[0].weight.shape[1]  # type: ignore[union-attr,index]
    edges = torch.tensor([[0, 1], [1, 0]])
    calls = [
        c for c in watched(model, lambda: model(torch.zeros(2, int(first)), edges))
        if isinstance(c.module, GraphConvolution | GraphAttention | MixHopConvolution)
    ]  # fmt: skip
    widths = [calls[0].takes[-1], *(c.gives[-1] for c in calls)]
    path = "→".join(map(str, widths))
    hidden = "→".join(map(str, widths[1:-1])) or "none"
    layers = several(len(calls), "layer")
    weights = model.propagation if isinstance(model, GCN) else "attention"
    results = {
        "h": Reading(str(widths[0]), f"{widths[0]} numbers per node"),
        "message": Reading(path if len(path) <= LONGEST else f"{layers}, {count(parameters(model))}",
                           f"{path}, {layers}, {parameters(model):,} parameters"),
        "sum": Reading(weights, f"with the weights “{weights}”"),
        "logits": Reading(str(widths[-1])),
    }  # fmt: skip
    if len(calls) > 1:
        results["update"] = Reading(hidden, f"{hidden} numbers per node")
    return results


GRIDS = (nn.Conv1d, nn.Conv2d)
POOLS = (nn.MaxPool1d, nn.MaxPool2d)


def of_convolution(model: Any) -> Readings:
    """Convolutions, then dense layers; a network may have one kind alone."""
    shape = tuple(model.hparams["image_shape"])
    calls = watched(model, lambda: model.predict(torch.zeros(1, *shape)))
    grids = [i for i, c in enumerate(calls) if isinstance(c.module, GRIDS)]
    dense = [c for c in calls[grids[-1] if grids else 0 :] if isinstance(c.module, nn.Linear) and c.gives]
    results = {"x": Reading(of_shape(shape))}
    if grids:
        used = [calls[i] for i in grids]
        kernel = of_block(used[0].module.kernel_size)  # type: ignore[arg-type]
        size = sum(parameters(c.module) for c in used)
        results["convolution"] = Reading(
            f"{several(len(used), 'layer')}, {kernel}",
            f"{several(len(used), 'layer')} of kernels {kernel}, {size:,} parameters",
        )
        results["maps"] = Reading(of_shape(used[-1].gives[1:]))
        pools = [c for c in calls if isinstance(c.module, POOLS)]
        if pools:
            block: Any = pools[0].module.kernel_size
            block = of_block(block if isinstance(block, tuple) else (block,) * (len(pools[0].gives) - 2))
            results["pool"] = Reading(f"{several(len(pools), 'layer')}, {block}", f"of blocks {block}")
    if dense:  # what classifies every pixel has none
        dense = [c for c in dense if c.name.split(".")[0] == dense[-1].name.split(".")[0]]
        results["dense"] = network(nn.ModuleList([c.module for c in dense]), dense)
    whole = f"{parameters(model):,} parameters in the whole model"
    results["logits"] = Reading(of_shape((dense or calls)[-1].gives[1:]), whole)
    return results


def of_block(sides: Sequence[int]) -> str:
    """5×5; of a signal's K = 5."""
    return of_shape(sides) if len(sides) > 1 else f"K = {sides[0]}"


READERS: dict[str, Callable[[Any], Readings]] = {
    "gan": of_gan,
    "vae": of_autoencoder,
    "diffusion": of_diffusion,
    "flow": of_flow,
    "transformer": of_transformer,
    "recurrent": of_recurrent,
    "message passing": of_graph,
    "convolution": of_convolution,
}
