"""Costs against what is built: parameters by `numel`, operations by torch's counter and by the run itself."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from modules.transformer import cost
from modules.transformer.cost import PRESETS, Size
from modules.transformer.gpt import GPT
from modules.transformer.recorder import record_attention


def built(size: Size, **settings: Any) -> GPT:
    with torch.device("meta"):
        return GPT(size.vocab_size, size.context, size.layers, size.heads, size.width, bias=size.bias,
                   tied=size.tied, **settings)  # fmt: skip


# --- parameters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Small GPT", "GPT-2 small", "GPT-3"])
def test_parameters_of_a_gpt_are_those_that_are_stored(name: str) -> None:
    for size in (PRESETS[name], replace(PRESETS[name], tied=False)):
        assert size.num_parameters == sum(p.numel() for p in built(size).parameters())


def test_parameters_by_part() -> None:
    size = replace(PRESETS["Small GPT"], bias=True, tied=False)
    model = built(size)
    holds: dict[str, Callable[[str], bool]] = {
        "embedding": lambda name: name.startswith("embedding"),
        "positions": lambda name: ".positions." in name,
        "attention": lambda name: ".mixer." in name,
        "feed-forward": lambda name: ".feedforward." in name,
        "norms": lambda name: "norm" in name,
        "head": lambda name: name.startswith("head"),
    }
    stored = {
        part: sum(p.numel() for n, p in model.named_parameters() if of(n)) for part, of in holds.items()
    }
    assert size.parameters() == stored and size.num_parameters == 818_176


def test_stated_sizes() -> None:
    """TF-O22; the sums that the texts print as 175B, 124M and ~340M."""
    bert = PRESETS["BERT-large"]
    block = sum(p.numel() for p in built(bert).blocks[0].parameters())
    parts = bert.parameters()
    blocks = parts["attention"] + parts["feed-forward"] + parts["norms"]
    assert blocks == 24 * block == 302_309_376 and block == 12_596_224
    assert blocks + parts["embedding"] + parts["positions"] == 333_553_664
    assert replace(bert, pretraining=False).num_parameters == 334_607_360
    assert bert.num_parameters == 335_691_058
    gpt3, gpt2 = PRESETS["GPT-3"], PRESETS["GPT-2 small"]
    assert gpt3.layers * sum(gpt3.matrices.values()) == 173_946_175_488
    assert gpt3.num_parameters == 174_604_259_328
    assert replace(gpt3, tied=False).num_parameters - gpt3.num_parameters == 617_558_016
    assert [gpt2.num_parameters, replace(gpt2, tied=False).num_parameters] == [124_439_808, 163_037_184]
    small = PRESETS["Small GPT"]
    assert [small.num_parameters, replace(small, bias=True).num_parameters] == [804_096, 809_856]


def test_parameters_of_bert_and_llama_are_those_of_transformers() -> None:
    """Peer: Hugging Face's classes, built without memory; also with fewer heads of keys and values."""
    transformers = pytest.importorskip("transformers")
    with torch.device("meta"):
        for kv_heads in (64, 8):
            size = replace(PRESETS["LLaMA-65B"], kv_heads=kv_heads)
            config = transformers.LlamaConfig(
                vocab_size=32_000, hidden_size=8_192, intermediate_size=22_016, num_hidden_layers=2,
                num_attention_heads=64, num_key_value_heads=kv_heads, tie_word_embeddings=False,
            )  # fmt: skip
            model = transformers.LlamaForCausalLM(config)
            assert replace(size, layers=2).num_parameters == sum(p.numel() for p in model.parameters())
        config = transformers.BertConfig(
            vocab_size=30_000, hidden_size=1_024, num_hidden_layers=2, num_attention_heads=16,
            intermediate_size=4_096,
        )  # fmt: skip
        model = transformers.BertForPreTraining(config)
    bert = replace(PRESETS["BERT-large"], layers=2)
    assert bert.num_parameters == sum(p.numel() for p in model.parameters())
    assert PRESETS["LLaMA-65B"].num_parameters == 65_285_660_672


@pytest.mark.parametrize("kv_heads", [8, 2, 1])
def test_shared_keys_gates_and_rms_norms_of_a_built_model(kv_heads: int) -> None:
    """LLaMA's settings: parameters, operations forward and backward, and the cache that is allocated."""
    size = Size(3, 48, 8, 100, 31, 16, kv_heads, bias=False, tied=False, learned=False, gated=True)
    model = GPT(31, 16, 3, 8, 48, positions="rotary", tied=False, feedforward="gated", activation="silu",
                feedforward_width=100, normalization="rms", kv_heads=kv_heads)  # fmt: skip
    assert size.num_parameters == sum(p.numel() for p in model.parameters())
    x = torch.randint(31, (1, 16))
    with FlopCounterMode(display=False) as counter, record_attention():
        loss = model.step((x, x), "train")
    assert counter.get_total_flops() == 16 * sum(size.flops(16).values())
    with FlopCounterMode(display=False) as counter:
        loss.backward()
    assert counter.get_total_flops() == 2 * 16 * sum(size.flops(16).values())
    assert size.cache_numbers(16) * 4 == sum(cache.nbytes for cache in model.new_cache(1))


# --- operations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("T", [1, 17, 64])
def test_operations_are_what_torch_counts(T: int) -> None:
    """TF-O39: forward, and exactly three times as many with backward."""
    size = PRESETS["Small GPT"]
    model, x = GPT(65), torch.randint(65, (1, T))
    with FlopCounterMode(display=False) as counter, record_attention():
        loss = model.step((x, x), "train")
    forward = sum(size.flops(T).values())
    assert counter.get_total_flops() == T * forward
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    assert backward.get_total_flops() == 2 * T * forward
    if T == 64:
        assert [forward, 3 * forward] == [1_720_576, 5_161_728]
        assert 6 * size.layers * sum(size.matrices.values()) == 4_718_592


def test_operations_of_each_part() -> None:
    """With other widths of the feed-forward and fewer keys: products counted one by one."""
    size = Size(3, 12, 6, 20, 7, 9, kv_heads=2, gated=True)
    d, d_k, T = 12, 2, 5
    q, kv, out = d * d, 2 * d * (2 * d_k), d * d
    parts = size.flops(T)
    assert parts["projections"] == 2 * 3 * (q + kv + out)
    assert parts["scores and values"] == 2 * 3 * 6 * (T * d_k + T * d_k)  # every head of six, each of T keys
    assert parts["feed-forward"] == 2 * 3 * 3 * d * 20 and parts["head"] == 2 * d * 7


def test_where_attention_takes_as_much_as_the_weights() -> None:
    gpt3 = PRESETS["GPT-3"]
    assert gpt3.attention_share(2048) == pytest.approx(0.027778, abs=5e-7)
    assert gpt3.crossing == 6 * 12_288 == 73_728 and gpt3.attention_share(73_728) == 1
    for size in PRESETS.values():
        T = next(T for T in range(1, 10**6) if size.attention_share(T) >= 1)
        assert math.ceil(size.crossing) == T


def test_compute_of_training() -> None:
    """TF-O52."""
    known = {(175e9, 300e9): 3.15e23, (280e9, 300e9): 5.04e23, (70e9, 1.4e12): 5.88e23}
    for (parameters, tokens), flops in known.items():
        assert cost.training_flops(parameters, tokens) == pytest.approx(flops)
    assert cost.training_days(3.15e23, 1024) == pytest.approx(11.41, abs=0.005)
    assert cost.training_days(3.15e23, 1024, utilisation=0.4) == pytest.approx(28.5, abs=0.03)
    assert [300e9 / 3.2e6, 3.2e6 / 2048] == [93_750, 1_562.5]
    ratios = [300e9 / 175e9, 300e9 / 280e9, 1.4e12 / 70e9, 1.4e12 / 65e9]
    assert ratios == pytest.approx([1.714, 1.071, 20.0, 21.54], abs=0.005)


# --- memory and generation ------------------------------------------------------------------------


def test_cache_is_as_large_as_what_is_allocated() -> None:
    model = GPT(65)
    caches = model.new_cache(1)
    numbers = sum(cache.keys.numel() + cache.values.numel() for cache in caches)
    assert PRESETS["Small GPT"].cache_numbers(64) == numbers
    gpt3 = PRESETS["GPT-3"]
    assert 2 * gpt3.cache_numbers(2048) == 9_663_676_416
    assert 2 * gpt3.cache_numbers(100_000) == pytest.approx(4.71859e11, rel=1e-5)
    assert replace(gpt3, kv_heads=8).cache_numbers(2048) * 12 == gpt3.cache_numbers(2048)


def test_attention_entries_are_what_is_recorded() -> None:
    model = GPT(65)
    with record_attention() as seen:
        model(torch.zeros(1, 50, dtype=torch.int64))
    recorded = sum(call.weights.numel() for calls in seen.calls.values() for call in calls)
    assert recorded == PRESETS["Small GPT"].attention_entries(50)


@pytest.mark.parametrize("cache", [True, False])
def test_scores_of_a_text_are_those_that_the_run_computed(cache: bool) -> None:
    """TF-O26, in the code: 1 to 40 tokens, all within the context."""
    torch.manual_seed(0)
    model, x = GPT(5, context=40, layers=2, heads=2, width=8).eval(), torch.randint(5, (40,))
    found = cost.passes(model, x, cache)
    for n in (1, 2, 17, 40):
        assert sum(p.cells for p in found[:n]) == cost.scores(n, cache)
        assert sum(p.queries * p.keys for p in found[:n]) == cost.scores(n, cache, causal=False)
    whole = model(x[None])[0]
    torch.testing.assert_close(torch.stack([p.logits for p in found]), whole, atol=1e-5, rtol=0)


def test_scores_of_2048_tokens() -> None:
    assert cost.scores(2048, cache=True) == 2_098_176
    assert cost.scores(2048, cache=False) == 1_433_753_600
    assert cost.scores(2048, cache=False, causal=False) == 2_865_409_024
    assert cost.scores(2048, False) / cost.scores(2048, True) == pytest.approx(683.33, abs=0.005)


@pytest.mark.parametrize("keep", [1, 4, 8])
def test_past_the_context_the_window_restarts_at_its_newest_tokens(keep: int) -> None:
    """The windows and the logits are the same with and without a cache; only the rows computed differ."""
    torch.manual_seed(0)
    model, x = GPT(5, context=8, layers=2, heads=2, width=8).eval(), torch.randint(5, (20,))
    kept, anew = cost.passes(model, x, True, keep), cost.passes(model, x, False, keep)
    keys = 0
    for p, q in zip(kept, anew, strict=True):
        full = keys == 8
        keys = keep if full else keys + 1
        assert (p.keys, q.keys, q.queries) == (keys, keys, keys)
        assert p.queries == (keep if full else 1)
        torch.testing.assert_close(p.logits, q.logits, atol=1e-5, rtol=0)
        expected = model(x[None, p.seen - keys : p.seen])[0, -1]
        torch.testing.assert_close(p.logits, expected, atol=1e-5, rtol=0)


def test_linear_attention_is_cheaper_beyond_d_k_tokens() -> None:
    for d_k in (1, 16, 128):
        ts = range(1, 4 * d_k + 2)
        cheaper = [T for T in ts if cost.step_cost("linear", T, d_k) < cost.step_cost("softmax", T, d_k)]
        smaller = [T for T in ts if cost.step_memory("linear", T, d_k) < cost.step_memory("softmax", T, d_k)]
        assert cheaper == [T for T in ts if d_k < T] and smaller == [T for T in ts if (d_k + 1) / 2 < T]


def test_bad_sizes_get_a_sentence() -> None:
    with pytest.raises(ValueError, match="5 heads do not divide"):
        Size(1, 8, 5, 32, 10, 10)
    with pytest.raises(ValueError, match="kv_heads is 3"):
        Size(1, 8, 4, 32, 10, 10, kv_heads=3)
    with pytest.raises(ValueError, match="layers is 0"):
        Size(0, 8, 4, 32, 10, 10)
