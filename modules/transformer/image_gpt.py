"""ImageGPT: a GPT over the colours of pixels in raster order.

    p(x) = p(x_1) Π_t p(x_t | x_<t),    p(x_t = k | x_<t) = softmax_k(W_o z_{t−1} + b_o)
    z = causal stack of (E_{x_t} + p_t)                    one learned position per pixel
    p(x_1 = k) = (n_k + 1) / (n + K)                       empirical: n_k counts of the training pictures
    Pr(y | x) = softmax(W_y · mean_t z_t + b_y)            mean of the final embeddings of all pixels
    loss = −log Pr(y | x) − λ log p(x)                     with labels; without them −log p(x), per picture

A pixel is one number: an index of a palette, which `nearest` finds and `colours` looks up. That a pixel has
neighbours above it is nowhere told: it must be learned from the positions.

Shapes: x (B, 1, H, W) or (B, n) of 0 … K−1, n = H·W; `C` channels of an embedding; logits (B, n[, K]).

References: Chen et al. 2020, Generative pretraining from pixels; [UDL] 12.10.1, figure 12.16. The book tells
one story of two models: 6.8 billion parameters are those for 64×64 pixels, judged by a linear layer alone;
the error of 27.4 % is that of 1.4 billion, fine-tuned at 48×48, and was higher than that of convolutions.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.autoregressive.base import Autoregressive
from modules.base import BatchShard, Mean, Split, all_reduce_sum, require, require_picture
from modules.transformer.attention import KVCache
from modules.transformer.stack import Stack, draw_weights, matrices_decay

# --- Palettes -------------------------------------------------------------------------------------


def nearest(images: Tensor, palette: Tensor) -> Tensor:
    """Index of the nearest colour at each pixel: (B, C, H, W), palette (K, C) -> (B, 1, H, W), as floats."""
    pixels = images.movedim(1, -1)  # (B, H, W, C)
    distance = (pixels[..., None, :] - palette).square().sum(-1)  # (B, H, W, K)
    return distance.argmin(-1)[:, None].to(images.dtype)


def colours(indices: Tensor, palette: Tensor) -> Tensor:
    """Look colours up: (B, 1, H, W) of 0 … K−1, palette (K, C) -> (B, C, H, W)."""
    return palette[indices[:, 0].long()].movedim(-1, 1)


def nine_bits() -> Tensor:
    """Palette of 8 levels each of red, green and blue, 2⁹ = 512 colours: (512, 3) in [0, 1]."""
    level = torch.linspace(0, 1, 8)
    return torch.cartesian_prod(level, level, level)


# --- The model ------------------------------------------------------------------------------------


class ImageGPT(Autoregressive):
    """GPT of pictures of K colours.

    Args:
        image_shape: (1, H, W): one number for each pixel.
        num_categories: K, colours of the palette.
        layers, heads, width: L, H, C of the stack.
        dropout: while training.

    Raises:
        ValueError: a size is out of range, or several numbers a pixel.

    Example:
        >>> model = ImageGPT((1, 4, 4), num_categories=3, layers=1, heads=2, width=8)
        >>> model.log_prob(torch.zeros(2, 1, 4, 4)).shape
        torch.Size([2])
    """

    counts: Tensor

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 28, 28),
        num_categories: int = 4,
        layers: int = 4,
        heads: int = 4,
        width: int = 64,
        dropout: float = 0.0,
        **training: Any,
    ) -> None:
        require_picture(image_shape)
        if image_shape[0] != 1:
            raise ValueError(f"image_shape is {list(image_shape)}: give one number a pixel, of a palette.")
        require(1, width=width)
        super().__init__(image_shape, "raster", num_categories, **training)
        self.register_buffer("counts", torch.zeros(num_categories, dtype=torch.int64))  # of the first pixel
        self.embedding = nn.Embedding(num_categories, width)
        self.stack = Stack(layers, heads, width, self.n, dropout=dropout)
        self.head = nn.Linear(width, 1 if num_categories == 2 else num_categories)
        draw_weights(self)

    def stream(self, x: Tensor, cache: list[Any] | None = None) -> Iterator[Tensor]:
        """Residual stream of pixels (B, T): as it enters the first block, then after every block, (B, T, C).

        With `cache` they are the pixels behind those already in it.
        """
        return self.stack.stream(self.embedded(x), causal=True, cache=cache)

    def embedded(self, x: Tensor) -> Tensor:
        """Rows of the table of embeddings, (B, T) -> (B, T, C); between two levels the line from one to the
        next, so that a gradient at x says what a level more would change."""
        lower = x.detach().floor().clamp(0, self.num_categories - 2)
        f = (x - lower)[..., None]
        low, high = (self.embedding((lower + step).long()) for step in (0, 1))
        return (1 - f) * low + f * high

    def hidden(self, x: Tensor, cache: list[Any] | None = None) -> Tensor:
        """Final embeddings of pixels (B, T), each of which knows itself and those before: (B, T, C)."""
        (z,) = deque(self.stream(x, cache), maxlen=1)
        return self.stack.final_norm(z)

    def next_pixels(self, z: Tensor) -> Tensor:
        """Logits of the pixel after each, (B, T, C) -> (B, T[, K]); a single one for two colours."""
        logits = self.head(z)
        return logits[..., 0] if self.num_categories == 2 else logits

    @property
    def first_logits(self) -> Tensor:
        """Logits of the first pixel, (K,) or one: log of its empirical distribution."""
        log_p = (self.counts + 1).to(self.dtype).log()
        return log_p[1] - log_p[0] if self.num_categories == 2 else log_p

    def from_hidden(self, z: Tensor) -> Tensor:
        """Logits of all pixels, (B, n, C) -> (B, n[, K])."""
        first = self.first_logits.expand(len(z), 1, *self.first_logits.shape)
        return torch.cat([first.to(z.dtype), self.next_pixels(z[:, :-1])], 1)

    def logits(self, x: Tensor, order: Tensor | None = None, index: int = 0) -> Tensor:
        """See `Autoregressive.logits`.

        Raises:
            ValueError: another order than that of the positions.
        """
        self.check_order(order)
        return self.from_hidden(self.hidden(x))

    def check_order(self, order: Tensor | None) -> None:
        if order is not None and not torch.equal(order.cpu(), self.order):
            raise ValueError("Pixels were learned in raster order alone: leave the order out.")

    def _sequential_logits(self, x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        """Logits with keys and values kept: a new pixel is encoded alone."""
        self.check_order(order)
        cache = self.stack.new_cache(len(x), self.n, self.device, self.dtype)
        if start == 0:
            yield self.first_logits.expand(len(x), *self.first_logits.shape)
        for t in range(max(start, 1), self.n):
            done = cast(KVCache, cache[0]).length
            yield self.next_pixels(self.hidden(x[:, done:t], cache)[:, -1])

    def features(self, x: Tensor) -> Tensor:
        """Mean over pixels of what each layer has, (B, 1, H, W) -> (B, L + 1, C): embeddings first, the
        last behind its norm."""
        *stream, last = self.stream(self.as_vectors(x))
        return torch.stack([z.mean(1) for z in (*stream, self.stack.final_norm(last))], 1)

    # --- training -------------------------------------------------------------------------------

    def on_train_batch_start(self, batch: Any, batch_idx: int) -> None:
        """Count the first pixel."""
        weight = 1.0
        if isinstance(batch, BatchShard):
            batch, weight = batch.batch, batch.weight
        first = pixels_of(batch).flatten(1)[:, 0].long()
        counted = F.one_hot(first, self.num_categories).sum(0)
        self.counts += all_reduce_sum(counted if weight else torch.zeros_like(counted))

    def step(self, batch: Any, split: Split) -> Tensor:
        return self.pixel_loss(batch, split)[0]

    def pixel_loss(self, batch: Any, split: Split) -> tuple[Tensor, Tensor]:
        """Mean of −log p(x) of a batch, nats, and its final embeddings (B, n, C)."""
        x = self.as_vectors(pixels_of(batch))
        z = self.hidden(x)
        nll = -self.conditional_log_prob(self.from_hidden(z), x).sum(-1)
        self.log_metric(split, "nll", nll.detach())
        return nll.mean(), z

    def parameter_groups(self) -> list[dict[str, Any]]:
        return matrices_decay(self)


def pixels_of(batch: Any) -> Tensor:
    """Pictures of a batch, with labels or without."""
    return batch[0] if isinstance(batch, (tuple, list)) else batch


class ImageGPTClassifier(ImageGPT):
    """ImageGPT that learns labels together with pixels, from the mean of its final embeddings.

    Measures `nll` of the pixels (nats per picture) and `acc`.

    Args:
        image_shape, num_categories, layers, heads, width, dropout: as of `ImageGPT`.
        num_classes: of the labels.
        generative_weight: λ, of the pixels beside the labels.

    Raises:
        ValueError: as of `ImageGPT`; a weight below 0.
    """

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 28, 28),
        num_categories: int = 4,
        layers: int = 4,
        heads: int = 4,
        width: int = 64,
        dropout: float = 0.0,
        num_classes: int = 10,
        generative_weight: float = 1.0,
        **training: Any,
    ) -> None:
        measures = {"nll": Mean(), "acc": Mean()}
        super().__init__(
            image_shape, num_categories, layers, heads, width, dropout, _measures=measures, **training
        )
        require(0, generative_weight=generative_weight)
        require(1, num_classes=num_classes)
        self.generative_weight = generative_weight
        self.classes = nn.Linear(width, num_classes)
        nn.init.normal_(self.classes.weight, std=0.02)

    def predict(self, x: Tensor) -> Tensor:
        """Logits of the classes, (B, 1, H, W) -> (B, K)."""
        return self.classes(self.hidden(self.as_vectors(x)).mean(1))

    def step(self, batch: Any, split: Split) -> Tensor:
        nll, z = self.pixel_loss(batch, split)
        logits, y = self.classes(z.mean(1)), batch[1]
        self.log_metric(split, "acc", (logits.argmax(-1) == y).to(logits.dtype))
        return F.cross_entropy(logits, y) + self.generative_weight * nll
