"""Three transformers that read a picture as tokens: rollout, reach, channels, and what they answer.

ViT      R_l = ½ (A_l + I) R_{l−1}, its row of <cls>     A_l: mean over heads
Swin     reach: tokens with a path of allowed pairs through the first l blocks
DaViT    softmax(Qᵀ K / √N) of the blocks that attend among channels
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.lenses import drawing
from modules.transformer.davit import ChannelAttention, DaViT
from modules.transformer.recorder import record_attention
from modules.transformer.swin import Swin, grid_of, pairs, region_mask, regions
from modules.transformer.vit import PatchClassifier, ViT
from pages.transformer.patches.room import DAVIT, LARGE, LARGE_SIDE, SIDE, VIT

WINDOW, SHIFT = 4, 2
LAYERS = 3  # blocks on the grid of 8 × 8 tokens
OPTIONS = ["All 64 tokens", "16 tokens: those of its window", "4 tokens"]


@dataclass(frozen=True)
class Look:
    """
    Attributes:
        picture: (H, W) in [0, 1].
        grids: (F, h, w), what cuts the picture into tokens or windows: numbers of patches or regions.
        maps: (F, h, w), of each frame.
        title: of the maps.
        p: (10,), probabilities of the classes.
        names: of the frames. captions, equations: one a frame.
    """

    picture: Tensor
    grids: Tensor
    maps: Tensor
    title: str
    p: Tensor
    names: list[str]
    captions: list[str]
    equations: list[str]


@torch.no_grad()
def probabilities(model: PatchClassifier, digit: Tensor) -> Tensor:
    """Of the classes of a picture (H, W): (K,)."""
    return model.predict(digit[None, None].to(model.dtype)).softmax(-1)[0]


@torch.no_grad()
def recorded(model: PatchClassifier, digit: Tensor) -> list[Tensor]:
    """Attention weights of each block for a picture: (H, T, S) each."""
    with record_attention() as seen:
        model.predict(digit[None, None].to(model.dtype))
    return [calls[0].weights[0] for calls in seen.calls.values()]


def rollout(weights: list[Tensor]) -> Tensor:
    """R_l after each layer, (L, T, T): rows sum to one."""
    T = weights[0].shape[-1]
    product, results = torch.eye(T).to(weights[0]), []
    for each in weights:
        product = (each.mean(0) + torch.eye(T).to(each)) / 2 @ product
        results.append(product)
    return torch.stack(results)


def shifts(shift: bool) -> list[int]:
    """Of the blocks W, SW, W."""
    return [SHIFT if shift and l % 2 else 0 for l in range(LAYERS)]


def reach(row: int, column: int, shift: bool) -> Tensor:
    """Tokens that a token has heard of after 0 … 3 blocks: (4, 8, 8) bool."""
    heard = torch.eye(SIDE * SIDE)
    results = [heard]
    for s in shifts(shift):
        heard = (pairs((SIDE, SIDE), WINDOW, s).float() @ heard > 0).float()
        results.append(heard)
    return torch.stack(results)[:, SIDE * row + column].view(-1, SIDE, SIDE) > 0


def groups(shift: int) -> Tensor:
    """Number of each token's window and region on the unrolled grid, from 1: (8, 8)."""
    grid = (SIDE, SIDE)
    place = torch.arange(4).repeat_interleave(WINDOW**2).view(4, -1, 1)
    window = grid_of(place, WINDOW, grid)[0, ..., 0]
    both = 9 * window + regions(grid, WINDOW, shift)
    _, number = both.unique(return_inverse=True)
    return 1 + number.roll((shift, shift), (0, 1))


def sketches() -> list[tuple[str, Tensor]]:
    """Digits of 28 × 28 pixels, a 3 first: the 5 is taken for a 1."""
    return sorted(drawing.examples(LARGE_SIDE), key=lambda example: example[0] != "3")


def look(
    view: str, digit: Tensor, sketch: Tensor, row: int, column: int, shift: bool, vit: ViT, large: ViT,
    swin: Swin, davit: DaViT,
) -> Look:  # fmt: skip
    """All that one of the models shows of a picture: `digit` (8, 8), of the large ViT `sketch` (28, 28).

    Raises:
        UserError: there is no ink.
    """
    if not bool((sketch if view == LARGE else digit).any()):
        raise UserError("There is no ink: draw a digit, or pick one.")
    if view == LARGE:
        return of_vit(sketch, large)
    if view == VIT:
        return of_vit(digit, vit)
    return of_davit(digit, davit) if view == DAVIT else of_swin(digit, row, column, shift, swin)


def of_vit(digit: Tensor, model: ViT) -> Look:
    """Rollout of <cls> over the patches."""
    R = rollout(recorded(model, digit))[:, 0]  # (L, 1 + N)
    maps = R[:, 1:].unflatten(1, model.grid)
    number = 1 + torch.arange(maps[0].numel()).view(model.grid)
    grid = number.repeat_interleave(model.patch, 0).repeat_interleave(model.patch, 1)
    L = len(maps)
    return Look(
        digit, grid.expand(L, -1, -1), maps, "rollout of <cls>", probabilities(model, digit),
        [str(l + 1) for l in range(L)],
        [f"After layer {l + 1} <cls> has {float(m.sum()):.0%} of its weight on patches." for l, m in
         enumerate(maps)],
        [rf"R_l = \tfrac12 (A_l + I)\, R_{{l-1}}, \quad l = {l + 1}" for l in range(L)],
    )  # fmt: skip


def of_swin(digit: Tensor, row: int, column: int, shift: bool, model: Swin) -> Look:
    """Windows and regions of each block, and the reach set of a token."""
    heard, steps = reach(row, column, shift), [0, *shifts(shift)]
    said, captions, equations = ["input", *("SW" if s else "W" for s in steps[1:])], [], []
    for l, each in enumerate(heard):
        count, path = int(each.sum()), ", ".join(said[1 : l + 1])
        of = f"After {path} token" if l else "Before the first block token"
        captions.append(f"{of} ({row}, {column}) has heard of {count} of 64 tokens.")
        allowed = int(region_mask((SIDE, SIDE), WINDOW, steps[l]).sum())
        equations.append(
            rf"M = {WINDOW}, \; s = {steps[l]}: \quad \#\text{{pairs}} = {allowed}, "
            rf"\quad \#\text{{reach}} = {count}"
        )
    grids = torch.stack([groups(s) for s in steps])
    return Look(digit, grids, heard.float(), "reach set", probabilities(model, digit), said, captions,
                equations)  # fmt: skip


def of_davit(digit: Tensor, model: DaViT) -> Look:
    """Matrices of attention among channels."""
    kinds = [isinstance(block.mixer, ChannelAttention) for block in model.blocks]  # type: ignore[union-attr]
    blocks = [i for i, channels in enumerate(kinds) if channels]
    maps = torch.stack([recorded(model, digit)[i].mean(0) for i in blocks])  # (F, d, d)
    d, (h, w) = maps.shape[-1], model.grid
    number = (1 + torch.arange(h * w)).view(h, w)
    grid = number.repeat_interleave(model.patch, 0).repeat_interleave(model.patch, 1)
    top = [float(m.max()) for m in maps]
    return Look(
        digit, grid.expand(len(maps), -1, -1), maps, "channel attention", probabilities(model, digit),
        [str(i + 1) for i in blocks],
        [f"Block {i + 1}: {d} × {d} weights among channels; the largest is {high:.2f}, a uniform one "
         f"{1 / d:.2f}." for i, high in zip(blocks, top, strict=True)],
        [rf"\mathrm{{softmax}}(Q^\top K / \sqrt{{N}}), \quad N = {h * w}"] * len(maps),
    )  # fmt: skip


def held(row: int, column: int, shift: bool) -> str:
    """The one of OPTIONS that is so after two blocks."""
    return OPTIONS[0] if int(reach(row, column, shift)[2].sum()) == SIDE * SIDE else OPTIONS[1]
