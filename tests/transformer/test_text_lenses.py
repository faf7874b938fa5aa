"""The attention and sampling lenses: every number a page shows, recomputed another way."""

import itertools
import math

import contracts
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from datamodules.tokenizer import ByteTokenizer, CharTokenizer
from lab.errors import UserError
from lab.lenses import attention as lens
from lab.lenses import sampling, text
from modules.language.truncation import truncate
from modules.transformer.gpt import GPT
from modules.transformer.recorder import record_attention

V, T, L, H = 11, 7, 3, 2


@pytest.fixture
def model():
    return contracts.exact(GPT(V, context=8, layers=L, heads=H, width=8, bias=True))


@pytest.fixture
def tokens():
    return torch.randint(V, (T,), generator=torch.Generator().manual_seed(0))


# --- attention -----------------------------------------------------------------------------------


@torch.no_grad()
def test_recorded_maps_rebuild_the_models_own_output(model, tokens):
    maps = lens.record(model, tokens)
    assert maps.weights.shape == (L, H, T, T)
    torch.testing.assert_close(maps.logits, model(tokens[None])[0], atol=1e-12, rtol=0)
    torch.testing.assert_close(maps.weights.sum(-1), torch.ones(L, H, T, dtype=torch.float64))
    assert not maps.weights.triu(1).any()
    # by hand through the blocks, with the recorded weights in place of attention
    x = model.embedding(tokens) + model.positions.table[:T]
    for l, block in enumerate(model.blocks):
        mixed = torch.cat(list(maps.weights[l] @ maps.values[l]), dim=1)  # heads join on features
        x = x + block.mixer.proj(mixed)
        x = x + block.feedforward(block.feedforward_norm(x))
    torch.testing.assert_close(model.logits(model.final_norm(x)), maps.logits, atol=1e-12, rtol=0)


def test_softmax_numbers_of_a_row(model, tokens):
    maps = lens.record(model, tokens)
    for layer, head, query in itertools.product(range(L), range(H), (0, 3, T - 1)):
        story = lens.dot(maps, layer, head, query)
        raised = []
        for j in range(query + 1):
            q, k = maps.queries[layer, head, query].tolist(), maps.keys[layer, head, j].tolist()
            score = sum(a * b for a, b in zip(q, k, strict=True))
            assert story.scores[j].item() == pytest.approx(score)
            assert story.products[j].sum().item() == pytest.approx(score)
            raised.append(math.exp(score / math.sqrt(4)))  # D = 8 / 2
            assert story.raised[j].item() == pytest.approx(raised[-1])
        assert story.total == pytest.approx(sum(raised))
        for j, r in enumerate(raised):
            assert story.weights[j].item() == pytest.approx(r / sum(raised))
        assert not story.raised[query + 1 :].any()


@torch.no_grad()
def test_a_head_off_is_a_head_without_its_output_columns(model, tokens):
    off = [(0, 1), (2, 0)]
    p = lens.next_token(model, tokens, off)
    torch.testing.assert_close(lens.record(model, tokens, off=off).logits[-1].softmax(-1), p)
    base = lens.next_token(model, tokens)
    for layer, head in off:
        model.blocks[layer].mixer.proj.weight[:, head * 4 : head * 4 + 4] = 0
    torch.testing.assert_close(model(tokens[None])[0, -1].softmax(-1), p, atol=1e-12, rtol=0)
    assert lens.distance(p, base) > 1e-6


def test_importance_is_each_head_off_alone(model, tokens):
    worth = lens.importance(model, tokens)
    base = lens.next_token(model, tokens)
    for layer, head in itertools.product(range(L), range(H)):
        alone = lens.next_token(model, tokens, [(layer, head)])
        moved = sum(abs(a - b) for a, b in zip(alone.tolist(), base.tolist(), strict=True)) / 2
        assert worth[layer, head].item() == pytest.approx(moved)
    assert worth.min() > 0


def test_influence_is_zero_above_the_diagonal_only_with_the_mask(model, tokens):
    moved = lens.influence(model, tokens)
    assert torch.equal(moved.triu(1), torch.zeros(T, T, dtype=torch.float64))  # exactly
    assert (moved.diagonal() > 0).all()
    leak = lens.influence(model, tokens, causal=False)
    assert (leak[torch.ones(T, T, dtype=torch.bool).triu(1)] > 0).all()
    changed = tokens.clone()
    changed[2] = (changed[2] + 1) % V
    for i in range(T):
        p, q = (model(t[None])[0, i].softmax(-1) for t in (tokens, changed))
        assert moved[i, 2].item() == pytest.approx((p - q).abs().sum().item() / 2, abs=1e-12)


def test_nll_is_the_models_own_loss(model, tokens):
    loss = model.step((tokens[None, :-1], tokens[None, 1:]), "val")
    assert lens.nll(lens.record(model, tokens), tokens) == pytest.approx(loss.item())


def test_the_lens_leaves_the_model_as_it_was(model, tokens):
    before = model(tokens[None])
    state = {k: v.clone() for k, v in model.state_dict().items()}
    lens.record(model, tokens, causal=False, off=[(0, 0)])
    lens.importance(model, tokens)
    lens.influence(model, tokens)
    assert torch.equal(model(tokens[None]), before)
    assert all(torch.equal(v, state[k]) for k, v in model.state_dict().items())


# --- sampling ------------------------------------------------------------------------------------


def test_trace_reads_in_tokens_and_replays(model, tokens):
    coder = CharTokenizer("ab\n defghij")
    run = contracts.trace_replays(
        lambda seed: sampling.trace(model, coder, tokens, 9, seed=seed, temperature=0.8, top_p=0.9)
    )
    step = run[4].values
    name = text.shown([coder.tokens[step["token"]]])[0]
    assert f"draws '{name}'" in run[4].caption
    p = step["tempered"][step["token"]] / step["tempered"][step["kept"]].sum()
    assert run[4].equation.endswith(f"= {p:.4f}")


def test_ranked_is_by_probability_and_cuts_fall_on_ranks():
    story = truncate(torch.tensor([0.1, 2.0, 1.0, 2.0, -1.0]).double(), top_k=2)
    order = sampling.ranked(story, 4)
    assert order.tolist() == [1, 3, 2, 0]
    assert story.kept[order].tolist() == [True, True, False, False]


def test_chi_square_by_hand_and_against_scipy():
    from scipy.stats import chi2, chisquare

    p = torch.tensor([0.5, 0.3, 0.19, 0.006, 0.004])
    draws = sampling.draw(p, 1000, seed=3)
    assert draws.counts.sum() == 1000
    assert draws.freedom == 4  # five cells: the one token expected below five times is alone in its pool
    statistic, _ = chisquare(draws.counts.tolist(), [500, 300, 190, 6, 4])
    assert draws.statistic == pytest.approx(statistic, rel=1e-3)
    assert draws.p_value == pytest.approx(chi2.sf(draws.statistic, 4))
    # two tokens below five expected draws are one cell
    rare = sampling.draw(torch.tensor([0.991, 0.004, 0.004, 0.001]), 1000, seed=0)
    assert rare.freedom == 1
    o = rare.counts
    by_hand = (o[0] - 991) ** 2 / 991 + (o[1:].sum() - 9) ** 2 / 9
    assert rare.statistic == pytest.approx(float(by_hand), rel=1e-3)
    certain = sampling.draw(torch.tensor([0.0, 1.0]), 1000)
    assert certain.freedom == 0 and certain.p_value == 1.0


def test_chi_square_notices_a_wrong_sampler():
    p = torch.tensor([0.4, 0.3, 0.2, 0.1])
    assert all(sampling.draw(p, 10_000, seed=s).p_value > 1e-4 for s in range(20))
    wrong = sampling.draw(torch.tensor([0.45, 0.25, 0.2, 0.1]), 10_000, seed=0).counts
    assert float(((wrong - 10_000 * p.double()) ** 2 / (10_000 * p.double())).sum()) > 30


@torch.no_grad()
def test_counted_operations_are_those_of_theory_and_of_torchs_own_counter():
    model = GPT(V, context=48, layers=2, heads=2, width=8).eval()
    one = torch.zeros(1, dtype=torch.int64)
    cached, full = (sampling.cost(model, one, 48, cache) for cache in (True, False))
    n = 48
    assert sum(cached.scores) == 2 * 2 * n * (n + 1) // 2
    assert sum(full.scores) == 2 * 2 * n * (n + 1) * (n + 2) // 6  # a cube, not the square of the text
    assert cached.tokens == [1] * n and full.tokens == list(range(1, n + 1))
    assert cached.text == full.text
    torch.testing.assert_close(cached.logits, full.logits, atol=1e-5, rtol=0)
    assert cached.bytes == 2 * 2 * n * 8 * 4  # keys and values, layers, tokens, width, bytes of float32
    # one step of one token, written out so that torch's counter sees every product
    with FlopCounterMode(display=False) as counter, record_attention():
        model(one[None])
    assert cached.multiply_adds[0] * 2 == counter.get_total_flops()


def test_counted_operations_past_the_context_show_the_restart():
    model = GPT(V, context=8, layers=1, heads=1, width=8).eval()
    run = sampling.cost(model, torch.zeros(6, dtype=torch.int64), 12, True)
    assert run.tokens == [6, 1, 1, 4, 1, 1, 1, 1, 4, 1, 1, 1]


def test_known_counts_at_2048_follow_from_the_counted_pattern():
    steps = range(1, 2049)
    assert sum(steps) == 2_098_176
    model = GPT(V, context=40, layers=1, heads=1, width=8).eval()
    one = torch.zeros(1, dtype=torch.int64)
    cached, full = (sampling.cost(model, one, 40, cache).scores for cache in (True, False))
    assert cached == list(range(1, 41)) and full == [t * (t + 1) // 2 for t in range(1, 41)]
    assert sum(t * (t + 1) // 2 for t in steps) == 1_433_753_600


# --- own text ------------------------------------------------------------------------------------


LETTERS = CharTokenizer("\n abcdefgh")


def test_text_is_cut_to_what_the_model_sees():
    assert text.read(LETTERS, "abcdefgh", 3).tolist() == LETTERS.encode("abc")
    assert text.read(LETTERS, "abcdefgh", 3, end=True).tolist() == LETTERS.encode("fgh")
    assert text.names(LETTERS, text.read(LETTERS, "a b\n")) == ["a", "␣", "b", "⏎"]


@pytest.mark.parametrize(
    "written, sentence",
    [
        ("", "There is no text: type at least one character."),
        ("a" * 100_000, "The text has 100,000 characters: shorten it to at most 20,000."),
        ("abxyz", "'x' (U+0078) is not in the vocabulary"),
        ("ab😀", "'😀' (U+1F600) is not in the vocabulary"),
    ],
)
def test_bad_text_gets_one_sentence(written, sentence):
    with pytest.raises(UserError) as error:
        text.read(LETTERS, written)
    assert sentence in str(error.value) and "\n" not in str(error.value)


def test_bytes_take_any_text():
    coder = ByteTokenizer()
    assert coder.decode(text.read(coder, "😀 é")) == "😀 é"


def test_the_tokenizer_travels_in_the_card():
    card = {"experiment": "x", "data": {"tokenizer": LETTERS.to_dict()}}
    assert text.tokenizer(card).encode("abc") == LETTERS.encode("abc")
    for broken in ({}, {"data": {}}, {"data": {"tokenizer": {"kind": "words"}}}):
        with pytest.raises(UserError, match="holds no tokenizer"):
            text.tokenizer(broken)
