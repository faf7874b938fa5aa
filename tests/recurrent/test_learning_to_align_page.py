"""The page Learning to align: its numbers by another road, its sentences without training, its scenes."""

import math

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, run_page, spoken, warnings

from datamodules import spanish
from lab.lenses import rewind
from modules.recurrent.alignment import AlignmentErrorRate
from modules.recurrent.seq2seq import Seq2Seq
from pages.recurrent.learning_to_align import figures, lens, room

SCENES = {name: scene.state for name, scene in room.ROOM.scenes.items()}


STORE = rewind.Store()


def trained(setting: room.State, seed: int, frames: int | None = None) -> rewind.Run:
    """A run up to what a setting shows at least; the tests share those of one recipe."""
    knobs = rewind.knobs_of({"rate": setting.rate, "clip": setting.clip})
    recipe = lens.AlignRecipe(setting.score, setting.clauses, seed)
    run = STORE.run(recipe, (rewind.Segment(0, knobs),))
    run.advance(setting.until if frames is None else frames, 1e9)
    return run


def whole(until: int, **parameters: object):
    """The page when it has trained."""
    page = run_page("recurrent/learning_to_align", until=until, **parameters)
    for _ in range(60):
        if film(page)["count"] == until + 1 and not page.button(key="train").disabled:
            break
        page.run()
    assert not page.exception and not page.error and film(page)["count"] == until + 1
    return page


def last(setting: room.State, seed: int) -> tuple[rewind.Frame, lens.Reading, spanish.Translated]:
    """The frame that a scene shows, its sentence read there, and the gold translation of that."""
    run, source = trained(setting, seed), lens.sentence(setting.text)
    frame = run.frames()[setting.until]
    assert source.gold is not None
    return frame, lens.read(lens.with_weights(run.recipe, frame["weights"]), source), source.gold


# --- Numbers by another road -------------------------------------------------------------------------


@pytest.mark.parametrize("score", room.SCORES)
def test_a_sentence_is_read_by_the_model_of_each_frame(score: str) -> None:
    """Weights of the restored model under teacher forcing; words of its `translate`."""
    run = trained(room.State(score=score), 0, 4)
    source = lens.sentence(room.CAT)
    read = lens.readings(run, run.frames(), source)
    for number in (0, 3):
        model = run.restore(number)
        assert isinstance(model, Seq2Seq)
        coder = lens.data().tokenizer
        target = torch.tensor([[*coder.encode(" ".join(source.gold.spanish)), model.eos]])
        with torch.no_grad():
            gamma = model(source.ids[None], target)[1][0]
            ids = model.translate(source.ids[None], length=target.shape[1])[0].tolist()
        np.testing.assert_allclose(read[number].gamma, gamma.numpy(), atol=1e-6)
        written = [word for word in read[number].words if word]
        assert len(written) == min(len(ids), target.shape[1])
        assert [coder.tokens.index(word) for word in written if word != lens.END] == [
            i for i in ids if i != model.eos
        ]


def test_what_a_frame_says_is_so_of_each_held_out_sentence() -> None:
    """Sentence by sentence: greedy translations, links as sets, entropies; the rate is that of the metric."""
    setting = room.State(clauses=1)
    run = trained(setting, 0, 6)
    frame, model = run.frames()[6], run.restore(6)
    assert isinstance(model, Seq2Seq)
    coder, held_out = lens.data().tokenizer, lens.pairs(1, "test")
    right, words, entropies, uniform, found = 0, [], [], [], np.zeros((2, 4), int)
    for english in held_out.english:
        gold = spanish.translate(english)
        source = torch.tensor([coder.encode(" ".join(english))])
        target = torch.tensor([[*coder.encode(" ".join(gold.spanish)), model.eos]])
        with torch.no_grad():
            right += model.translate(source, length=target.shape[1])[0].tolist() == target[0].tolist()
            logits, gamma = model(source, target)
        words += (logits.argmax(-1) == target)[0].tolist()
        rows = gamma[0, : len(gold.spanish)].tolist()
        entropies += [-sum(g * math.log(g) for g in row if g > 0) for row in rows]
        uniform += [math.log(len(english))] * len(rows)
        sure, possible = (
            {(t, j) for t, to in enumerate(links) for j in to} for links in (gold.sure, gold.possible)
        )
        above = {(t, j) for t, row in enumerate(rows) for j, g in enumerate(row) if g > 0.25}
        largest = {(t, row.index(max(row))) for t, row in enumerate(rows)}
        for k, links in enumerate((above, largest)):
            found[k] += [len(links & sure), len(links & possible), len(links), len(sure)]
    assert 0 < frame["sentences"] < 1
    assert float(frame["sentences"]) == pytest.approx(right / len(held_out))
    assert float(frame["words"]) == pytest.approx(np.mean(words), abs=1e-6)
    assert float(frame["entropy"]) == pytest.approx(np.mean(entropies), abs=1e-4)
    assert lens.uniform(1) == pytest.approx(np.mean(uniform))
    np.testing.assert_array_equal(frame["links"], found)
    rows = torch.arange(len(held_out))
    source, lengths, _, target = held_out[rows]
    for threshold, links in zip(lens.THRESHOLDS, frame["links"], strict=True):
        metric = AlignmentErrorRate(threshold)
        with torch.no_grad():
            metric.update(model(source, target, lengths)[1], *held_out.links(rows))
        assert lens.error(links) == pytest.approx(float(metric.compute()), abs=1e-6)


def test_no_held_out_sentence_is_trained_on() -> None:
    for clauses in (1, 2):
        train, test = (lens.pairs(clauses, split).english for split in ("train", "test"))
        assert not {tuple(s) for s in train} & {tuple(s) for s in test}
        assert len({tuple(s) for s in test}) > 80
    assert max(len(s) for s in lens.pairs(1, "train").english) <= 7


# --- Scenes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_quick_scenes_say(seed: int) -> None:
    frame, read, _ = last(SCENES["Before"], seed)
    assert float(frame["entropy"]) > 0.98 * lens.uniform(2) and read.gamma.max() < 0.25
    assert float(frame["words"]) < 0.05 and frame["links"][0, 1] <= 5
    frame, read, _ = last(SCENES["Sharp"], seed)
    assert float(frame["entropy"]) < 0.5 * lens.uniform(2) and read.gamma.max(-1).mean() > 0.5
    assert float(frame["words"]) < 0.55 and lens.error(frame["links"]).min() > 0.45


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in (1, 2))])
def test_what_the_slow_scenes_say(seed: int) -> None:
    def share(read: lens.Reading, gold: spanish.Translated) -> float:
        """Mean weight in framed cells, of the rows that have some."""
        return float(np.mean([sum(read.gamma[t, j] for j in to) for t, to in enumerate(gold.possible)]))

    frame, read, _ = last(SCENES["Still spread"], seed)
    assert 0.45 < float(frame["words"]) < 0.7 and float(frame["entropy"]) > 0.6 * lens.uniform(2)
    assert read.gamma.max(-1).mean() < 0.5
    frame, _, _ = last(SCENES["Right, not aligned"], seed)
    assert float(frame["words"]) > 0.97 and float(frame["sentences"]) > 0.85
    assert lens.error(frame["links"]).min() > 0.2
    frame, read, gold = last(SCENES["Sharpening"], seed)
    assert share(read, gold) > 0.5 and float(frame["words"]) > 0.97
    frame, read, gold = last(SCENES["Aligned"], seed)
    assert float(frame["sentences"]) > 0.9 and lens.error(frame["links"]).max() < 0.25
    frame, read, gold = last(SCENES["Longer than trained"], seed)
    assert share(read, gold) < 0.5
    assert sum(a != b for a, b in zip(read.words, gold.spanish, strict=False)) > len(gold.spanish) / 2
    frame, _, _ = last(SCENES["Scaled"], seed)
    assert float(frame["words"]) > 0.97 and lens.error(frame["links"][0]) < 0.15


# --- The page ----------------------------------------------------------------------------------------


def test_the_page_shows_these_numbers_and_reads_another_sentence_without_training(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = whole(3, clip=0, clauses=1, score=room.SCALED)
    frames = trained(room.State(clip=0.0, clauses=1, score=room.SCALED), 0, 3).frames()[:4]
    bar = film(page)
    assert "not clipped" in bar["captions"][1]
    for number, frame in enumerate(frames):
        assert f"{float(frame['sentences']):.0%} of 100 new" in bar["captions"][number]
        numbers = spoken(bar["equations"][number])
        assert numbers[-1] == pytest.approx(
            1 - sum(frame["links"][0, :2]) / sum(frame["links"][0, 2:]), abs=1e-3
        )
        assert f"AER {numbers[-1]:.3f}" in bar["captions"][number]
    _, arrays = figure(page, "course")
    for trace, of in enumerate(("words", "sentences")):
        np.testing.assert_allclose(arrays[f"data.{trace}.y"][3], rewind.stacked(frames, of), atol=1e-6)
        assert np.isnan(arrays[f"data.{trace}.y"][1][2:]).all()
    np.testing.assert_allclose(arrays["data.3.y"][3], [lens.error(f["links"])[1] for f in frames], atol=1e-6)
    assert figure(page, "alignment")[1]["data.0.z"].shape == (4, 10, 10)

    def never(*_: object) -> None:
        raise AssertionError("it is trained anew")

    monkeypatch.setattr(rewind.Run, "train", never)
    page.text_input(key="text").set_value(room.FLOWER).run()
    assert not page.exception and film(page)["count"] == 4
    z = figure(page, "alignment")[1]["data.0.z"]
    run = trained(room.State(clip=0.0, clauses=1, score=room.SCALED), 0, 3)
    read = lens.readings(run, frames, lens.sentence(room.FLOWER))
    np.testing.assert_allclose(z, [each.gamma for each in read], atol=1e-6)


def test_words_are_compared_with_gold_and_its_cells_are_framed() -> None:
    source = lens.sentence(room.FLOWER)
    words = ["compramos", "una", "casa", "roja", lens.END, "", ""]
    tree = figures.alignment([lens.Reading(np.full((7, 7), 1 / 7), words)], source)
    right, wrong = ([w.strip() for w in tree["data"][k]["text"].values[0]] for k in (1, 2))
    assert all(text for k in (1, 2) for text in tree["data"][k]["text"].values[0])  # see `figures.BLANK`
    assert right == ["compramos", "una", "", "roja", "", "", ""]
    assert wrong == ["", "", "casa", "", lens.END, "", ""]
    cells = {
        ((s["x0"] + s["x1"]) / 2, (s["y0"] + s["y1"]) / 2, s["line"]["dash"])
        for s in tree["layout"]["shapes"]
    }
    assert {(0, 0, "solid"), (1, 0, "solid"), (2, 1, "solid"), (5, 1, "dot"), (4, 3, "solid")} <= cells
    assert len(cells) == sum(len(to) for to in source.gold.possible)


def test_strange_sentences_get_one_sentence() -> None:
    page = open_page("recurrent/learning_to_align", until=0, text="The cat have a small elephant.")
    (said,) = [c.value for c in page.caption if "grammar" in c.value]
    assert "left out: elephant" in said and "no gold translation" in said
    header, arrays = figure(page, "alignment")
    assert not header["figure"]["layout"].get("shapes") and arrays["data.0.z"].shape[2] == 6
    page = run_page("recurrent/learning_to_align", until=0, text="Elephants!")
    assert not page.exception and "No word of this sentence is in the grammar" in warnings(page)


def test_a_frame_that_ran_away_says_so() -> None:
    frame = {"entropy": np.array(np.nan), "words": np.array(0.0), "sentences": np.array(0.0),
             "links": np.array([[0, 0, 0, 5]] * 2)}  # fmt: skip
    (text,) = lens.captions([frame], [{"rate": 0.05, "clip": 0.0}])
    assert "run away" in text


def test_the_share_of_possible_links_in_words() -> None:
    counts = [(0, 0, 0, 9), (1, 4, 9, 9), (3, 5, 9, 9), (5, 9, 10, 9), (5, 10, 10, 9)]
    assert [lens.answer(np.array(each)) for each in counts] == [
        lens.NONE, lens.FEW, lens.MANY, lens.MANY, lens.MOST_OF_THEM,
    ]  # fmt: skip
