"""Associative recall: what the data ask, what the memory computes, and what their bench measures."""

import contracts
import pytest
import torch
import torch.nn.functional as F

from datamodules.associative import AssociativeRecall
from lab.bench import efficient_attention as bench
from modules.transformer.associative import AssociativeMemory
from modules.transformer.attention import attention_weights


def test_every_question_has_its_answer():
    data = AssociativeRecall(pairs=5, keys=7, values=4)
    x, y = data.draw(300, 0)
    assert x.shape == (300, 6, 2) and x.dtype == y.dtype == torch.int64
    asked = set()
    for row, answer in zip(x.tolist(), y.tolist(), strict=True):
        *pairs, (key, blank) = row
        table = dict(map(tuple, pairs))
        assert len(table) == 5 and blank == data.blank == 4 and table[key] == answer
        assert all(0 <= k < 7 and 0 <= v < 4 for k, v in pairs)
        asked.add([k for k, _ in pairs].index(key))
    assert asked == set(range(5))
    assert not torch.equal(x, data.draw(300, 1)[0]) and torch.equal(x, data.draw(300, 0)[0])
    data = AssociativeRecall(pairs=2, num_train=10, num_val=4, num_test=3, batch_size=5)
    data.setup()
    assert [len(s) for s in (data.train_set, data.val_set, data.test_set)] == [10, 4, 3]
    assert data.sizes == {"vocab_size": 64, "num_classes": 16} and data.describe()["pairs"] == 2
    assert AssociativeRecall(1, keys=1).draw(2, 0)[0].shape == (2, 2, 2)
    for wrong in ({"pairs": 0}, {"pairs": 65}, {"values": 1}, {"keys": 0}):
        with pytest.raises(ValueError, match="must be at least"):
            AssociativeRecall(**wrong)


def test_the_memory_by_hand():
    model = contracts.exact(AssociativeMemory(5, 3, "softmax", width=4, heads=2, layers=1))
    x, _ = AssociativeRecall(pairs=3, keys=5, values=3).draw(6, 0)
    h = model.keys.weight[x[..., 0]] + model.values.weight[x[..., 1]]
    mixer = model.blocks[0].mixer
    q, k, v = mixer.split(model.blocks[0].mixer_norm(h))
    last = (attention_weights(q[:, :, -1:], k) @ v).transpose(1, 2).flatten(2)  # it sees all
    wanted = model.head(model.final_norm(h[:, -1] + mixer.proj(last)[:, 0]))
    torch.testing.assert_close(model.predict(x), wanted)


def test_the_order_of_the_pairs_does_not_count_in_one_layer():
    x, _ = AssociativeRecall(pairs=4, keys=5, values=3).draw(6, 0)
    mixed = x[:, [2, 0, 3, 1, 4]]
    for mixer in ("softmax", "elu", "positive", "hyperbolic"):
        model = contracts.exact(AssociativeMemory(5, 3, mixer, width=4))
        torch.testing.assert_close(model.predict(x), model.predict(mixed))


def test_refusals():
    with pytest.raises(ValueError, match="choose one of softmax"):
        AssociativeMemory(4, 3, "tanh", width=4)
    for mixer in ("softmax", "elu"):
        with pytest.raises(ValueError, match="no draws"):
            AssociativeMemory(4, 3, mixer, width=4, count=3)
    with pytest.raises(ValueError, match="layers"):
        AssociativeMemory(4, 3, layers=0)


def test_softmax_learns_to_recall():
    """Four pairs of eight keys, for this seed."""
    data = AssociativeRecall(4, keys=8, values=4)
    torch.manual_seed(0)
    model = AssociativeMemory(8, 4, "softmax", width=16)
    bench.train(model, model.predict, data, 0, 250)
    x, y = data.draw(500, 2)
    assert (model.predict(x).argmax(1) == y).float().mean() > 0.95


def test_errors_of_the_bench():
    """Features come nearer with their number; elu + 1 is no nearer than the mean of all values, at D = 16."""
    found = bench.errors(4, tries=3, counts=(16, 1024))
    assert found["positive, M = 1,024"] < 0.8 * found["positive, M = 16"]
    q, k, v, exact = bench.problem(4, 0)
    torch.testing.assert_close(
        exact, F.scaled_dot_product_attention(q[None], k[None], v[None])[0], atol=1e-12, rtol=0
    )
    phi = [F.elu(t) + 1 for t in (q, k)]
    weights = phi[0] @ phi[1].T
    torch.testing.assert_close(bench.by_elu(q, k, v), weights / weights.sum(1, keepdim=True) @ v)
    wide = bench.errors(16, tries=3, counts=(16,))
    assert wide["elu + 1"] > 0.8 * wide["mean of all values"] > 0


def test_slopes_of_the_largest_tensor():
    lengths = (256, 512, 1024)
    for square, wanted in ((True, 2.0), (False, 1.0)):
        _, numbers = bench.cost(square, lengths, repeats=1)
        assert bench.slope(lengths, numbers) == pytest.approx(wanted, abs=0.01)
    assert bench.slope((1, 10, 100), (3, 300, 30_000)) == pytest.approx(2)


@pytest.mark.heavy
def test_the_bench_has_all_its_rows():
    rows = bench.measure(quick=True)
    names = [row.case for row in rows]
    assert len(names) == len(set(names)) == len(bench.MIXERS) * len(bench.PAIRS) + 12 + 4 + len(bench.WINDOWS)
    assert [row.target for row in rows[-2:]] == ["≥ 0.95 right", "≤ 0.2 right"]
