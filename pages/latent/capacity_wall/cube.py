"""The corners of a cube: 2^d Gaussians, or d binary latents."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from lab import ui
from lab.figures import theme
from lab.figures.basic import rule
from pages.latent.capacity_wall import figures, lens
from pages.latent.capacity_wall.progress import so_far
from pages.latent.capacity_wall.room import ROOM

SIZES, COUNT = [1, 2, 4, 8, 16, 32, 64], 2000
NOISES = [0.1, 0.2, 0.4]


@ui.cached
def by_bits(d: int, sigma: float, seed: int) -> tuple[int, float]:
    return lens.bits(*data(d, sigma, seed))


def data(d: int, sigma: float, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Points to fit, and new ones."""
    return lens.cube(COUNT, d, sigma, seed), lens.cube(lens.HELD, d, sigma, seed + 100)


def asked(d: int, sigma: float, seed: int) -> tuple[Any, Callable[[], Any]]:
    """Mixtures of all SIZES: what they depend on, and how they are begun."""
    return (d, sigma, seed), lambda: lens.fits(*data(d, sigma, seed), SIZES, "spherical")


def view(stage: Any) -> None:
    """Mixtures of spherical Gaussians on the corners, by K, and the code of bits beside them."""
    film = ui.film(len(SIZES), key="components", values=SIZES, default=8, label="K =", seconds=0.7)
    with stage.rail:
        d = ui.slider("Dimensions d", 2, 6, 3, key="d")
        sigma = ui.choice("Noise σ", NOISES, key="noise", default=0.1)
        seed = ui.number("Seed", 0, 99, 0, key="seed")
    soon = [
        *((each, sigma, seed) for each in ui.near(d, 2, 6, 1)),
        *((d, each, seed) for each in NOISES if each != sigma),
        (d, sigma, min(99, seed + 1)),
    ]
    ui.prefetch(by_bits, *soon)
    x, _ = data(d, sigma, seed)
    of, start = asked(d, sigma, seed)
    with stage.picture:
        result = ui.result(
            "Fit", start, key="cube", of=of, quick=True, soon=[asked(*each) for each in soon],
            show=partial(so_far, x, SIZES), says="Mixtures of up to 64 Gaussians are fitted.",
        )  # fmt: skip
    numbers, coded = by_bits(d, sigma, seed)
    best, plain = -lens.cube_entropy(sigma), lens.gaussian_log_prob(1 + sigma**2)
    each = result.held_out / d
    with stage.picture:
        left, right = ui.columns([4, 3])
        with left:
            ui.figure(
                figures.plane(x, result.densities[film.at], result.ellipses[film.at],
                              float(result.densities[min(d, 6)].max())),
                key="plane", share=1.0, film=film, frames=figures.turns(result.densities, result.ellipses),
                alt="The first two coordinates: points, density and components of the mixture",
            )  # fmt: skip
        with right:
            lines = {"new points": (each, theme.OUTPUT)}
            levels = {"−H": (best, theme.GREEN), f"{d} bits": (coded / d, theme.ATTENTION)}
            fig = figures.climb(SIZES, lines, levels, film.at, "components K", "log p a dimension, nats")
            rule(fig, x=2**d, line={"color": theme.text(), "width": 2, "dash": "dot"})
            ui.figure(
                fig, key="climb", share=1.0, film=film, frames=figures.dots(fig, SIZES, each),
                data={"K": SIZES, "new": each},
                alt="Mean log-likelihood of new points a dimension against the number of components",
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[
                f"K = {k} of 2^{d} = {2**d} corners, {p} numbers: new points {lens.away(float(v), best)}."
                for k, p, v in zip(SIZES, result.parameters, each, strict=True)
            ],
            equations=[
                rf"\text{{new }}{float(v):.4f},\quad -H/d={best:.4f},\quad \text{{one Gaussian }}{plain:.4f},"
                rf"\quad \text{{bits }}{coded / d:.4f}"
                for v in each
            ],
        )
    full = next(i for i, k in enumerate(SIZES) if k == 2**d)
    with stage.below:
        ui.notice(
            f"A Gaussian loses {best - plain:.4f} nats in each dimension, however many factors it has. A "
            f"mixture needs a component for each of the {2**d} corners, and every dimension more doubles "
            f"that: at 784 pixels nobody has them. {d} binary latents, each with two values of its own "
            f"dimension, name all corners with {numbers} numbers; the mixture of {2**d} has "
            f"{result.parameters[full]}. (The bits are told the axes.) In many dimensions EM also misses "
            "corners: two Gaussians begin in one."
        )
        ui.check(
            f"How many components has a mixture that is right for d = {d + 1}?",
            sorted({2 * (d + 1), 2**d, 2 ** (d + 1), 2 ** (d + 2)}), 2 ** (d + 1),
            "One for each corner of {−1, 1}^d.",
            wrong={
                2**d: "Those are the corners of one dimension less.",
                2 ** (d + 2): "Those are the corners of one dimension more.",
                2 * (d + 1): "That is enough for a code of bits, two values a dimension.",
            },
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.latent.capacity_wall import lens

            x = lens.cube({COUNT}, {d}, {sigma}, {seed})
            new = lens.cube({lens.HELD}, {d}, {sigma}, {seed + 100})
            model = lens.mixture(x, {int(film.value)}, "spherical")
            result = [float(model.log_prob(new).mean()) / {d}, lens.bits(x, new)[1] / {d}]
            """,
            shows=[float(each[film.at]), coded / d],
        )
        ui.source(lens.cube_entropy, lens.bits, lens.gaussian_log_prob, references=ROOM.references)
