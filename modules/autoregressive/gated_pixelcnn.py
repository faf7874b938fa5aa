"""Gated PixelCNN: two stacks of convolutions, one for the rows above, one for what is left in the row.

    v ← tanh(f) ⊙ σ(g),             (f, g) = W_v ∗ v (+ V_v e_y)             vertical: the rows above
    h ← h + W_1 (tanh(f) ⊙ σ(g)),   (f, g) = W_h ∗ h + W_vh v' (+ V_h e_y)   horizontal: left in the row

v' is what the vertical stack has before its gate. A window of ⌊k/2⌋ + 1 whole rows widens in both
directions as it climbs, so nothing above is missed: the blind spot of stacked square masks is gone. The
vertical stack reads the picture moved down by one row, so it never meets the row it is read in; the
horizontal one has an A mask in its first layer, B masks after. Only the horizontal stack has residuals.

With a class y, e_y adds to both stacks; log p(x) is then the mixture of all classes, equally likely.

Shapes: as `PixelCNN`; y (B,) int64.

References: van den Oord, Kalchbrenner, Vinyals, Espeholt, Graves, Kavukcuoglu 2016, arXiv:1606.05328;
[UDL] notes of chapter 14.
"""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.autoregressive.base import Order
from modules.autoregressive.pixelcnn import (
    EVERYWHERE,
    Everywhere,
    Growing,
    Keeping,
    MaskedConv2d,
    PixelModel,
    check_sizes,
)
from modules.base import Mean, Split, require
from modules.trace import Trace


def gate(both: Tensor) -> Tensor:
    """tanh(f) ⊙ σ(g): (B, 2C, H, W) -> (B, C, H, W); f and g alternate, so colours stay in their maps."""
    f, g = both.unflatten(1, (-1, 2)).unbind(2)
    return torch.tanh(f) * torch.sigmoid(g)


def moved_down(image: Tensor) -> Tensor:
    """Every row one lower, the first one 0: (B, C, H, W) -> the same."""
    return F.pad(image, (0, 0, 1, 0))[:, :, :-1]


class GatedLayer(nn.Module):
    """One layer of both stacks.

    Args:
        inputs: maps read: the colours of the picture in the first layer, `channels` later.
        kernel: k; the vertical window is ⌊k/2⌋ + 1 rows by k, the horizontal one ⌊k/2⌋ + 1 pixels.
        num_classes: 0 without classes.
    """

    def __init__(
        self, inputs: int, channels: int, kernel: int, first: bool, colours: int = 1, num_classes: int = 0
    ) -> None:
        super().__init__()
        half, both = kernel // 2, 2 * channels
        self.first = first
        kind = "A" if first else "B"
        self.vertical = MaskedConv2d(inputs, both, (half + 1, kernel), (half, half), "all")
        self.across = MaskedConv2d(both, both, (1, 1), (0, 0), "all")
        self.horizontal = MaskedConv2d(inputs, both, (1, half + 1), (0, half), kind, colours)  # type: ignore[arg-type]
        self.out = MaskedConv2d(channels, channels, (1, 1), (0, 0), "B", colours)
        self.classes = nn.Embedding(num_classes, 2 * both) if num_classes else None

    def add_class(self, both: Tensor, y: Tensor | None, stack: int) -> Tensor:
        """V e_y at every place."""
        if self.classes is None or y is None:
            return both
        return both + self.classes(y).chunk(2, dim=1)[stack][:, :, None, None]

    def rows_above(self, v: Tensor, y: Tensor | None, apply: Everywhere) -> tuple[Tensor, Tensor]:
        """The vertical stack: (B, inputs, H, W) -> v of the next layer, and what the row gets of it."""
        both = apply(self.vertical, v)
        return gate(self.add_class(both, y, 0)), apply(self.across, both)

    def left_in_row(self, h: Tensor, above: Tensor, y: Tensor | None, apply: Everywhere) -> Tensor:
        """The horizontal stack: (B, inputs, H, W) -> (B, channels, H, W)."""
        out = apply(self.out, gate(self.add_class(apply(self.horizontal, h) + above, y, 1)))
        return out if self.first else h + out  # the picture itself must not be added: it is the target


class GatedPixelCNN(PixelModel):
    """Args:
        image_shape: colours, height, width.
        num_categories: K; 2 for bits.
        channels: maps of each stack; a multiple of the colours.
        layers: layers after the first.
        kernel, first_kernel: odd; the first layer's own.
        conditional: learn p(x | y) of each of `num_classes` classes.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Measures `nll`, -log p(x). A conditional model measures `nll_given_class`, -log p(x | y), as well, and in
    training and validation that alone: `nll` mixes all classes, a pass for each.
    """

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 28, 28),
        num_categories: int = 2,
        channels: int = 32,
        layers: int = 5,
        kernel: int = 3,
        first_kernel: int = 7,
        conditional: bool = False,
        num_classes: int = 10,
        **training: Any,
    ) -> None:
        metrics = {"nll": Mean()} | ({"nll_given_class": Mean()} if conditional else {})
        super().__init__(image_shape, num_categories, _measures=metrics, **training)
        require(1, num_classes=num_classes if conditional else 1)
        check_sizes(self.colours, channels, layers, (kernel, first_kernel))
        self.num_classes = num_classes if conditional else 0
        self.layers = nn.ModuleList(
            GatedLayer(
                channels if i else self.colours,
                channels,
                kernel if i else first_kernel,
                not i,
                self.colours,
                self.num_classes,
            )
            for i in range(layers + 1)
        )
        self.head = self.make_head(channels)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    # --- the two stacks ---

    @property
    def stack(self) -> list[GatedLayer]:
        return cast(list[GatedLayer], list(self.layers))

    def rows_above(self, v: Tensor, y: Tensor | None, apply: Everywhere = EVERYWHERE) -> list[Tensor]:
        """What the vertical stack gives to each horizontal layer; v is the picture moved down by a row."""
        given = []
        for layer in self.stack:
            v, above = layer.rows_above(v, y, apply)
            given.append(above)
        return given

    def left_in_row(
        self, h: Tensor, given: Sequence[Tensor], y: Tensor | None, apply: Everywhere = EVERYWHERE
    ) -> Tensor:
        """(B, C, H, W) and what the vertical stack gives -> (B, C·K', H, W)."""
        for layer, above in zip(self.stack, given, strict=True):
            h = layer.left_in_row(h, above, y, apply)
        return self.finish(h, apply)

    def network(self, image: Tensor, apply: Everywhere = EVERYWHERE, y: Tensor | None = None) -> Tensor:
        given = self.rows_above(moved_down(image), y, apply)
        return self.left_in_row(image, given, y, apply)

    def _walk(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        """With activations kept: the vertical stack once a row, the horizontal one once a pixel."""
        self.check_order(order)
        y, beginning = self.labels(len(x), index), Keeping()
        if start:
            self.network(self.image(x), beginning, y)
        kept = Growing(self.height, self.width, beginning.maps)
        given: list[Tensor] = []
        for t in range(start, self.n):
            pixel, colour = divmod(t, self.colours)
            row, column = divmod(pixel, self.width)
            if not given or (column == 0 and colour == 0):
                kept.row, kept.column = row, 0
                given = self.rows_above(self.row_before(x, row), y, kept)
            kept.row, kept.column = row, column
            here = [above[..., column : column + 1] for above in given]
            yield self.numbers(self.left_in_row(self.at(x, pixel), here, y, kept))[:, colour]
            kept.write(self.stack[0].horizontal, self.at(x, pixel))  # by now the caller has drawn it

    def row_before(self, x: Tensor, row: int) -> Tensor:
        """The row above `row` of x (B, n) as an image (B, C, 1, W); zeros above the first."""
        image = self.image(x)
        return image[:, :, row - 1 : row] if row else torch.zeros_like(image[:, :, :1])

    # --- with classes: joint number `index` of the mixture is that of class `index` ---

    joint_name = "class"

    @property
    def num_components(self) -> int:
        return self.num_classes or 1

    def labels(self, count: int, index: int) -> Tensor | None:
        return torch.full((count,), index, device=self.device) if self.num_classes else None

    def known_class(self, y: Tensor | int, count: int) -> Tensor:
        """y as (count,) int64.

        Raises:
            ValueError: the model knows no classes, or not these.
        """
        y = torch.as_tensor(y, device=self.device)
        if not self.num_classes:
            raise ValueError("This model knows no classes: leave y out.")
        if y.is_floating_point() or (y < 0).any() or (y >= self.num_classes).any():
            raise ValueError(f"y must be whole numbers 0 to {self.num_classes - 1}.")
        return y.expand(count)

    def logits(
        self, x: Tensor, order: Tensor | None = None, index: int = 0, y: Tensor | None = None
    ) -> Tensor:
        """See `Autoregressive.logits`; classes y (B,), else all of class `index`."""
        self.check_order(order)
        y = self.labels(len(x), index) if y is None else y
        return self.numbers(self.network(self.image(x), y=y))

    def log_prob(
        self, x: Tensor, order: Order | Tensor | None = None, y: Tensor | int | None = None
    ) -> Tensor:
        """log p(x | y) in nats, (B,); without y, log p(x) = log Σ_y p(x | y) / num_classes."""
        if y is None:
            return super().log_prob(x, order)
        x = self.as_vectors(x)
        return self.conditional_log_prob(self.logits(x, y=self.known_class(y, len(x))), x).sum(-1)

    def class_posterior(self, given: Tensor) -> Tensor:
        """p(y | a beginning): given (B, n), NaN where free -> (B, num_classes)."""
        return self.joint_posterior(given, self.joints())

    def sample(
        self,
        n: int,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        y: Tensor | int | None = None,
    ) -> Tensor:
        """See `Autoregressive.sample`; of classes y, (n,) or one for all. Without y, each example's
        class is drawn first: evenly, or from p(y | given)."""
        if y is None:
            return super().sample(n, given, order, temperature, generator)
        known = self._known(given, n)
        classes = self.completing(known, order)
        return self._draw_each(known, classes, self.known_class(y, n), temperature, generator)

    def sample_trace(
        self,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
        temperature: float = 1.0,
        seed: int = 0,
        y: int | None = None,
    ) -> Trace:
        """See `Autoregressive.sample_trace`; given a class y every number is of that class, up to the last
        `log_prob`, `log_prob(x, y=y)`. `result` has the class, drawn or given, as `y`."""
        if y is None:
            trace = super().sample_trace(given, order, temperature, seed)
        else:
            known, generator = self._known(given, 1), torch.Generator().manual_seed(seed)
            joint = self.completing(known, order)[int(self.known_class(y, 1))]
            trace = self._trace(known, joint, [joint], temperature, generator)
        return Trace(trace.steps, trace.result | ({"y": trace.result["index"]} if self.num_classes else {}))

    def metric_names(self, split: Split) -> list[str]:
        names = super().metric_names(split)
        return [n for n in names if split == "test" or not self.num_classes or n != f"{split}/nll"]

    def step(self, batch: Any, split: Split) -> Tensor:
        if not self.num_classes:
            return super().step(batch, split)
        x, y = batch
        with self.full_precision(split):
            given_class = -self.log_prob(x, y=y)
            self.log_metric(split, "nll_given_class", given_class.detach())
            if split == "test":
                self.log_metric(split, "nll", -self.log_prob(x).detach())
            return given_class.mean()
