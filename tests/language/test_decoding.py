"""Greedy and sampling on models whose texts can all be listed."""

import math

import contracts
import pytest
import torch

from modules.language import decoding
from modules.language.bengio import Bengio
from modules.language.ngram import NGram
from modules.language.table import TableLM
from modules.language.truncation import SamplingParams, probabilities
from modules.recurrent.language_model import RecurrentLM
from modules.transformer.gpt import GPT
from tests.language.toys import ENDS, GREEDY_FAILS, Coin, empty


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def test_greedy_is_not_the_most_probable_text():
    text = decoding.greedy(GREEDY_FAILS, empty(), 2)
    assert text.tolist() == [[0, 0]]
    assert GREEDY_FAILS.log_prob(text).exp().item() == pytest.approx(0.33)
    strings = contracts.configurations((2,), 2)
    p = GREEDY_FAILS.log_prob(strings).exp()
    assert strings[p.argmax()].tolist() == [1, 0] and p.max().item() == pytest.approx(0.38)


def test_ancestral_sampling_follows_the_density():
    draws = decoding.sample(GREEDY_FAILS, empty(50_000), 2, generator=seeded())
    contracts.samples_follow_the_density(draws, lambda x: GREEDY_FAILS.log_prob(x.long()))


def test_temperature_works_per_token_not_per_text():
    strings = contracts.configurations((2,), 2)
    p = GREEDY_FAILS.log_prob(strings).exp()
    whole = p**2 / (p**2).sum()
    assert whole.tolist() == pytest.approx([0.3334, 0.2232, 0.4421, 0.0012], abs=6e-5)
    # exactly, from the rows that are drawn from, listed for every text
    rows = [
        decoding.sample_trace(GREEDY_FAILS, torch.tensor(prefix).long(), 1, SamplingParams(0.5))[0].values[
            "after"
        ]
        for prefix in ([], [0], [1])
    ]
    per_token = rows[0][strings[:, 0]] * torch.stack(rows[1:])[strings[:, 0], strings[:, 1]]
    assert per_token.tolist() == pytest.approx([0.4147, 0.2776, 0.3068, 0.0008], abs=6e-5)
    squares = [[0.36 / 0.52, 0.16 / 0.52], [0.3025 / 0.505, 0.2025 / 0.505], [0.9025 / 0.905, 0.0025 / 0.905]]
    by_hand = [squares[0][a] * squares[1 + a][b] for a in (0, 1) for b in (0, 1)]
    assert per_token.tolist() == pytest.approx(by_hand, abs=1e-12) and sum(by_hand) == pytest.approx(1)
    assert per_token.argmax() == 0 and whole.argmax() == 2  # the modes differ
    # and the sampler draws so: χ² below the 99.9 % point of three degrees of freedom
    draws = decoding.sample(GREEDY_FAILS, empty(100_000), 2, temperature=0.5, generator=seeded())
    counts = torch.bincount(draws @ torch.tensor([2, 1]), minlength=4)
    assert float(((counts - 1e5 * per_token) ** 2 / (1e5 * per_token)).sum()) < 16.27


@pytest.mark.parametrize("params", [{"top_k": 2}, {"top_p": 0.81}, {"min_p": 0.25}, {"temperature": 0.5}])
def test_draws_follow_the_filtered_distribution(params):
    from scipy.stats import chi2

    model = Coin(0.5, 0.3, 0.15, 0.05)
    p = probabilities(model.row, **params)
    draws = decoding.sample(model, empty(100_000), 1, generator=seeded(1), **params)[:, 0]
    counts = torch.bincount(draws, minlength=4)
    assert not counts[p == 0].any()  # never a token outside the kept set
    kept = p > 0
    statistic = ((counts[kept] - 1e5 * p[kept]) ** 2 / (1e5 * p[kept])).sum().item()
    assert statistic < chi2.isf(1e-3, max(1, int(kept.sum()) - 1))


@pytest.mark.parametrize(
    "make", [lambda: GPT(5, 8, 1, 2, 8), lambda: Bengio(5, 3, 4, 6)], ids=["GPT", "Bengio"]
)
def test_equal_seeds_give_equal_texts_and_a_batch_is_its_members(make):
    model = contracts.exact(make())
    prefix = torch.tensor([[1, 2], [3, 3], [0, 4]])
    contracts.reproducible(lambda seed: decoding.sample(model, prefix, 6, generator=seeded(seed)))
    together = decoding.greedy(model, prefix, 6)
    alone = torch.cat([decoding.greedy(model, row[None], 6) for row in prefix])
    assert torch.equal(together, alone)
    # k = 1 is greedy; k = V, p = 1, τ = 1 is ancestral
    assert torch.equal(decoding.sample(model, prefix, 6, top_k=1, generator=seeded()), together)
    same = [
        decoding.sample(model, prefix, 6, generator=seeded(2), **k) for k in ({}, {"top_k": 5, "top_p": 1.0})
    ]
    assert torch.equal(*same)


def counted():
    """3-grams of a text, without a begin token of its own."""
    model = NGram(5, 3)
    model.fit(torch.randint(5, (1, 300), generator=seeded()))
    return model


PADDED = {
    "LSTM": lambda: contracts.exact(RecurrentLM(5, embedding=4, hidden=6, bos=1)),
    "GPT": lambda: GPT(5, 8, 2, 2, 8, bos=3),
    "GPT, sinusoidal": lambda: GPT(5, 8, 1, 2, 8, positions="sinusoidal", norm="post"),
    "GPT, rotary": lambda: GPT(5, 8, 1, 2, 8, positions="rotary"),
    "GPT, unmasked": lambda: GPT(5, 8, 1, 2, 8, causal=False),
    "Bengio": lambda: Bengio(5, 3, 4, 6, bos=2),
    "counts": counted,
    "table": lambda: TableLM.from_joint(torch.rand((2,) * 10, generator=seeded())),
}


@pytest.mark.parametrize("name", PADDED)
def test_a_left_padded_batch_is_its_texts_alone(name):
    model = PADDED[name]()
    if not isinstance(model, NGram | TableLM):
        model = contracts.exact(model)
    V = 2 if name == "table" else 5
    # none, some, and for GPT more tokens than it sees at once, before and after the texts have grown
    lengths = (0, 1, 3, 4) if name == "table" else (0, 1, 5, 8, 12)
    texts = [torch.randint(V, (length,), generator=seeded(length)) for length in lengths]
    tokens, padding = decoding.left_padded(texts)
    assert padding.sum(1).tolist() == [max(lengths) - length for length in lengths]
    generator = seeded(9)
    together = list(decoding.stream(model, tokens, 6, generator=generator, padding=padding))
    for b, text in enumerate(texts):
        for log_p, token in together:
            torch.testing.assert_close(model.next_log_probs(text[None])[0], log_p[b], rtol=0, atol=1e-12)
            text = torch.cat([text, token[b : b + 1]])
    # whatever stands where there is no text
    other = tokens.masked_fill(padding, V - 1)
    ends = [decoding.greedy(model, batch, 6, padding=padding)[:, -6:] for batch in (tokens, other)]
    alone = torch.cat([decoding.greedy(model, text[None], 6)[:, -6:] for text in texts])
    assert torch.equal(ends[0], alone) and torch.equal(ends[1], alone)


@pytest.mark.parametrize("name", PADDED)
def test_a_state_stands_for_the_text_so_far(name):
    """Step by step as in one pass: from nothing, past the context, from texts of unequal length."""
    model = PADDED[name]()
    if not isinstance(model, NGram | TableLM):
        model = contracts.exact(model)
    V, longest = (2, 4) if name == "table" else (5, 9)
    contracts.incremental_decoding_is_a_full_pass(model, empty(2))
    texts = [torch.randint(V, (length,), generator=seeded(length)) for length in (0, 2, longest)]
    contracts.incremental_decoding_is_a_full_pass(model, torch.stack(texts[-1:] * 2), steps=4)
    contracts.incremental_decoding_is_a_full_pass(model, *decoding.left_padded(texts), steps=4)
    short = [text[:3] for text in texts]  # within the context of GPT, whose cache then holds padding
    contracts.incremental_decoding_is_a_full_pass(model, *decoding.left_padded(short), steps=4)


def test_the_trace_is_the_sampler_and_replays():
    model = contracts.exact(Bengio(5, 3, 4, 6))
    params = {"temperature": 0.8, "top_k": 4, "top_p": 0.95, "min_p": 0.01}
    trace = contracts.trace_replays(
        lambda seed: decoding.sample_trace(model, torch.tensor([2]), 7, generator=seeded(seed), **params)
    )
    drawn = decoding.sample(model, torch.tensor([[2]]), 7, generator=seeded(0), **params)
    assert torch.equal(trace.result, drawn)
    total = model.log_prob(trace.result)[0] - model.log_prob(torch.tensor([[2]]))[0]
    assert trace[-1].values["total"] == pytest.approx(total.item(), abs=1e-10)
    for t, step in enumerate(trace):
        row = model.next_log_probs(trace.result[:, : t + 1])[0].exp()
        torch.testing.assert_close(step.values["before"], row, rtol=0, atol=1e-12)
        assert step.values["entropy"] == pytest.approx(-(row * row.log()).sum().item())
        assert step.values["mass"] == pytest.approx(float(step.values["tempered"][step.values["kept"]].sum()))


def test_a_text_ends_at_eos():
    texts = decoding.sample(ENDS, empty(1000), 3, eos=0, generator=seeded())
    ended = (texts == 0).cummax(1).values
    assert not texts[ended].any()  # behind the end there are only ends
    first = (texts[:, 0] == 0).double().mean().item()
    assert first == pytest.approx(0.4, abs=0.05)
    assert decoding.greedy(Coin(0.9, 0.1), empty(), 50, eos=0).shape == (1, 1)  # all ended: stop


def test_the_most_probable_text_is_not_typical():
    coin = Coin(0.4, 0.6)
    best = decoding.greedy(coin, empty(), 100)
    assert best.all()
    assert math.exp(100 * math.log(0.6)) == pytest.approx(6.53e-23, rel=1e-3)
    assert math.log(0.6) == pytest.approx(-0.5108, abs=5e-5)
    draws = decoding.sample(coin, empty(2000), 100, generator=seeded())
    cost = -coin.row[draws].mean(1)
    assert cost.mean().item() == pytest.approx(0.6730, abs=0.002)
    assert (cost > 0.5109).all()  # not one of 2,000 texts is as probable as the best


def test_distinct():
    assert decoding.distinct(torch.arange(20)) == 1.0
    assert decoding.distinct(torch.tensor([1, 2] * 20), 8) == pytest.approx(2 / 33)
    with pytest.raises(ValueError, match="has 3 tokens"):
        decoding.distinct(torch.tensor([1, 2, 3]))


def test_refusals():
    with pytest.raises(ValueError, match="temperature is -1"):
        decoding.sample(GREEDY_FAILS, empty(), 1, temperature=-1)
