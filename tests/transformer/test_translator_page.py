"""The page Translator: what heads used is what decoding used, counts are the formula's, scenes hold."""

from dataclasses import replace
from functools import partial

import pytest
import torch
from opening import captions, open_page, run_page, warnings

from lab import experiments, weights
from lab.lenses import attention, translations
from modules.recurrent.alignment import hard_links
from modules.transformer.recorder import record_attention
from modules.transformer.translator import Translator
from pages.transformer.translator import lens, spoken, work
from pages.transformer.translator.room import CROSS, DECODER, ENCODER, MAPS, ROOM, State

opened = partial(open_page, "transformer/translator")
PLACE = experiments.ZOO / "translator-spanish"
CARD = weights.read_card(PLACE)
SCENES = {name: scene.state for name, scene in ROOM.scenes.items()}


@pytest.fixture(scope="module")
def model() -> Translator:
    loaded = weights.load(PLACE).eval()
    assert isinstance(loaded, Translator)
    return loaded


def found(model: Translator, now: State) -> lens.Search:
    return lens.search(model, CARD, now.text, now.prefix, now.beam, now.maps, now.off)


def looked(model: Translator, now: State) -> lens.Look:
    return lens.look(model, CARD, now.text, now.prefix, now.beam, now.maps, now.pads, now.off)


@pytest.mark.parametrize("prefix", ["", "tengo una"])
@torch.no_grad()
def test_one_pass_shows_what_every_step_used(model: Translator, prefix: str) -> None:
    """By another road: each step of the decoder with its caches is recorded alone."""
    text = ROOM.scenes["Two to one"].state.text
    searched = lens.search(model, CARD, text, prefix, 1, CROSS, ())
    decoder, state, log_p = model.incremental_decoder(), None, torch.zeros(0)
    maps = {
        part: lens.look(model, CARD, text, prefix, 1, part, 0, ()).maps.weights for part in (CROSS, DECODER)
    }
    for t, token in enumerate(searched.tokens):
        with record_attention() as seen:
            if state is None:
                log_p, state = decoder.start(searched.source.ids[None])
            else:
                log_p, state = decoder.step(state, torch.tensor([searched.tokens[t - 1]]))
        for part in maps:
            rows = torch.stack(
                [seen.calls[layer][0].weights[0, :, 0] for layer in attention.stacks(model)[part]]
            )
            torch.testing.assert_close(maps[part][:, :, t, : rows.shape[-1]], rows, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(searched.log_p[t], log_p[0, token], atol=1e-4, rtol=1e-4)
        if t >= len(searched.prefix):
            assert int(log_p[0].argmax()) == token
    assert searched.tokens == searched.greedy and searched.tokens[-1] == model.eos
    assert searched.tokens[: len(searched.prefix)] == lens.beginning(CARD, prefix)[0]


@pytest.mark.parametrize("maps", MAPS)
def test_weights_are_the_softmax_that_the_equation_says(model: Translator, maps: str) -> None:
    now = State(maps=maps, pads=3 if maps != DECODER else 0)
    seen = looked(model, now)
    shape = {CROSS: (13, 17), DECODER: (13, 13), ENCODER: (14, 17)}[maps]
    assert (len(seen.rows), len(seen.columns)) == shape and seen.maps.weights.shape[2:] == shape
    torch.testing.assert_close(seen.maps.weights.sum(-1), torch.ones(2, 4, shape[0]))
    for row in (0, 4, shape[0] - 1):
        dot = attention.dot(seen.maps, 1, 2, row)
        torch.testing.assert_close((dot.raised / dot.total).float(), dot.weights, atol=1e-5, rtol=1e-4)
    if maps == DECODER:
        assert not seen.maps.weights.triu(1).any()
    else:
        assert not seen.maps.weights[..., 14:].any() and seen.maps.weights.triu(1).any()
        plain = looked(model, State(maps=maps))
        torch.testing.assert_close(seen.maps.weights[..., :14], plain.maps.weights, atol=1e-5, rtol=1e-4)


def test_counts_are_those_of_the_formula(model: Translator) -> None:
    cached, anew = work.both_ways(model, CARD, State().text, "", 1, CROSS, ())
    S, T, heads = 14, 13, 2 * 4
    assert cached.encoded == [S] + [0] * (T - 1) and cached.decoded == [1] * T
    assert anew.encoded == [S] * T and anew.decoded == list(range(1, T + 1))
    assert cached.cells[ENCODER] == [heads * S * S] + [0] * (T - 1)
    assert cached.cells[CROSS] == [heads * S] * T
    assert cached.cells[DECODER] == [heads * t for t in range(1, T + 1)]
    assert anew.sums == [heads * (S * S + S * t + t * t) for t in range(1, T + 1)]
    assert f"{cached.sums[-1]}" in spoken.work_equation(cached, anew)


@torch.no_grad()
def test_error_rates_by_hand(model: Translator) -> None:
    """Counts of links, sentence by sentence, without padding."""
    one = work.aligned(model, CARD, State().text)
    from datamodules.spanish import AlignedPairs, sentences
    from lab.lenses.text import tokenizer

    pairs = AlignedPairs(sentences(work.SENTENCES, (1, 4), "test", seed=0), tokenizer(CARD))
    hits, links = torch.zeros(2, 4), torch.zeros(2, 4)
    for i in range(work.SENTENCES):
        source, _, _, target = pairs[torch.tensor([i])]
        sure, possible = (each[0] for each in pairs.links(torch.tensor([i])))
        stack = attention.stacks(model)[CROSS]
        maps = attention.record_pass(lambda s=source, t=target: model(s, t)[0], stack).weights
        chosen = hard_links(maps.flatten(0, 1)) & possible.any(-1, keepdim=True)
        both = (chosen & sure).sum((1, 2)) + (chosen & possible).sum((1, 2))
        hits += both.view(2, 4)
        links += chosen.sum((1, 2)).view(2, 4) + sure.sum()
    torch.testing.assert_close(one.errors, 1 - hits / links, atol=2e-3, rtol=0)
    assert float(one.errors[1].max()) < float(one.errors[0].min()) + 0.05
    assert float(one.errors[1, :3].max()) < 0.12 < 0.15 < float(one.errors[0].min())
    assert one.own is not None and float(one.own[1].min()) > 0.8


def test_scenes_say_what_is_so(model: Translator) -> None:
    def largest(name: str, row: int, layer: int, head: int) -> str:
        seen = looked(model, SCENES[name])
        return seen.columns[int(seen.maps.weights[layer - 1, head - 1, row].argmax())]

    assert [largest("Reordering", t, 2, 2) for t in (2, 3, 4)] == ["key", "green", "small"]
    assert found(model, SCENES["Reordering"]).names[2:5] == ["llave", "verde", "pequeña"]
    assert largest("Two to one", 0, 2, 3) == "i" and largest("Two to one", 0, 2, 1) == "have"
    assert largest("Looking back", 4, 2, 2) == "llave"
    forced = found(model, SCENES["Prefix"])
    free = found(model, State(text=SCENES["Prefix"].text))
    assert forced.names[:4] == ["veo", "dos", "casas", "blancas"] and free.names[2:4] == ["gatos", "blancos"]
    beam = found(model, SCENES["Beam search"])
    best, greedy = float(beam.log_p.sum()), float(beam.greedy_log_p.sum())
    assert f"{best:.2f} {greedy:.2f}" == "-1.63 -1.85" and beam.tokens != beam.greedy
    assert abs(best - beam.trace.result[0].log_prob) < 1e-3
    assert "los" in beam.read(beam.tokens) and "mis gatos" in beam.read(beam.greedy)


def test_heads_that_are_off_change_what_follows(model: Translator) -> None:
    now = SCENES["No source"]
    seen, other = looked(model, now), looked(model, replace(now, text="I see a dog."))
    assert seen.bars is not None and float((seen.bars.now - seen.bars.all_heads).abs().max()) > 0.5
    written, free = found(model, now), found(model, State())
    assert written.names[:2] == ["mi", "perro"] and written.tokens != free.tokens
    assert other.rows == seen.rows  # whatever the source is
    torch.testing.assert_close(other.maps.logits, seen.maps.logits)
    half = found(model, State(off=tuple((1, h) for h in range(1, 5))))
    assert half.names[:7] == free.names[:7] and half.tokens != free.tokens


def test_a_beginning_names_what_is_not_there() -> None:
    ids, said = lens.beginning(CARD, "Tengo zebra un cat .")
    assert len(ids) == 3 and "zebra, cat" in said and not lens.says("tengo", CARD)
    assert lens.beginning(CARD, "")[0] == () and "first 24" in lens.says("un " * 30, CARD)
    at = run_page("transformer/translator", prefix="tengo zebra", text="I have a quokka.")
    said = " ".join(each.value for each in at.caption)
    assert not at.exception and "zebra" in said and "quokka" in said
    at = run_page("transformer/translator", text="quokka")
    assert not at.exception and "No word of this sentence" in " ".join(
        each.value for each in [*at.warning, *at.error, *at.info]
    )


@pytest.mark.parametrize("name", SCENES)
def test_scenes_open(name: str) -> None:
    at = opened(scene=name)
    assert not at.exception and not warnings(at) and captions(at) is not None
    assert translations.END == "⊣"


def test_pieces_are_read_as_words() -> None:
    place = experiments.ZOO / "translator-multi30k-de-en"
    other, card = weights.load(place).eval(), weights.read_card(place)
    assert isinstance(other, Translator) and "Alignment error" not in lens.views(card)
    text = translations.GERMAN["Kitchen"]
    wide = lens.search(other, card, text, "", 4, CROSS, ())
    assert wide.read(wide.tokens).startswith("A woman holding") and "␣" not in wide.read(wide.tokens)
    assert float(wide.log_p.sum()) > float(wide.greedy_log_p.sum()) + 0.5
    man = lens.search(other, card, text, "A man", 1, CROSS, ())
    assert man.read(man.tokens).startswith("A man ")
