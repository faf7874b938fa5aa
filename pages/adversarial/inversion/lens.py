"""Search for the code of a StyleGAN that makes the reader's picture, in Z, W or W+; and what an edit makes
of it.

Pictures are made without noise. A code of Z starts at the draw of a seed, one of W or W+ at the mean style;
the encoder is linear, fitted to 2,000 draws.

Shapes: x (S, S), codes (1, K), of W+ (1, L, K), pictures (..., S, S).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import torch
from torch import Tensor

from lab.lenses import latent
from modules.adversarial import inversion
from modules.adversarial.stylegan import StyleGAN
from pages.adversarial.inversion.room import INK, SLANT

Space = Literal["Z", "W", "W+"]
STEPS, TUNED, EVERY = 80, 40, 4  # of the search, of the tuning; a frame each so many
RATE, TUNE_RATE = 0.1, 3e-3
FITTED, KEPT = 2000, 16  # draws for encoder and direction; codes whose pictures should stay
EDITS = [-1.0, -0.5, 0.0, 0.5, 1.0]  # standard deviations of the quantity


@dataclass(frozen=True)
class Step:
    """One frame: the error, the picture (S, S), and whether the generator was tuned."""

    number: int
    error: float
    picture: Tensor
    tuned: bool


@dataclass(frozen=True)
class Search:
    """The frames, the code that was found, and the network that makes its picture."""

    x: Tensor
    steps: list[Step]
    code: Tensor
    network: Any
    moved: float  # mean squared change of other pictures by the tuning


@dataclass(frozen=True)
class Draws:
    """Codes z, w (n, K) and their pictures (n, 1, S, S)."""

    z: Tensor
    w: Tensor
    pictures: Tensor

    def codes(self, space: Space) -> Tensor:
        """Codes of W+ with one style for all layers."""
        return self.z if space == "Z" else self.w


@torch.no_grad()
def draws(model: StyleGAN, n: int, seed: int) -> Draws:
    """n codes and what is made of them."""
    z = model.noise(n, torch.Generator().manual_seed(seed))[:, : model.latent_dim]
    w = model.styles(z)
    return Draws(z, w[:, 0], model.pictures(w))


@lru_cache(maxsize=1)  # the same for every search and every edit
def fitted(model: StyleGAN) -> Draws:
    """Pictures that the encoder and the directions are fitted to."""
    return draws(model, FITTED, 7)


def run(model: StyleGAN, space: Space) -> Callable[[Any, Tensor], Tensor]:
    """A generator network and codes -> pictures in [0, 1]."""
    count = len(model.generator.layers)

    def make(network: Any, code: Tensor) -> Tensor:
        code = network.mapping(code) if space == "Z" else code
        styles = code if space == "W+" else code[:, None].expand(-1, count, -1)
        return model.postprocess(network.synthesise(styles, code.new_zeros(len(code), model.noise_dim)))

    return make


@torch.no_grad()
def start(model: StyleGAN, space: Space, x: Tensor, encoder: bool, seed: int) -> Tensor:
    """The code (1, ...) that the search starts at."""
    if encoder:
        drawn = fitted(model)
        code = inversion.LinearEncoder(drawn.pictures, drawn.codes(space))(x[None, None])
    elif space == "Z":
        code = model.noise(1, torch.Generator().manual_seed(seed))[:, : model.latent_dim]
    else:
        code = model.mean_style()[None]
    return code[:, None].expand(-1, len(model.generator.layers), -1).clone() if space == "W+" else code


def searching(
    model: StyleGAN, space: Space, x: Tensor, encoder: bool, seed: int, tune: bool
) -> Iterator[tuple[float, Search]]:
    """The share done, and the search so far."""
    make, network, target = run(model, space), model.network, x[None, None]
    total, steps = STEPS + TUNED * tune, list[Step]()
    begin = start(model, space, x, encoder, seed)
    for result in inversion.invert(lambda c: make(network, c), target, begin, STEPS, RATE):
        if result.step % EVERY == 0:
            steps.append(Step(result.step, float(result.error), result.picture[0, 0], False))
            yield result.step / total, Search(x, list(steps), result.code, network, 0.0)
    if not tune:
        return
    code, others = result.code, draws(model, KEPT, 11).w
    others = others[:, None].expand(-1, len(model.generator.layers), -1)

    def both(net: Any, given: Tensor) -> Tensor:  # the pivot in its own space, the others as styles
        return make(net, given) if given is code else run(model, "W+")(net, given)

    tuning = inversion.tune(network, both, target, code, others, TUNED, TUNE_RATE)
    for i, (net, error, moved) in enumerate(tuning):
        if i and i % EVERY == 0:
            with torch.no_grad():
                picture = make(net, code)[0, 0]
            steps.append(Step(STEPS + i, error, picture, True))
            yield (STEPS + i) / total, Search(x, list(steps), code, net, moved)


def search(model: StyleGAN, space: Space, x: Tensor, encoder: bool, seed: int, tune: bool = False) -> Search:
    """The whole search."""
    *_, (_, result) = searching(model, space, x, encoder, seed, tune)
    return result


# --- Edits ----------------------------------------------------------------------------------------


def slant(pictures: Tensor) -> Tensor:
    """Slant of ink to the right per row upwards, (N,): the slope of columns on rows, by its moments."""
    side = pictures.shape[-1]
    ink = pictures.reshape(-1, side, side)
    ink = ink / ink.sum((1, 2), keepdim=True).clamp(min=1e-9)
    place = torch.arange(side, dtype=ink.dtype)
    up, right = -place[:, None], place[None]
    mean_up, mean_right = ((ink * p).sum((1, 2)) for p in (up, right))
    both = (ink * up * right).sum((1, 2)) - mean_up * mean_right
    return both / ((ink * up**2).sum((1, 2)) - mean_up**2).clamp(min=1e-9)


def amount(pictures: Tensor) -> Tensor:
    """Mean ink, (N,)."""
    return pictures.flatten(1).mean(1)


QUANTITIES: dict[str, Callable[[Tensor], Tensor]] = {INK: amount, SLANT: slant}


@torch.no_grad()
def direction(model: StyleGAN, space: Space, edit: str) -> Tensor:
    """A step of codes (K,) for one standard deviation of a quantity."""
    drawn = fitted(model)
    values = QUANTITIES[edit](drawn.pictures)
    return inversion.code_direction(drawn.codes(space), values) * values.std()


@torch.no_grad()
def edited(model: StyleGAN, space: Space, search: Search, edit: str, step: Tensor) -> tuple[Tensor, Tensor]:
    """Pictures (len(EDITS), S, S) along the `direction` of a quantity; and what is measured of each."""
    moved = torch.cat([search.code + s * step for s in EDITS])
    result = run(model, space)(search.network, moved)
    return result[:, 0], QUANTITIES[edit](result)


# --- Targets --------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
@torch.no_grad()
def targets(model: StyleGAN, painter: Any, reader: Any) -> list[tuple[str, Tensor]]:
    """Pictures (S, S) to look for: two that the model makes, digits of another model, and no digits."""
    side = model.event_shape[-1]
    own = draws(model, 2, 0).pictures[:, 0].flip(0)
    drawn, labels = latent.drawn_digits(painter, reader, 60)
    small = latent.as_input(model, drawn)[:, 0]
    chosen = [(str(c), small[labels == c][0]) for c in (3, 5, 8)]
    line = (torch.arange(side) * 2 + 1) / side - 1
    ring = torch.zeros(side, side)
    ring[2:14, 2:14] = 1.0
    ring[4:12, 4:12] = 0.0
    cross = ((line[:, None].abs() - line[None].abs()).abs() < 0.16).float()
    return [("made", own[0]), ("made too", own[1]), *chosen, ("box", ring), ("cross", cross)]


def views(search: Search) -> Tensor:
    """Target, what is made, and how far apart they are, of every frame: (frames, 3, S, S)."""
    result = torch.stack([s.picture for s in search.steps])
    return torch.stack([search.x.expand_as(result), result, (result - search.x).abs()], 1)
