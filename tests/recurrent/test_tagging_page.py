"""The page Bidirectional tagging: its numbers are those of the taggers, and what its scenes say is so."""

from functools import partial

import numpy as np
import pytest
import torch
from opening import figure, film, open_page, plain, spoken, warnings

from datamodules.homographs import HOMOGRAPHS, SENSES, TAGS, pairs
from lab import experiments, weights
from lab.errors import UserError
from lab.lenses import through_time
from lab.lenses.text import tokenizer
from modules.recurrent.labelling import Tagger
from pages.recurrent.tagging import lens, room

opened = partial(open_page, "recurrent/tagging")
CARD = experiments.find("tagger-homographs").card
CODER = tokenizer(CARD)


@pytest.fixture(scope="module")
def taggers() -> tuple[Tagger, Tagger]:
    both, left = (weights.load(name).eval() for name in ("tagger-homographs", "left-tagger-homographs"))
    return both.double(), left.double()


def read(taggers: tuple[Tagger, Tagger], text: str, show: str = room.STATE) -> lens.Reading:
    return lens.read(*taggers, CARD, lens.sentence(text), show)


@pytest.mark.parametrize("text", room.EXAMPLES.values())
def test_a_frame_is_what_the_taggers_say_of_the_words_read(taggers: tuple[Tagger, Tagger], text: str) -> None:
    sentence, result = lens.sentence(text), read(taggers, text)
    a, b = (SENSES.index(sense) for sense in sentence.senses)
    assert len(result.both) == len(sentence.behind)
    for frame, end in enumerate(range(sentence.at + 1, len(sentence.words) + 1)):
        tokens = torch.tensor([CODER.encode(" ".join(sentence.words[:end]))])
        for tagger, shown in zip(taggers, (result.both, result.left), strict=True):
            p = tagger.predict(tokens).softmax(-1)[0, sentence.at, TAGS.index(SENSES[0]) :]
            torch.testing.assert_close(shown[frame], p.detach())
        odds = (result.both[frame, a] / result.both[frame, b]).log()
        torch.testing.assert_close(result.parts[frame].sum(), odds)


def test_only_the_backward_states_depend_on_what_comes(taggers: tuple[Tagger, Tagger]) -> None:
    result = read(taggers, room.RIVER)
    at = lens.sentence(room.RIVER).at
    forward, backward = result.seen[:, 0, :, at], result.seen[:, 1, :, at]
    torch.testing.assert_close(forward, forward[:1].expand_as(forward))
    assert (backward.diff(dim=0).abs().amax(1) > 1e-3).all()
    torch.testing.assert_close(result.left, result.left[:1].expand_as(result.left))
    torch.testing.assert_close(result.parts[:, ::2], result.parts[:1, ::2].expand(len(result.parts), 2))
    assert result.seen[0, :, :, at + 1 :].isnan().all() and not result.seen[-1].isnan().any()


def test_from_the_left_one_of_each_pair_is_wrong(taggers: tuple[Tagger, Tagger]) -> None:
    """A pair differs behind its homograph alone: one guess, two answers, so exactly half are right."""
    right = {"both": 0, "left": 0}
    sample = pairs(1)[::37]
    for pair in sample:
        results = [(read(taggers, text), sense) for text, sense in pair]
        torch.testing.assert_close(results[0][0].left[-1], results[1][0].left[-1])
        right["both"] += sum(lens.tag(result.both[-1]) == sense for result, sense in results)
        right["left"] += sum(lens.tag(result.left[-1]) == sense for result, sense in results)
    assert right == {"both": 2 * len(sample), "left": len(sample)} and len(sample) > 10


def test_gates_are_shown_as_the_cells_compute_them(taggers: tuple[Tagger, Tagger]) -> None:
    tokens = torch.tensor([CODER.encode(room.MOUSE)])
    _, _, inside = taggers[0].recurrent.unroll(taggers[0].embedding(tokens))
    for show, name in lens.NAMES.items():
        seen = read(taggers, room.MOUSE, show).seen[-1]
        torch.testing.assert_close(seen, torch.stack([way[name][0].T for way in inside]))


def test_what_the_grammar_lacks_is_named_and_left_out() -> None:
    text = "The BANK, zebra, was muddy."
    assert lens.sentence(text) == lens.Sentence(
        ("the", "bank", ",", ",", "was", "muddy", "."), 1, ("place", "company")
    )
    assert "zebra" in lens.says(text) and lens.says(room.LOAN) == ""
    assert "bank" in lens.says("the bank was near the crane .")
    with pytest.raises(UserError, match="use one of bank"):
        lens.sentence("the loan was big .")
    page = opened(text="the zebra bank was muddy .")
    assert not page.exception and "zebra" in "".join(c.value for c in page.caption) + warnings(page)


def test_scenes_say_what_is_seen(taggers: tuple[Tagger, Tagger]) -> None:
    seen = {}
    for name, scene in room.ROOM.scenes.items():
        sentence, result = lens.sentence(scene.state.text), read(taggers, scene.state.text)
        step = len(result.both) - 1 if scene.state.step is None else scene.state.step
        before = lens.tag(result.both[max(step - 1, 0)])
        seen[name] = sentence.behind[step], before, lens.tag(result.both[step])
    assert seen["Deciding word"] == ("quiet", "company", "place")
    assert seen["Other sense"][0] == "approved" and seen["Other sense"][2] == "company"
    assert seen["Next word"][0] == "clicked" and seen["Next word"][2] == "tool"
    assert seen["Four asides"] == ("lifted", "animal", "tool")
    assert seen["Contradiction"] == ("hit", "animal", "tool")
    assert lens.tag(read(taggers, room.BOTH).both[1]) == "animal"
    start = read(taggers, room.RIVER)
    two = [SENSES.index(sense) for sense in HOMOGRAPHS["bank"]]
    assert ((start.both[0, two] - 0.5).abs() < 0.1).all() and ((start.left[0, two] - 0.5).abs() < 0.1).all()
    assert room.FAR.split("crane")[1].split("lifted")[0].count(",") - 1 == 2 * CARD["data"]["asides"]


def test_the_page_shows_these_numbers(taggers: tuple[Tagger, Tagger]) -> None:
    page, result = opened(text=room.PLANT, step=2), read(taggers, room.PLANT)
    bar, (_, arrays) = film(page), figure(page, "tags")
    assert bar["at"] == 2 and bar["count"] == len(result.both)
    np.testing.assert_allclose(arrays["data.1.x"], result.both, atol=1e-5)
    np.testing.assert_allclose(arrays["data.0.x"], result.left, atol=1e-5)
    for tex, parts in zip(bar["equations"], result.parts.tolist(), strict=True):
        assert spoken(tex) == pytest.approx([*parts, sum(parts)], abs=1e-3)
    _, arrays = figure(page, "directions")
    np.testing.assert_allclose(arrays["data.2.z"], result.seen[:, 0], atol=1e-5)
    np.testing.assert_allclose(arrays["data.3.z"], result.seen[:, 1], atol=1e-5)


@pytest.mark.parametrize("text", room.EXAMPLES.values())
def test_only_both_ways_a_word_behind_reaches_the_tag(taggers: tuple[Tagger, Tagger], text: str) -> None:
    """Each gradient is that of the log odds by autograd, and 0 where the theory has no path."""
    sentence = lens.sentence(text)
    reach, steps = lens.reach(*taggers, CARD, sentence), len(sentence.words)
    tokens = torch.tensor([CODER.encode(text)])
    a, b = (TAGS.index(sense) for sense in sentence.senses)
    for tagger, found in zip(taggers, reach, strict=True):
        theory = through_time.paths(tagger.recurrent, steps)[sentence.at]
        assert torch.equal(found > 0, theory > 0)
        x = tagger.embedding(tokens).detach().requires_grad_()
        h = tagger.recurrent.unroll(x)[0][0, sentence.at]
        ((tagger.head.weight[a] - tagger.head.weight[b]) @ h).backward()
        torch.testing.assert_close(found, x.grad[0].abs().amax(-1), rtol=0, atol=1e-12)  # type: ignore[index]
    assert (reach[0] > 0).all() and (reach[1, sentence.at + 1 :] == 0).all()


def test_the_page_shows_the_receptive_field(taggers: tuple[Tagger, Tagger]) -> None:
    page, sentence = opened(text=room.RIVER), lens.sentence(room.RIVER)
    reach = lens.reach(*taggers, CARD, sentence)
    left, both = figure(page, "reach")[0]["figure"]["data"]
    np.testing.assert_allclose(plain(both["y"]), reach[0], atol=1e-5)
    np.testing.assert_allclose(plain(left["y"]), reach[1], atol=1e-5)
    told = next(c.value for c in page.caption if c.value.startswith("Receptive field"))
    assert "12 of 12 words" in told and "2 from the left" in told and "12 and 2 do" in told
    assert told.endswith("Behind bank it is largest at quiet (11).")
    last = opened(text="we saw the bank")
    assert not last.exception and not any("Behind" in c.value for c in last.caption)
