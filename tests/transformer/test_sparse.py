"""Interaction patterns against the printed counts, sparse computations against dense ones with the mask."""

import contracts
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

from modules.transformer import sparse
from modules.transformer.attention import attention_weights
from modules.transformer.blockwise import blockwise_attention
from modules.transformer.compressed_attention import Linformer, MemoryCompressed
from modules.transformer.local_attention import LocalAttention
from modules.transformer.recorder import record_attention

N = 16
BEHIND = sparse.causal(N)
# pattern, pairs, layers until nothing is added, and how many tokens the last one then hears of
FIGURE = {
    "full": (sparse.full(N), 256, 1, 16),
    "causal": (BEHIND, 136, 1, 16),
    "convolution": (sparse.window(N, 1), 46, 15, 16),
    "causal convolution": (sparse.window(N, 2) & BEHIND, 45, 8, 16),
    "dilation 2": (sparse.window(N, 2, 2) & BEHIND, 42, 4, 8),
    "dilation 3": (sparse.window(N, 2, 3) & BEHIND, 39, 3, 6),
    "selected": ((sparse.window(N, 2) | sparse.selected(N, 4)) & BEHIND, 85, 2, 16),
    "global": (sparse.window(N, 1) | sparse.hub(N, 2), 100, 2, 16),
    "blocks": (sparse.blocks(N, 4), 64, 1, 4),
}


def rand(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def heads(T=N, S=None, seed=0):
    S = T if S is None else S
    return rand(2, 3, T, 4, seed=seed), rand(2, 3, S, 4, seed=seed + 1), rand(2, 3, S, 4, seed=seed + 2)


def dense(q, k, v, allowed=None):
    return attention_weights(q, k, allowed) @ v


def paths(pattern, start) -> dict[int, int]:
    """Token -> fewest layers through which `start` hears of it, by breadth-first search."""
    found, edge, layer = {start: 0}, [start], 0
    while edge:
        layer += 1
        edge = [j for j in range(len(pattern)) if j not in found and any(pattern[i][j] for i in edge)]
        found |= dict.fromkeys(edge, layer)
    return found


@pytest.mark.parametrize("name", FIGURE)
def test_counts_and_reach(name):
    pattern, pairs, layers, last = FIGURE[name]
    assert int(pattern.sum()) == pairs and sparse.depth(pattern) == layers
    heard = sparse.reach(pattern, layers + 1)
    assert int(heard[layers, -1].sum()) == last and torch.equal(heard[layers], heard[layers + 1])
    table = pattern.tolist()
    for i in range(N):
        fewest = paths(table, i)
        for depth in range(layers + 2):
            wanted = {j for j, needed in fewest.items() if needed <= depth}
            assert set(heard[depth, i].nonzero()[:, 0].tolist()) == wanted
    assert max(max(paths(table, i).values()) for i in range(N)) == layers


@pytest.mark.parametrize("dilation", [2, 3])
def test_one_dilation_never_leaves_its_residue(dilation):
    heard = sparse.reach(sparse.window(N, 2, dilation), 30)[-1]
    assert torch.equal(heard, sparse.offsets(N) % dilation == 0)
    both = sparse.window(N, 1, 2) | sparse.window(N, 1, 3)
    assert sparse.reach(both, 30)[-1].all()  # two dilations without a common divisor do


def test_patterns_entry_by_entry():
    for i in range(7):
        for j in range(7):
            assert sparse.window(7, 2)[i, j] == (abs(i - j) <= 2)
            assert sparse.window(7, 2, 2)[i, j] == (abs(i - j) in (0, 2, 4))
            assert sparse.selected(7, 3)[i, j] == (i % 3 == 0 or j % 3 == 0)
            assert sparse.hub(7, 2)[i, j] == (i < 2 or j < 2)
            assert sparse.strided(7, 3)[i, j] == ((i - j) % 3 == 0)
            assert sparse.blocks(7, 3)[i, j] == (i // 3 == j // 3)
            assert sparse.prefix(7, 3)[i, j] == (j <= i or j < 3)
    drawn = sparse.random(20, 3, torch.Generator().manual_seed(0))
    assert (drawn.sum(1) == 3).all() and drawn.any(0).sum() > 10
    assert sparse.window(1, 0).tolist() == [[True]] and int(sparse.window(5, 0).sum()) == 5


def test_what_is_no_pattern():
    for make, words in [
        (lambda: sparse.full(0), "N is 0"),
        (lambda: sparse.window(4, -1), "radius"),
        (lambda: sparse.window(4, 1, 0), "dilation"),
        (lambda: sparse.selected(4, 0), "every"),
        (lambda: sparse.blocks(4, 0), "size"),
        (lambda: sparse.strided(4, 0), "stride"),
        (lambda: sparse.random(4, 5), "count"),
        (lambda: sparse.prefix(4, 5), "length"),
        (lambda: sparse.depth(sparse.full(3) ^ torch.eye(3, dtype=torch.bool)), "forgets"),
    ]:
        with pytest.raises(ValueError, match=words):
            make()


class Largest(TorchDispatchMode):
    """Numbers in the largest tensor that an operation makes."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor):
            self.numel = max(self.numel, out.numel())
        return out


@pytest.mark.parametrize("name", FIGURE)
def test_sparse_attention_is_dense_attention_with_the_mask(name):
    pattern, pairs = FIGURE[name][:2]
    q, k, v = heads()
    with Largest() as seen:
        y = sparse.sparse_attention(q, k, v, pattern)
    torch.testing.assert_close(y, dense(q, k, v, pattern), atol=1e-14, rtol=1e-13)
    assert seen.numel <= 2 * 3 * 4 * pairs  # B H D of each pair, and no more
    wide = sparse.sparse_attention(q, k, v, pattern, scale=2.0)
    torch.testing.assert_close(wide, attention_weights(q, k, pattern, 2.0) @ v)
    large = [400 * t.float() for t in (q, k, v)]
    torch.testing.assert_close(sparse.sparse_attention(*large, pattern), dense(*large, pattern))


def test_sparse_attention_where_a_token_looks_nowhere_and_across():
    q, k, v = heads(5, 7)
    pattern = torch.rand(5, 7, generator=torch.Generator().manual_seed(0)) > 0.6
    pattern[2] = False
    for t in (q, k, v):
        t.requires_grad_()
    y = sparse.sparse_attention(q, k, v, pattern)
    assert not y[:, :, 2].any()
    torch.testing.assert_close(y, dense(q, k, v, pattern))
    ours = torch.autograd.grad(y.sin().sum(), (q, k, v), retain_graph=True)
    wanted = torch.autograd.grad(dense(q, k, v, pattern).sin().sum(), (q, k, v))
    torch.testing.assert_close(ours, wanted)


@pytest.mark.parametrize("taps", [(-1, 0, 1), (-2, -1, 0), (-4, -2, 0), (0,), (3, 5), (-40, 0)])
def test_offsets_are_dense_attention_with_the_mask(taps):
    q, k, v = heads()
    allowed = torch.stack([sparse.offsets(N) == -tap for tap in taps]).any(0)
    padding = torch.zeros(2, N, dtype=torch.bool)
    padding[0, :5] = padding[1, 9] = True
    torch.testing.assert_close(sparse.offset_attention(q, k, v, taps), dense(q, k, v, allowed))
    seen = allowed & ~padding[:, None, None]
    torch.testing.assert_close(sparse.offset_attention(q, k, v, taps, padding), dense(q, k, v, seen))
    if max(taps) <= 0:
        last = sparse.offset_attention(q[:, :, -3:], k, v, taps, padding)
        torch.testing.assert_close(last, dense(q, k, v, seen)[:, :, -3:])


@pytest.mark.parametrize("size", [1, 4, 5, 16, 40])
def test_blocks_are_dense_attention_with_the_mask(size):
    q, k, v = heads()
    padding = torch.zeros(2, N, dtype=torch.bool)
    padding[0, 4:9] = True
    for causal in (False, True):
        allowed = sparse.blocks(N, size) & (BEHIND if causal else sparse.full(N))
        torch.testing.assert_close(sparse.block_attention(q, k, v, size, causal), dense(q, k, v, allowed))
        seen = allowed & ~padding[:, None, None]
        torch.testing.assert_close(
            sparse.block_attention(q, k, v, size, causal, padding), dense(q, k, v, seen)
        )


def test_blocks_cost_less_than_all_pairs():
    q, k, v = heads(64)
    counts = []
    for make in (lambda: dense(q, k, v), lambda: sparse.block_attention(q, k, v, 8)):
        with FlopCounterMode(display=False) as flops:
            make()
        counts.append(flops.get_total_flops())
    assert counts[0] == 8 * counts[1]
    with Largest() as seen:
        sparse.offset_attention(q, k, v, (-1, 0, 1))
    assert seen.numel <= 2 * 3 * 66 * 4  # keys with one tap on each side


@pytest.mark.parametrize("block", [1, 3, 16, 64])
def test_blockwise_attention_is_attention(block):
    q, k, v = heads(13, 13)
    causal = sparse.causal(13)
    padding = torch.zeros(2, 13, dtype=torch.bool)
    padding[0, :4] = padding[1, 6:8] = True
    for mask in (None, causal):
        y = blockwise_attention(q, k, v, mask is not None, None, block)
        torch.testing.assert_close(y, dense(q, k, v, mask), atol=1e-15, rtol=1e-14)
        seen = ~padding[:, None, None] & (causal if mask is not None else sparse.full(13))
        y = blockwise_attention(q, k, v, mask is not None, padding, block)
        torch.testing.assert_close(y, dense(q, k, v, seen), atol=1e-15, rtol=1e-14)
    last = blockwise_attention(q[:, :, -2:], k, v, True, None, block)  # the last two, with a cache
    torch.testing.assert_close(last, dense(q, k, v, causal)[:, :, -2:])


def test_blockwise_attention_makes_blocks_alone_and_has_its_gradient():
    q, k, v = (t.requires_grad_() for t in heads(64))
    with Largest() as seen:
        y = blockwise_attention(q, k, v, block=8)
    assert seen.numel <= 2 * 3 * 64 * 8  # scores of a block are 8 × 8, the result has 64 × 4
    ours = torch.autograd.grad(y.sin().sum(), (q, k, v))
    torch.testing.assert_close(ours, torch.autograd.grad(dense(q, k, v).sin().sum(), (q, k, v)))
    large = [300 * t.detach().float() for t in (q, k, v)]
    torch.testing.assert_close(blockwise_attention(*large, block=8), dense(*large))
    assert blockwise_attention(q[:, :, :0], k, v).shape == (2, 3, 0, 4)
    assert not blockwise_attention(q, k[:, :, :0], v[:, :, :0]).any()
    torch.testing.assert_close(
        blockwise_attention(q, k, v, scale=1.0), attention_weights(q, k, scale=1.0) @ v
    )
    with pytest.raises(ValueError, match="block is 0"):
        blockwise_attention(q, k, v, block=0)


class TestLocal:
    def layer(self, radius=2, dilation=1, **options) -> LocalAttention:
        return contracts.exact(LocalAttention(12, 3, radius, dilation, **options))

    def test_heads_are_neighbouring_channels(self):
        """Head h has channels hD to (h + 1)D of the queries, as in `Attention`, and of the output."""
        mixer, x = self.layer(), rand(1, 3, 12)
        q, k, v = mixer.split(x)
        for part, projected in zip((q, k, v), mixer.qkv(x).chunk(3, dim=2), strict=True):
            for h in range(3):
                torch.testing.assert_close(part[:, h], projected[..., 4 * h : 4 * h + 4])
        torch.testing.assert_close(mixer.join(q), mixer.proj(mixer.qkv(x)[..., :12]))

    @pytest.mark.parametrize(("radius", "dilation"), [(0, 1), (2, 1), (2, 3), (40, 1)])
    def test_definition(self, radius, dilation):
        mixer, x = self.layer(radius, dilation), rand(2, N, 12)
        padding = torch.zeros(2, N, dtype=torch.bool)
        padding[1, :6] = True
        q, k, v = mixer.split(x)
        for causal in (False, True):
            allowed = sparse.window(N, radius, dilation) & (BEHIND if causal else sparse.full(N))
            torch.testing.assert_close(mixer(x, causal=causal), mixer.join(dense(q, k, v, allowed)))
            seen = allowed & ~padding[:, None, None]
            wanted = mixer.join(dense(q, k, v, seen))
            torch.testing.assert_close(mixer(x, causal=causal, padding=padding), wanted)
            with record_attention() as calls:
                mixer(x, causal=causal, padding=padding)
            torch.testing.assert_close(calls.calls[mixer][0].weights, attention_weights(q, k, seen))

    @pytest.mark.parametrize(("radius", "dilation"), [(0, 1), (2, 1), (2, 3)])
    def test_cache(self, radius, dilation):
        mixer, x = self.layer(radius, dilation), rand(2, N, 12)
        padding = torch.zeros(2, N, dtype=torch.bool)
        padding[1, :6] = True
        for hidden in (None, padding):
            cache, parts = mixer.new_cache(2, N, dtype=torch.float64), []
            for start, end in ((0, 5), (5, 6), (6, 6), (6, 15), (15, 16)):
                seen = None if hidden is None else hidden[:, :end]
                parts.append(mixer(x[:, start:end], causal=True, padding=seen, cache=cache))
                assert cache.length == end and cache.keys.shape[2] <= radius * dilation
            torch.testing.assert_close(torch.cat(parts, 1), mixer(x, causal=True, padding=hidden))
        rows = torch.tensor([1, 1, 0])
        other, longer = cache.select(rows), torch.cat([x, x[:, :1]], 1)[rows]
        hidden = torch.nn.functional.pad(padding, (0, 1))[rows]
        step = mixer(x[rows, :1], causal=True, padding=hidden, cache=other)
        torch.testing.assert_close(step, mixer(longer, causal=True, padding=hidden)[:, -1:])
        assert cache.length == N

    def test_refusals(self):
        x = rand(1, 3, 12)
        with pytest.raises(ValueError, match="no neighbours"):
            self.layer()(x, x)
        with pytest.raises(ValueError, match="a cache is causal"):
            self.layer()(x, cache=self.layer().new_cache(1))
        with pytest.raises(ValueError, match="radius"):
            LocalAttention(12, 3, -1)
        with pytest.raises(ValueError, match="dilation"):
            LocalAttention(12, 3, 1, 0)
        assert self.layer()(x[:, :0], causal=True).shape == (1, 0, 12)
        assert self.layer(bias=False).qkv.bias is None


class TestCompressed:
    def test_a_linformer_of_the_identity_is_attention(self):
        mixer = contracts.exact(Linformer(12, 3, length=6, rank=6))
        with torch.no_grad():
            mixer.E.copy_(torch.eye(6))
            mixer.F.copy_(torch.eye(6))
        x, source = rand(2, 6, 12), rand(2, 6, 12, seed=1)
        for s in (None, source):
            torch.testing.assert_close(mixer(x, s), mixer.join(dense(*mixer.split(x, s))))

    def test_a_linformer_by_hand(self):
        mixer, x = contracts.exact(Linformer(12, 3, length=9, rank=4)), rand(2, 7, 12)
        padding = torch.zeros(2, 7, dtype=torch.bool)
        padding[0, 5:] = True
        q, k, v = mixer.split(x)
        K, V = torch.zeros(2, 3, 4, 4).double(), torch.zeros(2, 3, 4, 4).double()
        for r in range(4):
            for s in range(7):
                seen = ~padding[:, s, None, None]
                K[:, :, r] += mixer.E[r, s] * k[:, :, s] * seen
                V[:, :, r] += mixer.F[r, s] * v[:, :, s] * seen
        torch.testing.assert_close(mixer(x, padding=padding), mixer.join(dense(q, K, V)))
        other = x.clone()
        other[0, 5:] += 1  # what stands at padding does not count
        torch.testing.assert_close(mixer(other, padding=padding)[:, :5], mixer(x, padding=padding)[:, :5])

    @pytest.mark.parametrize("stride", [1, 2, 3, 20])
    def test_memory_compressed_by_hand(self, stride):
        mixer, x = contracts.exact(MemoryCompressed(12, 3, stride)), rand(2, 8, 12)
        padding = torch.zeros(2, 8, dtype=torch.bool)
        padding[0, 3:] = True
        for hidden in (None, padding):
            q, k, v = mixer.split(x)
            R = -(-8 // stride)
            compressed = []
            for conv, t in ((mixer.conv_k, k), (mixer.conv_v, v)):
                out = conv.bias.expand(2, 3, R, 4).clone()
                for s in range(8):
                    seen = 1 if hidden is None else ~hidden[:, s, None, None]
                    out[:, :, s // stride] += t[:, :, s] @ conv.weight[..., s % stride].T * seen
                compressed.append(out)
            allowed = None
            if hidden is not None:
                absent = [
                    [bool(row[r * stride : (r + 1) * stride].all()) for r in range(R)] for row in hidden
                ]
                allowed = ~torch.tensor(absent)[:, None, None]
            wanted = mixer.join(dense(q, *compressed, allowed))
            torch.testing.assert_close(mixer(x, padding=hidden), wanted)

    def test_memory_compressed_begins_as_means_and_stride_one_as_attention(self):
        mixer, x = MemoryCompressed(12, 3, 1).double(), rand(1, 5, 12)
        torch.testing.assert_close(mixer(x), mixer.join(dense(*mixer.split(x))))

    def test_recorded_and_switched_off(self):
        mixer, x = contracts.exact(Linformer(12, 3, 8, 4)), rand(1, 8, 12)
        with record_attention({mixer: torch.zeros(3)}) as seen:
            torch.testing.assert_close(mixer(x), mixer.proj.bias.expand(1, 8, 12))
        assert seen.calls[mixer][0].weights.shape == (1, 3, 8, 4)

    def test_refusals(self):
        x = rand(1, 5, 12)
        for mixer in (Linformer(12, 3, 5, 2).double(), MemoryCompressed(12, 3, 2).double()):
            assert mixer(x[:, :0]).shape == (1, 0, 12)
            with pytest.raises(ValueError, match="cannot be causal"):
                mixer(x, causal=True)
            with pytest.raises(ValueError, match="cannot be causal"):
                mixer(x, cache=object())
            with pytest.raises(ValueError, match="cannot go on token by token"):
                mixer.new_cache(1, 5)
        with pytest.raises(ValueError, match="at most 4"):
            Linformer(12, 3, 4, 2).double()(x)
        with pytest.raises(ValueError, match="compresses nothing"):
            Linformer(12, 3, 4, 5)
        with pytest.raises(ValueError, match="rank"):
            Linformer(12, 3, 4, 0)
        with pytest.raises(ValueError, match="stride"):
            MemoryCompressed(12, 3, 0)
