"""Eight machines, each declared once: what a model is made of, and which page explains each part.

A machine stands in a row and is read along its arrows; its sizes come from the model that is shown
(`lab.lenses.machine`), and a part that this model lacks is left out. A part that is repeated stands once, and
says which of them works ("2 of 4").
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

Role = Literal["input", "hidden", "output", "attention"]


@dataclass(frozen=True)
class Part:
    """
    Attributes:
        name: the field's word or letter for it.
        says: what it does, in one sentence; with every symbol of the name explained.
        page: the address of the page that explains it.
        role: its colour in the one visual grammar.
    """

    name: str
    says: str
    page: str
    role: Role = "hidden"


@dataclass(frozen=True)
class Machine:
    """
    Attributes:
        title: what the field calls it.
        parts: by their keys, in the order in which they stand.
        back: what the part before it is told by; all others tell the part after them.
    """

    title: str
    parts: Mapping[str, Part]
    back: frozenset[str]

    def arrows(self, present: Collection[str]) -> list[tuple[str, str]]:
        """From which part to which, neighbours in the row of those that a model has."""
        row = [key for key in self.parts if key in present]
        return [(b, a) if b in self.back else (a, b) for a, b in pairwise(row)]


def row(title: str, *, back: Collection[str] = (), **parts: Part) -> Machine:
    """A machine, its parts by their keys."""
    return Machine(title, MappingProxyType(parts), frozenset(back))


GAN = row(
    "Generative adversarial network",
    back=("x",),
    z=Part("z", "Noise: K numbers drawn from a simple distribution, from which one example is made.",
           "adversarial-latent-pad", "input"),
    G=Part("G", "The generator makes an example x* of its input; it learns to be taken for the data by D.",
           "adversarial-dcgan"),
    made=Part("x*", "A made example, x* = G(z); all of them together should be distributed as the data.",
              "adversarial-divergences", "output"),
    D=Part("D", "The discriminator answers how real an example looks; it learns to tell x from x*.",
           "adversarial-optimal-discriminator"),
    x=Part("x", "An example of the data, which D sees beside generated ones.", "adversarial-judge", "input"),
)  # fmt: skip

VAE = row(
    "Variational autoencoder",
    x=Part("x", "An example of the data.", "latent-bound", "input"),
    encoder=Part("encoder", "Answers every x with the mean μ and the deviation σ of a guess at its code.",
                 "latent-amortisation"),
    q=Part("q(z|x)", "The approximate posterior N(μ, σ²): where among codes the z of this x may be.",
           "latent-prior-posterior"),
    z=Part("z", "The code, drawn as z = μ + σε with ε ~ N(0, 1); without any x it comes from the prior p(z).",
           "latent-latent-space", "input"),
    decoder=Part("decoder", "Turns a code z into the parameters of a distribution of x.", "latent-traversal"),
    p=Part("p(x|z)", "The likelihood: the distribution of x given its code z, whose mean is what is drawn.",
           "latent-live-vae", "output"),
)  # fmt: skip

DIFFUSION = row(
    "Diffusion model",
    xt=Part("xₜ", "The data under the noise of time t: all noise at t = T, none at t = 0.",
            "diffusion-noising", "input"),
    net=Part("denoiser", "Sees xₜ and the time t, and predicts the noise in it, or what tells as much.",
             "diffusion-unet-inside"),
    said=Part("ε̂", "The predicted noise ε̂: xₜ is made of the data and of noise ε.",
              "diffusion-four-views", "output"),
    x0=Part("x̂₀", "The data that ε̂ implies: (xₜ − √(1−ᾱ) ε̂) / √ᾱ, with ᾱ from the schedule.",
               "diffusion-posterior", "output"),
    next=Part("xₜ₋₁", "The step before, a mixture of x̂₀ and xₜ; it goes in as the next xₜ until t = 0.",
              "diffusion-reverse", "input"),
    decoder=Part("decoder", "Turns the code that is left at t = 0 into a picture, once.",
                 "diffusion-latent-diffusion"),
)  # fmt: skip

FLOW = row(
    "Normalizing flow",
    z=Part("z", "A draw of the base, N(0, I), of as many numbers as x has.",
           "flow-change-of-variables", "input"),
    net=Part("conditioner", "A network that reads a part of the input, and says how the rest is changed.",
             "flow-coupling"),
    layer=Part("layer", "One of the invertible maps f₁, f₂, … that lead from z to x, one after the other.",
               "flow-flow-bench"),
    x=Part("x", "An example; the inverse of all layers leads from it back to its z.",
           "flow-live-flow", "output"),
    density=Part("log p(x)", "The exact density: log p(z) − Σ log |det J|, J the Jacobians of the layers.",
                 "flow-log-det", "output"),
)  # fmt: skip

TRANSFORMER = row(
    "Transformer",
    tokens=Part("tokens", "The text, cut into pieces of a vocabulary; the model sees so many at once.",
                "language-tokenizer-workbench", "input"),
    embedding=Part("embedding",
                   "A vector for each token and place: the residual stream, to which blocks add.",
                   "language-word-vectors", "input"),
    attention=Part("attention", "Every token asks with a query q; earlier ones answer with keys k, and "
                   "hand over values v.", "transformer-attention", "attention"),
    mlp=Part("MLP", "Two dense layers, the same for every token alone; with attention before it, one block.",
             "transformer-attention"),
    logits=Part("logits", "A score for every token; their softmax is the distribution of the next one.",
                "transformer-sampling", "output"),
)  # fmt: skip

RECURRENT = row(
    "Recurrent network",
    x=Part("x", "The input, read step by step: the tokens of a text, or the values of a signal.",
           "recurrent-recurrence", "input"),
    embedding=Part("embedding", "A vector for each token, which the cell reads.", "language-word-vectors",
                   "input"),
    encoder=Part("encoder", "Reads the source; its state at each source token is z.",
                 "recurrent-encoder-decoder"),
    context=Part("context c", "What the decoder is told of the source: one vector, or an average of all z.",
                 "recurrent-translation", "attention"),
    cell=Part("cell", "Makes the next state of the input and the last one; the same weights in each step.",
              "recurrent-recurrence"),
    logits=Part("logits", "A score for each token or class; their softmax is the predicted distribution.",
                "recurrent-tagging", "output"),
)  # fmt: skip

MESSAGES = row(
    "Message passing",
    h=Part("h", "The features of each node, D numbers.", "graph-messages", "input"),
    message=Part("message Ωh", "What a node sends along its edges: the same matrix Ω times its features h.",
                 "graph-messages"),
    sum=Part("aggregate", "Every node adds up what its neighbours and it itself send, by the weights of "
             "the edges.", "graph-messages"),
    update=Part("update", "The new features h′: the sum and a bias, cut off below 0 (ReLU); the next layer "
                "begins with them.", "graph-messages"),
    logits=Part("logits", "A score for each class of a node; their softmax is the distribution of its class.",
                "graph-messages", "output"),
)  # fmt: skip

CONVOLUTION = row(
    "Convolutional network",
    x=Part("x", "The input: channels of a picture or a signal.", "convolution-kernel", "input"),
    convolution=Part("convolution", "Small kernels slide over the grid, the same weights everywhere.",
                     "convolution-kernel"),
    pool=Part("pooling", "Keeps the largest of each small block, so that the grid gets coarser.",
              "convolution-own-stack"),
    maps=Part("features", "What the kernels have found and where: channels on a coarse grid.",
              "convolution-receptive-field"),
    dense=Part("dense", "Every output has a weight for every number before it.", "convolution-kernel"),
    logits=Part("logits", "A score for each class; their softmax is the predicted distribution.",
                "convolution-receptive-field", "output"),
)  # fmt: skip

MACHINES: Mapping[str, Machine] = MappingProxyType(
    {
        "gan": GAN,
        "vae": VAE,
        "diffusion": DIFFUSION,
        "flow": FLOW,
        "transformer": TRANSFORMER,
        "recurrent": RECURRENT,
        "message passing": MESSAGES,
        "convolution": CONVOLUTION,
    }
)
