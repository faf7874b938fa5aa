"""Inside a StyleGAN: which layers' styles decide what, where noise shows, and styles cut off at their mean.

Shapes: z (K,), w (K,), styles (B, L, K), pictures (..., S, S).
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.lenses.latent import lerp, slerp
from modules.adversarial.stylegan import StyleGAN

ROWS, COLUMNS, MANY = 4, 8, 16
DRAWS = 24  # of noise
OPTIONS = ["the row's style", "the column's style", "neither has more than half"]


def count(model: StyleGAN) -> int:
    """Layers there are."""
    return len(model.generator.layers)


def layers(model: StyleGAN) -> list[str]:
    """Names of the layers: number and side."""
    return [f"{i + 1} ({side}²)" for i, side in enumerate(model.generator.sides)]


@torch.no_grad()
def styles(model: StyleGAN, n: int, seed: int, truncation: float = 1.0) -> Tensor:
    """Styles (n, L, K) of n draws."""
    noise = model.noise(n, torch.Generator().manual_seed(seed))
    return model.styles(noise[:, : model.latent_dim], truncation)


@torch.no_grad()
def crossed(model: StyleGAN, first: Tensor, second: Tensor, crossing: int) -> Tensor:
    """(R, C, S, S): row r's styles up to `crossing`, column c's from it on, without noise.

    What rows share is made once: R maps up to the crossing, R × C from it on.
    """
    network = model.network
    if crossing == 0:
        return model.pictures(second)[:, 0].expand(len(first), -1, -1, -1)
    h = network.constant.expand(len(first), -1, -1, -1)
    for at, layer in enumerate(network.layers):
        if at == crossing:
            h = h.repeat_interleave(len(second), 0)
        w = first[:, at] if at < crossing else second[:, at].repeat(len(first), 1)
        h = layer(h, w, h.new_zeros(1))
    result = model.postprocess(network.colour(h).tanh())[:, 0].unflatten(0, (len(first), -1))
    return result.expand(-1, len(second), -1, -1)


def shares(pictures: Tensor) -> tuple[float, float]:
    """Shares of the variance of pictures (R, C, S, S) that the row alone and the column alone explain."""
    total = pictures.var((0, 1), correction=0).sum()
    by_row = pictures.mean(1).var(0, correction=0).sum()
    by_column = pictures.mean(0).var(0, correction=0).sum()
    return float(by_row / total), float(by_column / total)


def mixing(model: StyleGAN, seed: int) -> Tensor:
    """Sheets (F, ROWS + 1, COLUMNS + 1, S, S), one a crossing, with both sources on the edges."""
    first, second = styles(model, ROWS, seed), styles(model, COLUMNS, seed + 1000)
    side = model.event_shape[-1]
    results = []
    with torch.no_grad():
        left, top = model.pictures(first)[:, 0], model.pictures(second)[:, 0]
    for crossing in range(count(model) + 1):
        sheet = torch.zeros(ROWS + 1, COLUMNS + 1, side, side)
        sheet[1:, 0], sheet[0, 1:], sheet[1:, 1:] = left, top, crossed(model, first, second, crossing)
        results.append(sheet)
    return torch.stack(results)


def explained(model: StyleGAN, seed: int) -> list[tuple[float, float]]:
    """`shares` of MANY × MANY pictures at each crossing."""
    first, second = styles(model, MANY, seed + 2000), styles(model, MANY, seed + 3000)
    return [shares(crossed(model, first, second, c)) for c in range(count(model) + 1)]


def mixed_layers(crossings: int) -> list[dict[str, str]]:
    """Numbers of the machine for G at each crossing: how many layers have which style."""
    return [{"G": f"{c} row, {crossings - 1 - c} column"} for c in range(crossings)]


def mixing_captions(text: Sequence[tuple[float, float]]) -> list[str]:
    """A sentence for every crossing."""
    last = len(text) - 1
    whose = ["All layers have the column's style"]
    whose += [f"Layers 1 to {c} have the row's style, the others the column's" for c in range(1, last)]
    whose += ["All layers have the row's style"]
    return [
        f"{who}: the row alone explains {row:.0%} of the variance, the column alone {column:.0%}."
        for who, (row, column) in zip(whose, text, strict=True)
    ]


def mixing_equations(text: Sequence[tuple[float, float]]) -> list[str]:
    """The shares of row and column, and what only both together explain, LaTeX."""
    return [
        rf"\frac{{\mathrm{{Var}}_r\,\overline x_r}}{{\mathrm{{Var}}\,x}}={row:.3f},\qquad "
        rf"\frac{{\mathrm{{Var}}_c\,\overline x_c}}{{\mathrm{{Var}}\,x}}={column:.3f},\qquad "
        rf"1-{row:.3f}-{column:.3f}={max(0.0, 1 - row - column):.3f}"
        for row, column in text
    ]


def decides(text: tuple[float, float]) -> str:
    """The one of OPTIONS that explains more than half of the variance."""
    return OPTIONS[0] if text[0] > 0.5 else OPTIONS[1] if text[1] > 0.5 else OPTIONS[2]


# --- Noise ----------------------------------------------------------------------------------------


@torch.no_grad()
def renoised(model: StyleGAN, seed: int, layer: int | None) -> Tensor:
    """One draw with DRAWS noises, in one layer alone (counted from 0), or in all: (DRAWS, S, S)."""
    one = styles(model, 1, seed).expand(DRAWS, -1, -1)
    noise = torch.randn(DRAWS, model.noise_dim, generator=torch.Generator().manual_seed(seed + 1))
    if layer is not None:
        parts = noise.split([side * side for side in model.generator.sides], 1)
        noise = torch.cat([part if i == layer else 0 * part for i, part in enumerate(parts)], 1)
    return model.pictures(one, noise)[:, 0]


def noises(model: StyleGAN, seed: int) -> Tensor:
    """`renoised` of each layer, then of all: (F, DRAWS, S, S)."""
    return torch.stack([renoised(model, seed, layer) for layer in [*range(count(model)), None]])


def spread(pictures: Tensor) -> Tensor:
    """Standard deviation of each pixel over the draws, (..., N, S, S) -> (..., S, S)."""
    return pictures.std(-3, correction=0)


@torch.no_grad()
def by_style(model: StyleGAN, seed: int = 0) -> float:
    """Mean standard deviation of a pixel over draws of the style."""
    return float(spread(model.pictures(styles(model, 200, seed))[:, 0]).mean())


def blurred(pictures: Tensor) -> float:
    """Share of the draws' variance that is left when pictures are seen at 4 × 4: 1 if all is coarse."""
    off = pictures - pictures.mean(0)
    coarse = F.interpolate(F.avg_pool2d(off[:, None], off.shape[-1] // 4), off.shape[-2:])
    return float(coarse.square().sum() / off.square().sum().clamp(min=1e-12))


def noise_captions(names: Sequence[str], seen: Tensor) -> list[str]:
    """A sentence for each layer, and for all."""
    whose = [*(f"Noise in layer {name} alone" for name in names), "Noise in all layers"]
    return [
        f"{who}: the standard deviation of a pixel is {float(spread(x).mean()):.4f} on average, at most "
        f"{float(spread(x).max()):.3f}; averaged to 4 × 4 pixels {blurred(x):.0%} of it remains."
        for who, x in zip(whose, seen, strict=True)
    ]


def noise_equations(seen: Tensor, of_style: float) -> list[str]:
    """Spread by noise beside that by style, LaTeX."""
    return [
        rf"\overline{{\mathrm{{sd}}}}_{{\mathrm{{noise}}}}={float(spread(x).mean()):.4f},\qquad "
        rf"\overline{{\mathrm{{sd}}}}_{{\mathrm{{style}}}}={of_style:.4f}"
        for x in seen
    ]


# --- Layers ---------------------------------------------------------------------------------------


@torch.no_grad()
def looked(model: StyleGAN, seed: int, layer: int) -> tuple[Tensor, Tensor]:
    """The maps (C, H, W) that a layer answers to one draw, and its style (2, C): scales and shifts."""
    noise = model.noise(1, torch.Generator().manual_seed(seed))
    z, of_layers = noise[:, : model.latent_dim], noise[:, model.latent_dim :]
    w = model.styles(z)
    h = model.network.maps(w, of_layers)[layer][0]
    affine: Any = model.network.layers[layer].affine  # type: ignore[union-attr]
    return h, affine(w[:, layer])[0].view(2, -1)


@torch.no_grad()
def path_lengths(model: StyleGAN, draws: int = 200, step: float = 1e-2) -> tuple[float, float]:
    """Mean squared change of a picture along a walk, ‖Δx‖² / step²: in z on the arc, in w on the line."""
    generator = torch.Generator().manual_seed(0)
    a, b = (model.noise(draws, generator)[:, : model.latent_dim] for _ in range(2))
    t = torch.rand(draws, generator=generator) * (1 - step)
    ends = []
    for at in (t, t + step):
        z = torch.stack([slerp(p, q, s) for p, q, s in zip(a, b, at.tolist(), strict=True)])
        v, w = (model.network.mapping(end) for end in (a, b))
        line = torch.stack([lerp(p, q, s) for p, q, s in zip(v, w, at.tolist(), strict=True)])
        ends.append((model.network.mapping(z), line))
    lengths = []
    for kind in range(2):
        x, y = (model.pictures(end[kind][:, None].expand(-1, count(model), -1)) for end in ends)
        lengths.append(float((x - y).square().flatten(1).sum(1).mean() / step**2))
    return lengths[0], lengths[1]


def layer_equation(h: Tensor, style: Tensor) -> str:
    """The first map's mean and standard deviation beside its style, LaTeX."""
    scale, shift = style[:, 0].tolist()
    return (
        rf"\mathrm{{mean}}(h_1)={float(h[0].mean()):.3f},\ y_b={shift:.3f};\qquad "
        rf"\mathrm{{sd}}(h_1)={float(h[0].std(correction=0)):.3f},\ |y_s|={abs(scale):.3f}"
    )


def counts(h: Tensor) -> list[str]:
    """Answers to how many numbers set the style of maps (C, H, W)."""
    c, height, width = h.shape
    return sorted({str(c), str(2 * c), str(c * height * width)}, key=int)


def notice(model: StyleGAN, name: str, of_style: float, paths: tuple[float, float]) -> str:
    """Sentences that hold of all views."""
    first, *_, last = model.generator.sides
    return (
        f"{name} has {count(model)} layers of {first} to {last} pixels "
        f"a side; a mapping of {len(model.network.mapping) // 2} layers makes w of z. The early layers "
        "set which digit it is and its pose, the late ones how thick and dark its stroke is. The path "
        f"length in pixels (squared change by squared step) is {paths[1]:.0f} in w and {paths[0]:.0f} in z: "
        "the mapping network makes the space smoother. The standard deviation of a pixel between draws "
        f"of the style is {of_style:.2f}; noise adds little."
    )
