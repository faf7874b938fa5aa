"""One decoder, two ways to its codes: N(0, I), as a VAE says, or diffusion; beside diffusion of pixels.

Work is counted, not clocked: multiplications with an addition, of all linear and convolution layers and of
attention. Judges are those of the page "Judge": digits made black and white, features of cnn-digits.

Shapes: pictures (…, 8, 8); codes (N, K); F frames.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from lab.lenses import stock, verdicts
from lab.lenses.diffusion import classes
from modules.convolution.classifier import Classifier
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.latent import LatentDDPM

WAYS = ["decoder of N(0, I)", "latent diffusion", "diffusion of pixels"]
SHOWN, CLOUD, SURE = 12, 300, 0.9
VARY: dict[str, list[float]] = {
    "steps": [5, 10, 20, 50],
    "eta": [0.0, 0.5, 1.0],
    "guidance": [0.0, 0.5, 1.0, 2.0, 4.0],
}
SEEDS, DRAWN = 3, 300
MORE = [WAYS[1], WAYS[0], "as many of both"]
MEASURES = ["FD", "precision", "recall", "class as asked"]


@dataclass(frozen=True)
class Draws:
    """
    Attributes:
        times: t of each frame.
        pictures: (F, 3, SHOWN, 8, 8) of WAYS, clamped to be drawn; the first stands still.
    """

    times: list[int]
    pictures: Tensor


@torch.no_grad()
def draws(
    latent: LatentDDPM, pixels: GaussianDiffusion, wanted: int | None, w: float, S: int, seed: int
) -> Draws:
    """Classes that each way says the digits are, at every step."""
    noise = torch.randn(SHOWN, *latent.code_shape, generator=torch.Generator().manual_seed(seed))
    prior = latent.autoencoder.decode(noise).reshape(SHOWN, 8, 8)
    rows, times = [], []
    for model in (latent, pixels):
        generator = torch.Generator().manual_seed(seed)
        y = classes(model, SHOWN, wanted, w)
        trajectory = model.trajectory(
            model.start(SHOWN, generator), y=y, generator=generator, steps=S, guidance=w
        )
        results = []
        for m in trajectory:
            prediction = model.postprocess(m.x if m.x0 is None else m.x0)
            shown = latent.autoencoder.decode(prediction) if model is latent else prediction
            results.append(shown.reshape(SHOWN, 8, 8))
            times.append(m.t)
        rows.append(torch.stack(results))
    F = len(rows[0])
    return Draws(times[:F], torch.stack([prior.expand(F, SHOWN, 8, 8), *rows], 1).clamp(0, 1))


@torch.no_grad()
def sure(network: Classifier, result: Draws) -> list[int]:
    """Number of digits of each of WAYS that the network is more than SURE of at the end."""
    p = network.predict(result.pictures[-1].reshape(-1, 1, 8, 8)).softmax(1).max(1).values
    return (p.reshape(3, SHOWN) > SURE).sum(1).tolist()  # type: ignore[no-any-return]


def more(counts: list[int]) -> str:
    """The right one of MORE."""
    return MORE[2] if counts[0] == counts[1] else MORE[0] if counts[1] > counts[0] else MORE[1]


def work(call: Callable[[], Any]) -> int:
    """Multiply-adds of a call."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops() // 2


def costs(latent: LatentDDPM, pixels: GaussianDiffusion, w: float, S: int) -> list[int]:
    """Multiply-adds of one digit, by WAYS; guidance asks the network about two."""
    t, two = torch.tensor([500]), 2 if w else 1
    decoder = work(lambda: latent.autoencoder.decode(torch.zeros(1, *latent.code_shape)))
    nets = [work(lambda m=m: m.net(torch.zeros(1, *m.code_shape), t, None)) for m in (latent, pixels)]  # type: ignore[misc]
    return [decoder, decoder + S * two * nets[0], S * two * nets[1]]


def millions(count: int) -> str:
    """A number of multiply-adds in words."""
    return f"{count / 1e6:.2f} M" if count < 1e7 else f"{count / 1e6:.0f} M"


def numbers(result: Draws) -> list[dict[str, str]]:
    """Numbers of the machine's parts at each frame: the time, and how far the latent prediction is from its
    end."""
    off = (result.pictures - result.pictures[-1]).abs().mean((2, 3, 4))[:, 1]
    return [{"xt": f"t = {t}", "x0": f"Δ {float(o):.3f}"} for t, o in zip(result.times, off, strict=True)]


def priced(costs: list[int]) -> str:
    """Multiply-adds by WAYS, in words."""
    return ", ".join(f"{millions(c)} by the {name}" for name, c in zip(WAYS, costs, strict=True))


def captions(result: Draws) -> list[str]:
    """Caption of how far each prediction is from its end."""
    off = (result.pictures - result.pictures[-1]).abs().mean((2, 3, 4))
    return [
        f"t = {t}: the prediction differs from its end by {float(o[1]):.3f} per pixel in the codes, by "
        f"{float(o[2]):.3f} in the pixels."
        for t, o in zip(result.times, off, strict=True)
    ]


# --- Codes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clouds:
    """Codes of digits (N, K), of N(0, I) (N, K), and of diffusion at every frame (F, N, K); t of each."""

    data: Tensor
    prior: Tensor
    trajectory: Tensor
    times: list[int]


@torch.no_grad()
def clouds(latent: LatentDDPM, S: int, seed: int) -> Clouds:
    """CLOUD codes of each kind; of the digits one draw of q(z|x) each."""
    x = stock.digits("train")[0][:CLOUD]
    generator = torch.Generator().manual_seed(seed)
    noise = latent.start(CLOUD, generator)
    codes = latent.autoencoder.sample_posterior(x, noise[None]).z[0]
    y = latent.classes(CLOUD)
    states = list(latent.trajectory(latent.start(CLOUD, generator), y=y, generator=generator, steps=S))
    trajectory = torch.stack([latent.postprocess(m.x) for m in states])
    return Clouds(codes, latent.start(CLOUD, generator), trajectory, [m.t for m in states])


@dataclass(frozen=True)
class Apart:
    """
    Attributes:
        trajectory, prior: energy distances of the clouds from the digits' codes, those of the trajectory by
            frame.
    """

    clouds: Clouds
    trajectory: list[float]
    prior: float


def apart(latent: LatentDDPM, S: int, seed: int) -> Apart:
    """The clouds, and how far they are from the digits' codes."""
    result = clouds(latent, S, seed)
    off = [distance(result.data, cloud) for cloud in result.trajectory]
    return Apart(result, off, distance(result.data, result.prior))


def distance(a: Tensor, b: Tensor) -> float:
    """Energy distance of two clouds (N, K): 2 E‖a − b‖ − E‖a − a'‖ − E‖b − b'‖."""
    from modules.diffusion.flow_matching import energy_distance

    return float(energy_distance(a, b))


# --- Judged -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """By value: means over seeds and their standard errors, (V, 4) of MEASURES."""

    values: list[float]
    mean: Tensor
    error: Tensor


@torch.no_grad()
def measured(model: GaussianDiffusion, referee: Classifier, knob: str) -> Iterator[tuple[float, Table]]:
    """SEEDS times DRAWN digits for every value of one knob; the others are S = 20, η = 0, w = 0."""
    known, values = verdicts.known(referee, verdicts.digits("train")), VARY[knob]
    wanted = torch.arange(DRAWN) % 10
    rows: list[Tensor] = []
    for value in values:
        runs = []
        for seed in range(SEEDS):
            knobs: dict[str, Any] = {"steps": 20} | {knob: int(value) if knob == "steps" else value}
            x = model.sample(DRAWN, generator=torch.Generator().manual_seed(seed), **knobs).reshape(
                DRAWN, 8, 8
            )
            named = referee.predict(x.clamp(0, 1)[:, None]).argmax(1)
            v = verdicts.evaluate(referee, known, verdicts.black_and_white({"data": {}}, x), 3)
            right = float((named == wanted).double().mean())
            runs.append([v.frechet, v.precision, v.recall, right])
            done = (len(rows) * SEEDS + seed + 1) / (len(values) * SEEDS)
            if seed < SEEDS - 1:
                yield done, tabled(values, rows)
        rows.append(torch.tensor(runs, dtype=torch.float64))
        yield done, tabled(values, rows)


def tabled(values: list[float], rows: list[Tensor]) -> Table:
    """The table of what is done."""
    if not rows:
        return Table([], torch.zeros(0, len(MEASURES)), torch.zeros(0, len(MEASURES)))
    all_of = torch.stack(rows)  # (V, SEEDS, 4)
    return Table(values[: len(rows)], all_of.mean(1), all_of.std(1) / SEEDS**0.5)


def best(table: Table) -> float:
    """The value with the least Fréchet distance."""
    return table.values[int(table.mean[:, 0].argmin())]


def columns(table: Table) -> dict[str, list[str]]:
    """The table as texts, by measure."""
    return {
        name: [f"{float(m[k]):.3f} ± {float(e[k]):.3f}" for m, e in zip(table.mean, table.error, strict=True)]
        for k, name in enumerate(MEASURES)
    }
