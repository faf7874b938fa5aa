"""Labels from a recurrent network: one for a sequence, or one for each of its tokens.

    many to one     Pr(y = k | x_{1:T}) = softmax_k[W h_T + b]      both ways: [h→_T ; h←_1] for h_T
    many to many    Pr(y_t = k | x_{1:t}) = softmax_k[W h_t + b]    both ways: [h→_t ; h←_t], given x_{1:T}

A tagger that reads from the left cannot know what comes: where a fair coin that lies to the right decides
the tag of a word, it is right half of the time, whatever it has learned; one that reads both ways can be
right always.

References: the shapes of [DGM] deck 1 and [BB] 1.1; Schuster, Paliwal 1997, Bidirectional recurrent neural
networks; Greydanus & Kobak 2020, arXiv:2011.14439 (a GRU reads MNIST-1D as 40 steps).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from torch import Tensor, nn

from modules.base import require
from modules.labels import Labels
from modules.recurrent.stack import Recurrent


class Labeller(Labels):
    """Base of the recurrent models that label: a subclass gives logits in `predict`.

    Args:
        inputs: D, numbers that the network reads at each step.
        num_classes: K.
        cell, hidden, layers, bidirectional, dropout: of the network, see `Recurrent`.
        cell_options: what only this cell knows, such as {"forget_bias": 5.0}, see `Recurrent`.
        training: optimizer and scheduler, see `Module`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        inputs: int,
        num_classes: int,
        cell: Literal["rnn", "lstm", "gru"],
        hidden: int,
        layers: int,
        bidirectional: bool,
        dropout: float,
        cell_options: Mapping[str, Any] | None,
        /,
        **training: Any,
    ) -> None:
        require(1, num_classes=num_classes)
        super().__init__(**training)
        if not isinstance(cell_options, Mapping | None):
            raise ValueError(f"cell_options is {cell_options!r}: give names and values.")
        options = dict(cell_options or {})
        self.recurrent = Recurrent(cell, inputs, hidden, layers, bidirectional, dropout, **options)
        self.head = nn.Linear(self.recurrent.outputs, num_classes)


class SequenceClassifier(Labeller):
    """Classifier of a signal that is read place by place, of a picture pixel by pixel in raster order.

    Args:
        image_shape: (C, W) or (C, H, W); D = C numbers are read at each of the W or H W steps.
        num_classes: K.
        cell, hidden, layers, bidirectional, dropout: of the network, see `Recurrent`.
        cell_options: what only this cell knows, such as {"forget_bias": 5.0}.
        training: optimizer and scheduler, see `Module`.

    Shapes: x (B, *image_shape) -> logits (B, K).

    Raises:
        ValueError: an argument is out of range, or x has another shape.

    Example:
        >>> SequenceClassifier(image_shape=(1, 40), hidden=6).num_parameters
        220
    """

    def __init__(
        self,
        image_shape: Sequence[int] = (1, 40),
        num_classes: int = 10,
        cell: Literal["rnn", "lstm", "gru"] = "gru",
        hidden: int = 64,
        layers: int = 1,
        bidirectional: bool = False,
        dropout: float = 0.0,
        cell_options: Mapping[str, Any] | None = None,
        **training: Any,
    ) -> None:
        require(1, image_shape=image_shape)
        network = cell, hidden, layers, bidirectional, dropout, cell_options
        super().__init__(image_shape[0], num_classes, *network, **training)
        self.image_shape = tuple(image_shape)

    def predict(self, x: Tensor) -> Tensor:
        """Logits f(x) (B, K) of inputs x (B, *image_shape)."""
        if x.shape[1:] != self.image_shape:
            raise ValueError(f"x is {tuple(x.shape)}: give (B, {', '.join(map(str, self.image_shape))}).")
        _, state = self.recurrent(x.flatten(2).transpose(1, 2))  # (B, C, W) -> (B, W, C)
        top = state.h[:, -self.recurrent.directions :]  # (B, 1 or 2, H): where each way ends
        return self.head(top.flatten(1))


class Tagger(Labeller):
    """Tagger of texts: a label for each token.

    Args:
        vocab_size: V. num_classes: K tags.
        embedding: D, size of the vector of a token.
        cell, hidden, layers, bidirectional, dropout: of the network, see `Recurrent`.
        cell_options: what only this cell knows, such as {"forget_bias": 5.0}.
        pad: the token that fills up a row on its right, and stands nowhere else.
        training: optimizer and scheduler, see `Module`.

    Shapes: tokens (B, T) int64 -> logits (B, T, K); tags (B, T), −100 where none is asked for.

    Raises:
        ValueError: an argument is out of range.

    Example:
        >>> tagger = Tagger(vocab_size=7, num_classes=3, embedding=4, hidden=5)
        >>> tagger.predict(torch.tensor([[1, 2, 6], [3, 0, 0]])).shape
        torch.Size([2, 3, 3])
    """

    def __init__(
        self,
        vocab_size: int,
        num_classes: int,
        embedding: int = 32,
        cell: Literal["rnn", "lstm", "gru"] = "gru",
        hidden: int = 32,
        layers: int = 1,
        bidirectional: bool = True,
        dropout: float = 0.0,
        cell_options: Mapping[str, Any] | None = None,
        pad: int = 0,
        **training: Any,
    ) -> None:
        require(1, vocab_size=vocab_size, embedding=embedding)
        require(0, vocab_size, pad=pad)
        network = cell, hidden, layers, bidirectional, dropout, cell_options
        super().__init__(embedding, num_classes, *network, **training)
        self.embedding = nn.Embedding(vocab_size, embedding)
        self.pad = pad

    def lengths(self, tokens: Tensor) -> Tensor:
        """Tokens of each row up to its padding, (B,); a row of nothing else counts one."""
        return (tokens != self.pad).sum(1).clamp(min=1)

    def predict(self, x: Tensor) -> Tensor:
        """Logits (B, T, K) of tokens x (B, T); behind the end of a row they mean nothing."""
        outputs, _ = self.recurrent(self.embedding(x), lengths=self.lengths(x))
        return self.head(outputs)
