"""The page Activation patching: scenes hold, cells are forward passes, bad prompts get a sentence."""

import base64
import re
from typing import Any

import numpy as np
import pytest
import torch
from opening import failures, film, open_page, run_page

from lab import experiments, weights
from lab.errors import UserError
from lab.figures import moving
from lab.lenses import text as texts
from modules.transformer.gpt import GPT
from modules.transformer.stream import record_stream
from pages.transformer.patching import figures, lens
from pages.transformer.patching.room import HEADS, PARTS, PIECES, ROOM, STREAM, SUM, WORDS, State


def shipped(name: str) -> tuple[GPT, dict[str, Any]]:
    place = experiments.ZOO / name
    model = weights.load(place)
    assert isinstance(model, GPT)
    return model, weights.read_card(place)


def patched(state: State) -> tuple[lens.Patched, int]:
    """The map of a state, and its framed column."""
    model, card = shipped(state.model)
    prompts = state.prompts or lens.first_prompts(card)
    one = lens.patch(model, card, prompts, state.answer, state.other, state.view)
    columns = lens.columns(model, card, prompts, state.view)
    assert one.map.patched.shape == (len(one.rows), columns) and len(one.columns) == columns
    return one, (state.column or columns) - 1


@torch.no_grad()
def test_a_cell_is_a_forward_pass_with_one_vector_of_another() -> None:
    model, card = shipped(SUM)
    one, _ = patched(State())
    both = one.prompts
    assert both.start == 3 and texts.names(texts.tokenizer(card), both.tokens[0])[0] == "⏎"  # begin token
    names = {name: texts.tokenizer(card).encode(name)[0] for name in one.answers}

    def lead(tokens: torch.Tensor, edits: dict[Any, Any] | None = None) -> float:
        with record_stream(edits) as seen:
            logits = model(tokens[None])[0, -1]
        lead.values = seen.values  # type: ignore[attr-defined]
        return float(logits[names["2"]] - logits[names["1"]])

    clean = lead(both.tokens[0])
    kept = lead.values[model.blocks[0], "in"][0, 7]  # type: ignore[attr-defined]

    def edit(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[0, 7] = kept
        return x

    corrupted, changed = lead(both.tokens[1]), lead(both.tokens[1], {(model.blocks[0], "in"): edit})
    r = (changed - corrupted) / (clean - corrupted)
    assert (
        float(one.map.recovered[0, 7 - both.start])
        == pytest.approx(r, abs=1e-4)
        == pytest.approx(0.75, abs=0.01)
    )


def test_scenes_say_what_is_so() -> None:
    """Each number of a scene's line stands in the map, in the row and column where the line looks for it."""
    maps = {name: patched(scene.state) for name, scene in ROOM.scenes.items()}
    r = {name: one.map.recovered for name, (one, _) in maps.items()}
    carry = r["Carry"]
    assert near(carry[0, 0], 0.17) and near(carry[0, 4], 0.75) and near(carry[1, -1], 0.97)
    assert near(r["Who brings it"][0, -1], 0.97) and near(r["Who brings it"][3, -1], 0.97)
    assert maps["Who brings it"][0].rows == ["attention 1", "MLP 1", "attention 2", "MLP 2"]
    heads = r["Several heads"][0]
    assert near(heads[1], 0.50) and near(heads[2], 0.38) and float(heads.max()) == float(heads[1])
    gradient = maps["Gradient fails"][0].map.approximation
    assert near(r["Gradient fails"][0, 4], 0.75) and near(gradient[0, 4], -0.05)
    sense = r["Sense"]  # fished … bank
    assert sense[0, 0] > 0.99 and sense[1, -1] > 0.99 and sense[1:, 0].abs().max() < 0.01
    assert sense[0, -1] == 0
    assert near(r["One head"][0, 1], 0.96)
    assert near(r["Two cues"][0, 0], 0.13) and near(r["Two cues"][0, 3], 0.55)
    assert [round(float(v), 2) for v in r["Bracket"][1:, 1]] == [0.46, 0.49, 0.88, 1.0]
    thou, pieces = r["Thou or they"], maps["Thou or they"][0].columns
    assert pieces[2] == ("␣",) and pieces[4] == ("a",) and near(thou[1, 2], 0.48) and near(thou[2, 4], 1.15)
    for name, (one, column) in maps.items():  # the line's last number, or the framed cell's, is in view
        framed = one.map.recovered[ROOM.scenes[name].state.layer, column]
        assert float(framed) > 0.3, name


def near(value: torch.Tensor, said: float) -> bool:
    return abs(float(value) - said) < 0.006


@pytest.mark.parametrize("view", [STREAM, PARTS, HEADS])
def test_equations_have_the_numbers_of_their_cells(view: str) -> None:
    one, column = patched(State(view=view))
    for row, (latex, caption) in enumerate(
        zip(lens.equations(one, column), lens.captions(one, column, view), strict=True)
    ):
        patched_d, low, high, below, r, change, whole, linear = (
            float(n) for n in re.findall(r"-?\d+\.\d\d", latex)
        )
        assert low == below == round(one.map.corrupted, 2) and high == round(one.map.clean, 2)
        assert r == pytest.approx((patched_d - low) / (high - low), abs=0.006)
        assert linear == pytest.approx(change / whole, abs=0.006)
        assert f"restores {lens.decimals(float(one.map.recovered[row, column]))} of the lead" in caption


def test_answers_are_the_likeliest_and_may_be_chosen() -> None:
    model, card = shipped(PIECES)
    prompts = lens.first_prompts(card)
    tokens = lens.read(model, card, prompts).tokens
    coder = texts.tokenizer(card)
    first = texts.names(coder, model(tokens)[:, -1].argmax(-1))
    offered = lens.answers(model, card, prompts)
    assert offered[0] == first[0] and lens.others(model, card, prompts, offered[0])[0] == first[1]
    assert ")" in offered and "]" in offered and len(set(offered)) == len(offered)
    one = lens.patch(model, card, prompts, ")", "]", STREAM)
    back = lens.patch(model, card, "\n".join(prompts.split("\n")[::-1]), "]", ")", STREAM)
    assert (one.map.clean, one.map.corrupted) == pytest.approx(
        (-back.map.corrupted, -back.map.clean), abs=1e-4
    )


@pytest.mark.parametrize(
    ("name", "prompts", "sentence"),
    [
        (SUM, "345+678=", "Write two lines"),
        (SUM, "345+678=\n345+67=", "equally many tokens: the clean one has 9"),
        (SUM, "345+678=\n345+678=", "Both prompts are the same"),
        (SUM, "345+678=11111\n345+678=11112", "have 14 tokens: shorten them to 12"),
        (SUM, "345+678=x\n345+678=1", "x"),
        (WORDS, "she fished at the old castle\nshe saved at the old bank", "never seen 'castle'"),
        ("gpt-shakespeare", f"{'a' * 20}\n{'b' * 20}", "have 20 tokens: 16 at most"),
    ],
)
def test_bad_prompts_get_a_sentence(name: str, prompts: str, sentence: str) -> None:
    model, card = shipped(name)
    with pytest.raises(UserError, match=re.escape(sentence)):
        lens.patch(model, card, prompts, None, None, STREAM)


def test_a_model_that_does_not_tell_the_prompts_apart_gets_a_sentence() -> None:
    model, card = shipped(WORDS)
    with torch.no_grad():
        for block in model.blocks:
            block.mixer.proj.weight.zero_()
    with pytest.raises(UserError, match="does not tell the prompts apart"):
        lens.patch(model, card, lens.first_prompts(card), "of", "for", STREAM)


def test_the_figure_frames_the_rows_from_below() -> None:
    one, column = patched(State())
    tree = figures.shares(one.map.recovered, one.rows, one.columns, column, "r", "token")
    assert tree["layout"]["shapes"][0]["y0"].values == [1.5, 0.5, -0.5]
    packed = moving.at(tree, 0).to_plotly_json()["data"][0]["z"]
    z = np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"]).reshape(3, 7)
    assert float(z[-1][0]) == pytest.approx(float(one.map.recovered[0, 0]), abs=1e-4)
    assert list(tree["layout"]["xaxis"]["ticktext"])[:2] == ["5<br>2", "+"]


def test_own_prompts_on_the_page() -> None:
    at = open_page(
        "transformer/patching", model=WORDS, prompts="tom paid at the big bank\ntom swam at the big bank"
    )
    assert not at.error and not at.exception
    bar = film(at, "layer")
    assert bar["count"] == 3 and "“bank”" in bar["captions"][-1]
    at = run_page("transformer/patching", prompts="1\n1")
    assert not failures(at) and at.warning[0].value == "Both prompts are the same: change a token of one."
    at = open_page("transformer/patching", model="gpt-shakespeare", prompts="a\nb")  # one column
    assert not at.error and not at.exception


@pytest.mark.parametrize(
    "name", sorted(n for n, e in experiments.catalog().items() if e.weights and lens.fits(e))
)
def test_every_example_of_every_model_can_be_patched(name: str) -> None:
    place = experiments.find(name).weights
    assert place is not None
    model, card = weights.load(place), weights.read_card(place)
    assert isinstance(model, GPT)
    for prompts in lens.examples(card).values():
        found = lens.patch(model, card, prompts, None, None, STREAM)
        assert found.map.recovered.isfinite().all(), prompts
