"""Vision transformer: an image is a sequence of patches.

    x_p = W · patch_p + b            p = 1 … N,  N = (H/P)(W/P)        a convolution with stride P
    z = Encoder([<cls>, x_1 … x_N] + positions)
    Pr(y | x) = softmax(W_o z_<cls> + b_o)                             or of the mean of z_1 … z_N

The positions are one vector per patch in raster order: nothing but training tells that a patch lies below
another.

Shapes: x (B, C, H, W), `N` patches, `D` channels of a token, logits (B, K).

References: Dosovitskiy et al. 2020, arXiv:2010.11929; [UDL] 12.10.2.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from modules.base import require, require_picture
from modules.labels import Labels
from modules.transformer.block import Norm
from modules.transformer.feedforward import Activation
from modules.transformer.stack import Stack, draw_weights, matrices_decay


class PatchClassifier(Labels):
    """Base of classifiers of pictures that are cut into patches.

    Subclasses give `features`, (B, D), and make their `head` last.

    Args:
        image_shape: (C, H, W).
        patch: P, pixels of a side; it divides H and W.
        width: D, channels of an embedded patch.

    Raises:
        ValueError: a size is below 1, or patches do not tile the picture.
    """

    head: nn.Linear

    def __init__(self, image_shape: Sequence[int], patch: int, width: int, /, **training: Any) -> None:
        super().__init__(**training)
        require_picture(image_shape)
        require(1, patch=patch, width=width)
        colours, height, breadth = image_shape
        if height % patch or breadth % patch:
            raise ValueError(
                f"patch is {patch}: it must divide the {height} × {breadth} pixels of a picture."
            )
        self.image_shape, self.patch = tuple(image_shape), patch
        self.grid = (height // patch, breadth // patch)
        self.embedding = nn.Conv2d(colours, width, patch, stride=patch)

    def draw_weights(self) -> None:
        """Draw all weights as GPT-2 does; embedded patches have size 1."""
        draw_weights(self)
        numbers = self.image_shape[0] * self.patch**2  # of a patch
        nn.init.normal_(self.embedding.weight, std=numbers**-0.5)

    def patches(self, x: Tensor) -> Tensor:
        """Embedded patches in raster order: (B, C, H, W) -> (B, N, D)."""
        if tuple(x.shape[1:]) != self.image_shape:
            raise ValueError(f"x is {tuple(x.shape)}: give (B, {', '.join(map(str, self.image_shape))}).")
        return self.embedding(x).flatten(2).mT  # (B, D, H/P, W/P) -> (B, N, D)

    def features(self, x: Tensor) -> Tensor:
        """What is classified: (B, C, H, W) -> (B, D)."""
        raise NotImplementedError

    def predict(self, x: Tensor) -> Tensor:
        return self.head(self.features(x))

    def parameter_groups(self) -> list[dict[str, Any]]:
        return matrices_decay(self)


class ViT(PatchClassifier):
    """Classifier of pictures by attention among their patches.

    Args:
        image_shape: (C, H, W).
        num_classes: K.
        patch: P, pixels of a side; it divides H and W.
        layers, heads, width: L, H, D of the encoder.
        feedforward_width: hidden units of its feed-forward layers; None is 4D.
        pool: what is classified: the token "cls", or the "mean" of all patches.
        positions: "learned", or "none": then the picture is a bag of patches.
        norm, activation, bias, dropout: as in `Stack`.

    Raises:
        ValueError: an argument is out of range, or patches do not tile the picture.

    Example:
        >>> ViT(layers=4, heads=4, width=64, patch=7).num_parameters
        205066
    """

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 28, 28),
        num_classes: int = 10,
        patch: int = 4,
        layers: int = 4,
        heads: int = 4,
        width: int = 64,
        feedforward_width: int | None = None,
        pool: Literal["cls", "mean"] = "cls",
        positions: Literal["learned", "none"] = "learned",
        norm: Norm = "pre",
        activation: Activation = "gelu",
        bias: bool = True,
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        super().__init__(image_shape, patch, width, **training)
        require(1, num_classes=num_classes)
        if pool not in ("cls", "mean"):
            raise ValueError(f"pool is {pool!r}: choose cls or mean.")
        if positions not in ("learned", "none"):
            raise ValueError(f"positions is {positions!r}: choose learned or none.")
        self.pool = pool
        tokens = self.grid[0] * self.grid[1] + (pool == "cls")
        self.cls = nn.Parameter(torch.zeros(1, 1, width)) if pool == "cls" else None
        self.stack = Stack(
            layers, heads, width, tokens, positions, norm, activation, bias, dropout,
            feedforward_width=feedforward_width,
        )  # fmt: skip
        self.head = nn.Linear(width, num_classes)
        self.draw_weights()

    def tokens(self, x: Tensor) -> Tensor:
        """All tokens, <cls> first where there is one: (B, N or N + 1, D)."""
        x = self.patches(x)
        return x if self.cls is None else torch.cat([self.cls.expand(len(x), -1, -1), x], 1)

    def features(self, x: Tensor) -> Tensor:
        """What is classified: (B, C, H, W) -> (B, D)."""
        z = self.stack(self.tokens(x))
        return z.mean(1) if self.cls is None else z[:, 0]
