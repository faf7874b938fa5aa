"""Beam search against a peer: `generate` of transformers, on a small random BART."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BartConfig, BartForConditionalGeneration

from modules.language.beam import Hypothesis, batched_beam_search

VOCABULARY, LONGEST = 11, 25
PAD, EOS, START = 1, 2, 3
SOURCES = torch.randint(4, VOCABULARY, (3, 5), generator=torch.Generator().manual_seed(0))


def bart(seed: int) -> Any:
    """A random network, most of whose texts end before they are cut off."""
    torch.manual_seed(seed)
    sizes = {
        f"{side}_{name}": n
        for side in ("encoder", "decoder")
        for name, n in (("layers", 1), ("attention_heads", 2), ("ffn_dim", 16))
    }
    tokens = {"pad_token_id": PAD, "bos_token_id": 0, "eos_token_id": EOS, "decoder_start_token_id": START}
    config = BartConfig(
        vocab_size=VOCABULARY, d_model=8, max_position_embeddings=64, init_std=0.7, dropout=0.0,
        forced_eos_token_id=None, forced_bos_token_id=None, tie_word_embeddings=False, **sizes, **tokens,
    )  # fmt: skip
    model = BartForConditionalGeneration(config).double().eval()
    model.final_logits_bias[0, EOS] += 1.0
    return model


@dataclass(frozen=True)
class Reading:
    """What was read of sources, (B, N, D), and written behind them, (B, t)."""

    source: Tensor
    tokens: Tensor

    def __getitem__(self, rows: Tensor) -> "Reading":
        return Reading(self.source[rows], self.tokens[rows])


class Decoder:
    """`IncrementalDecoder` of a BART."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def start(self, source: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Reading]:
        first = torch.full((len(source), 1), START)
        return self.read(Reading(self.model.get_encoder()(source).last_hidden_state, first))

    def step(self, state: Reading, token: Tensor) -> tuple[Tensor, Reading]:
        return self.read(Reading(state.source, torch.cat([state.tokens, token[:, None]], 1)))

    def read(self, state: Reading) -> tuple[Tensor, Reading]:
        logits = self.model(encoder_outputs=(state.source,), decoder_input_ids=state.tokens).logits
        return logits[:, -1].log_softmax(-1), state


def theirs(model: Any, width: int, alpha: float) -> list[tuple[tuple[int, ...], float]]:
    """Best text of each source and its score, by `generate`, which goes on until nothing better can come."""
    found = model.generate(
        SOURCES, num_beams=width, length_penalty=alpha, early_stopping="never", max_new_tokens=LONGEST,
        do_sample=False, return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    texts = [row.tolist() for row in found.sequences[:, 1:]]
    ends = [text.index(EOS) + 1 if EOS in text else LONGEST for text in texts]
    return [
        (tuple(text[:end]), score)
        for text, end, score in zip(texts, ends, found.sequences_scores.tolist(), strict=True)
    ]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_a_search_finds_what_generate_finds(alpha: float) -> None:
    """A text that is cut off wins there over those that end; here it counts only where none ends. Their
    scores are float32."""
    found: dict[int, list[Hypothesis]] = {2: [], 4: []}
    for seed in (0, 2):
        model = bart(seed)
        for width, same in found.items():
            ours = batched_beam_search(Decoder(model), SOURCES, LONGEST, width, EOS, alpha)
            for (best, *_), (text, score) in zip(ours, theirs(model, width, alpha), strict=True):
                if text[-1] != EOS and best.finished:
                    assert score > best.score
                else:
                    assert best.tokens == text and best.score == pytest.approx(score, abs=1e-4)
                    same.append(best)
    assert min(map(len, found.values())) >= 3  # of 6
    assert max(len(h.tokens) for h in found[2]) > 3
    assert [h.tokens for h in found[2]] != [h.tokens for h in found[4]]  # the width matters
