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

from modules.autoregressive.orders import Order
from modules.autoregressive.pixelcnn import (
    FULL_PASS,
    FullPass,
    IncrementalPass,
    MaskedConv2d,
    PixelModel,
    RecordingPass,
    check_sizes,
)
from modules.base import Mean, Split, require
from modules.classes import ClassConditional
from modules.former import former
from modules.trace import Trace


def gate(both: Tensor) -> Tensor:
    """tanh(f) ⊙ σ(g): (B, 2C, H, W) -> (B, C, H, W); f and g alternate, so colours stay in their maps."""
    f, g = both.unflatten(1, (-1, 2)).unbind(2)
    return torch.tanh(f) * torch.sigmoid(g)


def shift_down(image: Tensor) -> Tensor:
    """Move every row down by one, the first is 0: (B, C, H, W) -> the same."""
    return F.pad(image, (0, 0, 1, 0))[:, :, :-1]


class GatedLayer(nn.Module):
    """Layer of both stacks.

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

    def add_class_bias(self, both: Tensor, y: Tensor | None, stack: int) -> Tensor:
        """Add V e_y at every place."""
        if self.classes is None or y is None:
            return both
        return both + self.classes(y).chunk(2, dim=1)[stack][:, :, None, None]

    def vertical_stack(self, v: Tensor, y: Tensor | None, apply: FullPass) -> tuple[Tensor, Tensor]:
        """Vertical stack: (B, inputs, H, W) -> v of the next layer, and what the row gets."""
        both = apply(self.vertical, v)
        return gate(self.add_class_bias(both, y, 0)), apply(self.across, both)

    def horizontal_stack(self, h: Tensor, above: Tensor, y: Tensor | None, apply: FullPass) -> Tensor:
        """Horizontal stack: (B, inputs, H, W) -> (B, channels, H, W)."""
        out = apply(self.out, gate(self.add_class_bias(apply(self.horizontal, h) + above, y, 1)))
        return out if self.first else h + out  # the picture itself must not be added: it is the target


class GatedPixelCNN(ClassConditional, PixelModel):
    """Gated PixelCNN on bits or K values, with or without classes.

    Args:
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

    def vertical_stack(self, v: Tensor, y: Tensor | None, apply: FullPass = FULL_PASS) -> list[Tensor]:
        """Maps that the vertical stack gives each horizontal layer; v is the picture moved down by a row."""
        given = []
        for layer in self.stack:
            v, above = layer.vertical_stack(v, y, apply)
            given.append(above)
        return given

    def horizontal_stack(
        self, h: Tensor, given: Sequence[Tensor], y: Tensor | None, apply: FullPass = FULL_PASS
    ) -> Tensor:
        """(B, C, H, W) and what the vertical stack gives -> (B, C·K', H, W)."""
        for layer, above in zip(self.stack, given, strict=True):
            h = layer.horizontal_stack(h, above, y, apply)
        return self.apply_head(h, apply)

    def network(self, image: Tensor, apply: FullPass = FULL_PASS, y: Tensor | None = None) -> Tensor:
        given = self.vertical_stack(shift_down(image), y, apply)
        return self.horizontal_stack(image, given, y, apply)

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        """Logits with activations kept: the vertical stack once per row, the horizontal one per pixel."""
        self.check_order(order)
        y, beginning = self.component_classes(len(x), index), RecordingPass()
        if start:
            self.network(self.to_image(x), beginning, y)
        kept = IncrementalPass(self.height, self.width, beginning.maps)
        given: list[Tensor] = []
        for t in range(start, self.n):
            pixel, colour = divmod(t, self.colours)
            row, column = divmod(pixel, self.width)
            if not given or (column == 0 and colour == 0):
                kept.row, kept.column = row, 0
                given = self.vertical_stack(self.row_before(x, row), y, kept)
            kept.row, kept.column = row, column
            here = [above[..., column : column + 1] for above in given]
            yield self.to_logits(self.horizontal_stack(self.at(x, pixel), here, y, kept))[:, colour]
            kept.write(self.stack[0].horizontal, self.at(x, pixel))  # by now the caller has drawn it

    def row_before(self, x: Tensor, row: int) -> Tensor:
        """Row above `row` of x (B, n) as an image (B, C, 1, W); zeros above the first."""
        image = self.to_image(x)
        return image[:, :, row - 1 : row] if row else torch.zeros_like(image[:, :, :1])

    # --- with classes: joint number `index` of the mixture is that of class `index` ---

    joint_name = "class"

    @property
    def num_components(self) -> int:
        return self.num_classes or 1

    def component_classes(self, count: int, index: int) -> Tensor | None:
        return torch.full((count,), index, device=self.device) if self.num_classes else None

    def logits(
        self, x: Tensor, order: Tensor | None = None, index: int = 0, y: Tensor | None = None
    ) -> Tensor:
        """See `Autoregressive.logits`; classes y (B,), else all of class `index`."""
        self.check_order(order)
        y = self.component_classes(len(x), index) if y is None else y
        return self.to_logits(self.network(self.to_image(x), y=y))

    def log_prob(
        self,
        x: Tensor,
        order: Order | Tensor | None = None,
        y: int | Sequence[int] | Tensor | None = None,
    ) -> Tensor:
        """log p(x | y) in nats, (B,); without y, log p(x) = log Σ_y p(x | y) / num_classes."""
        if y is None:
            return super().log_prob(x, order)
        x = self.as_vectors(x)
        logits = self.logits(x, y=cast(Tensor, self.classes(len(x), y)).to(self.device))
        return self.conditional_log_prob(logits, x).sum(-1)

    def class_posterior(self, given: Tensor) -> Tensor:
        """p(y | a beginning): given (B, n), NaN where free -> (B, num_classes)."""
        return self.joint_posterior(given, self.joints())

    @former("n", "given", "order", "temperature", "generator", "y")
    def sample(  # type: ignore[override]  # y comes first, as of every model with classes
        self,
        n: int,
        *,
        y: int | Sequence[int] | Tensor | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
    ) -> Tensor:
        """See `Autoregressive.sample`; of classes y, one for all or n of them. Without y, each example's
        class is drawn first: evenly, or from p(y | given)."""
        if y is None:
            return super().sample(n, temperature=temperature, generator=generator, given=given, order=order)
        known = self._checked(given, n)
        joints = self.joints_given(known, order)
        return self._draw_from(known, joints, cast(Tensor, self.classes(n, y)), temperature, generator)

    @former("given", "order", "temperature", "seed", "y")
    def sample_trace(  # type: ignore[override]
        self,
        *,
        y: int | Sequence[int] | Tensor | None = None,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        given: Tensor | None = None,
        order: Order | Tensor | None = None,
    ) -> Trace:
        """See `Autoregressive.sample_trace`; given a class y every number is of that class, up to the last
        `log_prob`, `log_prob(x, y=y)`. `result` has the class, drawn or given, as `y`."""
        if y is None:
            trace = super().sample_trace(
                temperature=temperature, generator=generator, given=given, order=order
            )
        else:
            known = self._checked(given, 1)
            joint = self.joints_given(known, order)[int(cast(Tensor, self.classes(1, y)))]
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
