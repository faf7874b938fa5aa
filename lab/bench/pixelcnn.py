"""PixelCNN and Gated PixelCNN: sampling with activations kept against a full pass for every pixel."""

from typing import Any

import torch
from torch import Tensor

from lab.bench.timing import Row, interleaved, paired_row
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
from modules.autoregressive.pixelcnn import PixelCNN, PixelModel
from modules.noise import uniform

ROWS = 2  # of 28: full passes for all 784 pixels would take minutes


def measure(quick: bool = False) -> list[Row]:
    """Time of drawing the last rows of 16 digits below a given beginning. The ratio is full / kept."""
    side, images, repeats = (6, 2, 3) if quick else (28, 16, 3)
    sizes: dict[str, Any] = {"image_shape": (1, side, side), "channels": 8 if quick else 32, "layers": 5}
    rows = []
    for name, cls in (("PixelCNN", PixelCNN), ("Gated PixelCNN", GatedPixelCNN)):
        torch.manual_seed(0)
        model: PixelModel = cls(**sizes).eval()
        start = (side - ROWS) * side
        beginning = torch.rand(images, model.n).round()
        beginning[:, start:] = 0

        @torch.no_grad()
        def draw(walk: Any, model: PixelModel = model, x: Tensor = beginning, start: int = start) -> Tensor:
            x = x.clone()
            generator = torch.Generator().manual_seed(0)
            noise = uniform(len(x), model.n, like=x, generator=generator)
            for j, logits in zip(model.order[start:].tolist(), walk(x, model.order, 0, start), strict=True):
                x[:, j] = model.sample_conditional(logits, noise[:, j], 1.0)
            return x

        def ours(model: PixelModel = model, draw: Any = draw) -> Tensor:
            return draw(model._sequential_logits)

        def peer(model: PixelModel = model, draw: Any = draw) -> Tensor:
            return draw(lambda *state: Autoregressive._sequential_logits(model, *state))

        if not torch.equal(ours(), peer()):
            raise AssertionError("kept activations and full passes give different pictures.")
        pairs = interleaved(ours, peer, repeats, warmup=0)
        row = paired_row("pixelcnn", f"{name}: {ROWS} rows of {images} digits, {side}×{side}", pairs)
        rows.append(Row(row.bench, row.case, row.ours, row.peer, 1 / row.ratio, "≥ 5", "peer: full passes"))
    return rows
