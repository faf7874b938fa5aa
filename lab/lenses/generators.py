"""The films of Home: six trained models at work, each cheap enough to be computed before a reader comes.

A film has MOMENTS moments, over which its states are spread evenly; at each of them a link leads to the page
that explains the model and shows the same.

Shapes: `F` states, `S` side of a picture, `L` layers, `H` heads, `T` tokens.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from lab.lenses import attention, flow_paths, latent, sampling
from lab.lenses import text as texts
from lab.lenses.precision import double

MOMENTS, POSTER = 121, 75  # and the moment that is shown at rest
REACH, EDGE = 3.6, 5.0  # of the plane: what is shown of it, and what is kept, each way
SHORTS = 6000  # to a unit of that plane, in two bytes
GRID, EXTENT = 9, 2.8  # digits each way over the latent plane, and where the last of them stands
RADIUS, START = 1.5, math.radians(-138)  # of the walk round its middle
TEXT = "First Citizen:\nSpeak.\n\nFirst Cit"  # the second name is looked up in the first
HEAD = "4,3"  # that does so
PROMPT, HEAT, FIRST = "ROMEO:\n", 0.6, 0  # the temperature, and the seed
STEPS, SEED, DIGIT = 40, 8, 5  # of the denoising
DRAWS = (61, 41, 37, 8, 61)  # seeds of the GAN's z, one after the other: a 9, an 8, a 3, a 2
WAY = 11  # pictures of a walk on the page of the GAN


@dataclass(frozen=True)
class Reel:
    """A model at work.

    Attributes:
        shows: name -> what is seen, by state; what has one state stands still.
        links: what the link to the page says at each moment.
    """

    shows: Mapping[str, Any]
    links: list[dict[str, str]]


@dataclass(frozen=True)
class Living:
    """One of the six: a trained model, the page that explains it, and its film by the model and its card."""

    model: str
    page: str
    reel: Callable[[Any, Mapping[str, Any]], Reel]


def state(moment: int, states: int) -> int:
    """The state that is seen at a moment."""
    return moment * (states - 1) // (MOMENTS - 1)


def greys(pictures: Tensor) -> Tensor:
    """Pictures in [0, 1] as bytes."""
    return (255 * pictures.clamp(0, 1)).round().to(torch.uint8)


@torch.no_grad()
def denoised(model: Any, card: Mapping[str, Any]) -> Reel:
    """x_t of one digit at every step of DDIM, (F, S, S)."""
    generator = torch.Generator().manual_seed(SEED)
    x, y = model.start(1, generator), model.classes(1, DIGIT)
    moments = [moment.x for moment in model.trajectory(x, y=y, generator=generator, steps=STEPS)]
    link = {"model": "ddpm-mnist", "digit": str(DIGIT), "seed": str(SEED)}
    return Reel(
        {"pictures": greys(model.postprocess(torch.cat(moments))[:, 0])},
        [{**link, "step": str(state(m, len(moments)))} for m in range(MOMENTS)],
    )


@torch.no_grad()
def generated(model: Any, card: Mapping[str, Any]) -> Reel:
    """Pictures that the generator makes of the arcs from draw to draw of z, (F, S, S)."""
    z = [model.noise(1, torch.Generator().manual_seed(seed))[0] for seed in DRAWS]
    count = (MOMENTS - 1) // (len(DRAWS) - 1)  # moments from a draw to the next
    t = torch.arange(count) / count
    arcs = [latent.slerp(a, b, t) for a, b in pairwise(z)]
    links = []
    for moment in range(MOMENTS):
        way = min(moment // count, len(arcs) - 1)
        step = round((moment - way * count) * (WAY - 1) / count)
        links.append({"a": str(DRAWS[way]), "b": str(DRAWS[way + 1]), "step": str(step)})
    return Reel({"pictures": greys(latent.decoded(model, torch.cat([*arcs, z[-1][None]])))}, links)


def bent(model: Any, card: Mapping[str, Any]) -> Reel:
    """A grid (L + 1, lines, DOTS, 2) and a cloud (L + 1, N, 2) after each layer, in 1 / SHORTS."""
    exact = double(model)
    grid, cloud = (flow_paths.path(exact, z) for z in (flow_paths.grid_lines(), flow_paths.cloud()))
    lines = grid.unflatten(1, (-1, flow_paths.DOTS + 1))[:, :, :-1]  # without the gaps
    shows = {
        name: (SHORTS * places.clamp(-EDGE, EDGE)).round().to(torch.int16)
        for name, places in (("lines", lines), ("dots", cloud))
    }
    near = [math.floor(m * (len(grid) - 1) / (MOMENTS - 1) + 0.5) for m in range(MOMENTS)]
    return Reel(shows, [{"layer": str(layer)} for layer in near])


@torch.no_grad()
def toured(model: Any, card: Mapping[str, Any]) -> Reel:
    """The decoder's digits over the latent plane (1, GRID · S, GRID · S), and those (F, S, S) on a walk round
    its middle, with their places (F, 2) on that sheet, whose side is 1, from its middle."""
    turn = START + 2 * math.pi * torch.arange(MOMENTS) / (MOMENTS - 1)
    places = RADIUS * torch.stack([turn.cos(), turn.sin()], 1)
    places = torch.round(places, decimals=3)
    sheet = latent.decoded(model, latent.lattice(EXTENT, GRID))
    return Reel(
        {
            "sheet": greys(sheet.transpose(1, 2).flatten(2).flatten(0, 1))[None],
            "places": places / (2 * EXTENT * GRID / (GRID - 1)),
            "pictures": greys(latent.decoded(model, places)),
        },
        [{"z": f"{u:g},{v:g}"} for u, v in places.tolist()],
    )


def written(model: Any, card: Mapping[str, Any]) -> Reel:
    """The characters of a text that goes on, the first of them given."""
    coder = texts.tokenizer(card)
    prompt, length = torch.tensor(coder.encode(PROMPT)), MOMENTS - 1
    trace = sampling.trace(model, coder, prompt, length, temperature=HEAT, seed=FIRST)
    pieces = [coder.tokens[i] for i in trace.result[0].tolist()]
    link = {"prompt": PROMPT, "t": f"{HEAT:g}", "length": str(length), "seed": str(FIRST)}
    return Reel(
        {"pieces": pieces, "given": len(prompt)},
        [{**link, "step": str(max(0, m - 1))} for m in range(MOMENTS)],
    )


def attended(model: Any, card: Mapping[str, Any]) -> Reel:
    """The attention weights of all heads over one text, their square roots as bytes (L, H, T, T)."""
    tokens = torch.tensor(texts.tokenizer(card).encode(TEXT))
    weights = attention.record(model, tokens).weights
    link = {"text": TEXT, "head": HEAD}
    return Reel(
        {"maps": greys(weights.sqrt())},
        [{**link, "query": str(state(m, len(tokens)))} for m in range(MOMENTS)],
    )


SIX = {
    "diffusion": Living("ddpm-mnist", "diffusion-denoise-digit", denoised),
    "gan": Living("dcgan-mnist", "adversarial-latent-pad", generated),
    "flow": Living("realnvp-moons", "flow-flow-bench", bent),
    "vae": Living("vae2d-mnist", "latent-latent-space", toured),
    "text": Living("gpt-shakespeare", "transformer-sampling", written),
    "attention": Living("gpt-shakespeare", "transformer-attention", attended),
}
