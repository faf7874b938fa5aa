"""Language models as generators: texts drawn token by token, from their start or behind a prompt.

x_t ~ p(x_t | x_<t) after temperature and truncation, up to `eos` or to a length
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from modules.base import IncrementalDecoder
from modules.language import decoding
from modules.language.truncation import SamplingParams
from modules.trace import Trace


class TextSampler:
    """Mixin of `NextToken` models: `sample` and `sample_trace`, with the same arguments for all.

    Attributes:
        eos: token that ends a text; None where texts go on.
        sample_length: tokens of a sample where none is named.
        trace_length: tokens of a trace where none is named.
    """

    eos: int | None = None
    sample_length: int = 64
    trace_length: int = 32

    def incremental_decoder(self) -> IncrementalDecoder:
        """Decoder that reads the text so far at every step; a model that can do with less says so."""
        return decoding.TextDecoder(self)  # type: ignore[arg-type]

    def reader(self) -> IncrementalDecoder:
        """Decoder of the texts that are sampled, where it is another one."""
        return self.incremental_decoder()

    def text_start(self) -> Tensor:
        """Tokens that the model has to be shown before a text that nothing stands before, (1, T)."""
        return torch.zeros(1, 0, dtype=torch.int64, device=getattr(self, "device", None))

    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        length: int | None = None,
        prompt: Tensor | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
    ) -> Tensor:
        """Draw n texts, (n, length), without the prompt.

        Args:
            temperature: divides the logits; 0 always takes the most probable token.
            generator: source of all draws; None is torch's own.
            length: tokens of each text; behind an end there are only more ends.
            prompt: (T,), tokens before all of them; None begins where texts begin.
            top_k: keep the k most probable tokens.
            top_p: keep the smallest set of most probable tokens with mass ≥ p.
            min_p: keep tokens at least so many times as probable as the first.
        """
        length = self.sample_length if length is None else length
        prefix = self._prefix(prompt).expand(n, -1)
        texts = decoding.sample(
            self.reader(),
            prefix,
            length,
            SamplingParams(temperature, top_k, top_p, min_p),
            self.eos,
            generator,
        )[:, prefix.shape[1] :]
        return F.pad(texts, (0, length - texts.shape[1]), value=self.eos)  # shorter if every text ended

    def sample_trace(
        self,
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        length: int | None = None,
        prompt: Tensor | None = None,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        names: Sequence[str] | None = None,
    ) -> Trace:
        """Trace of one text, a step per token; arguments as of `sample`, steps as of `decoding.sample_trace`.

        Args:
            names: tokens as text, for captions; numbers without it.

        Returns:
            Trace with the prompt and the text behind it as its result, (1, T + length).
        """
        return decoding.sample_trace(
            self.reader(),
            self._prefix(prompt),
            self.trace_length if length is None else length,
            SamplingParams(temperature, top_k, top_p, min_p),
            self.eos,
            names,
            generator,
        )

    def _prefix(self, prompt: Tensor | None) -> Tensor:
        """A prompt (T,) or (1, T) as a batch of one; what stands before every text where there is none."""
        return self.text_start() if prompt is None else prompt.reshape(1, -1)
