"""GPT by the contracts of its surfaces, and by counts and sizes known from theory."""

import math
from itertools import pairwise
from typing import get_args

import contracts
import pytest
import torch

from modules.language import decoding
from modules.transformer.gpt import GPT
from modules.transformer.recorder import record_attention
from modules.transformer.schedule import Noam, WarmupCosine
from modules.transformer.settings import MixerName
from modules.transformer.stack import Positions

POSITIONS = tuple(name for name in get_args(Positions) if name != "none")


def tiny(**kwargs) -> GPT:
    defaults = {"vocab_size": 11, "context": 8, "layers": 2, "heads": 2, "width": 8, "bias": True}
    return contracts.exact(GPT(**(defaults | kwargs)))


def tokens(*shape, vocabulary=11, seed=0):
    return torch.randint(vocabulary, shape, generator=contracts.seeded(seed))


# --- sizes and the start -------------------------------------------------------------------------


def test_parameters():
    assert GPT(65).num_parameters == 804_096
    assert GPT(65, bias=True).num_parameters == 809_856
    with torch.device("meta"):
        small = {"vocab_size": 50257, "context": 1024, "layers": 12, "heads": 12, "width": 768, "bias": True}
        assert GPT(**small).num_parameters == 124_439_808
        assert GPT(**small, tied=False).num_parameters == 163_037_184


def test_layers_that_add_to_the_residual_start_narrower():
    blocks = GPT(65, layers=8).blocks
    wide = torch.cat([block.feedforward.up.weight.flatten() for block in blocks]).std().item()
    narrow = torch.cat([block.feedforward.down.weight.flatten() for block in blocks]).std().item()
    assert wide == pytest.approx(0.02, rel=0.02) and narrow == pytest.approx(0.02 / 4, rel=0.02)


@pytest.mark.parametrize("vocabulary", [65, 512, 30_000])
def test_loss_at_the_start_is_ln_v(vocabulary):
    torch.manual_seed(0)
    model = GPT(vocabulary)
    x = tokens(12, 64, vocabulary=vocabulary)
    contracts.loss_at_start(
        model, (x, tokens(12, 64, vocabulary=vocabulary, seed=1)), math.log(vocabulary), 0.03
    )


def test_forward_flops_per_token():  # 24LC² + 4LTC + 2CV of a dense pass
    from torch.utils.flop_counter import FlopCounterMode

    model = GPT(65)
    # written out: the dense T × T products
    with FlopCounterMode(display=False) as counter, record_attention():
        loss = model.step((tokens(1, 64, vocabulary=65), tokens(1, 64, vocabulary=65)), "train")
    assert counter.get_total_flops() == 64 * 1_720_576
    with FlopCounterMode(display=False) as counter:
        loss.backward()
    assert counter.get_total_flops() == 64 * 2 * 1_720_576


# --- density -------------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_density_sums_to_one(positions, norm):
    model = tiny(vocab_size=3, context=4, positions=positions, norm=norm, bos=1)
    contracts.density_sums_to_one(model.log_prob, (4,), num_categories=3, dtype=torch.int64)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_causal_by_gradient(positions, norm):
    model = tiny(positions=positions, norm=norm)
    contracts.causal_in_tokens(model, model.embedding, tokens(7))


def test_earlier_logits_keep_their_bits_when_a_later_token_changes():
    model, x = tiny(), tokens(1, 8)
    before = model(x)
    for j in range(8):
        changed = x.clone()
        changed[0, j] = (x[0, j] + 1) % 11
        after = model(changed)
        assert torch.equal(after[:, :j], before[:, :j])
        assert not torch.equal(after[:, j], before[:, j])


def test_one_pass_is_n_passes_over_prefixes():
    model, x = tiny(), tokens(2, 8)
    whole = model(x)
    for n in range(1, 9):
        torch.testing.assert_close(model(x[:, :n])[:, -1], whole[:, n - 1], atol=1e-12, rtol=0)
        torch.testing.assert_close(model.next_logits(x[:, :n]), whole[:, n - 1], atol=1e-12, rtol=0)


def test_log_prob_is_the_sum_of_next_token_log_probabilities():
    model, x = tiny(bos=3), tokens(4, 8)
    expected = torch.zeros(4, dtype=torch.float64)
    for t in range(8):
        result = torch.cat([torch.full((4, 1), 3), x[:, :t]], dim=1)
        expected += model.next_logits(result).log_softmax(-1)[torch.arange(4), x[:, t]]
    torch.testing.assert_close(model.log_prob(x), expected, atol=1e-12, rtol=0)


def test_loss_is_the_mean_of_next_token_terms_and_targets_are_shifted():
    model, x = tiny(), tokens(3, 8)
    loss = model.step((x[:, :-1], x[:, 1:]), "val")
    log_p = model(x[:, :-1]).log_softmax(-1)
    expected = -torch.stack([log_p[b, t, x[b, t + 1]] for b in range(3) for t in range(7)]).mean()
    torch.testing.assert_close(loss, expected, atol=1e-12, rtol=0)


def test_ignored_targets_count_for_nothing():
    """The loss, its number of terms and the metric are those of the three next tokens that are asked for."""
    model, x = tiny(), tokens(2, 8)
    asked = [(0, 2), (0, 6), (1, 5)]
    targets = torch.full((2, 8), -100)
    for b, t in asked:
        targets[b, t] = (x[b, t] + 1) % 11
    log_p = model(x).log_softmax(-1)
    expected = -sum(log_p[b, t, targets[b, t]] for b, t in asked) / 3
    torch.testing.assert_close(model.step((x, targets), "val"), expected, atol=1e-12, rtol=0)
    assert model.meters["val_nll"].compute() == pytest.approx(expected.item(), abs=1e-12)
    assert model.meters["val_nll"].count == model.loss_terms((x, targets)) == 3
    nothing = model.step((x, torch.full((2, 8), -100)), "train")
    nothing.backward()
    assert nothing == 0 and all(not p.grad.any() for p in model.parameters())


def test_without_the_mask_the_future_leaks():
    model, x = tiny(), tokens(8)
    with pytest.raises(AssertionError, match="sees the future"):
        contracts.causal_in_tokens(lambda t: model(t, causal=False), model.embedding, x)
    leaky = tiny(causal=False)
    torch.testing.assert_close(leaky(x[None]), model(x[None], causal=False), atol=0, rtol=0)
    assert not torch.allclose(model(x[None]), leaky(x[None]))


def test_order_matters_only_through_positions():  # without a mask and positions, a set function
    for positions in POSITIONS:
        model = tiny(positions=positions, causal=False)
        x, order = tokens(1, 6, vocabulary=11), torch.tensor([4, 2, 0, 1, 5, 3])
        assert (model(x[:, order]) - model(x)[:, order]).abs().max() > 1e-3


# --- training ------------------------------------------------------------------------------------


def test_tied_gradient_is_the_sum_of_both_roles():
    tied, untied = tiny(), tiny(tied=False)
    untied.load_state_dict(tied.state_dict() | {"head.weight": tied.embedding.weight.detach().clone()})
    batch = (tokens(2, 8), tokens(2, 8, seed=1))
    for model in (tied, untied):
        model.step(batch, "train").backward()
    both = untied.embedding.weight.grad + untied.head.weight.grad
    torch.testing.assert_close(tied.embedding.weight.grad, both, atol=1e-14, rtol=0)
    assert "head.weight" not in tied.state_dict()


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tied", [True, False])
def test_every_parameter_gets_a_gradient(positions, norm, tied):
    model = tiny(positions=positions, norm=norm, tied=tied)
    contracts.every_parameter_gets_a_gradient(
        model, lambda: model.step((tokens(4, 8), tokens(4, 8, seed=1)), "train")
    )


def test_overfits_one_batch():
    torch.manual_seed(0)
    x = tokens(4, 9)
    contracts.overfits_one_batch(
        GPT(11, context=8, layers=2, heads=2, width=32), (x[:, :-1], x[:, 1:]), below=0.2, steps=120
    )


def test_weight_decay_spares_gains_and_biases():
    model = GPT(11, layers=1, bias=True, optimizer=lambda p: torch.optim.AdamW(p, lr=0.1, weight_decay=0.5))
    optimizer = model.configure_optimizers()
    decayed = {id(p) for g in optimizer.param_groups if g["weight_decay"] for p in g["params"]}
    assert decayed == {id(p) for p in model.parameters() if p.ndim >= 2}
    assert sum(len(g["params"]) for g in optimizer.param_groups) == len(list(model.parameters()))


def test_schedule_warms_up_and_falls_along_a_cosine():
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=2.0)
    schedule = WarmupCosine(optimizer, steps=110, warmup=10, floor=0.1)
    rates = []
    for _ in range(130):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert (
        rates[0] == pytest.approx(0.2) and rates[9] == pytest.approx(2.0) and rates[10] == pytest.approx(2.0)
    )
    assert rates[60] == pytest.approx(1.1)  # half-way: the mean of 2 and 0.2
    assert rates[110] == rates[129] == pytest.approx(0.2)
    assert all(a >= b for a, b in pairwise(rates[9:]))
    # a resumed schedule goes on where it stopped
    again = WarmupCosine(torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=2.0), steps=110, warmup=10)
    again.load_state_dict(schedule.state_dict())
    assert again.last_epoch == 130


def test_the_rate_of_the_first_transformer():  # TF-O57
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = Noam(optimizer, width=512, warmup=4000)
    rates = [schedule.factor(step) for step in range(16_000)]
    assert optimizer.param_groups[0]["lr"] == rates[0] == pytest.approx(1.7469e-7, rel=1e-4)
    assert max(rates) == rates[3999] == pytest.approx(6.9877e-4, rel=1e-4)
    assert rates[15_999] == pytest.approx(3.4939e-4, rel=1e-4)
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(2 * rates[0])
    with pytest.raises(ValueError, match="warmup is 0"):
        Noam(optimizer, width=512, warmup=0)


# --- generation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_cache_equals_full_pass(positions, norm):
    model = tiny(positions=positions, norm=norm)

    for sizes in ([1] * 8, [3, 1, 4]):

        def incremental(x, sizes=sizes):
            cache = model.new_cache(len(x))
            return [model(piece, cache) for piece in x.split(sizes, dim=1)]

        contracts.cache_equals_full_pass(model, incremental, tokens(2, 8))


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("keep", [None, 1, 5, 8])
@pytest.mark.parametrize("prompt", [1, 8, 12])
@torch.no_grad()
def test_generation_past_the_context_is_the_same_with_and_without_cache(positions, keep, prompt):
    model, x = tiny(positions=positions), tokens(2, prompt)
    runs = []
    for cache in (True, False):
        generator = contracts.seeded(0)
        runs.append(list(decoding.stream(model.reader(cache, keep), x, 20, generator=generator)))
    for (a, token_a), (b, token_b) in zip(*runs, strict=True):
        torch.testing.assert_close(a, b, atol=1e-10, rtol=0)
        assert torch.equal(token_a, token_b)


@torch.no_grad()
def test_a_full_context_restarts_at_its_newest_half():
    """The stated policy, from its definition: which tokens each step saw."""
    model, x, result = tiny(), tokens(1, 3), []
    hidden = model.hidden
    model.hidden = lambda t, *args: result.append(t) or hidden(t, *args)
    text = model.generate(x, 14, generator=contracts.seeded(0), cache=False)
    start = 0
    for step, window in enumerate(result):
        end = 3 + step
        if end - start > 8:
            start = end - 4
        assert torch.equal(window, text[:, start:end])
    model.hidden = hidden
    # keep = context always shows as many tokens as fit: next_logits of the text so far
    x = tokens(1, 11)
    generator = contracts.seeded(0)
    for logits, token in decoding.stream(model.reader(keep=8), x, 6, generator=generator):
        torch.testing.assert_close(logits, model.next_logits(x), atol=1e-10, rtol=0)
        x = torch.cat([x, token[:, None]], dim=1)


@torch.no_grad()
def test_with_the_cache_each_token_is_encoded_once():
    model, encoded = tiny(context=16), []
    model.embedding.register_forward_hook(lambda module, args, out: encoded.append(args[0].shape[1]))
    model.generate(tokens(1, 4), 12)
    assert encoded == [4] + [1] * 11
    encoded.clear()
    model.generate(tokens(1, 4), 12, cache=False)
    assert encoded == list(range(4, 16))
    encoded.clear()
    model.generate(tokens(1, 4), 30)
    assert encoded == [4] + [1] * 12 + ([8] + [1] * 8) + ([8] + [1] * 7)  # 16 tokens are full at 13 new ones


@pytest.mark.parametrize("mixer", [*get_args(MixerName), ["softmax", "mamba", "linear"]], ids=str)
def test_whatever_mixes_tokens_a_gpt_is_a_causal_density_with_a_cache(mixer):
    model = tiny(vocab_size=3, context=4, layers=3 if isinstance(mixer, list) else 1, mixer=mixer)
    contracts.density_sums_to_one(model.log_prob, (4,), num_categories=3, dtype=torch.int64)
    model = tiny(mixer=mixer)
    if mixer == "s4":  # a convolution by Fourier transforms: zero up to rounding
        x, changed = tokens(1, 8), tokens(1, 8)
        changed[0, 5] = (x[0, 5] + 1) % 11
        assert (
            (model(changed) - model(x))[:, :5].abs().max() < 1e-12 < (model(changed) - model(x)).abs().max()
        )
    elif mixer != "none":
        contracts.causal_in_tokens(model, model.embedding, tokens(7))

    def incremental(x):
        cache = model.new_cache(len(x))
        return [model(piece, cache) for piece in x.split([3, 1, 4], dim=1)]

    contracts.cache_equals_full_pass(model, incremental, tokens(2, 8))
    runs = []
    for cache in (True, False):
        runs.append(model.generate(tokens(2, 3), 12, generator=contracts.seeded(0), cache=cache))
    assert torch.equal(*runs)
    padded = torch.cat([tokens(2, 2, seed=5), tokens(2, 3)], 1)
    padding = torch.tensor([[True, True, False, False, False]] * 2)
    alone, beside = model.next_log_probs(tokens(2, 3)), model.next_log_probs(padded, padding)
    if mixer in ("random", "fixed", "dense"):  # their weights are of places, which padding moves
        assert not torch.allclose(beside, alone)
    else:
        torch.testing.assert_close(beside, alone, atol=1e-10, rtol=0)


@torch.no_grad()
def test_the_cache_is_allocated_once():
    model = tiny(context=16)
    cache = model.new_cache(2)
    place = [layer.keys.data_ptr() for layer in cache]
    model(tokens(2, 5), cache)
    model(tokens(2, 1), cache)
    assert [layer.keys.data_ptr() for layer in cache] == place and cache[0].length == 6


def test_greedy_is_the_argmax_at_every_step():
    model, x = tiny(), tokens(2, 3)
    out = model.generate(x, 5, temperature=0)
    for t in range(3, 8):
        assert torch.equal(out[:, t], model.next_logits(out[:, :t]).argmax(-1))
    assert torch.equal(out[:, :3], x)
    assert torch.equal(model.generate(x, 5, top_k=1), out)


def test_samples_follow_the_density():
    model = tiny(vocab_size=3, context=3, layers=1)
    contracts.samples_follow_the_density(
        model.sample(4000, length=3, generator=contracts.seeded(0)),
        model.log_prob,
        num_categories=3,
    )


def test_samples_are_reproducible():
    model = tiny()
    contracts.reproducible(lambda seed: model.sample(3, length=12, generator=contracts.seeded(seed)))
    assert model.sample(2).shape == (2, 8)


@torch.no_grad()
def test_trace_replays_and_is_the_sample():
    model = tiny()
    params = {"temperature": 0.7, "top_k": 6, "top_p": 0.8}
    trace = contracts.trace_replays(
        lambda seed: model.sample_trace(
            prompt=tokens(4), length=12, generator=contracts.seeded(seed), **params
        )
    )
    expected = model.generate(tokens(1, 4), 12, generator=contracts.seeded(0), **params)
    assert torch.equal(trace.result, expected)
    assert [step.values["token"] for step in trace] == expected[0, 4:].tolist()
    total = total_after = 0.0
    for step in trace:
        v = step.values
        total += math.log(v["before"][v["token"]])
        total_after += math.log(v["after"][v["token"]])
        assert v["total"] == pytest.approx(total) and v["total_after"] == pytest.approx(total_after)
        assert v["log_prob"] == pytest.approx(v["logits"].log_softmax(0)[v["token"]].item(), abs=1e-12)
        assert v["before"].sum() == pytest.approx(1) and v["after"].sum() == pytest.approx(1)
        assert v["entropy"] == pytest.approx(-(v["before"] * v["before"].log()).sum().item())
        assert v["mass"] == pytest.approx(v["tempered"][v["kept"]].sum().item())
    named = model.sample_trace(length=2, names=[chr(97 + i) for i in range(11)])
    assert f"draws '{chr(97 + named[0].values['token'])}'" in named[0].caption


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda m: m.generate(torch.zeros(1, 0, dtype=torch.int64), 3), "prompt is empty"),
        (lambda m: m.generate(tokens(1, 2), 3, keep=9), "keep is 9"),
        (lambda m: m.generate(tokens(1, 2), 3, temperature=-1), "temperature is -1"),
        (lambda m: m(tokens(1, 9)), "learned 8 positions"),
        (lambda m: GPT(5, bos=5), "bos is 5"),
        (lambda m: GPT(5, positions="nowhere"), "learned, every-layer"),
        (lambda m: GPT(5, width=10, heads=4), "choose a multiple of 4"),
        (lambda m: GPT(5, mixer="none", positions="rotary"), "without softmax attention"),
        (lambda m: GPT(5, mixer="random", kv_heads=1), "without softmax attention"),
        (lambda m: GPT(5, mixer=[]), "empty list"),
        (lambda m: GPT(5, feedforward="none", feedforward_width=8), "has no width"),
        (lambda m: GPT(5, norm="none", eps=0.1), "leave normalization and eps out"),
        (lambda m: GPT(5, expert_options={"experts": 4}), "are those of experts"),
        (
            lambda m: GPT(5, feedforward="experts", expert_options={"expert": 4}),
            "has expert: give some of active",
        ),
        (lambda m: GPT(5, feedforward="experts", expert_options=-1), "has -1: give some of active"),
        (lambda m: GPT(5, mixer="hard"), "mixer is 'hard'"),
        (lambda m: GPT(5, feedforward="wide"), "feedforward is 'wide'"),
        (lambda m: GPT(5, feedforward_width=0), "feedforward_width is 0"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(tiny())


@pytest.mark.parametrize("positions", POSITIONS)
def test_survives_saving(positions, tmp_path):
    torch.manual_seed(0)
    model = GPT(11, context=8, layers=1, heads=2, width=8, positions=positions)
    contracts.survives_saving(model, lambda m: m(tokens(2, 8)), tmp_path / "gpt")


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_block_drops_while_it_is_trained(norm: str) -> None:
    model = GPT(vocab_size=3, context=4, layers=2, heads=2, width=8, dropout=0.5, norm=norm)
    x = torch.randn(1, 4, 8, generator=contracts.seeded(0))
    torch.manual_seed(0)
    for block in model.blocks:
        assert not torch.equal(block.train()(x, causal=True), block(x, causal=True))
        assert torch.equal(block.eval()(x, causal=True), block(x, causal=True))
