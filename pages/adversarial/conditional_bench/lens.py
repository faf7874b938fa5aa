r"""Rows of classes, columns of noise: what is made on demand, named by a network that took no part in it.

    conditional    row y, column z:  g(z, (1 − m) e_y + m e_t), mixed by a share m with the class t
    InfoGAN        row c₁, column z: g(z, c₁, c₂, c₃), a number turned from −1 to 1; no class was ever seen,
                   so each code is given the class that fits it best, one to one

obeyed    share of pictures named as asked
variety   mean deviation of a pixel within a class, beside that of real digits
slant     −Σ ink·dx·dy / Σ ink·dy² about a picture's centre, columns to the right a row upwards
ink       mean of a picture, which thick strokes raise

Shapes: pictures (N, H, H), H 8 or 28; tables (10, 10), asked × named.

References: Mirza & Osindero 2014, arXiv:1411.1784; Odena et al. 2017, arXiv:1610.09585; Miyato & Koyama 2018,
arXiv:1802.05637; Chen et al. 2016, arXiv:1606.03657; [UDL] §15.4.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.mnist import MNIST
from lab import weights
from lab.experiments import Experiment
from lab.lenses import generated, stock, surfaces
from lab.lenses.codes import code_of, fitting, slants, table
from modules.adversarial.conditional import ConditionalGAN
from modules.adversarial.infogan import InfoGAN
from pages.adversarial.conditional_bench.room import NUMBERS

TOLD = {  # how D comes to know the class
    "channel": "gets the class as one more channel",
    "projection": "gets the class by a projection of its features",
    "auxiliary": "classifies the picture by logits of its own",
}
NETWORKS = {8: "cnn-digits", 28: "cnn-mnist"}  # that name what is made, by the side of a picture
CLASSES, COLUMNS = 10, 12
EACH = {8: 60, 28: 20}  # of a class are named, by the side of a picture
STOPS = [round(0.1 * i, 1) for i in range(11)]  # of the share m
TURNS = [round(-1 + 0.2 * i, 1) for i in range(11)]  # of c₂ or c₃
OPTIONS = ["at least 95 of 100", "80 to 94 of 100", "fewer than 80 of 100"]


@dataclass(frozen=True)
class Frame:
    """Pictures made at one stop of the film.

    Attributes:
        sheet: (CLASSES · COLUMNS, H, H), row by row.
        table: (10, 10), share of each class that is named as each.
        variety, slant, ink: as above, over all rows.
    """

    sheet: Tensor
    table: Tensor
    variety: float
    slant: float
    ink: float

    @property
    def obeyed(self) -> float:
        """Share named as asked."""
        return float(self.table.diagonal().mean())


def fits(entry: Experiment) -> bool:
    """Check whether an experiment trains a game with a class for each digit, told or found, and two numbers
    beside those that are found."""
    kinds = surfaces.is_a(entry, ConditionalGAN) or (
        surfaces.is_a(entry, InfoGAN)
        and surfaces.option(entry, "categories") == CLASSES
        and surfaces.option(entry, "continuous") >= 2
    )
    return kinds and any(generated.makes_digits(entry, side) for side in EACH)


def coding(model: Any) -> bool:
    """Check whether it was given codes and no labels."""
    return isinstance(model, InfoGAN)


def conditional(model: Any) -> bool:
    """Check whether it was told the classes."""
    return not coding(model)


def plain(model: Any) -> int:
    """The stop of the film at which nothing is mixed or turned."""
    return TURNS.index(0) if coding(model) else 0


def quantity(model: Any, number: str) -> str:
    """Quantity that the film turns: a continuous code, or the share m of the other class."""
    return number if coding(model) else "m"


def stops(model: Any) -> list[float]:
    """The values that the film turns through."""
    return TURNS if coding(model) else STOPS


def network_of(model: Any) -> str:
    """The network that names what a model makes."""
    return NETWORKS[model.event_shape[-1]]


def real(side: int) -> tuple[Tensor, Tensor]:
    """Digits (N, side, side) that the models did not make, and their classes."""
    if side == MNIST.native_size:
        return stock.grey(side, 1000, stock.has_mnist())
    x, y = stock.digits("train")
    return x[:, 0], y


def variety(x: Tensor, y: Tensor) -> float:
    """Mean over classes of the mean deviation of a pixel within one."""
    return float(torch.stack([x[y == c].flatten(1).std(0).mean() for c in y.unique()]).mean())


@torch.no_grad()
def named(network: Any, x: Tensor) -> Tensor:
    """The class that the network gives to each of (N, H, H)."""
    return torch.as_tensor(network.predict(x[:, None]).argmax(1))


@torch.no_grad()
def mixed_samples(model: Any, z: Tensor, classes: Tensor, share: float, target: int) -> Tensor:
    """g(z, c) of a conditional model at the mixed class, (N, H, H)."""
    c = (1 - share) * F.one_hot(classes, CLASSES) + share * F.one_hot(torch.tensor(target), CLASSES)
    return torch.as_tensor(model.postprocess(model.ema_generator()(torch.cat([z, c.to(z)], 1)))[:, 0])


@torch.no_grad()
def coded(model: InfoGAN, z: Tensor, codes: Tensor, turned: int, value: float) -> Tensor:
    """g(z, c₁, c₂, c₃) of an InfoGAN with number `turned`, 0 or 1, at `value`: (N, H, H)."""
    z = z.clone()
    k = model.latent_dim
    z[:, k : k + model.categories] = F.one_hot(codes, model.categories).to(z)
    z[:, k + model.categories + turned] = value
    return model.decode(z)[:, 0]


def codes_of(model: InfoGAN, network: Any) -> Tensor:
    """The code of each class (10,), by what the network says of 2,000 pictures of another seed."""
    z = model.noise(2000, torch.Generator().manual_seed(99))
    with torch.no_grad():
        counts = table(code_of(model, z), named(network, model.decode(z)[:, 0]))
    return fitting(counts).argsort()


def story(model: Any, target: int, turned: int, seed: int) -> list[Frame]:
    """Every stop of the film, at the same noise; the first COLUMNS of each class are shown."""
    network = weights.load(network_of(model))
    side = model.event_shape[-1]
    each = EACH[side]
    z = model.noise(each, torch.Generator().manual_seed(seed)).repeat(CLASSES, 1)  # the same for every class
    y = torch.arange(CLASSES).repeat_interleave(each)
    rows = codes_of(model, network)[y] if coding(model) else y
    make = partial(coded, turned=turned) if coding(model) else partial(mixed_samples, target=target)
    key = "value" if coding(model) else "share"
    known = variety(*real(side))
    frames = []
    for stop in stops(model):
        x = make(model, z, rows, **{key: stop})
        shown = x.unflatten(0, (CLASSES, each))[:, :COLUMNS].flatten(0, 1)
        frames.append(
            Frame(shown, table(y, named(network, x)).double() / each, variety(x, y) / known,
                  float(slants(x).mean()), float(x.mean()))
        )  # fmt: skip
    return frames


def numbers_read(model: InfoGAN, count: int = 1000, seed: int = 0) -> Tensor:
    """Correlations of c₂ and c₃ (rows) with slant and ink (columns), over whole samples: (2, 2)."""
    z = model.noise(count, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        x = model.decode(z)[:, 0]
    c2, c3 = z[:, model.latent_dim + model.categories :].T[:2]
    return torch.corrcoef(torch.stack([c2, c3, slants(x), x.mean((1, 2))]))[:2, 2:]


def captions(frames: list[Frame], codes: bool, target: int, turned: int) -> list[str]:
    """A sentence for every stop; `codes` if there were no labels."""
    return [
        (f"{NUMBERS[turned]} = {stop:g}" if codes else f"m = {stop:g} of class {target}")
        + f": {one.obeyed:.1%} are classified as {'the class of their code' if codes else 'asked for'}; the "
        f"spread within a class is {one.variety:.2f} of that of real digits."
        for stop, one in zip(TURNS if codes else STOPS, frames, strict=True)
    ]


def equations(frames: list[Frame]) -> list[str]:
    """The share that is named as asked, LaTeX."""
    return [
        rf"\frac{{1}}{{10}}\sum_y p(\hat y=y\mid y\text{{ asked for}})={one.obeyed:.4f}" for one in frames
    ]


def answer(one: Frame) -> str:
    """The right one of OPTIONS."""
    percent = round(100 * one.obeyed)
    return OPTIONS[0] if percent >= 95 else OPTIONS[1] if percent >= 80 else OPTIONS[2]
