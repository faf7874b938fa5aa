"""n-gram models: small corpora by hand, the laws of every smoothing, and the curves on real text."""

import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import contracts
import pytest
import torch
from torch import Tensor

from lab import weights
from modules.language import information as info
from modules.language.ngram import SMOOTHINGS, NGram, estimate_discounts

BOS, EOS = 0, 1
SAM = [s.split() for s in ("I am Sam", "Sam I am", "I do not like green eggs and ham")]
WORDS = ["<bos>", "<eos>", *dict.fromkeys(w for s in SAM for w in s)]
ID = {w: i for i, w in enumerate(WORDS)}


def batch(sentences: list[list[str]], ids: dict[str, int]) -> tuple[Tensor, Tensor]:
    """Tokens and targets, padded as the datamodules do."""
    width = max(map(len, sentences)) + 1
    tokens, targets = torch.full((len(sentences), width), BOS), torch.full((len(sentences), width), -100)
    for i, words in enumerate(sentences):
        tokens[i, 1 : len(words) + 1] = torch.tensor([ids[w] for w in words])
        targets[i, : len(words) + 1] = torch.tensor([*(ids[w] for w in words), EOS])
    return tokens, targets


def sam(**knobs) -> NGram:
    model = NGram(len(WORDS), 2, bos=BOS, eos=EOS, **knobs)
    model.count(batch(SAM, ID))
    return model


def p(model: NGram, word: str, *context: str) -> float:
    prefix = torch.tensor([[ID[w] for w in context]], dtype=torch.int64).reshape(1, -1)
    return model.next_log_probs(prefix)[0, ID[word]].exp().item()


def naive(model: NGram, texts: list[list[int]], w: int, h: tuple[int, ...], m: int | None = None) -> float:
    """Kneser-Ney by its definition, with dictionaries and recursion; texts with their begin tokens."""
    n = model.order
    m = n if m is None else m
    if m == 0:
        return 1 / model.num_predictable
    top = {tuple(t[i : i + n]) for t in texts for i in range(len(t) - n + 1)}
    if m == n:
        c = Counter(tuple(t[i : i + n]) for t in texts for i in range(len(t) - n + 1))
    else:
        longer = {g[-m - 1 :] for g in top}
        c = Counter(g[1:] for g in longer)
    total = sum(v for g, v in c.items() if g[:-1] == h)
    lower = naive(model, texts, w, h[1:], m - 1)
    if not total:
        return lower
    n1, n2 = (sum(v == k for v in c.values()) for k in (1, 2))
    d = model.discount if model.discount is not None else (n1 / (n1 + 2 * n2) if n1 else 0.5)
    types = sum(g[:-1] == h for g in c)
    return max(c[(*h, w)] - d, 0) / total + d * types / total * lower


# --- Small corpora --------------------------------------------------------------------------------


def test_bigrams_by_maximum_likelihood_and_add_one() -> None:
    model = sam(smoothing="none")
    assert p(model, "I") == p(model, "am", "I") == pytest.approx(2 / 3)
    assert p(model, "Sam", "am") == p(model, "<eos>", "Sam") == pytest.approx(1 / 2)
    tokens = torch.tensor([[ID[w] for w in ["I", "am", "Sam", "<eos>"]]])
    assert model.log_prob(tokens).exp().item() == pytest.approx(1 / 9)
    nats = -model.token_log_probs(torch.tensor([[BOS, *tokens[0, :-1]]]), tokens)
    assert info.perplexity(nats).item() == pytest.approx(math.sqrt(3), rel=1e-12)

    model = sam(smoothing="add")
    assert model.num_predictable == 11
    assert p(model, "I") == pytest.approx(3 / 14) and p(model, "Sam", "am") == pytest.approx(2 / 13)
    assert p(model, "ham", "Sam") == pytest.approx(1 / 13)
    assert math.exp(-model.log_prob(tokens).item() / 4) == pytest.approx(5.5075706, abs=1e-7)


def test_kneser_ney_bigrams() -> None:
    model = sam(discount=0.75, uniform=False)
    assert len(model.keys) == 15
    expected = {("I",): 0.4833333, ("am", "I"): 0.45, ("Sam", "am"): 0.225, ("am", "Sam"): 0.05,
                ("ham", "I"): 0.0333333, ("Sam", "green"): 0.1}  # fmt: skip
    for (word, *context), value in expected.items():
        assert p(model, word, *context) == pytest.approx(value, abs=5e-8)
    assert estimate_discounts(model.counts, False)[0].item() == pytest.approx(0.7647059, abs=5e-8)
    counts = torch.tensor([1] * 8 + [2] * 4 + [3] * 2 + [4])
    y = 8 / 16
    assert estimate_discounts(counts, True).tolist() == pytest.approx(
        [1 - 2 * y * 4 / 8, 2 - 3 * y * 2 / 4, 3 - 4 * y * 1 / 2]
    )


def test_francisco_is_frequent_glasses_are_versatile() -> None:
    """Continuation counts prefer what follows many words. Sentences without an end token: the full
    stop is a word, and 12 different pairs, <bos> included, are all that there is to continue."""
    texts = [["san", "francisco", "."]] * 8 + [[w, "glasses", "."] for w in ("my", "the", "reading", "new")]
    ids = {w: i for i, w in enumerate(["<bos>", *dict.fromkeys(w for t in texts for w in t), "unseen"])}
    encoded = torch.tensor([[ids[w] for w in text] for text in texts])  # (12, 3)
    francisco, glasses = ids["francisco"], ids["glasses"]

    def after_an_unseen_word(**knobs) -> Tensor:
        model = NGram(len(ids), 2, bos=BOS, **knobs)
        model.fit(encoded)
        assert len(model.keys) == 12
        return model.next_log_probs(torch.tensor([[ids["unseen"]]]))[0].exp()

    kn = after_an_unseen_word(smoothing="kneser-ney", discount=0.75, uniform=False)
    assert kn[francisco].item() == pytest.approx(1 / 12, abs=1e-12)
    assert kn[glasses].item() == pytest.approx(4 / 12, abs=1e-12)
    counts = Counter(encoded.flatten().tolist())
    assert (counts[francisco], counts[glasses]) == (8, 4)
    # unigrams, plain or with one added, prefer the other; add-one bigrams find all words alike after a
    # word never seen
    for smoothing, added in (("none", 0), ("add", 1)):
        unigram = NGram(len(ids), 1, smoothing, bos=BOS)
        unigram.fit(encoded)
        result = unigram.next_log_probs(torch.zeros(1, 0, dtype=torch.int64))[0].exp()
        total = 36 + added * unigram.num_predictable
        expected = [(8 + added) / total, (4 + added) / total]
        assert result[[francisco, glasses]].tolist() == pytest.approx(expected)
    add = after_an_unseen_word(smoothing="add")
    assert add[francisco] == add[glasses] == pytest.approx(1 / (len(ids) - 1))


def test_counting_space() -> None:
    assert 50_000**5 == 312_500_000_000_000_000_000_000
    with pytest.raises(ValueError, match="63 bits"):
        NGram(50_000, 5)


@pytest.mark.parametrize("discount", [None, 0.6])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_kneser_ney_is_its_definition(order: int, discount: float | None) -> None:
    rng = random.Random(0)
    sentences = [[rng.choice("abc") for _ in range(rng.randint(1, 6))] for _ in range(12)]
    ids = {"<bos>": 0, "<eos>": 1, "a": 2, "b": 3, "c": 4}
    model = NGram(5, order, discount=discount, bos=BOS, eos=EOS)
    model.count(batch(sentences, ids))
    texts = [[BOS] * (order - 1) + [ids[w] for w in s] + [EOS] for s in sentences]
    for _ in range(30):
        h = [BOS] * (order - 1) + [rng.randint(1, 4) for _ in range(rng.randint(0, 5))]
        got = model.next_log_probs(torch.tensor([h], dtype=torch.int64).reshape(1, -1))[0].exp()
        context = tuple(h[len(h) - order + 1 :])
        for w in range(1, 5):
            assert got[w].item() == pytest.approx(naive(model, texts, w, context), abs=1e-12)
        assert got[BOS] == 0


# --- Normalisation --------------------------------------------------------------------------------


def text(length: int = 400, V: int = 7, seed: int = 0) -> Tensor:
    generator = contracts.seeded(seed)
    weights = torch.rand(V, generator=generator) ** 3
    weights[-1] = 0  # never seen
    return torch.multinomial(weights, length, replacement=True, generator=generator)[None]


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("order", [1, 2, 4])
def test_every_row_sums_to_one(smoothing, order: int) -> None:
    model = NGram(7, order, smoothing)
    model.fit(text())
    contexts = torch.randint(0, 7, (100, 6), generator=contracts.seeded(1))
    contexts[:50] = text()[0].unfold(0, 6, 1)[:50]  # seen ones
    if smoothing == "none":
        contexts = contexts[:50]
    probabilities = model.next_log_probs(contexts).exp()
    torch.testing.assert_close(probabilities.sum(1), torch.ones(len(contexts)).double(), rtol=0, atol=1e-12)
    if smoothing != "none":
        assert (probabilities > 0).all()
    # scoring and the full row agree
    targets = torch.randint(0, 6, (len(contexts), 1))
    score = model.token_log_probs(
        contexts, contexts.roll(-1, 1).scatter(1, torch.full_like(targets, 5), targets)
    )
    torch.testing.assert_close(score[:, -1:].exp(), probabilities.gather(1, targets), rtol=0, atol=1e-12)


def test_maximum_likelihood_after_an_unseen_context_is_refused() -> None:
    model = NGram(7, 3, "none")
    model.fit(text())
    with pytest.raises(ValueError, match="never seen"):
        model.next_log_probs(torch.tensor([[6, 6]]))
    after_unseen = model.token_log_probs(torch.tensor([[6, 6]]), torch.tensor([[-100, 0]]))
    assert after_unseen.tolist() == [[0, -math.inf]]
    assert model.log_prob(torch.tensor([[6, 6, 0]])).item() == -math.inf
    assert model.log_prob(torch.tensor([[6, 6, 0]])).neg().exp().item() == math.inf


def test_begin_is_never_predicted_and_ignored_targets_cost_nothing() -> None:
    model = sam()
    tokens, targets = batch(SAM, ID)
    nats = -model.token_log_probs(tokens, targets)
    assert (nats[targets == -100] == 0).all() and (nats[targets != -100] > 0).all()
    assert model.step((tokens, targets), "val").item() == pytest.approx(nats[targets != -100].mean().item())
    assert model.log_prob(torch.tensor([[ID["I"], BOS]])).item() == -math.inf


def test_counting_in_parts_is_counting_at_once() -> None:
    tokens, targets = batch(SAM, ID)
    whole, parts = sam(), NGram(len(WORDS), 2, bos=BOS)
    for i in range(3):
        parts.count((tokens[i : i + 1], targets[i : i + 1]))
    assert torch.equal(whole.keys, parts.keys) and torch.equal(whole.counts, parts.counts)
    parts.on_train_epoch_start()
    assert parts.num_parameters == 0
    parts.count((tokens, targets))
    assert torch.equal(whole.counts, parts.counts)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_lower_orders_come_from_the_counts_of_the_highest(smoothing) -> None:
    tokens = text(length=300)
    highest = NGram(7, 4, "none")
    highest.fit(tokens)
    for order in (1, 2, 3, 4):
        direct = NGram(7, order, smoothing, alpha=0.5)
        direct.fit(tokens)
        lowered = highest.lower_order(order, smoothing=smoothing, alpha=0.5)
        assert torch.equal(lowered.keys, direct.keys) and torch.equal(lowered.counts, direct.counts)
        assert lowered.train_nll() == pytest.approx(-direct.log_prob(tokens).item() / 300, abs=1e-12)
    with pytest.raises(ValueError, match="4-grams"):
        highest.lower_order(5)


@pytest.mark.parametrize("smoothing", ["kneser-ney", "modified", "add"])
def test_the_trace_of_the_back_off_adds_up(smoothing) -> None:
    model = NGram(7, 3, smoothing)
    model.fit(text())
    for prefix in ([0, 1, 2], [6, 6], [6, 0], []):
        trace = model.backoff(torch.tensor(prefix, dtype=torch.int64))
        expected = model.next_log_probs(torch.tensor([prefix], dtype=torch.int64))[0].exp()
        torch.testing.assert_close(trace.result, expected, rtol=0, atol=1e-15)
        assert sum(s.values["weight"] for s in trace) == pytest.approx(1, abs=1e-12)
        for below, step in zip(trace.steps, trace.steps[1:], strict=False):
            v = step.values
            mixed = v["p"] + v["back"] * below.values["mixed"]
            torch.testing.assert_close(mixed, v["mixed"], rtol=0, atol=1e-12)
            assert v["p"].sum().item() == pytest.approx(1 - v["back"], abs=1e-12)


# --- What sums to one -----------------------------------------------------------------------------


def strings(V: int, length: int) -> Tensor:
    return torch.cartesian_prod(*[torch.arange(V)] * length).reshape(-1, length)


def test_without_an_end_every_length_sums_to_one_with_it_all_lengths_do() -> None:
    model = NGram(2, 2)
    model.fit(text(V=3) % 2)
    sums = [model.log_prob(strings(2, T)).exp().sum().item() for T in (1, 2, 3)]
    assert sums == pytest.approx([1, 1, 1], abs=1e-12) and sum(sums) == pytest.approx(3)
    # a token that ends the text, with probability 0.2 wherever we are: add-one over 5 equal counts
    ending = NGram(5, 1, "none", eos=0)
    ending.fit(torch.arange(5)[None])
    mass, alive = 0.0, torch.zeros(1, 0, dtype=torch.int64)
    for _ in range(10):
        row = ending.next_log_probs(alive)[0].exp()
        mass += (1 - mass) * row[0].item()
    assert mass == pytest.approx(1 - 0.8**10, abs=1e-12) == pytest.approx(0.8926258, abs=5e-8)


def test_the_last_context_has_no_successor() -> None:
    """The text "ababa" has 3 a's, followed by 2 b's."""
    ids = torch.tensor([[0, 1, 0, 1, 0]])
    model = NGram(2, 2, "none")
    model.count((ids[:, :-1], ids[:, 1:]))
    assert int((ids == 0).sum()) == 3 and model.next_log_probs(torch.tensor([[0]]))[0, 1].exp().item() == 1
    assert model.levels[0].total[0].item() == 2  # not 3, whose row would sum to 2/3


def test_back_off_does_share_what_similar_contexts_know() -> None:
    """The sentence "the dog sat on the mat" was never seen, its verb decides."""
    objects = {"sat on": "mat", "ate": "bone", "saw": "ball", "lay on": "rug"}
    subjects = ["cat", "dog", "bird", "boy", "girl"]
    texts = [f"the {s} {v} the {o}".split() for s in subjects for v, o in objects.items()]
    texts.remove(["the", "dog", "sat", "on", "the", "mat"])
    ids = {w: i for i, w in enumerate(["<bos>", "<eos>", *dict.fromkeys(w for t in texts for w in t)])}
    prefix = torch.tensor([[ids[w] for w in ["the", "dog", "sat", "on", "the"]]])
    plain = NGram(len(ids), 6, "none", bos=BOS, eos=EOS)
    plain.count(batch(texts, ids))
    with pytest.raises(ValueError, match="never seen"):
        plain.next_log_probs(prefix)
    smooth = NGram(len(ids), 6, discount=0.75, bos=BOS, eos=EOS)
    smooth.count(batch(texts, ids))
    assert smooth.next_log_probs(prefix)[0, ids["mat"]].exp().item() == pytest.approx(0.83, abs=0.02)


# --- A chain of known entropy rate ----------------------------------------------------------------


def test_bigrams_reach_the_entropy_rate_of_a_chain() -> None:
    chain = torch.tensor([[0.9, 0.1], [0.5, 0.5]], dtype=torch.float64)
    stationary = torch.tensor([5 / 6, 1 / 6], dtype=torch.float64)
    rate = (stationary * info.bits(info.entropy(chain))).sum().item()
    assert rate == pytest.approx(0.5574963, abs=5e-8) and 2**rate == pytest.approx(1.4717130, abs=5e-8)

    def walk(length: int, seed: int) -> Tensor:  # many chains side by side, from the stationary state
        generator = contracts.seeded(seed)
        x = torch.bernoulli(torch.full((2000,), 1 / 6).double(), generator=generator).long()
        states = [x]
        for _ in range(length - 1):
            x = (torch.rand(2000, generator=generator, dtype=torch.float64) < chain[x, 1]).long()
            states.append(x)
        return torch.stack(states, 1)

    train, test = walk(200, 0), walk(200, 1)
    for order, bits in ((1, 0.6500224), (2, 0.5574963), (3, 0.5574963)):
        model = NGram(2, order)
        model.count((train[:, :-1], train[:, 1:]))
        result = info.bits(-model.token_log_probs(test[:, :-1], test[:, 1:])[:, 1:].mean()).item()
        assert result == pytest.approx(bits, abs=0.006)


# --- sampling and arguments ------------------------------------------------------------------------


def test_sampling_ends_and_follows_its_prompt() -> None:
    model = sam()
    drawn = model.sample(50, length=12, generator=contracts.seeded(0))
    assert drawn.shape == (50, 12) and not (drawn == BOS).any()
    ended = (drawn == EOS).cumsum(1) > 0
    assert (drawn[ended] == EOS).all() and ended[:, -1].any()
    greedy = model.sample(3, length=2, temperature=0, prompt=torch.tensor([ID["green"]]))
    assert [WORDS[i] for i in greedy[0].tolist()] == ["eggs", "and"] and (greedy == greedy[0]).all()
    trace = model.sample_trace(prompt=torch.tensor([ID["I"]]), length=10, generator=contracts.seeded(1))
    assert trace.result[0, 0] == ID["I"] and len(trace) == trace.result.shape[1] - 1
    total = sum(s.values["log_prob"] for s in trace)
    assert total == pytest.approx((model.log_prob(trace.result) - model.log_prob(trace.result[:, :1])).item())


@pytest.mark.parametrize(
    "knobs, match",
    [
        ({"order": 0}, "at least 1"),
        ({"smoothing": "witten-bell"}, "must be one of none"),
        ({"alpha": 0.0}, "positive"),
        ({"discount": 1.5}, "between 0 and 1"),
    ],
)
def test_bad_arguments(knobs, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        NGram(5, **knobs)


# --- real text: the curves against n ---------------------------------------------------------------

WORDS_CURVE = {  # the same as perplexities
    2: (0.1023, 22.8, 143.1, 39.44),
    3: (0.3168, 7.2, 610.6, 31.72),
    4: (0.5238, 3.3, 1248.8, 30.72),
    5: (0.6457, 2.4, 1676.8, 30.82),
}


def nll(model: NGram, smoothing: str, data: tuple[Tensor, Tensor]) -> Tensor:
    model.smoothing, model._levels = smoothing, None
    return -model.token_log_probs(*data)[data[1] != -100]


@pytest.mark.real_data
def test_the_curve_on_multi30k(real_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from datamodules.multi30k import Multi30k

    monkeypatch.setenv("LECTERN_DATA", str(real_data("multi30k")))
    data = Multi30k()
    data.setup()
    train, test = (split[torch.arange(len(split))] for split in (data.train_set, data.test_set))
    for n, (unseen, plain, add, kneser_ney) in WORDS_CURVE.items():
        model = NGram(5897, n, bos=0, eos=1)
        model.count(train)
        test_nll = nll(model, "none", test)
        assert test_nll.mean().exp().item() == math.inf
        assert test_nll.isinf().double().mean().item() == pytest.approx(unseen, abs=2e-4)
        assert nll(model, "none", train).mean().exp().item() == pytest.approx(plain, abs=0.06)
        assert nll(model, "add", test).mean().exp().item() == pytest.approx(add, rel=1e-3)
        assert nll(model, "kneser-ney", test).mean().exp().item() == pytest.approx(kneser_ney, abs=0.02)


def test_stored_counts_are_short_and_come_back(tmp_path):
    """An n-gram and its count are 12 bytes in memory and a few in the file."""
    generator = contracts.seeded(0)
    for base, order, most in ((20, 4, 0.25), (3000, 5, 0.85)):  # random texts: real ones are shorter
        model = NGram(base, order)
        model.fit(torch.randint(base, (40, 500), generator=generator))
        weights.save(tmp_path, model, {"experiment": "x"})
        assert (tmp_path / "model.safetensors").stat().st_size < most * 12 * len(model.keys)
        again = weights.load(tmp_path)
        assert isinstance(again, NGram)
        assert again.keys.dtype == torch.int64 and torch.equal(again.keys, model.keys)
        assert again.counts.dtype == torch.int32 and torch.equal(again.counts, model.counts)
    assert NGram(5, 2).state_dict()["keys"].shape == (0,)
