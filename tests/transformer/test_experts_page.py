"""The page Mixture of experts: routing and tables by another road, experts in the plane, its benches."""

import math

import pytest
import torch
from opening import open_page, open_warned

from lab import experiments, weights
from lab.bench import experts as bench
from lab.bench import moe, runs_file
from lab.bench import scan as scans
from lab.errors import UserError
from lab.lenses import text as texts
from modules.transformer.experts import Experts
from modules.transformer.gpt import GPT
from pages.transformer.experts import figures, lens, plane
from pages.transformer.experts.room import FIRST, NONE, ROOM, SECOND, SPECIAL, STARVED, TEXTS

PLACES = {name: experiments.ZOO / name for name in ("moe-languages", STARVED)}
TEXT = TEXTS["Sentence"]


def shipped(name: str) -> tuple[GPT, dict]:
    model = weights.load(PLACES[name])
    assert isinstance(model, GPT)
    return model, weights.read_card(PLACES[name])


@torch.no_grad()
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("layer", [1, 2])
def test_weights_and_output_are_those_of_a_loop_over_experts(name: str, layer: int) -> None:
    model, card = shipped(name)
    one = lens.routed(model, card, TEXT, FIRST, layer, NONE)
    ids = torch.tensor(texts.tokenizer(card).encode(TEXT))[: lens.MOST]
    x = list(model.residual_stream(ids[None]))[layer - 1]
    block = model.blocks[layer - 1]
    after = x + block.mixer(block.mixer_norm(x), causal=True)
    inner = block.feedforward_norm(after)[0]  # (T, C)
    experts = block.feedforward
    assert isinstance(experts, Experts)
    z = experts.router(inner) + (0 if experts.router_bias is None else experts.router_bias)
    for t in range(len(ids)):
        top = z[t].topk(experts.active).indices.tolist()
        scale = z[t].exp().sum() if experts.active == 1 else z[t, top].exp().sum()
        w = {i: float(z[t, i].exp() / scale) for i in top}
        y = sum(w[i] * experts.expert(i, inner[t]) for i in top)
        assert float(one.y[t]) == pytest.approx(float(torch.as_tensor(y).norm()), abs=1e-4)
        for i in range(experts.experts):
            assert float(one.weights[i, t]) == pytest.approx(w.get(i, 0.0), abs=1e-5)
    assert not one.dropped.any() and float(one.routing.taken.sum()) == pytest.approx(1)


def test_counts_are_those_of_the_shapes() -> None:
    model, _ = shipped("moe-languages")
    size = lens.counts(model)
    assert size.all == 2 * 8 * 2 * 64 * 128 and size.active == size.all // 4
    assert size.model == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("capacity", ["0.5", "1", "2"])
def test_a_capacity_drops_the_last_and_leaves_the_model_as_it_was(capacity: str) -> None:
    model, card = shipped("moe-languages")
    one = lens.routed(model, card, TEXT, FIRST, 2, capacity)
    N, k = one.routing.chosen.shape
    assert one.most == math.ceil(float(capacity) * N * k / 8)
    taken = (one.routing.taken * N * k).round()
    assert float(taken.max()) <= one.most
    wanted = one.routing.counts.clamp(max=one.most)  # whoever has room takes all
    assert torch.equal(taken.long(), wanted)
    assert all(layer.capacity is None for layer in lens.layers_of(model))
    assert int(one.dropped.sum()) == N * k - int(wanted.sum())


def test_the_table_is_counted_character_by_character() -> None:
    model, card = shipped("moe-languages")
    one = lens.special(model, card)
    assert one.table.shape == (2, 2 * len(lens.KINDS), 8)
    sums = one.table.sum(-1)
    assert (((sums - 1).abs() < 1e-5) | (sums == 0)).all()
    assert torch.allclose(one.loads.sum(-1), torch.ones(2, 2), atol=1e-5)
    assert lens.kind("a") == "small letters" and lens.kind("(") == "signs" and lens.kind("\n") == "new lines"
    routing = lens.Routing(torch.rand(4, 3), torch.tensor([[0, 1], [0, 2], [1, 2], [0, 1]]),
                           torch.ones(4, 2), torch.ones(4, 2, dtype=torch.bool))  # fmt: skip
    table = lens.by_kind(routing, torch.tensor([0, 0, 3, 3]))
    assert table[0].tolist() == [0.5, 0.25, 0.25] and table[3].tolist() == [0.25, 0.5, 0.25]
    assert table[1].tolist() == [0, 0, 0]


def test_scenes_of_trained_models_say_what_is_so() -> None:
    model, card = shipped("moe-languages")
    full = lens.routed(model, card, TEXT, FIRST, 2, NONE)
    assert (full.weights > 0).sum(0).tolist() == [2] * len(full.pieces)
    other = lens.routed(model, card, TEXT, SECOND, 2, NONE)
    assert float((full.routing.taken - other.routing.taken).abs().sum()) / 2 > 0.3
    half = lens.routed(model, card, TEXT, FIRST, 2, ROOM.scenes["Dropped"].state.capacity)
    assert half.dropped.any() and bool(half.dropped[:, ROOM.scenes["Dropped"].state.token].any())
    starved, its_card = shipped(STARVED)
    one = lens.special(starved, its_card)
    assert float(one.loads[..., 0].min()) > 0.9 and min(one.dead) >= 5
    balanced = lens.special(model, card)
    assert balanced.dead == [0, 0] and max(balanced.variation) > 0.3


@pytest.mark.parametrize("seed", range(4))
def test_experts_in_the_plane_starve_without_balance(seed: int) -> None:
    balanced = plane.learned(8, 1, 0.1, False, NONE, seed)
    assert balanced.dead[-1] == 0 and float(balanced.loads[-1].max()) < 0.25
    assert float(balanced.losses[-1]) < 0.3 * float(balanced.losses[0])
    ahead = plane.learned(8, 1, 0.0, True, NONE, seed)
    assert ahead.dead[-1] >= 5 and float(ahead.loads[-1][0]) > 0.5
    assert plane.learned(8, 1, 0.0, False, NONE, seed).dead[-1] >= 3


def test_a_full_expert_in_the_plane_refuses() -> None:
    one = plane.learned(4, 2, 0.1, False, "0.5", 0)
    assert one.map.shape == (len(one.losses), plane.SIDE, plane.SIDE) and int(one.map.max()) < 4
    assert float(one.kept.max()) <= 0.5 / 4 + 1 / plane.POINTS
    assert "dropped" in plane.captions(one)[-1]
    tree = figures.of_plane(one.kept, one.loads)
    assert len(tree["data"][0]["y"].values) == len(one.losses)


def test_the_bench_counts_and_keeps(tmp_path) -> None:
    path = tmp_path / "runs.jsonl"
    setting = bench.Setting(1, "natural", 0.01)
    assert bench.kept(path) == [] and len(bench.missing(path)) == 3 * len(bench.SETTINGS)
    run = bench.train(setting, 0, steps=2, most=4)
    runs_file.append(run, path)
    assert bench.kept(path) == [run] and (setting, 0) not in bench.missing(path)
    assert bench.train(setting, 0, steps=2, most=4).nats == run.nats
    dense = bench.train(bench.Setting(1, "dense", 0.0), 0, steps=1, most=4)
    assert dense.used == dense.parameters and run.used - dense.used == 2 * 64 * 8  # the routers
    row = bench.Run(1, "natural", 0.0, 0, 1, 0, 0, 0.0, "", [1.0, 1.0],
                    [[[1.0, 0.0, 0.0]], [[0.0, 0.995, 0.005]]], [])  # fmt: skip
    assert row.variation() == pytest.approx([1.0]) and row.dead() == [1]
    assert row.largest() == pytest.approx([0.5])


def test_small_benches_run() -> None:
    assert [row.bench for row in moe.measure(quick=True)] == ["moe", "moe"]
    (first, *_) = scans.measure(quick=True)
    assert "training takes doubling" in first.note and first.case.startswith("T = 24, W = 16")


def test_own_text() -> None:
    model, card = shipped("moe-languages")
    with pytest.raises(UserError, match="not in the vocabulary"):
        lens.routed(model, card, "é", FIRST, 1, NONE)
    for text in ("a", "\n", "word " * 40):
        open_page("transformer/experts", text=text)
    (warning,) = open_warned("transformer/experts", text="é🙂x").warning
    assert "left out" in warning.value
    open_page("transformer/experts", view=SPECIAL)
