"""Bengio's network: its size, its window; what it learns that counts cannot."""

import math

import contracts
import pytest
import torch

from lab import experiments, weights
from lab.lenses import text
from modules.language.bengio import Bengio
from modules.language.ngram import NGram


def seeded(seed=0):
    return contracts.seeded(seed)


def test_size_is_linear_in_context_and_vocabulary():
    def size(**knobs):
        return Bengio(
            **{"vocab_size": 10_000, "context": 4, "dim": 30, "hidden": 100, **knobs}
        ).num_parameters

    assert size() == 1_322_100
    assert size(direct=True) - size() == 1_200_000
    assert size(context=5) - size() == size(context=9) - size(context=8) == 30 * 100
    assert size(vocab_size=20_000) - size() == size(vocab_size=30_000) - size(vocab_size=20_000)
    assert Bengio(65, 8, 24, 200).num_parameters == 53_225


def test_first_loss_is_uniform_with_zero_output():
    model = Bengio(50, 3, 8, 16, direct=True, zero_output=True).double()
    batch = torch.randint(50, (200, 3), generator=seeded()), torch.randint(50, (200,), generator=seeded(1))
    assert model.step(batch, "val").item() == pytest.approx(math.log(50), abs=1e-12)


def test_positions_are_told_apart_by_their_columns():
    model = contracts.exact(Bengio(11, 3, 4, 6))
    x = torch.randint(11, (20, 3), generator=seeded())
    order = torch.tensor([2, 0, 1])
    before = model(x)
    assert not torch.allclose(model(x[:, order]), before)
    with torch.no_grad():
        blocks = model.first.weight.reshape(6, 3, 4)[:, order].reshape(6, 12)
        model.first.weight.copy_(blocks)
    torch.testing.assert_close(model(x[:, order]), before, rtol=0, atol=1e-12)


def test_only_the_window_is_seen_and_never_the_target():
    model = contracts.exact(Bengio(7, 3, 4, 6, direct=True))
    tokens = torch.tensor([[0, 1, 2, 3, 4, 5, 6]])  # all different: a token is its place
    contexts = model.contexts(tokens)[:, :-1]
    for t in range(7):
        model.zero_grad()
        loss = -model(contexts[:, t]).log_softmax(-1)[0, tokens[0, t]]
        loss.backward()
        reached = set(model.embedding.weight.grad.abs().sum(1).nonzero()[:, 0].tolist())
        assert reached == {model.bos, *range(max(0, t - 3), t)} - ({model.bos} if t >= 4 else set())


def test_random_tokens_cannot_be_predicted():  # a copied target would bring the loss to 0
    torch.manual_seed(0)
    model = Bengio(8, 3, 8, 32)
    stream = torch.randint(8, (4003,), generator=seeded())
    x, y = stream.unfold(0, 3, 1)[:-1], stream[3:]
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        loss = model.step((x[:2000], y[:2000]), "train")
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        assert model.step((x[2000:], y[2000:]), "val").item() > math.log(8) - 0.01


# --- The object depends on the verb and on the class of the subject -------------------------------

ANIMALS, PEOPLE = ["cat", "dog", "horse", "bird"], ["boy", "girl", "man", "woman"]
OBJECTS = {
    "sat on": ("mat", "chair"),
    "ate": ("grass", "bread"),
    "slept in": ("barn", "bed"),
    "saw": ("moon", "film"),
}


def toy():
    """31 sentences "the S V the O", all but "the dog sat on the mat": contexts (N, 6) and targets (N,)."""
    lines = [
        f"the {s} {verb} the {objects[kind]}".split()
        for kind, subjects in enumerate((ANIMALS, PEOPLE))
        for s in subjects
        for verb, objects in OBJECTS.items()
    ]
    hidden = ["the", "dog", "sat", "on", "the", "mat"]
    words = ["<s>", *dict.fromkeys(w for line in lines for w in line)]
    ids = {w: i for i, w in enumerate(words)}
    lines.remove(hidden)
    assert len(lines) == 31
    pairs = [([0] * 6 + [ids[w] for w in line[:i]], ids[line[i]]) for line in lines for i in range(len(line))]
    contexts = torch.tensor([context[-6:] for context, _ in pairs])
    return ids, contexts, torch.tensor([target for _, target in pairs])


def trained(seed, **knobs):
    ids, contexts, targets = toy()
    torch.manual_seed(seed)
    model = Bengio(len(ids), context=6, **{"dim": 8, "hidden": 32, **knobs})
    if model.embedding.weight.requires_grad:
        torch.nn.init.normal_(model.embedding.weight, std=0.1)  # words start alike and learn to differ
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), 1e-2)
    for _ in range(300):
        optimizer.zero_grad()
        model.step((contexts, targets), "train").backward()
        optimizer.step()
    prefix = torch.tensor([[ids[w] for w in "the dog sat on the".split()]])  # noqa: SIM905
    p = model.next_log_probs(prefix)[0].exp().detach()
    return model, ids, float(p[ids["mat"]]), float(p[ids["chair"]])


def test_it_carries_over_from_words_of_the_same_class():
    for seed in range(3):
        model, ids, mat, chair = trained(seed)
        assert mat > 0.9 > 0.1 > chair
    unit = torch.nn.functional.normalize(model.embedding.weight.detach(), dim=1)
    near = unit[[ids[w] for w in ANIMALS]] @ unit[[ids[w] for w in ANIMALS]].T
    far = unit[[ids[w] for w in ANIMALS]] @ unit[[ids[w] for w in PEOPLE]].T
    assert (near.sum() - 4) / 12 > far.mean() + 0.3


def test_one_hot_inputs_are_an_embedding_model_too():
    model, ids, mat, _ = trained(0, embedding="one-hot")
    assert mat > 0.9
    assert torch.equal(model.embedding.weight, torch.eye(len(ids)))  # frozen
    # one word's columns of the first layer are its learned vector: (H E) e_w = H e_w
    x = torch.tensor([[0, 0, 0, 0, 0, 3]])
    columns = model.first.weight.reshape(32, 6, len(ids))
    by_hand = model.first.bias + columns[:, :5, 0].sum(1) + columns[:, 5, 3]
    torch.testing.assert_close(model.first(model.embedding(x).flatten(-2))[0], by_hand)


@pytest.mark.parametrize("name", ["bengio-shakespeare", "bengio-pydocs"])
def test_shipped_weights(name):
    place = experiments.ZOO / name
    card = weights.read_card(place)
    model, coder = weights.load(place), text.tokenizer(card)
    assert model.vocab_size == len(coder) and coder.decode([model.bos]) == "\n"
    if name == "bengio-shakespeare":
        # of validation and test as one text: better than add-one smoothing's best (1.953),
        # not than Kneser-Ney's (1.558). An earlier 1.790 is after 5,250 steps, this after 15,600.
        both = (card["metrics"]["val/nll"] + card["metrics"]["test/nll"]) / 2
        assert 1.558 < both < 1.79 and model.num_parameters == 53_225
        assert card["epochs"] * card["config"]["data"]["init_args"]["windows_per_epoch"] // 512 == 15_600


def test_the_shipped_loss_is_the_models(real_data):
    from datamodules.contexts import Contexts

    real_data("tinyshakespeare")
    place = experiments.ZOO / "bengio-shakespeare"
    model, data = weights.load(place), Contexts(corpus="shakespeare", context=8)
    data.setup("test")
    assert len(data.test_set) == 55_770 - 8  # every character of the last 5 % but the first eight
    with torch.no_grad():
        nll = model.step(data.test_set[torch.arange(0, len(data.test_set), 7)], "val")
    assert float(nll) == pytest.approx(weights.read_card(place)["metrics"]["test/nll"], abs=0.03)


def test_words_are_predicted_as_well_as_by_counting(real_data):
    """On Multi30k's words: perplexity beside Kneser-Ney's 30.7, on the same predictions."""
    from datamodules.multi30k import Multi30k

    real_data("multi30k")
    network, counts = (weights.read_card(experiments.ZOO / f"{n}-multi30k") for n in ("bengio", "ngram"))
    assert network["data"]["tokenizer"] == counts["data"]["tokenizer"]
    ours, theirs = (math.exp(card["metrics"]["test/nll"]) for card in (network, counts))
    assert ours == pytest.approx(30.61, abs=0.02) and theirs == pytest.approx(30.72, abs=0.02)
    model, data = weights.load(experiments.ZOO / "bengio-multi30k"), Multi30k(context=4)
    data.tokenizer = text.tokenizer(network)  # as in training, without reading the training sentences
    data.setup("test")
    contexts, words = data.test_set[torch.arange(len(data.test_set))]
    with torch.no_grad():
        nats = -model(contexts).log_softmax(-1).gather(1, words[:, None])[:, 0]
    assert nats.mean().item() == pytest.approx(network["metrics"]["test/nll"], abs=1e-4)
    whole = Multi30k()
    whole.tokenizer = data.tokenizer
    whole.setup("test")
    _, targets = whole.test_set[torch.arange(1000)]
    assert len(nats) == int((targets != -100).sum())  # ends too, as the counts
    # a text is the same to `log_prob`, which starts behind begin tokens
    first = targets[:1][targets[:1] != -100]
    assert model.log_prob(first[None]).item() == pytest.approx(-nats[: len(first)].sum().item(), abs=1e-3)


def test_a_text_ends_at_the_end_token():
    model = contracts.exact(Bengio(5, 3, 4, 6, eos=1))
    drawn = model.sample(200, length=12, generator=contracts.seeded(0))
    ended = (drawn == 1).cummax(1).values
    assert ended.any() and (drawn[ended] == 1).all()
    trace = model.sample_trace(length=60, generator=contracts.seeded(3))
    assert trace.result[0, -1] == 1 and not (trace.result[0, :-1] == 1).any()
    endless = contracts.exact(Bengio(5, 3, 4, 6)).sample(50, length=40, generator=contracts.seeded(0))
    assert (endless[(endless == 1).cummax(1).values] != 1).any()


def test_refusals():
    for knobs, sentence in (
        ({"embedding": "two-hot"}, "choose learned or one-hot"),
        ({"bos": 9}, "bos is 9"),
        ({"eos": 5}, "eos is 5"),
        ({"context": 0}, "context is 0"),
    ):
        with pytest.raises(ValueError, match=sentence):
            Bengio(5, **knobs)


def test_kneser_ney_is_wrong_where_the_class_decides():
    ids, contexts, targets = toy()
    lines, line = [], []
    for context, target in zip(contexts.tolist(), targets.tolist(), strict=True):
        if not any(context) and line:
            lines.append(line)
            line = []
        line.append(target)
    lines.append(line)
    assert len(lines) == 31
    begin, end = 0, len(ids)
    width = max(map(len, lines)) + 1
    tokens, answers = torch.full((31, width), begin), torch.full((31, width), -100)
    for i, line in enumerate(lines):
        tokens[i, 1 : len(line) + 1] = torch.tensor(line)
        answers[i, : len(line) + 1] = torch.tensor([*line, end])
    model = NGram(len(ids) + 1, 6, "kneser-ney", discount=0.75, bos=begin, eos=end)
    model.count((tokens, answers))
    prefix = torch.tensor([[ids[w] for w in ("the", "dog", "sat", "on", "the")]])
    p = model.next_log_probs(prefix)[0].exp()
    assert p[ids["mat"]] < p[ids["chair"]]  # it backs off to the verb, after which people are more
    assert p[ids["mat"]].item() == pytest.approx(0.333, abs=0.03)
    assert p[ids["chair"]].item() == pytest.approx(0.476, abs=0.03)
