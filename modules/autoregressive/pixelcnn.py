"""PixelCNN: convolutions whose masks make every output a conditional of the chain rule, in raster order.

    log p(x) = Σ_i log p(x_i | x_<i)        i: row by row, left to right; inside a pixel R, then G, then B
    h      = (W ∘ M^A) ∗ x + b              first layer: a pixel must not see itself
    h     ← h + (W ∘ M^B) ∗ relu(h) + b     later layers: h at a pixel has not seen it, so it may be read
    logits = 1×1 convolutions of relu(h)    a Bernoulli or K-way softmax for each colour of each pixel

M is 1 on the rows above and on what is left in the same row, 0 below and to the right; its centre is 0 in
M^A and 1 in M^B. With several colours, feature maps belong to R, G or B in turn, and the centre of M lets
a map of colour g read earlier colours in M^A, and its own as well in M^B. A B mask in the first layer
copies the pixel to its own logit: the training loss falls below any entropy, the samples are noise.

However deep, a stack of square masks never sees a wedge of pixels above to the right: its blind spot,
which `gated_pixelcnn` cures.

Shapes: x (B, C, H, W) or (B, C·H·W), entries 0..K-1; logits (B, C·H·W[, K]), K only for more than 2 values.

References: van den Oord, Kalchbrenner, Kavukcuoglu 2016, arXiv:1601.06759; [GM] 3.11.1; [BB] 5.2;
[UDL] notes of chapters 14 and 17.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.autoregressive.base import Autoregressive
from modules.base import Split, require_picture

Kind = Literal["A", "B", "all"]


# --- Masked convolution -------------------------------------------------------------------------


def causal_mask(
    outputs: int, inputs: int, kernel: tuple[int, int], centre: tuple[int, int], kind: Kind, colours: int = 1
) -> Tensor:
    """1 where an output may read, (outputs, inputs, rows, columns).

    Args:
        centre: row and column, in the kernel, of the pixel that the output belongs to.
        kind: what of the centre may be read, see above; "all" masks nothing.
        colours: feature map j of `width` belongs to colour j · colours // width.
    """
    mask = torch.ones(outputs, inputs, *kernel)
    if kind == "all":
        return mask
    row, column = centre
    mask[:, :, row + 1 :] = 0
    mask[:, :, row, column + 1 :] = 0
    writes = torch.arange(outputs)[:, None] * colours // outputs  # colour of each output map
    reads = torch.arange(inputs)[None, :] * colours // inputs
    mask[:, :, row, column] = (reads < writes if kind == "A" else reads <= writes).float()
    return mask


class MaskedConv2d(nn.Conv2d):
    """A convolution that multiplies its weight by a mask when it is used; what it hides is 0.

    Args:
        kernel: rows and columns.
        centre: see `causal_mask`; the output has the size of the input.
    """

    mask: Tensor

    def __init__(
        self,
        inputs: int,
        outputs: int,
        kernel: tuple[int, int],
        centre: tuple[int, int],
        kind: Kind,
        colours: int = 1,
    ) -> None:
        super().__init__(inputs, outputs, kernel)
        self.above, self.left = centre
        self.right = kernel[1] - 1 - self.left
        self.register_buffer(
            "mask", causal_mask(outputs, inputs, kernel, centre, kind, colours), persistent=False
        )
        self.weight.data *= self.mask  # what it hides gets no gradient: it is 0 and stays 0

    @property
    def taps(self) -> Tensor:
        """Masked weights without the rows below the centre, (outputs, inputs, above + 1, columns)."""
        return (self.weight * self.mask)[:, :, : self.above + 1]

    def padded(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) -> (B, inputs, above + H, left + W + right)."""
        return F.pad(x, (self.left, self.right, self.above, 0))

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs, H, W) -> (B, outputs, H, W)."""
        return F.conv2d(self.padded(x), self.taps, self.bias)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, connections={int(self.mask.sum())} of {self.mask.numel()}"


class FullPass:
    """Pass of a network over every place at once."""

    def __call__(self, layer: MaskedConv2d, x: Tensor) -> Tensor:
        """(B, inputs, H, W) -> (B, outputs, H, W)."""
        return layer(x)

    def crop(self, numbers: Tensor) -> Tensor:
        """Those of the numbers (1, C, H, W) whose places are computed."""
        return numbers


class RecordingPass(FullPass):
    """Pass over every place that keeps what each layer reads, for `IncrementalPass` to go on from."""

    def __init__(self) -> None:
        self.maps: dict[MaskedConv2d, Tensor] = {}  # padded

    def __call__(self, layer: MaskedConv2d, x: Tensor) -> Tensor:
        self.maps[layer] = layer.padded(x)
        return layer(x)


class IncrementalPass(FullPass):
    """Pass over the one place that a growing picture has reached, from activations that are kept.

    What a layer reads lies above and to the left, where nothing changes any more: of its inputs only
    those at the new place are computed, and of its outputs too.
    """

    def __init__(self, height: int, width: int, maps: dict[MaskedConv2d, Tensor] | None = None) -> None:
        self.height, self.width = height, width
        self.row = self.column = 0
        self.maps = dict(maps or {})  # what each layer has read so far, padded
        self.taps: dict[MaskedConv2d, Tensor] = {}

    def crop(self, numbers: Tensor) -> Tensor:
        return numbers[:, :, self.row : self.row + 1, self.column : self.column + 1]

    def write(self, layer: MaskedConv2d, x: Tensor) -> None:
        """Keep x (B, inputs, 1, w), what `layer` reads at this row from this column on."""
        if layer not in self.maps:
            self.maps[layer] = layer.padded(x.new_zeros(*x.shape[:2], self.height, self.width))
        row, column = self.row + layer.above, self.column + layer.left
        self.maps[layer][:, :, row : row + 1, column : column + x.shape[3]] = x

    def __call__(self, layer: MaskedConv2d, x: Tensor) -> Tensor:
        """(B, inputs, 1, w) at this place -> (B, outputs, 1, w)."""
        if layer not in self.taps:
            self.taps[layer] = layer.taps
        taps = self.taps[layer]
        if taps.shape[2:] == (1, 1):
            window = x
        else:
            self.write(layer, x)
            row, column = self.row, self.column
            across = column + layer.left + x.shape[3] + layer.right
            window = self.maps[layer][:, :, row : row + layer.above + 1, column:across]
        if x.shape[3] > 1:
            return F.conv2d(window, taps, layer.bias)
        return F.linear(window.flatten(1), taps.flatten(1), layer.bias)[:, :, None, None]


FULL_PASS = FullPass()

# --- The models ---------------------------------------------------------------------------------


class PixelModel(Autoregressive):
    """Base of PixelCNN and Gated PixelCNN: pixels in, logits out.

    A subclass makes a `head`, and offers `network(image)` and `_sequential_logits` that keeps activations.
    """

    head: nn.ModuleList

    def __init__(self, image_shape: Sequence[int], num_categories: int, /, **training: Any) -> None:
        """Raises ValueError: `image_shape` is not (C, H, W)."""
        require_picture(image_shape)
        each = torch.arange(math.prod(image_shape)).view(image_shape[0], -1)  # (C, H·W)
        pixelwise = each.t().flatten().tolist()  # all colours of a pixel, then the next
        super().__init__(image_shape, pixelwise, num_categories, **training)
        self.colours, self.height, self.width = image_shape
        self.outputs = self.colours * (1 if num_categories == 2 else num_categories)  # numbers per pixel

    def make_head(self, channels: int) -> nn.ModuleList:
        return nn.ModuleList(
            MaskedConv2d(channels, width, (1, 1), (0, 0), "B", self.colours)
            for width in (channels, self.outputs)
        )

    def apply_head(self, h: Tensor, apply: FullPass) -> Tensor:
        """Apply the head, 1×1: (B, channels, H, W) -> (B, C·K', H, W)."""
        for layer in self.head:
            h = apply(cast(MaskedConv2d, layer), F.relu(h))
        return h

    def to_image(self, x: Tensor) -> Tensor:
        """(B, n) of 0..K-1 -> (B, C, H, W) of [0, 1], channels last: faster on CPUs and tensor cores."""
        image = x.view(len(x), *self.event_shape) / (self.num_categories - 1)
        return image.contiguous(memory_format=torch.channels_last)

    def to_logits(self, out: Tensor) -> Tensor:
        """(B, C·K', H, W) -> (B, C·H·W[, K])."""
        out = out.float() if out.dtype == torch.bfloat16 else out
        if self.num_categories == 2:
            return out.flatten(1)
        out = out.unflatten(1, (self.colours, self.num_categories)).movedim(2, -1)  # (B, C, H, W, K)
        return out.flatten(1, 3)

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        """See `Autoregressive.logits`.

        Raises:
            ValueError: another order than the convolutions have.
        """
        self.check_order(order)
        return self.to_logits(self.network(self.to_image(x)))

    def network(self, image: Tensor) -> Tensor:
        """(B, C, H, W) of [0, 1] -> (B, C·K', H, W)."""
        raise NotImplementedError

    def check_order(self, order: Tensor | None) -> None:
        if order is not None and not torch.equal(order.cpu(), self.order):
            raise ValueError("Masked convolutions know the raster order alone: leave the order out.")

    def at(self, x: Tensor, pixel: int) -> Tensor:
        """Pixel of x (B, n) as an image (B, C, 1, 1)."""
        return (x.view(len(x), self.colours, -1)[:, :, pixel] / (self.num_categories - 1))[:, :, None, None]

    def full_precision(self, split: Split) -> AbstractContextManager:
        """Training may run in bfloat16; what the card says of the test split must not."""
        return torch.autocast(self.device.type, enabled=False) if split == "test" else nullcontext()

    def step(self, batch: Any, split: Split) -> Tensor:
        with self.full_precision(split):
            return super().step(batch, split)


class ResidualBlock(nn.Module):
    """h + (W ∘ M^B) ∗ relu(h); with a `bottleneck`, between two 1×1 convolutions that narrow and widen."""

    def __init__(self, channels: int, kernel: int, bottleneck: int, colours: int) -> None:
        super().__init__()
        inner, side = bottleneck or channels, (kernel, kernel // 2)
        sizes = [(inner, inner, *side)]
        if bottleneck:
            sizes = [(channels, inner, 1, 0), *sizes, (inner, channels, 1, 0)]
        self.layers = nn.ModuleList(
            MaskedConv2d(i, o, (k, k), (centre, centre), "B", colours) for i, o, k, centre in sizes
        )

    def forward(self, h: Tensor, apply: FullPass) -> Tensor:
        """(B, channels, H, W) -> the same."""
        out = h
        for layer in self.layers:
            out = apply(cast(MaskedConv2d, layer), F.relu(out))
        return h + out


class PixelCNN(PixelModel):
    """Args:
        image_shape: colours, height, width.
        num_categories: K; 2 for bits.
        channels: feature maps; a multiple of the colours.
        layers: residual blocks.
        kernel, first_kernel: side of the square masks, odd; the first layer's own.
        bottleneck: width inside a block, between 1×1 convolutions; 0 has one convolution a block.
        positions: learn a bias for every map at every place, so that one set of convolutions can tell the
            middle from the margin (the location-dependent bias of van den Oord et al. 2016, 1606.05328, 2.3).
        first_mask: "A"; "B" shows the leak of a pixel into its own logit, and is no density.
        training: optimizer, lr_scheduler, ... of `modules.base.Module`.

    Example:
        >>> model = PixelCNN(image_shape=(1, 4, 4), channels=8, layers=2)
        >>> model.log_prob(torch.zeros(2, 1, 4, 4)).shape
        torch.Size([2])
    """

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 28, 28),
        num_categories: int = 2,
        channels: int = 32,
        layers: int = 5,
        kernel: int = 3,
        first_kernel: int = 7,
        bottleneck: int = 0,
        positions: bool = False,
        first_mask: Literal["A", "B"] = "A",
        **training: Any,
    ) -> None:
        super().__init__(image_shape, num_categories, **training)
        if first_mask not in ("A", "B"):
            raise ValueError(f"first_mask is {first_mask!r}: choose A or B.")
        check_sizes(self.colours, channels, layers, (kernel, first_kernel), bottleneck)
        self.first_mask = first_mask
        centre = (first_kernel // 2, first_kernel // 2)
        self.first = MaskedConv2d(
            self.colours, channels, (first_kernel, first_kernel), centre, first_mask, self.colours
        )
        self.place = nn.Parameter(torch.zeros(1, channels, self.height, self.width)) if positions else None
        self.blocks = nn.ModuleList(
            ResidualBlock(channels, kernel, bottleneck, self.colours) for _ in range(layers)
        )
        self.head = self.make_head(channels)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def network(self, image: Tensor, apply: FullPass = FULL_PASS) -> Tensor:
        h = apply(self.first, image)
        if self.place is not None:
            h = h + apply.crop(self.place).to(h)  # also where convolutions run in bfloat16
        for block in self.blocks:
            h = block(h, apply)
        return self.apply_head(h, apply)

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        """Logits with activations kept: one place of each layer for a new pixel, not all of them."""
        self.check_order(order)
        if self.first_mask == "B":  # what is kept would be outdated by the pixel's own value
            yield from super()._sequential_logits(x, order, index, start)
            return
        beginning = RecordingPass()
        if start:
            self.network(self.to_image(x), beginning)
        kept = IncrementalPass(self.height, self.width, beginning.maps)
        for t in range(start, self.n):
            pixel, colour = divmod(t, self.colours)
            kept.row, kept.column = divmod(pixel, self.width)
            yield self.to_logits(self.network(self.at(x, pixel), kept))[:, colour]
            kept.write(self.first, self.at(x, pixel))  # by now the caller has drawn it


def check_sizes(
    colours: int, channels: int, layers: int, kernels: Sequence[int], bottleneck: int = 0
) -> None:
    """Raises ValueError: a size that no network can have."""
    if channels < colours or channels % colours or bottleneck % colours:
        raise ValueError(f"channels and bottleneck must be multiples of the {colours} colours.")
    if layers < 0 or bottleneck < 0:
        raise ValueError("layers and bottleneck must be at least 0.")
    if any(k < 1 or k % 2 == 0 for k in kernels):
        raise ValueError(f"kernels are {list(kernels)}: odd sides have a centre, even ones none.")
