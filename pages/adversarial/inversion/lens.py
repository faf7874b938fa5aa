"""Which code of a StyleGAN makes the reader's picture, in Z, W or W+; and what an edit makes of it.

Pictures are made without noise. A code of Z starts at the draw of a seed, one of W or W+ at the mean style;
the encoder is linear, fitted to 2,000 draws.

Shapes: x (1, 1, S, S), codes (1, K), of W+ (1, L, K), pictures (..., S, S).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from lab.lenses import latent
from modules.adversarial import inversion
from modules.adversarial.stylegan import StyleGAN

NAME, PAINTER, READER = "stylegan-mnist", "made-mnist", "cnn-mnist"
Space = Literal["Z", "W", "W+"]
SIDE = 16  # pixels
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
        """Of W+ one style for all layers."""
        return self.z if space == "Z" else self.w


@torch.no_grad()
def draws(model: StyleGAN, n: int = FITTED, seed: int = 7) -> Draws:
    """What the encoder and the directions are fitted to."""
    z = model.noise(n, torch.Generator().manual_seed(seed))[:, : model.latent_dim]
    w = model.styles(z)
    return Draws(z, w[:, 0], model.pictures(w))


def run(model: StyleGAN, space: Space) -> Callable[[Any, Tensor], Tensor]:
    """A generator network and codes -> pictures in [0, 1]."""
    count = len(model.generator.layers)

    def make(network: Any, code: Tensor) -> Tensor:
        code = network.mapping(code) if space == "Z" else code
        styles = code if space == "W+" else code[:, None].expand(-1, count, -1)
        return model.shown(network.synthesise(styles, code.new_zeros(len(code), model.noise_dim)))

    return make


@torch.no_grad()
def start(
    model: StyleGAN, space: Space, x: Tensor, encoded: bool, seed: int, drawn: Draws | None = None
) -> Tensor:
    """The code (1, ...) that the search starts at; `drawn` are `draws` where they are known."""
    if encoded:
        drawn = drawn or draws(model)
        code = inversion.LinearEncoder(drawn.pictures, drawn.codes(space))(x)
    elif space == "Z":
        code = model.noise(1, torch.Generator().manual_seed(seed))[:, : model.latent_dim]
    else:
        code = model.mean_style()[None]
    return code[:, None].expand(-1, len(model.generator.layers), -1).clone() if space == "W+" else code


def searching(
    model: StyleGAN, space: Space, x: Tensor, encoded: bool, tuned: bool, seed: int,
    drawn: Draws | None = None,
) -> Iterator[tuple[float, Search]]:  # fmt: skip
    """The share done, and the search so far: x (1, 1, S, S)."""
    make, network = run(model, space), model.network
    total, steps = STEPS + TUNED * tuned, []
    begin = start(model, space, x, encoded, seed, drawn)
    for found in inversion.invert(lambda c: make(network, c), x, begin, STEPS, RATE):
        if found.step % EVERY == 0:
            steps.append(Step(found.step, float(found.error), found.picture[0, 0], False))
            yield found.step / total, Search(list(steps), found.code, network, 0.0)
    if not tuned:
        return
    code, others = found.code, draws(model, KEPT, 11).w
    others = others[:, None].expand(-1, len(model.generator.layers), -1)

    def both(net: Any, given: Tensor) -> Tensor:  # the pivot in its own space, the others as styles
        return make(net, given) if given is code else run(model, "W+")(net, given)

    for i, (net, error, moved) in enumerate(
        inversion.tune(network, both, x, code, others, TUNED, TUNE_RATE), 0
    ):
        if i and i % EVERY == 0:
            with torch.no_grad():
                picture = make(net, code)[0, 0]
            steps.append(Step(STEPS + i, error, picture, True))
            yield (STEPS + i) / total, Search(list(steps), code, net, moved)


def found(
    model: StyleGAN, space: Space, x: Tensor, encoded: bool, tuned: bool, seed: int,
    drawn: Draws | None = None,
) -> Search:  # fmt: skip
    """The whole search."""
    *_, (_, search) = searching(model, space, x, encoded, tuned, seed, drawn)
    return search


# --- Edits ----------------------------------------------------------------------------------------


def slant(pictures: Tensor) -> Tensor:
    """How far ink leans to the right per row upwards, (N,): the slope of columns on rows, by its moments."""
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


QUANTITIES: dict[str, Callable[[Tensor], Tensor]] = {"ink": amount, "slant": slant}


@torch.no_grad()
def direction(drawn: Draws, space: Space, quantity: str) -> Tensor:
    """A step of codes (K,) for one standard deviation of a quantity."""
    values = QUANTITIES[quantity](drawn.pictures)
    return inversion.direction(drawn.codes(space), values) * values.std()


@torch.no_grad()
def edited(
    model: StyleGAN, space: Space, search: Search, quantity: str, step: Tensor
) -> tuple[Tensor, Tensor]:
    """Pictures (len(EDITS), S, S) along the `direction` of a quantity; and what is measured of each."""
    moved = torch.cat([search.code + s * step for s in EDITS])
    made = run(model, space)(search.network, moved)
    return made[:, 0], QUANTITIES[quantity](made)


# --- Targets --------------------------------------------------------------------------------------


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


def views(x: Tensor, steps: Sequence[Step]) -> Tensor:
    """Target, what is made, and how far apart they are, of every frame: (frames, 3, S, S)."""
    made = pictures_of(steps)
    return torch.stack([x.expand_as(made), made, (made - x).abs()], 1)


def pictures_of(steps: Sequence[Step]) -> Tensor:
    """(frames, S, S)."""
    return torch.stack([s.picture for s in steps])
