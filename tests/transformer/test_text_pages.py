"""The two pages of the family: what they show is what the model computes, in every state tried here."""

import math
import re

import pytest
import torch
from opening import captions, component, figure, film, machine, open_page, open_warned, scenes

from lab import experiments, ui, weights
from lab.lenses import attention as lens
from lab.lenses import sampling, text
from lab.ui.page.mathml import mathml
from modules.transformer.gpt import GPT
from pages.transformer.attention.room import GUITAR, ROOM

NUMBER = r"-?\d+\.\d+"


def first_model():
    name = next(n for n in ui.trained("transformer") if n in ("gpt-shakespeare", "leakygpt-shakespeare"))
    place = experiments.ZOO / name
    return name, weights.load(place), text.tokenizer(weights.read_card(place))


TEXT = "ROMEO:\nBut, soft!"


@torch.no_grad()
def test_the_weight_in_the_equation_is_the_models():
    name, model, coder = first_model()
    # layer 2, head 3; key 4, query 9
    at = open_page("transformer/attention", model=name, text=TEXT, head="3,2", token="4,9")
    bar = film(at, "query")
    assert bar["at"] == 9 and bar["count"] == len(TEXT)
    assert bar["captions"][9].startswith("Layer 2, head 3: t (10) attends to O (5)")
    tokens = torch.tensor(coder.encode(TEXT))
    result = lens.equations(lens.record(model, tokens), 1, 2, list(TEXT), (9, 4)).latex[9]
    assert bar["equations"][9] == mathml(result)
    plain = re.sub(r" \\cdot 10\^\{(-?\d+)\}", r"e\1", result)
    assert rf"/\sqrt{{{model.width // model.heads}}}" in plain
    score, total, raised, total_again, weight = (
        float(n) for n in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", re.sub(r"\\sqrt\{\d+\}", "", plain))
    )
    x = model.embedding(tokens) + model.positions.table[: len(tokens)]
    x = model.blocks[0](x[None], causal=True)
    layer = model.blocks[1]
    D = model.width // model.heads
    q, k, _ = layer.mixer.qkv(layer.mixer_norm(x))[0].chunk(3, dim=1)
    mine = slice(2 * D, 3 * D)
    dots = k[:10, mine] @ q[9, mine]
    assert score == pytest.approx(dots[4].item(), rel=1e-3)
    assert total == total_again == pytest.approx((dots / math.sqrt(D)).exp().sum().item(), rel=1e-3)
    assert weight == pytest.approx((dots / math.sqrt(D)).softmax(0)[4].item(), rel=1e-3)
    assert raised / total == pytest.approx(weight, rel=2e-3)


@torch.no_grad()
def test_all_maps_and_the_next_tokens_are_sent_at_once():
    name, model, coder = first_model()
    at = open_page("transformer/attention", model=name, text=TEXT, head="3,2")
    header, arrays = component(at, "cells-token")
    L, H, T = len(model.blocks), model.heads, len(TEXT)
    assert header["grid"] == [L, H] and header["chosen"] == H + 2 and header["rows"] == [*text.shown(TEXT)]
    maps = lens.record(model, torch.tensor(coder.encode(TEXT)))
    assert torch.equal(torch.tensor(arrays["values"]).view(L, H, T, T), maps.weights)
    p = maps.logits.softmax(-1)
    for row in (0, T - 1):
        values, ids = p[row].topk(7)
        assert header["beside"]["labels"][row] == text.names(coder, ids)
        assert arrays["beside"][row] == pytest.approx(values.numpy(), abs=1e-6)
    assert "before" not in arrays


@torch.no_grad()
def test_the_mask_and_the_loss():
    name, model, coder = first_model()
    tokens = torch.tensor(coder.encode(TEXT))[None]
    for causal in (True, False):
        at = open_page(
            "transformer/attention", model=name, text=TEXT, causal=str(causal).lower(), view="Leak"
        )
        loss = float(machine(at)["logits"].removeprefix("loss "))
        assert ("exactly 0" in captions(at)) == causal and ("by up to 0." in captions(at)) != causal
        logits = model(tokens, causal=causal)[0, :-1]
        assert loss == pytest.approx(
            torch.nn.functional.cross_entropy(logits, tokens[0, 1:]).item(), abs=6e-4
        )


@torch.no_grad()
def test_switching_heads_off_moves_the_bars():
    name, model, coder = first_model()
    at = open_page("transformer/attention", model=name, text=TEXT, view="Worth")
    assert machine(at) == {"attention": "0 off", "logits": "TV = 0.000"}
    for h in range(4):
        at.toggle(key=f"off1-{h + 1}").set_value(True)
    at.run()
    moved = machine(at)["logits"].removeprefix("TV = ")
    tokens = torch.tensor(coder.encode(TEXT))
    heads = [(0, h) for h in range(4)]
    now, base = lens.next_token(model, tokens, heads), lens.next_token(model, tokens)
    assert machine(at)["attention"] == "4 off" and float(moved) > 0
    assert float(moved) == pytest.approx(float(0.5 * (now - base).abs().sum()), abs=6e-4)
    at.selectbox(key="view").set_value("Heads").run()
    header, arrays = component(at, "cells-token")
    assert header["off"] == [0, 1, 2, 3]
    labels = header["beside"]["labels"][-1]
    ids = [coder.tokens.index(c) for c in [{"⏎": "\n", "␣": " "}.get(n, n) for n in labels]]
    assert arrays["beside"][-1] == pytest.approx(now[ids].numpy(), abs=1e-5)
    assert arrays["before"][-1] == pytest.approx(base[ids].numpy(), abs=1e-5)


def test_what_can_be_shown_is_shown_beside_an_unknown_character():
    name, _, _ = first_model()
    at = open_warned("transformer/attention", model=name, text="He😀llo Ü")
    assert [w.value for w in at.warning] == [
        "'😀' (U+1F600), 'Ü' (U+00DC) are not in the vocabulary and left out."
    ]
    assert component(at, "cells-token")[0]["rows"] == ["H", "e", "l", "l", "o", "␣"]


@torch.no_grad()
def test_one_token_through_the_layers() -> None:
    name, model, coder = first_model()
    at = open_page("transformer/attention", model=name, text=TEXT, view="Layers", asks="9", layer="1")
    header, arrays = component(at, "cells-layers")
    L, H, T = len(model.blocks), model.heads, len(TEXT)
    assert header["band"] == H and arrays["marks"].tolist() == [8] * L and header["rows"][H] == "2.1"
    tokens = torch.tensor(coder.encode(TEXT))
    weights = lens.record(model, tokens).weights[:, :, 8]
    assert torch.equal(torch.tensor(arrays["values"]).view(L, H, T), weights)
    # after each layer: the very stack, cut there, before its last norm and head
    x = model.positions(model.embedding(tokens[None]), 0)
    for l, block in enumerate(model.blocks):
        x = block(x, causal=True)
        p, ids = model.logits(model.final_norm(x))[0, 8].softmax(0).topk(7)
        assert arrays["beside"][l] == pytest.approx(p.numpy(), abs=1e-5)
        assert header["beside"]["labels"][l] == text.names(coder, ids)
    bar = film(at, "layer")
    assert bar["count"] == L and bar["at"] == 1
    texts, _ = component(at, "machine")
    assert texts["numbers"][-1] == {"attention": f"{L} of {L}", "logits": f"p = {float(p[0]):.2f}"}
    assert p == pytest.approx(model(tokens[None])[0, 8].softmax(0).topk(7).values, abs=1e-6)


@torch.no_grad()
def test_values_and_what_the_parts_of_a_block_add() -> None:
    """The weighted values of all heads, projected, are what attention adds; with the MLP they make up the
    stream after the block."""
    name, model, coder = first_model()
    at = open_page("transformer/attention", model=name, text=TEXT, view="Values", values_of="2.3", query="9")
    tokens = torch.tensor(coder.encode(TEXT))
    adds = lens.additions(lambda: model(tokens[None]), model.blocks)
    stream = list(model.residual_stream(tokens[None], causal=True))
    frames = figure(at, "values")[1]["data.0.z"]
    drawn = torch.tensor(frames)[9]  # the sum last
    maps = lens.record(model, tokens)
    terms = maps.weights[1, 2, 9, :, None] * maps.values[1, 2]  # (T, D)
    largest = maps.weights[1, 2, 9].argsort(descending=True)[:8]
    assert drawn[:-1] == pytest.approx(terms[largest], abs=1e-6)
    assert drawn[-1] == pytest.approx(terms.sum(0), abs=1e-5)
    heads = torch.einsum("hij,hjd->ihd", maps.weights[1], maps.values[1]).flatten(1)
    assert adds.added["mixer"][1] == pytest.approx(model.blocks[1].mixer.proj(heads), abs=1e-4)
    for l in range(len(model.blocks)):
        both = adds.added["mixer"][l] + adds.added["feedforward"][l]
        assert adds.before[l] + both == pytest.approx(stream[l + 1][0], abs=1e-4)
    texts = {
        "embedding": f"+{float(stream[0][0, 9].norm()):.1f}",
        "attention": f"+{float(adds.added['mixer'][1, 9].norm()):.1f}",
        "mlp": f"+{float(adds.added['feedforward'][1, 9].norm()):.1f}",
    }
    assert machine(at) == texts
    bar = film(at, "query")
    ids = model.logits(model.final_norm(stream[2][0])).argmax(-1)
    assert bar["count"] == len(TEXT)
    assert bar["captions"][9].endswith(f"{text.names(coder, ids)[9]} after MLP 2.")


@torch.no_grad()
def test_a_block_that_normalises_last_adds_up_too() -> None:
    torch.manual_seed(0)
    model = GPT(7, context=5, layers=2, heads=2, width=8, norm="post").eval()
    tokens = torch.tensor([1, 2, 3, 4])
    off = lens.switches(lens.layers(model), [(0, 1)])
    adds = lens.additions(lambda: model(tokens[None]), model.blocks, off)
    mixed, passed = adds.added["mixer"], adds.added["feedforward"]
    for l, block in enumerate(model.blocks):
        assert torch.allclose(adds.after["mixer"][l], block.mixer_norm(adds.before[l] + mixed[l]))
        both = block.feedforward_norm(adds.after["mixer"][l] + passed[l])
        assert torch.allclose(adds.after["feedforward"][l], both)
    logits = model.logits(model.final_norm(adds.after["feedforward"][-1]))
    assert torch.allclose(logits, lens.record(model, tokens, off=[(0, 1)]).logits, atol=1e-6)
    whole = lens.additions(lambda: model(tokens[None]), model.blocks)
    assert not torch.allclose(mixed[0], whole.added["mixer"][0], atol=1e-6)


@torch.no_grad()
def test_words_of_several_pieces() -> None:
    """Every weight between two words, from a loop over their pieces."""
    place = experiments.ZOO / "gpt-pydocs"
    model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
    written = "Asynchronous iterators raise it."
    ids = coder.encode(written)
    groups = lens.words([coder.tokens[i] for i in ids])
    words = ["".join(coder.tokens[i] for i in ids[g.start : g.stop]) for g in groups]
    assert words == ["Asynchronous", " iterators", " raise", " it", "."] and max(map(len, groups)) > 1
    at = open_page(
        "transformer/attention", model="gpt-pydocs", text=written, view="Arcs", units="words", head="2,3",
        token="0,1", query="1",
    )  # fmt: skip
    header, arrays = component(at, "cells-token")
    assert header["arcs"] and header["rows"] == text.shown(words)
    maps = lens.record(model, torch.tensor(ids))
    a = maps.weights[2, 1]
    shown = torch.tensor(arrays["values"]).view(*maps.weights.shape[:2], 5, 5)[2, 1]
    for q, asks in enumerate(groups):
        for k, result in enumerate(groups):
            mean = sum(float(a[i, j]) for i in asks for j in result) / len(asks)
            assert float(shown[q, k]) == pytest.approx(mean, abs=1e-6)
    assert shown.sum(1) == pytest.approx(torch.ones(5), abs=1e-5)
    # the next token is read after the last piece of each word
    assert header["beside"]["labels"][0] == text.names(coder, maps.logits[groups[0][-1]].topk(7).indices)
    result = film(at, "query")
    assert "iterators attends to Asynchronous" in result["captions"][1]
    assert f"{float(shown[1, 0]):.4f}" in result["equations"][1]


@torch.no_grad()
def test_the_probability_in_the_equation_is_the_models():
    name, model, coder = first_model()
    at = open_page(
        "transformer/sampling", model=name, prompt=TEXT, t="0.8", k="9", p="0.9", step="5", length="20"
    )
    bar = film(at)
    numerator, mass, p = map(float, re.findall(NUMBER, re.sub(r"<[^>]*>", " ", bar["equations"][5]))[-3:])
    caption = bar["captions"][5]
    generator = torch.Generator().manual_seed(0)
    prompt = torch.tensor(coder.encode(TEXT))[None]
    out = model.generate(prompt, 6, temperature=0.8, top_k=9, top_p=0.9, generator=generator)[0]
    logits = model.next_logits(out[None, :-1])[0]
    full = (logits / 0.8).softmax(0)
    assert numerator == pytest.approx(full[out[-1]].item(), abs=6e-5)
    ranked = full.sort(descending=True).values[:9]
    inside = ranked[torch.cat([torch.tensor([True]), ranked.cumsum(0)[:-1] < 0.9])]
    assert mass == pytest.approx(inside.sum().item(), abs=6e-5)
    assert p == pytest.approx(numerator / mass, abs=2e-4)
    texts = machine(at)
    assert texts["tokens"] == str(len(prompt[0]) + 5)
    assert float(texts["logits"].removeprefix("p = ")) == pytest.approx(p, abs=6e-3)
    assert f"{len(inside)} of {model.vocab_size} tokens kept" in caption
    entropy = -(logits.softmax(0) * logits.log_softmax(0)).sum().item()
    assert f"entropy {entropy:.3f} nats before" in caption
    assert caption.startswith(text.names(coder, out[-1:])[0])
    header, arrays = component(at, "figure-bars")
    ids = full.sort(descending=True, stable=True).indices[:20]
    assert header["texts"]["layout.xaxis.ticktext"][5] == text.names(coder, ids)
    assert arrays["data.0.y"][5] == pytest.approx(logits.softmax(0)[ids].numpy(), abs=1e-6)
    assert (arrays["data.1.y"][5][len(inside) :] == 0).all()
    assert arrays["layout.shapes.0.x0"][5] == len(inside) - 0.5
    assert arrays["layout.annotations.1.x"][5] == ids.tolist().index(int(out[-1]))


def test_greedy_says_so():
    name, _, _ = first_model()
    at = open_page("transformer/sampling", model=name, prompt=TEXT, t="0")
    bar = film(at)
    assert all("argmax" in re.sub(r"<[^>]*>|&#[^;]*;|\s", "", e) for e in bar["equations"])
    assert all("0.000 after" in caption for caption in bar["captions"])


def test_p_values_are_level_over_seeds():
    """A fair sampler's; one that favours a token is found out."""
    p = torch.tensor([0.4, 0.3, 0.2, 0.1])
    p_values = sampling.p_values(p, 1000, 200)
    assert p_values.histogram.sum() == 200 and p_values.histogram.min() > 6 and p_values.below < 0.1
    name, _, _ = first_model()
    at = open_page("transformer/sampling", model=name, prompt=TEXT, view="Draw 1,000", t="2", length="5")
    assert re.search(r"Over 200 seeds \d+% fall below 0.05", captions(at))
    assert "3 degrees of freedom" in sampling.draw(p).note


def test_the_cache_counts_and_a_leaky_model_has_none():
    name, _, _ = first_model()
    at = open_page("transformer/sampling", model=name, prompt=TEXT, view="Cache", length="5")
    assert float(machine(at)["tokens"].removesuffix(" × fewer")) > 2
    at = open_page("transformer/sampling", model="leakygpt-shakespeare", view="Cache", length="5")
    assert "nothing can be kept" in at.info[0].value


@pytest.mark.parametrize("topic, key", [("attention", "text"), ("sampling", "prompt")])
@pytest.mark.parametrize(
    "written, sentence",
    [
        ("", "There is no text"),
        ("Hello 😀", "'😀' (U+1F600) is not in the vocabulary"),
        ("Übermut", "'Ü' (U+00DC) is not in the vocabulary"),
        ("x" * 100_000, "longer than 2,000 characters"),
    ],
)
def test_bad_text_is_one_sentence(topic, key, written, sentence):
    name, _, _ = first_model()
    at = open_page(f"transformer/{topic}", model=name)
    at.text_area(key=key).set_value(written).run()
    assert not at.exception
    assert [w.value for w in at.warning if sentence in w.value]


def test_one_character_is_enough():
    name, _, _ = first_model()
    assert film(open_page("transformer/attention", model=name, text="a"), "query")["count"] == 1
    assert film(open_page("transformer/sampling", model=name, prompt="a"))["count"] == 60


def test_attentions_scenes_are_called_after_what_they_open_and_its_check_veils_its_tables():
    page = open_page("transformer/attention")
    known = scenes(page)
    assert [name for name, scene in known.items() if scene.values.get("view") == "Worth"] == [
        "Head importance"
    ]
    assert not any("heads on" in name.lower() for name in known)
    (ask,) = (button for button in page.button if button.label == "Predict first")
    ask.click().run()
    (veil,) = (h.proto.body for h in page.get("html") if "blur" in h.proto.body)
    tables = {column for table in page.dataframe for column in table.value.columns}
    assert "weight" in tables  # the answer stands in the row of the softmax, below the picture
    assert ".st-key-below > :not(.st-key-check" in veil and ".st-key-picture" in veil


@torch.no_grad()
def test_words_attend_where_the_scenes_say() -> None:
    """By the weights themselves: where the largest one of each word lies."""
    place = experiments.ZOO / "gpt-multi30k"
    model, coder = weights.load(place), text.tokenizer(weights.read_card(place))
    assert isinstance(model, GPT)

    def looks(written: str, head: tuple[int, int]) -> dict[str, str]:
        column, row = head
        tokens = torch.tensor(coder.encode(written))
        largest = lens.record(model, tokens).weights[row - 1, column - 1].argmax(-1)
        words = [coder.decode([int(i)]).strip() for i in tokens]
        return {word: words[k] for word, k in zip(words, largest.tolist(), strict=True)}

    state = ROOM.scenes["Noun head"].state
    people = looks(state.text, state.head)
    assert {people["red"], people["dress"]} == {"woman"} and {people["black"], people["suit"]} == {"man"}
    places = looks(GUITAR, (2, 2))  # of a lecture: the preposition head
    assert [places[word] for word in ("blue", "shirt", "the")] == ["in", "in", "on"]
