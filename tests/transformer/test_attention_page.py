"""The explorer beyond GPTs: encoder, cross-attention, experts and Mamba, each by another road."""

import math

import pytest
import torch
from opening import component, failures, film, machine, open_page, run_page
from torch import Tensor

from lab import experiments, ui, weights
from modules.transformer.experts import record_routing
from modules.transformer.mamba import Mamba
from pages.transformer.attention import bounds, figures, lens, subjects, values
from pages.transformer.attention.room import (
    ARCS,
    CROSS,
    DECODER,
    ENCODER,
    HEADS,
    ROOM,
    STACKS,
    VALUES,
    VIEWS,
)

BERT, SPANISH, MOE, MAMBA = "bert-gazette", "translator-spanish", "moe-languages", "mamba-selective-copying"


def shipped(name: str):
    return weights.load(name).eval(), weights.read_card(experiments.ZOO / name)


def passed(name: str, stack: str = CROSS, off=()):
    model, card = shipped(name)
    text = bounds.first_text(model, card)
    return model, subjects.read(model, card, text, "", stack), lens.forward_pass(
        model, card, text, "", True, off, stack)  # fmt: skip


def test_every_kind_of_stack_is_offered():
    offered = ui.trained("transformer", only=lens.fits)
    kinds = {"gpt-shakespeare", "leakygpt-shakespeare", "gpt-multi30k", "gpt-pydocs", BERT, SPANISH,
             "translator-multi30k-de-en", MOE, "starved-languages", MAMBA,
             "lti-selective-copying"}  # fmt: skip
    assert set(offered) == kinds


@pytest.mark.parametrize(
    ("name", "stack"), [(BERT, CROSS), *((SPANISH, stack) for stack in STACKS), (MOE, CROSS), (MAMBA, CROSS)]
)
def test_rows_sum_to_one(name, stack):
    _, text, result = passed(name, stack)
    assert result.weights.shape[2:] == (len(text.names), len(text.columns))
    assert result.weights.sum(-1) == pytest.approx(torch.ones(result.weights.shape[:3]), abs=1e-5)
    future = result.weights.shape[2] == result.weights.shape[3] and not result.weights.triu(1).any()
    assert future == (name in (MOE, MAMBA) or stack == DECODER)


@torch.no_grad()
def test_the_cross_map_is_a_softmax_by_hand():
    """Queries of what is written, keys of the encoder, one head after the other."""
    model, text, result = passed(SPANISH)
    H = model.source_states(text.tokens[None])
    y = torch.cat([torch.tensor([model.bos]), text.target[:-1]])
    x = model.decoder.positions(model.embedding(y[None]) * math.sqrt(model.width), 0)
    block = model.decoder.blocks[0]
    x = x + block.mixer(block.mixer_norm(x), causal=True)
    D = model.width // model.heads
    q, k = block.cross.qkv.weight.chunk(3)[:2]
    bias = block.cross.qkv.bias.chunk(3)[:2]
    queries, keys = block.cross_norm(x)[0] @ q.T + bias[0], H[0] @ k.T + bias[1]
    for h in range(model.heads):
        mine = slice(h * D, (h + 1) * D)
        by_hand = (queries[:, mine] @ keys[:, mine].T / math.sqrt(D)).softmax(-1)
        assert result.weights[0, h] == pytest.approx(by_hand, abs=1e-5)
    assert text.names[-1] == "⊣" and text.columns == text.pieces != text.queries


@torch.no_grad()
def test_mambas_map_gives_its_output():
    model, text, result = passed(MAMBA)
    x = model.embedding(text.tokens[None])
    for l, block in enumerate(model.blocks):
        assert isinstance(block.mixer, Mamba)
        seen: list[Tensor] = []
        hook = block.mixer.out.register_forward_pre_hook(
            lambda module, given, seen=seen: seen.append(given[0])
        )
        gate = block.mixer.into(block.mixer_norm(x)).chunk(2, -1)[1]
        x = block(x, causal=True)
        hook.remove()
        y = torch.einsum("dts,ds->td", result.hidden.M[l], result.hidden.u[l])
        gated = y * torch.nn.functional.silu(gate[0])
        assert (gated - seen[0][0]).abs().max() <= 1e-5 * max(1.0, float(seen[0].abs().max()))
    assert result.maps is None and model.head(model.final_norm(x))[0, -4:].argmax(-1).tolist() == [2, 0, 1, 3]


def test_the_columns_of_the_letters_are_dark_where_the_convolution_brings_them():
    """The scene No queries: from the last question mark, of the tokens before the questions."""
    _, text, result = passed(MAMBA)
    row = result.weights[0, 0, -1, :20]
    largest = set(row.topk(4).indices.tolist())
    letters = [i for i, name in enumerate(text.names) if name in "abcd"]
    assert {i + 3 for i in letters[:3]} <= largest


@torch.no_grad()
def test_the_hidden_word_is_read_from_both_sides():
    model, text, result = passed(BERT)
    mask = text.names.index("<mask>")
    assert bounds.kept_row(None, model, shipped(BERT)[1], bounds.BOUGHT, CROSS) == mask
    row = result.weights[:, :, mask]
    assert (row[..., :mask].sum(-1).amax() > 0.3) and (row[..., mask + 1 :].sum(-1).amax() > 0.3)
    assert result.labels[mask][0] == "bought"
    p = model.predict(text.tokens[None])[0, mask].softmax(-1)
    assert float(result.after.now[mask, 0]) == pytest.approx(float(p.max()), abs=1e-6)


@torch.no_grad()
def test_the_router_stands_in_place_of_the_mlp():
    model, card = shipped(MOE)
    text = bounds.first_text(model, card)
    found = values.taken(model, card, text, "", "2.1", True, (), CROSS)
    tokens = subjects.read(model, card, text, "", CROSS).tokens
    with record_routing() as seen:
        model(tokens[None])
    routing = seen.calls[model.blocks[1].feedforward][0]
    assert torch.equal((found.router.w > 0).sum(1), torch.full((len(tokens),), 2))
    for t, chosen in enumerate(routing.chosen.tolist()):
        assert found.router.w[t, chosen] == pytest.approx(routing.weights[t], abs=1e-6)
        assert set(found.router.p[t].topk(2).indices.tolist()) == set(chosen)
    assert found.parts[1:] == ["attention 1", "experts 1", "attention 2", "experts 2"]
    at = open_page("transformer/attention", scene="Router")
    assert component(at, "figure-router") and machine(at)["mlp"].startswith("+")


@pytest.mark.parametrize(("name", "stack", "sublayers"), [
    (BERT, CROSS, 2), (SPANISH, ENCODER, 2), (SPANISH, DECODER, 3), (SPANISH, CROSS, 3), (MAMBA, CROSS, 1)
])  # fmt: skip
def test_values_of_every_stack_sum_to_what_the_head_gives(name, stack, sublayers):
    model, card = shipped(name)
    text = bounds.first_text(model, card)
    found = values.taken(model, card, text, "", "1.1", True, (), stack)
    result = lens.forward_pass(model, card, text, "", True, (), stack)
    if result.maps is not None:
        whole = result.maps.weights[0, 0] @ result.maps.values[0, 0]
    else:
        whole = torch.einsum("dts,ds->td", result.hidden.M[0], result.hidden.u[0])
    assert found.sums == pytest.approx(whole, abs=1e-4 * float(whole.abs().max()))
    depth = bounds.depth(model, stack)
    assert len(found.parts) == 1 + sublayers * depth and found.norms.shape == (len(whole), len(found.parts))
    assert len(values.numbers_of_parts(found)) == len(whole)
    assert figures.added(found.norms, found.parts, found.own)["data"]


def test_what_a_head_of_another_stack_gives_can_be_switched_off():
    _, _, whole = passed(SPANISH)
    _, _, less = passed(SPANISH, off=((1, 1), (2, 3)))
    assert torch.equal(less.after.all_heads, less.after.all_heads) and whole.after.now.shape[1] == lens.BARS
    assert (less.after.now - less.after.all_heads).abs().max() > 1e-3


def test_views_are_those_that_a_model_has():
    gpt, bert, spanish, mamba = (shipped(n)[0] for n in ("gpt-shakespeare", BERT, SPANISH, MAMBA))
    assert bounds.views(gpt, CROSS) == VIEWS and bounds.views(bert, CROSS) == (HEADS, ARCS, VALUES)
    assert bounds.views(spanish, CROSS) == (HEADS, VALUES) and ARCS in bounds.views(spanish, ENCODER)
    assert not bounds.has_heads(mamba) and bounds.heads(mamba, CROSS) == ["1.1", "2.1"]
    assert bounds.heads(spanish, DECODER)[-1] == "2.4" and not bounds.is_gpt(bert)


@pytest.mark.parametrize("given", [
    {"model": BERT, "text": "zebra [x] ."}, {"model": BERT, "text": "anna " * 100},
    {"model": SPANISH, "text": "We see", "stack": ENCODER, "view": VALUES},
    {"model": "translator-multi30k-de-en"}, {"model": MAMBA, "text": "a?"},
    {"model": MAMBA, "view": VALUES, "text": "h..\n?é"}, {"model": MOE, "view": "Layers"},
    {"model": "starved-languages", "view": VALUES}, {"model": "lti-selective-copying"},
])  # fmt: skip
def test_own_text(given):
    assert not failures(run_page("transformer/attention", **given))


@pytest.mark.parametrize("scene", ["Encoder", "Router", "No queries"])
def test_scenes_of_other_stacks_open_with_their_film(scene):
    at = open_page("transformer/attention", scene=scene)
    bar = film(at, "query")
    state = ROOM.scenes[scene].state
    assert bar["count"] > 20 or state.model == BERT
    if scene == "No queries":
        assert "no query and no key" in bar["captions"][23]
