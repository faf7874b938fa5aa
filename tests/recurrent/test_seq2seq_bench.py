"""What `lab bench seq2seq`, `characters`, `captions` count, by another road; that they run; what is kept."""

import itertools
import json

import pytest
import torch

from datamodules.spanish import AlignedPairs, tokenizer, translate
from lab.bench import captions, characters, record, seq2seq
from lab.lenses.translations import exact
from modules.recurrent.seq2seq import Seq2Seq


def test_words_cross_where_two_links_do() -> None:
    generator = torch.Generator().manual_seed(0)
    sure = torch.rand(40, 4, 5, generator=generator) < 0.25
    for links, crossing in zip(sure, seq2seq.crossed(sure), strict=True):
        pairs = list(itertools.combinations(links.nonzero().tolist(), 2))
        words = {t for (t, s), (u, r) in pairs for t in (t, u) if (t - u) * (s - r) < 0}
        words |= {u for (t, s), (u, r) in pairs if (t - u) * (s - r) < 0}
        assert crossing.nonzero()[:, 0].tolist() == sorted(words)


def test_kinds_of_words_are_those_of_the_grammar() -> None:
    """I have a big red cat .  ->  tengo un gato rojo grande .: one merge, three words that cross."""
    sentence = ["i", "have", "a", "big", "red", "cat", "."]
    assert translate(sentence).spanish == ["tengo", "un", "gato", "rojo", "grande", "."]
    torch.manual_seed(0)
    coder = tokenizer()
    model = Seq2Seq(len(coder), embedding=4, hidden=4)
    counts = seq2seq.found_links(model, AlignedPairs([sentence], coder))
    assert counts[0].tolist() == [3, 1, 2] and (counts[1] <= counts[0]).all()


def test_fifths_are_of_each_sentence_alone() -> None:
    """Of a model that knows one word, the places of that word."""
    of = seq2seq.pairs(2, 6)
    *_, target = of[torch.arange(6)]
    word = int(target[0, 0])

    class One(Seq2Seq):
        def decode(self, source, inputs, *_):
            return torch.nn.functional.one_hot(torch.full_like(inputs, word), 200).float(), None

    result = seq2seq.right_by_fifth(One(len(tokenizer()), embedding=4, hidden=4), of, 0.0)
    sums, counts = [0] * 5, [0] * 5
    for row in target.tolist():
        ids = [i for i in row if i != -100]
        for t, i in enumerate(ids):
            counts[5 * t // len(ids)] += 1
            sums[5 * t // len(ids)] += i == word
    assert result.tolist() == pytest.approx([a / b for a, b in zip(sums, counts, strict=True)])
    assert 0 < result[0] < 1


def test_training_repeats_and_learns() -> None:
    before = torch.get_rng_state()
    size = {"context": "ends", "embedding": 8, "hidden": 16}
    models = [seq2seq.train(seq2seq.grammar(seed, 4), seed, 4, **size) for seed in (0, 0, 1)]
    first, again, other = (torch.cat([p.flatten() for p in model.parameters()]) for model in models)
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)
    assert 0 <= exact(models[0], seq2seq.pairs(1, 4)) <= 1


def test_the_widest_within_the_parameters() -> None:
    for cell in ("rnn", "gru", "lstm"):
        model = characters.network(cell, 5_000)
        wider = characters.RecurrentLM(65, cell, characters.EMBEDDING, model.recurrent.hidden + 1)
        sizes = [sum(p.numel() for p in each.parameters()) for each in (model, wider)]
        assert sizes[0] <= 5_000 < sizes[1]


def test_the_variance_is_that_of_the_gradients_that_are_drawn() -> None:
    """Of three draws, and the mean's square without its noise; a baseline is fitted, and all else is kept."""
    data = captions.Scenes(level=2, side=32, num_train=4)
    data.setup("fit")
    batch = data.train_set[torch.arange(4)]
    model = captions.captioner("soft-scenes", batch, 2, baseline="learned")
    trained = captions.weights.load("soft-scenes").state_dict()
    own = model.state_dict()
    assert all(torch.equal(own[name], value) for name, value in trained.items())
    assert model.score_function.value.bias.abs() > 0  # type: ignore[union-attr]
    parameters = list(model.decoder.context.parameters())
    torch.manual_seed(3)
    drawn = [torch.cat([g.flatten() for g in captions.grad(model, batch, parameters)]) for _ in range(3)]
    mean = sum(drawn) / 3
    spread = sum(float((each - mean).double().square().sum()) for each in drawn) / 2
    torch.manual_seed(3)
    result = captions.variance(model, batch, 3)
    assert result[0] == pytest.approx(spread, rel=1e-4)
    assert result[1] == pytest.approx(float(mean.double().square().sum()) - spread / 3, rel=1e-3)


@pytest.mark.parametrize("bench", [seq2seq, characters, captions])
def test_it_runs(bench: object) -> None:
    rows = bench.measure(quick=True)  # type: ignore[attr-defined]
    assert len({row.case for row in rows}) == len(rows)
    assert all(row.ours >= 0 and row.note for row in rows)


def test_what_is_kept_says_that_goals_are_met() -> None:
    """Three seeds of each score: sentences right, and an alignment error of at most .10 by links above ¼."""
    kept = json.loads((record.HERE / "results" / "seq2seq.json").read_text(encoding="utf-8"))
    rows = {row.case: row for row in map(record.row, kept["rows"])}
    for score in ("additive", "scaled"):
        assert rows[f"{score} score: sentences right"].met
    for score in ("additive", "dot", "scaled"):
        assert rows[f"{score} score: alignment error, γ > 0.25"].met
    poolings = [rows[f"context {pooling}: sentences right"].ours for pooling in seq2seq.POOLINGS]
    assert max(poolings) < 50 < rows["dot score: sentences right"].ours
