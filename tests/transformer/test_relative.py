"""Relative positions against loops over pairs, and what shifting a text does."""

import contracts
import pytest
import torch

from modules.transformer.attention import Attention
from modules.transformer.recorder import record_attention
from modules.transformer.relative import (
    ALiBi,
    RelativeBias,
    RelativeFactor,
    RelativeKey,
    UntiedPositions,
    offsets,
    slopes,
)

H, D, N = 2, 4, 6
MAKERS = {
    "bias": lambda: RelativeBias(H, N),
    "factor": lambda: RelativeFactor(H, N),
    "key": lambda: RelativeKey(D, N),
    "alibi": lambda: ALiBi(H),
}


def random(*shape, seed=0):
    return torch.randn(*shape, generator=contracts.seeded(seed), dtype=torch.float64)


def layer(name: str) -> Attention:
    return contracts.exact(Attention(H * D, H, relative=MAKERS[name]()))


@pytest.mark.parametrize("name", MAKERS)
def test_scores_pair_by_pair(name):
    attend, x = layer(name), random(1, 5, H * D)
    with record_attention() as seen:
        attend(x, causal=True)
    call = seen.calls[attend][0]
    expected = torch.zeros(H, 5, 5, dtype=torch.float64)
    for h in range(H):
        for i in range(5):
            for j in range(i + 1):
                q, k = call.queries[0, h, i], call.keys[0, h, j]
                score = (q @ k).item() / D**0.5
                if name == "bias":
                    score += attend.relative.table[j - i + N - 1, h].item()
                elif name == "factor":
                    score *= attend.relative.table[j - i + N - 1, h].item()
                elif name == "key":
                    score = (q @ (k + attend.relative.table[j - i + N - 1])).item() / D**0.5
                else:
                    score -= 2.0 ** (-8.0 * (h + 1) / H) * (i - j)
                expected[h, i, j] = torch.tensor(score).exp()
    expected /= expected.sum(-1, keepdim=True)
    torch.testing.assert_close(call.weights[0], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", MAKERS)
def test_longer_than_any_text_of_training_and_the_same_with_a_cache(name):
    attend, x = layer(name), random(2, 9, H * D)
    whole = attend(x, causal=True)
    for sizes in ([1] * 9, [4, 1, 4]):
        cache = attend.new_cache(2, 9, x.device, x.dtype)
        pieces = [attend(piece, causal=True, cache=cache) for piece in x.split(sizes, 1)]
        torch.testing.assert_close(torch.cat(pieces, 1), whole, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", MAKERS)
def test_only_the_distance_matters_yet_order_does(name):
    attend, x = layer(name), random(1, 5, H * D)
    padding = torch.tensor([[True, True, False, False, False, False, False]])
    shifted = attend(torch.cat([random(1, 2, H * D, seed=5), x], 1), padding=padding)[:, 2:]
    torch.testing.assert_close(shifted, attend(x), atol=1e-12, rtol=0)
    order = torch.tensor([3, 0, 4, 1, 2])
    assert (attend(x[:, order]) - attend(x)[:, order]).abs().max() > 1e-3


def test_there_are_as_many_numbers_as_offsets_and_the_bias_is_toeplitz():
    assert RelativeBias(3, 16).table.shape == (31, 3)
    b = RelativeBias(3, 16)(random(1, 3, 16, 4), random(1, 3, 16, 4), 0.5)
    assert torch.equal(b[:, 1:, 1:], b[:, :-1, :-1])
    assert offsets(2, 4).tolist() == [[-2, -1, 0, 1], [-3, -2, -1, 0]]


def test_nothing_learned_is_plain_attention():
    plain, x = contracts.exact(Attention(H * D, H)), random(1, 5, H * D)
    for module, value in ((RelativeBias(H, N), 0.0), (RelativeFactor(H, N), 1.0), (RelativeKey(D, N), 0.0)):
        attend = Attention(H * D, H, relative=module.double()).double()
        attend.load_state_dict(plain.state_dict(), strict=False)
        torch.nn.init.constant_(module.table, value)
        torch.testing.assert_close(attend(x), plain(x), atol=1e-14, rtol=0)


def test_slopes_and_weights_of_alibi():
    assert slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert slopes(16)[:2].tolist() == pytest.approx([0.707107, 0.5], abs=1e-6)
    q = torch.zeros(1, 8, 4, 2, dtype=torch.float64)  # equal scores
    rows = ALiBi(8)(q, q, 1.0)[:, 3].softmax(-1)
    assert rows[0].tolist() == pytest.approx([0.1015, 0.1674, 0.2760, 0.4551], abs=5e-5)
    assert rows[7].tolist() == pytest.approx([0.2485, 0.2495, 0.2505, 0.2515], abs=5e-5)
    with pytest.raises(ValueError, match="6 is no power of two"):
        ALiBi(6)


def test_untied_positions_have_projections_of_their_own():
    untied = contracts.exact(UntiedPositions(6, 8, 2))
    bias = untied(5, 5)
    for h in range(2):
        U_q, U_k = (w.weight[4 * h : 4 * h + 4].T for w in (untied.query, untied.key))
        expected = (untied.table[:5] @ U_q) @ (untied.table[:5] @ U_k).T / 2
        torch.testing.assert_close(bias[h], expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(untied(2, 5), bias[:, 3:], atol=1e-12, rtol=0)
    padded = untied(6, 6, before=torch.tensor([[1], [0]]))
    torch.testing.assert_close(padded[0, :, 1:, 1:], bias, atol=1e-12, rtol=0)
    with pytest.raises(ValueError, match="learned 6 positions"):
        untied(1, 7)
