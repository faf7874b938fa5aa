"""Synthesizers: weights that no key is asked for, caches, and where they end."""

import contracts
import pytest
import torch

from modules.transformer.recorder import record_attention
from modules.transformer.synthesizer import Synthesizer

KINDS = ("random", "fixed", "dense")


def random(*shape, seed=0):
    return torch.randn(*shape, generator=contracts.seeded(seed), dtype=torch.float64)


def layer(kind: str) -> Synthesizer:
    return contracts.exact(Synthesizer(8, 2, 6, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_mixed_by_the_recorded_weights(kind):
    mix, x = layer(kind), random(2, 5, 8)
    with record_attention() as seen:
        y = mix(x, causal=True)
    weights = seen.calls[mix][0].weights
    for h in range(2):
        v = x @ mix.value.weight[4 * h : 4 * h + 4].T + mix.value.bias[4 * h : 4 * h + 4]
        if kind == "dense":
            hidden = torch.relu(x @ mix.up.weight.T + mix.up.bias)
            logits = hidden @ mix.down.weight[6 * h : 6 * h + 6].T + mix.down.bias[6 * h : 6 * h + 6]
        else:
            logits = mix.logits[h].expand(2, 6, 6)
        for i in range(5):
            row = logits[:, i, : i + 1].softmax(-1)
            torch.testing.assert_close(weights[:, h, i, : i + 1], row, atol=1e-12, rtol=0)
            assert not weights[:, h, i, i + 1 :].any()
            mixed = (row[..., None] * v[:, : i + 1]).sum(1)
            torch.testing.assert_close(
                torch.linalg.solve(mix.proj.weight, (y[:, i] - mix.proj.bias).T).T[:, 4 * h : 4 * h + 4],
                mixed, atol=1e-9, rtol=0,
            )  # fmt: skip


def test_only_a_dense_one_looks_at_the_text():
    x, other = random(1, 5, 8), random(1, 5, 8, seed=1)
    for kind in KINDS:
        mix, rows = layer(kind), []
        for text in (x, other):
            with record_attention() as seen:
                mix(text)
            rows.append(seen.calls[mix][0].weights)
        assert torch.equal(*rows) == (kind != "dense")


@pytest.mark.parametrize("kind", KINDS)
def test_cache_equals_one_pass(kind):
    mix, x = layer(kind), random(2, 6, 8)
    for sizes in ([1] * 6, [2, 1, 3]):
        cache = mix.new_cache(2, 6, x.device, x.dtype)
        pieces = [mix(piece, causal=True, cache=cache) for piece in x.split(sizes, 1)]
        torch.testing.assert_close(torch.cat(pieces, 1), mix(x, causal=True), atol=1e-12, rtol=0)


def test_what_is_drawn_once_is_never_trained_but_kept():
    fixed = Synthesizer(8, 2, 6, "fixed")
    assert "logits" in fixed.state_dict() and "logits" not in dict(fixed.named_parameters())
    assert "logits" in dict(Synthesizer(8, 2, 6, "random").named_parameters())


def test_bad_input_gets_a_sentence():
    with pytest.raises(ValueError, match="random, fixed, dense"):
        Synthesizer(8, 2, 6, "loud")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="choose a multiple of 3"):
        Synthesizer(8, 3, 6)
    with pytest.raises(ValueError, match="has 6 places"):
        layer("random")(random(1, 7, 8))
    with pytest.raises(ValueError, match="cannot attend to a source"):
        layer("random")(random(1, 2, 8), random(1, 2, 8))
