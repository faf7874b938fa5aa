"""Attention against torch's own layers, triple loops and the text's example."""

import math

import contracts
import pytest
import torch
import torch.nn.functional as F

from modules.transformer.attention import Attention, KVCache, attention_mask, attention_weights
from modules.transformer.positions import Rotary
from modules.transformer.recorder import AttentionRecorder, current_recorder, record_attention


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(width=12, heads=3, **kwargs) -> Attention:
    return contracts.exact(Attention(width, heads, **kwargs))


def by_hand(q, k, v, allowed=None, scale=None):
    """softmax(QKᵀ/√D)V, one number at a time, for one head: (T, D), (S, D), (S, Dv) -> (T, Dv)."""
    out = torch.zeros(len(q), v.shape[1], dtype=q.dtype)
    for t in range(len(q)):
        raised = []
        for s in range(len(k)):
            if allowed is not None and not allowed[t, s]:
                raised.append(0.0)
                continue
            dot = sum(q[t, d].item() * k[s, d].item() for d in range(q.shape[1]))
            raised.append(math.exp(dot * (1 / math.sqrt(q.shape[1]) if scale is None else scale)))
        for s in range(len(k)):
            if sum(raised):
                out[t] += raised[s] / sum(raised) * v[s]
    return out


class TestWeights:
    def test_the_texts_two_by_two_example(self):
        q, v = torch.eye(2, dtype=torch.float64), torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
        weights = attention_weights(q, q)
        expected = torch.tensor([[0.669762, 0.330238], [0.330238, 0.669762]], dtype=torch.float64)
        torch.testing.assert_close(weights, expected, atol=1e-6, rtol=0)
        expected = torch.tensor([[1.660477, 2.660477], [2.339523, 3.339523]], dtype=torch.float64)
        torch.testing.assert_close(weights @ v, expected, atol=1e-6, rtol=0)
        causal = attention_weights(q, q, attention_mask(2, 2, causal=True)) @ v
        assert causal[0].tolist() == [1.0, 2.0]
        torch.testing.assert_close(causal[1], (weights @ v)[1])
        unscaled = attention_weights(q, q, scale=1.0) @ v
        torch.testing.assert_close(
            unscaled[0], torch.tensor([1.537883, 2.537883], dtype=torch.float64), atol=1e-6, rtol=0
        )

    @pytest.mark.parametrize(
        "case", ["full", "causal", "padding", "other lengths", "wider values", "unscaled"]
    )
    def test_equals_a_triple_loop_and_the_fused_kernel(self, case):
        T, S, D, Dv = 5, (7 if case == "other lengths" else 5), 4, (6 if case == "wider values" else 4)
        q, k, v = random(T, D), random(S, D, seed=1), random(S, Dv, seed=2)
        padding = torch.tensor([[False, True, False, False, True]]) if case == "padding" else None
        allowed = attention_mask(T, S, case == "causal", padding)
        scale = 1.0 if case == "unscaled" else None
        if allowed is not None and allowed.ndim == 4:
            allowed = allowed[0, 0]
        out = attention_weights(q, k, allowed, scale) @ v
        torch.testing.assert_close(out, by_hand(q, k, v, allowed, scale), atol=1e-12, rtol=0)
        fused = F.scaled_dot_product_attention(q[None], k[None], v[None], allowed, scale=scale)[0]
        torch.testing.assert_close(out, fused, atol=1e-12, rtol=0)

    def test_column_form_is_the_transpose(self):  # [UDL] (12.10): tokens are columns
        q, k, v = random(5, 4), random(5, 4, seed=1), random(5, 4, seed=2)
        columns = v.T @ (k @ q.T / 2.0).softmax(0)
        torch.testing.assert_close((attention_weights(q, k) @ v).T, columns, atol=1e-12, rtol=0)

    def test_infinite_mask_commutes_with_the_scale(self):
        scores, mask = (
            random(4, 4),
            torch.zeros(4, 4, dtype=torch.float64).masked_fill(
                torch.ones(4, 4, dtype=torch.bool).triu(1), -math.inf
            ),
        )
        assert torch.equal((scores + mask) / 2.0, scores / 2.0 + mask)

    def test_a_query_that_may_look_nowhere_gets_zeros_and_finite_gradients(self):
        attend = layer()
        padding = torch.tensor([[True] * 4, [False, False, True, True]])
        for recorded in (False, True):
            x = random(2, 4, 12).requires_grad_()
            if recorded:
                with record_attention() as seen:
                    y = attend(x, padding=padding)
                assert not seen.calls[attend][0].weights[0].any()
            else:
                y = attend(x, padding=padding)
            torch.testing.assert_close(y[0], attend.proj.bias.expand(4, -1))
            (gradient,) = torch.autograd.grad(y.sum(), x)
            assert gradient.isfinite().all()

    def test_variance_of_dot_products_is_the_width_and_scaling_keeps_weights_soft(self):
        largest = {1: (0.21, 0.21), 64: (0.84, 0.25), 256: (0.92, 0.25)}
        for width, (unscaled, scaled) in largest.items():
            q, k = random(4000, 1, width, seed=width), random(4000, 16, width, seed=width + 1)
            assert (q @ k.transpose(1, 2)).var().item() == pytest.approx(width, rel=0.1)
            assert attention_weights(q, k, scale=1.0).amax(-1).mean().item() == pytest.approx(
                unscaled, abs=0.012
            )
            assert attention_weights(q, k).amax(-1).mean().item() == pytest.approx(scaled, abs=0.012)


class TestLayer:
    @pytest.mark.parametrize("case", ["self", "causal", "cross", "padding", "causal and padding"])
    @pytest.mark.parametrize("recorded", [False, True])
    @pytest.mark.parametrize("bias", [False, True])
    def test_equals_torchs_multihead_attention(self, case, recorded, bias):
        ours = layer(bias=bias)
        peer = torch.nn.MultiheadAttention(12, 3, bias=bias, batch_first=True, dtype=torch.float64)
        with torch.no_grad():
            peer.in_proj_weight.copy_(ours.qkv.weight)
            peer.out_proj.weight.copy_(ours.proj.weight)
            if bias:
                peer.in_proj_bias.copy_(ours.qkv.bias)
                peer.out_proj.bias.copy_(ours.proj.bias)
        x = random(2, 5, 12)
        source = random(2, 7, 12, seed=1) if case == "cross" else None
        padding = (
            torch.tensor([[False] * 5, [False, False, False, True, True]]) if "padding" in case else None
        )
        mask = torch.ones(5, 5, dtype=torch.bool).triu(1) if "causal" in case else None
        kv = x if source is None else source
        expected, weights = peer(
            x, kv, kv, attn_mask=mask, key_padding_mask=padding, average_attn_weights=False
        )
        if recorded:
            with record_attention() as seen:
                y = ours(x, source, "causal" in case, padding)
            torch.testing.assert_close(seen.calls[ours][0].weights, weights, atol=1e-12, rtol=0)
        else:
            y = ours(x, source, "causal" in case, padding)
        torch.testing.assert_close(y, expected, atol=1e-11, rtol=0)

    def test_one_head_with_unit_output_is_plain_attention(self):
        attend = layer(4, 1, bias=False)
        with torch.no_grad():
            attend.proj.weight.copy_(torch.eye(4))
        x = random(1, 6, 4)
        q, k, v = (x @ attend.qkv.weight[i * 4 : i * 4 + 4].T for i in range(3))
        torch.testing.assert_close(attend(x), attention_weights(q, k) @ v, atol=1e-12, rtol=0)

    def test_heads_are_a_loop_over_heads_joined_on_features(self):
        attend, x = layer(), random(1, 5, 12)
        W, b = attend.qkv.weight, attend.qkv.bias
        heads = []
        for h in range(3):
            rows = [slice(12 * i + 4 * h, 12 * i + 4 * h + 4) for i in range(3)]
            q, k, v = (x[0] @ W[r].T + b[r] for r in rows)
            heads.append(by_hand(q, k, v))
        expected = torch.cat(heads, dim=1) @ attend.proj.weight.T + attend.proj.bias
        torch.testing.assert_close(attend(x)[0], expected, atol=1e-11, rtol=0)

    @pytest.mark.parametrize("heads", [1, 2, 8, 64])
    def test_parameters_do_not_depend_on_the_number_of_heads(self, heads):
        assert sum(p.numel() for p in Attention(512, heads).parameters()) == 1_050_624

    def test_permuting_heads_with_their_block_of_the_output_changes_nothing(self):
        attend, x = layer(), random(2, 5, 12)
        before = attend(x)
        order = torch.tensor([8, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7])
        with torch.no_grad():
            rows = torch.cat([order, order + 12, order + 24])
            attend.qkv.weight.copy_(attend.qkv.weight[rows].clone())
            attend.qkv.bias.copy_(attend.qkv.bias[rows].clone())
            attend.proj.weight.copy_(attend.proj.weight[:, order].clone())
        torch.testing.assert_close(attend(x), before, atol=1e-12, rtol=0)

    def test_symmetry(self):
        attend, x, order = layer(), random(1, 6, 12), torch.tensor([3, 0, 5, 1, 4, 2])
        torch.testing.assert_close(attend(x[:, order]), attend(x)[:, order], atol=1e-12, rtol=0)
        source = random(1, 7, 12, seed=4)
        torch.testing.assert_close(
            attend(x, source[:, [6, 2, 0, 5, 1, 4, 3]]), attend(x, source), atol=1e-12, rtol=0
        )
        assert (attend(x[:, order], causal=True) - attend(x, causal=True)[:, order]).abs().max() > 1e-3
        turned = layer(rotary=Rotary(4))
        assert (turned(x[:, order]) - turned(x)[:, order]).abs().max() > 1e-3

    @pytest.mark.parametrize("recorded", [False, True])
    def test_causal_by_gradient(self, recorded):
        attend = layer(rotary=Rotary(4))

        def run(x):
            if not recorded:
                return attend(x[None], causal=True)[0]
            with record_attention():
                return attend(x[None], causal=True)[0]

        contracts.causal(run, random(6, 12))

    def test_padding_hides_keys_completely(self):
        attend, x = layer(), random(1, 5, 12)
        padding = torch.tensor([[False, False, True, False, True]])
        kept = attend(x, x[:, [0, 1, 3]])
        torch.testing.assert_close(attend(x, padding=padding), kept, atol=1e-12, rtol=0)
        changed = x.clone()
        changed[:, 2] += 5
        assert torch.equal(attend(x, changed, padding=padding), attend(x, x, padding=padding))

    def test_cache_equals_one_pass_in_any_pieces(self):
        attend, x = layer(rotary=Rotary(4)), random(2, 9, 12)
        whole = attend(x, causal=True)
        for pieces in ([1] * 9, [4, 1, 4], [3, 6], [9]):
            cache, done, out = KVCache(2, 3, 9, 4, x.device, x.dtype), 0, []
            for size in pieces:
                out.append(attend(x[:, done : done + size], causal=True, cache=cache))
                done += size
            torch.testing.assert_close(torch.cat(out, 1), whole, atol=1e-12, rtol=0)
        with pytest.raises(ValueError, match="holds 9 tokens"):
            attend(x[:, :1], cache=cache)

    def test_heads_must_divide_the_width(self):
        with pytest.raises(ValueError, match="choose a multiple of 5"):
            Attention(12, 5)


class TestRecorder:
    def test_recording_does_not_change_the_output_and_records_what_was_used(self):
        attend, x = layer(rotary=Rotary(4)), random(2, 5, 12)
        plain = attend(x, causal=True)
        with record_attention() as seen:
            recorded = attend(x, causal=True)
        torch.testing.assert_close(recorded, plain, atol=1e-13, rtol=0)
        (call,) = seen.calls[attend]
        # exactly: the recorded weights and values rebuild the very bits of the output
        assert torch.equal(attend.proj((call.weights @ call.values).transpose(1, 2).flatten(2)), recorded)
        assert not call.weights.triu(1).any()
        torch.testing.assert_close(call.weights.sum(-1), torch.ones(2, 3, 5, dtype=torch.float64))
        scores = call.queries @ call.keys.transpose(-2, -1) * call.scale
        rebuilt = scores.masked_fill(torch.ones(5, 5, dtype=torch.bool).triu(1), -math.inf).softmax(-1)
        torch.testing.assert_close(rebuilt, call.weights, atol=1e-13, rtol=0)

    def test_dropout_is_recorded_as_used(self):
        attend = layer(dropout=0.5).train()
        x = random(1, 5, 12)
        torch.manual_seed(0)
        with record_attention() as seen:
            y = attend(x)
        call = seen.calls[attend][0]
        assert (call.weights == 0).any()
        assert torch.equal(attend.proj((call.weights @ call.values).transpose(1, 2).flatten(2)), y)

    def test_nobody_recording_stores_nothing_and_runs_the_fused_kernel(self, monkeypatch):
        attend, x, calls = layer(), random(1, 5, 12), []
        fused = F.scaled_dot_product_attention
        monkeypatch.setattr(
            F, "scaled_dot_product_attention", lambda *a, **k: calls.append(1) or fused(*a, **k)
        )
        before = set(vars(attend))
        attend(x, causal=True)
        assert len(calls) == 1 and current_recorder() is None and set(vars(attend)) == before
        with record_attention() as seen:
            attend(x, causal=True)
        assert len(calls) == 1 and len(seen.calls[attend]) == 1

    def test_only_this_thread_is_watched(self):
        from threading import Thread

        results = []
        with record_attention() as seen:
            thread = Thread(target=lambda: results.append(current_recorder()))
            thread.start()
            thread.join()
            assert current_recorder() is seen
        assert results == [None] and current_recorder() is None

    def test_the_recording_ends_also_after_an_error(self):
        with pytest.raises(RuntimeError), record_attention():
            raise RuntimeError
        assert current_recorder() is None

    def test_a_head_switched_off_is_a_head_without_output_columns(self):
        attend, x = layer(), random(1, 5, 12)
        with record_attention({attend: torch.tensor([1.0, 0.0, 1.0])}, store=False) as seen:
            off = attend(x)
        assert not seen.calls
        with torch.no_grad():
            attend.proj.weight[:, 4:8] = 0
        torch.testing.assert_close(off, attend(x), atol=1e-12, rtol=0)
        assert isinstance(seen, AttentionRecorder)


class TestOtherShapes:
    """Masks, biases, groups and widths, each against the written-out form."""

    def test_any_mask_and_any_bias(self):
        attend, x = layer(), random(2, 5, 12)
        allowed = torch.rand(2, 3, 5, 5, generator=contracts.seeded(0)) > 0.4
        allowed[0, 1, 2] = False  # a query that may look nowhere
        bias = random(3, 5, 5, seed=3)
        q, k, v = attend.split(x)
        for causal in (False, True):
            seen = allowed & attention_mask(5, 5, causal) if causal else allowed
            scores = q @ k.mT / 2 + bias  # D = 4
            raised = scores.exp() * seen
            weights = raised / raised.sum(-1, keepdim=True).clamp(min=1e-300)
            expected = attend.proj((weights @ v).transpose(1, 2).flatten(2))
            plain = attend(x, causal=causal, allowed=allowed, bias=bias)
            torch.testing.assert_close(plain, expected, atol=1e-12, rtol=0)
            with record_attention() as record:
                recorded = attend(x, causal=causal, allowed=allowed, bias=bias)
            torch.testing.assert_close(recorded, expected, atol=1e-12, rtol=0)
            torch.testing.assert_close(record.calls[attend][0].weights, weights, atol=1e-12, rtol=0)

    def test_a_row_masked_beside_a_bias_gets_zeros_and_finite_gradients(self):
        attend, x = layer(), random(1, 4, 12).requires_grad_()
        allowed = torch.ones(4, 4, dtype=torch.bool)
        allowed[1] = False
        y = attend(x, allowed=allowed, bias=random(4, 4))
        torch.testing.assert_close(y[0, 1], attend.proj.bias)
        assert torch.autograd.grad(y.sum(), x)[0].isfinite().all()

    @pytest.mark.parametrize("groups", [1, 2, 4])
    def test_grouped_queries_are_heads_with_repeated_keys(self, groups):
        grouped, whole = layer(16, 4, kv_heads=groups), layer(16, 4)
        W, b, D = grouped.qkv.weight, grouped.qkv.bias, 4
        parts = [slice(0, 16), slice(16, 16 + groups * D), slice(16 + groups * D, 16 + 2 * groups * D)]
        rows = [torch.arange(s.start, s.stop) for s in parts]
        rows[1:] = [r.view(groups, D).repeat_interleave(4 // groups, 0).flatten() for r in rows[1:]]
        with torch.no_grad():
            whole.qkv.weight.copy_(W[torch.cat(rows)])
            whole.qkv.bias.copy_(b[torch.cat(rows)])
            whole.proj.load_state_dict(grouped.proj.state_dict())
        x = random(2, 6, 16)
        torch.testing.assert_close(grouped(x, causal=True), whole(x, causal=True), atol=1e-12, rtol=0)
        cache = grouped.new_cache(2, 6, x.device, x.dtype)
        assert cache.keys.shape[1] == groups  # what is kept is not repeated
        steps = [grouped(token, causal=True, cache=cache) for token in x.split(1, 1)]
        torch.testing.assert_close(torch.cat(steps, 1), grouped(x, causal=True), atol=1e-12, rtol=0)

    def test_heads_and_values_of_other_widths(self):
        attend, x = layer(12, 3, head_width=5, value_width=2), random(1, 4, 12)
        q, k, v = attend.split(x)
        assert q.shape == k.shape == (1, 3, 4, 5) and v.shape == (1, 3, 4, 2)
        heads = [by_hand(q[0, h], k[0, h], v[0, h]) for h in range(3)]
        expected = attend.proj(torch.cat(heads, 1))
        torch.testing.assert_close(attend(x)[0], expected, atol=1e-12, rtol=0)
        cache = attend.new_cache(1, 4, x.device, x.dtype)
        steps = [attend(token, causal=True, cache=cache) for token in x.split(1, 1)]
        torch.testing.assert_close(torch.cat(steps, 1), attend(x, causal=True), atol=1e-12, rtol=0)

    def test_a_source_of_its_own_width_and_keys_computed_once(self):
        attend, x, source = layer(12, 3, source_width=7), random(2, 4, 12), random(2, 6, 7, seed=1)
        peer = torch.nn.MultiheadAttention(12, 3, kdim=7, vdim=7, batch_first=True, dtype=torch.float64)
        with torch.no_grad():
            peer.q_proj_weight.copy_(attend.query.weight)
            peer.k_proj_weight.copy_(attend.key_value.weight[:12])
            peer.v_proj_weight.copy_(attend.key_value.weight[12:])
            peer.in_proj_bias.copy_(torch.cat([attend.query.bias, attend.key_value.bias]))
            peer.out_proj.load_state_dict(attend.proj.state_dict())
        expected = peer(x, source, source)[0]
        torch.testing.assert_close(attend(x, source), expected, atol=1e-12, rtol=0)
        keys = attend.source_keys(source)
        assert torch.equal(attend(x, keys), attend(x, source))
        turned = keys.select(torch.tensor([1, 1]))
        assert torch.equal(attend(x, turned), attend(x, source[[1, 1]]))
        with pytest.raises(ValueError, match="source of its own width"):
            attend(x)

    def test_positions_reach_queries_and_keys_only(self):
        attend, x, p = layer(), random(2, 5, 12), random(5, 12, seed=2)
        q, k, _ = attend.split(x + p)
        v = attend.split(x)[2]
        expected = attend.proj((attention_weights(q, k) @ v).transpose(1, 2).flatten(2))
        torch.testing.assert_close(attend(x, positions=p), expected, atol=1e-12, rtol=0)

    def test_groups_must_divide_the_heads(self):
        with pytest.raises(ValueError, match="cannot serve 4 heads"):
            Attention(16, 4, kv_heads=3)
