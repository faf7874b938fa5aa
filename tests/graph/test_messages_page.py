"""The lens on message passing: recorded sums, edits, hops against gradients, smoothing; and its page."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import contracts
import pytest
import torch
from graphs import G4, G10, RING, adjacency, both_ways
from opening import captions, film, machine, numbers, open_page, open_warned, scenes
from torch import Tensor
from torch_geometric.utils import k_hop_subgraph

from datamodules.karate import Karate
from lab.errors import UserError
from lab.figures import networks
from lab.lenses import graphs, receptive_field
from modules.graph.gcn import GCN
from pages.graph.messages import depth, figures, hearing, lens, reaching

opened = partial(open_page, "graph/messages")
PROPAGATIONS = ("sum", "mean", "symmetric", "gcn", "average")


def model_of(propagation: str = "gcn", hidden: tuple[int, ...] = (5, 6)) -> GCN:
    return contracts.exact(GCN(3, 4, hidden, propagation), scale=1.0)  # type: ignore[arg-type]


def features(n: int, d: int = 3) -> Tensor:
    return torch.randn(n, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


# --- One node's sum -------------------------------------------------------------------------------


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_what_a_node_hears_adds_up_to_its_state(propagation: str) -> None:
    model, x, edges = model_of(propagation), features(9), both_ways(G4)
    states = model.embeddings(x, edges)
    for layer in (1, 2, 3):
        for node in (0, 4, 8):  # node 8 is isolated
            heard = hearing.hear(model, x, edges, node, layer)
            neighbours = sorted(edges[0][edges[1] == node].tolist())
            assert heard.senders.tolist() == [*neighbours, node]
            omega = model.layers[layer - 1].weight
            h = states[layer - 1][heard.senders]
            assert torch.allclose(heard.transformed, h @ omega.T, atol=1e-12)
            assert torch.allclose(heard.messages, heard.weights[:, None] * heard.transformed, atol=1e-14)
            assert torch.allclose(heard.messages.sum(0) + heard.bias, heard.total, atol=1e-12)
            rule = heard.total if layer == 3 else heard.total.relu()
            assert heard.last == (layer == 3)
            assert torch.allclose(rule, heard.output, atol=1e-12)
            assert torch.allclose(heard.output, states[layer][node], atol=1e-12)


def test_each_step_of_the_sum_shows_numbers_that_make_its_result() -> None:
    model, x, edges = model_of(), features(8), both_ways(G4)
    for layer in (1, 3):
        heard = hearing.hear(model, x, edges, 4, layer)
        for unit in range(4):
            trace = contracts.trace_replays(lambda _, h=heard, u=unit: hearing.listen(h, u))
            assert len(trace) == len(heard.senders) + (1 if heard.last else 2)
            before = 0.0
            for i, step in enumerate(trace):
                shown = numbers(step.equation)
                if i < len(heard.senders):
                    so_far, weight, moved, total = shown
                    exact = so_far + weight * moved
                    assert so_far == pytest.approx(before, abs=1e-9)
                elif i == len(heard.senders):
                    so_far, bias, total = shown
                    exact = so_far + bias
                else:
                    value, total = shown[-2:]
                    exact = max(0.0, value)
                assert total == pytest.approx(exact, abs=4e-3)  # each operand is rounded to 3 digits
                assert total == pytest.approx(float(step.values["sum"][unit]), abs=5.1e-4)
                before = total
            assert before == pytest.approx(float(heard.output[unit]), abs=5.1e-4)


def test_recording_leaves_the_model_alone() -> None:
    model, x, edges = model_of(), features(8), both_ways(G4)
    before = model(x, edges)
    hearing.hear(model, x, edges, 4, 1)
    assert torch.equal(model(x, edges), before)
    assert not model.layers[0]._message_forward_hooks


def test_unknown_nodes_and_layers_are_one_sentence() -> None:
    model, x, edges = model_of(), features(8), both_ways(G4)
    with pytest.raises(UserError, match="no node 8: the nodes run from 0 to 7"):
        hearing.hear(model, x, edges, 8, 1)
    with pytest.raises(UserError, match="no layer 4: this model has layers 1 to 3"):
        hearing.hear(model, x, edges, 0, 4)


@pytest.mark.parametrize("value, text", [(-0.0001, "0.000"), (1.23456, "1.235"), (-2.0, "-2.000")])
def test_numbers_are_spelled_without_a_negative_zero(value: float, text: str) -> None:
    assert hearing.spell(value) == text
    assert hearing.factor(value) == (f"({text})" if text.startswith("-") else text)


# --- Editing --------------------------------------------------------------------------------------


def test_edits_join_and_cut_both_ways() -> None:
    edges = both_ways(G4)
    edited = graphs.edit(edges, 8, "+0-6, -1-0 +7-2")
    a = adjacency(edges, 8)
    a[0, 6] = a[6, 0] = a[2, 7] = a[7, 2] = 1
    a[0, 1] = a[1, 0] = 0
    assert torch.equal(adjacency(edited.edge_index, 8), a)
    assert edited.edge_index.shape[1] == int(a.sum())
    assert edited.added == [(0, 6), (2, 7)] and edited.removed == [(0, 1)]
    assert torch.equal(graphs.edit(edges, 8, "").edge_index, edges)
    undone = graphs.edit(edges, 8, "-0-1 +0-1")
    assert not undone.added and not undone.removed


@pytest.mark.parametrize(
    "edits, sentence",
    [
        ("+0-8", "there is no node 8, the nodes run from 0 to 7"),
        ("+3-3", "already sends node 3 its own state"),
        ("+0-1", "nodes 0 and 1 are joined already"),
        ("+0-6 +6-0", "nodes 0 and 6 are joined already"),
        ("-0-2", "there is no edge 0-2 to cut"),
        ("-0-1 -0-1", "there is no edge 0-1 to cut"),
        ("0-1", "is no edit: write"),
        ("+0", "is no edit: write"),
        ("<b>", "is no edit: write"),
        ("+0-99999999999999999999999", "there is no node"),
    ],
)
def test_a_bad_edit_is_one_sentence(edits: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as error:
        graphs.edit(both_ways(G4), 8, edits)
    assert "\n" not in str(error.value) and str(error.value).endswith(".")


def test_a_click_joins_cuts_and_takes_back() -> None:
    edges = both_ways(G4)
    assert graphs.toggle(edges, 8, "", 6, 0) == "+0-6"
    assert graphs.toggle(edges, 8, "+0-6", 0, 1) == "+0-6 -0-1"
    assert graphs.toggle(edges, 8, "+0-6 -0-1", 0, 6) == "-0-1"
    assert graphs.toggle(edges, 8, "-0-1", 1, 0) == ""


def test_an_edge_cut_changes_only_who_can_hear_of_it() -> None:
    model, edges = model_of(hidden=(5,)), both_ways(G10)
    x = features(23)
    before, after = (lens.predict(model, x, e) for e in (edges, graphs.edit(edges, 23, "-19-20").edge_index))
    # a weight changes where an end's degree does: at both ends and their neighbours, heard one hop on
    near = k_hop_subgraph([19, 20], 2, edges, num_nodes=23)[0]
    changed = (before - after).abs().amax(1) > 1e-12
    assert changed[[19, 20]].all()
    assert set(changed.nonzero()[:, 0].tolist()) <= set(near.tolist())
    assert changed.sum() < 23


# --- How far a node hears ---------------------------------------------------------------------------


def test_hops_are_the_first_power_that_reaches() -> None:
    for edges, n in ((both_ways(G10), 23), (torch.tensor([[0, 1, 2], [1, 2, 0]]), 4)):
        a = adjacency(edges, n)
        for node in range(n):
            distance = reaching.hops(edges, n, node)
            walk, expected = torch.eye(n, dtype=torch.float64), torch.full((n,), -1)
            for k in range(n):
                expected[(walk[:, node] > 0) & (expected < 0)] = k
                walk = walk @ a
            assert torch.equal(distance, expected)
    sizes = reaching.field_sizes(reaching.hops(both_ways(G10), 23, 16), 4)
    assert sizes == [1, 7, 18, 21, 23]


@pytest.mark.parametrize("propagation", PROPAGATIONS)
def test_the_gradients_support_is_the_k_hop_field(propagation: str) -> None:
    model, x, edges = model_of(propagation, (16, 16)), features(23), both_ways(G10)
    for node in (0, 16):
        distance = reaching.hops(edges, 23, node)
        for layer in (1, 2, 3):
            measured = reaching.influence(model, x, edges, node, layer)
            assert torch.equal(measured > 0, distance <= layer)
            walks = receptive_field.hops(edges, 23, layer)  # the other lens counts walks
            assert torch.equal(walks[node] > 0, distance <= layer)


def test_influence_is_the_sum_of_the_jacobian() -> None:
    model, x, edges = model_of(hidden=(5,)), features(8), both_ways(G4)
    jacobian = torch.autograd.functional.jacobian(lambda x: model.embeddings(x, edges)[1][2], x)  # (D', N, D)
    assert torch.allclose(reaching.influence(model, x, edges, 2, 1), jacobian.abs().sum((0, 2)), atol=1e-12)
    sparse = reaching.influence(model, x.to_sparse_csr(), edges, 2, 1)
    assert torch.allclose(sparse, jacobian.abs().sum((0, 2)), atol=1e-12)


def test_rings_and_their_names() -> None:
    distance = torch.tensor([0, 1, 2, 3, -1])
    assert reaching.rings(distance, 2).tolist() == [0, 1, 2, 3, 3]
    assert reaching.ring_names(2) == ["the node", "1 hop", "2 hops", "not heard"]
    assert len(figures.hop_colors(2)) == 4


def test_the_neighbourhood_drawn_is_the_nearest_nodes() -> None:
    edges = both_ways(G10)
    nodes = lens.neighbourhood(edges, 23, 16, 10)
    distance = reaching.hops(edges, 23, 16)
    assert len(nodes) == 10 and 16 in nodes
    assert distance[nodes].max() <= distance[[n for n in range(23) if n not in nodes]].min()
    inner = lens.inside(edges, nodes)
    back = nodes[inner]
    expected = {(a, b) for a, b in edges.T.tolist() if a in nodes and b in nodes}
    assert {(a, b) for a, b in back.T.tolist()} == expected
    assert torch.equal(lens.neighbourhood(edges, 23, 16, 40), torch.arange(23))


# --- What depth forgets -----------------------------------------------------------------------------


def test_smoothing_follows_the_second_eigenvalue() -> None:
    smooth = depth.smoothing(both_ways(G4), 8, "average", 64)
    assert smooth.rate == pytest.approx(0.81915, abs=1e-5)
    assert (smooth.distance[64] / smooth.distance[63]).item() == pytest.approx(0.81915, abs=1e-4)
    assert torch.allclose(smooth.expected[-3:], smooth.distance[-3:], rtol=1e-3)
    # one-hot states: row n of the state is row n of Sᵀ's power
    a = adjacency(both_ways(G4), 8)
    s = (a + torch.eye(8)) / (a.sum(0) + 1)  # (A + I)(D + I)⁻¹
    for k in (0, 1, 5):
        power = torch.linalg.matrix_power(s.T, k)
        unit = power / power.norm(dim=1, keepdim=True)
        assert torch.allclose(smooth.similarity[k], unit @ unit.T, atol=1e-12)
        laplacian = a.sum(0).diag() - a
        energy = torch.trace(power.T @ laplacian @ power) / power.norm() ** 2
        assert smooth.energy[k].item() == pytest.approx(energy.item(), abs=1e-12)
        ones = torch.ones(8, 1, dtype=torch.float64) / 8**0.5  # right eigenvector of an average
        outside = (power - ones @ (ones.T @ power)).norm() / power.norm()
        assert smooth.distance[k].item() == pytest.approx(outside.item(), abs=1e-12)
    assert smooth.similarity[64].min() > 0.999


def test_the_published_operators_energy_has_a_floor_but_its_distance_has_none() -> None:
    """Its limit is √(deg + 1), not a constant: plain variance would not fall to 0."""
    smooth = depth.smoothing(both_ways(G4), 8, "gcn", 200)
    assert smooth.energy[-1].item() == pytest.approx(0.0843, abs=5e-5)
    assert smooth.distance[-1] < 1e-12


def test_energies_of_the_average_from_a_ramp() -> None:
    """Known numbers for h = (1, ..., 8) under H ← H(A + I)(D + I)⁻¹."""
    edges = both_ways(G4)
    a = adjacency(edges, 8)
    s, laplacian = (a + torch.eye(8)) / (a.sum(0) + 1), a.sum(0).diag() - a
    h = torch.arange(1.0, 9, dtype=torch.float64)
    expected = {0: 0.2157, 1: 0.0801, 4: 0.0227, 8: 0.0048, 16: 0.0002}
    for k in range(17):
        if k in expected:
            assert (h @ laplacian @ h / (h @ h)).item() == pytest.approx(expected[k], abs=5.1e-5)
        h = h @ s


def test_separate_components_keep_a_state_each() -> None:
    """Two triangles: the dominant eigenspace has two dimensions, and nothing mixes across."""
    smooth = depth.smoothing(both_ways([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]), 6, "gcn", 3)
    assert smooth.distance[1].item() == pytest.approx(0, abs=1e-12)  # a triangle's average is complete
    assert not smooth.similarity[3][:3, 3:].any()
    ring = depth.smoothing(both_ways(RING), 6, "symmetric", 3)
    assert ring.rate == pytest.approx((1 + 0.5) / 2)  # cos(2π/6) = 1/2


def test_deep_nets_test_worse_than_shallow_ones() -> None:
    module = Karate()
    module.setup()
    results = {
        layers: (train, test) for layers, train, test in depth.train_depths(module.data, "gcn", (2, 16), 0)
    }
    assert results[2] == depth.train_depths(module.data, "gcn", (2,), 0)[0][1:]
    assert results[2][0] == 1.0 and results[2][1] > 0.7
    assert results[16][1] < results[2][1] - 0.2


# --- Figures ----------------------------------------------------------------------------------------


def test_the_layout_stands_still_and_keeps_nodes_apart() -> None:
    module = Karate()
    module.setup()
    p = networks.layout(module.data.edge_index, 34)
    assert torch.equal(p, networks.layout(module.data.edge_index, 34))
    distance = torch.cdist(p, p) + 9 * torch.eye(34)
    assert distance.min() > 0.9 * networks.APART
    for node in (0, 17, 33):
        assert networks.node_at(p, float(p[node, 0]) + 0.01, float(p[node, 1]) - 0.01) == node
    apart = networks.layout(torch.zeros(2, 0, dtype=torch.long), 2)  # no edge at all
    assert apart.isfinite().all() and networks.layout(torch.zeros(2, 0, dtype=torch.long), 1).shape == (1, 2)


def test_the_network_carries_its_nodes_for_clicks() -> None:
    edges = both_ways(G4)
    p = networks.layout(edges, 8)
    fig = networks.network(
        p, edges, classes=[0, 0, 1, 1, 0, 0, 1, 1], names=["a", "b"], selected=4, senders=[1, 2, 4],
        weights=[0.2, 0.4, 0.5], now=2, added=[(0, 6)], removed=[(0, 1)],
    )  # fmt: skip
    places = sorted(v[0] for trace in fig.data if trace.customdata is not None for v in trace.customdata)
    assert places == list(range(8))
    messages = [trace for trace in fig.data if trace.name == "message"]
    assert len(messages) == 2 and messages[1].line.width > messages[0].line.width
    assert {"joined", "cut"} <= {trace.name for trace in fig.data}


# --- The page: every number shown is computed again ---------------------------------------------------


def decimals(mathml: str) -> list[float]:
    """The numbers with decimals of an equation that a film shows."""
    return [float(v) for v in re.findall(r"-?\d+\.\d+", re.sub(r"<[^>]*>", " ", mathml).replace("- ", "-"))]


@pytest.fixture(scope="module")
def karate() -> tuple[GCN, Any]:
    from lab import experiments, weights

    experiment = experiments.find("gcn-karate")
    return weights.load(experiment.weights), graphs.graph(experiment.card).data


def test_the_pages_sum_is_the_models(karate: tuple[GCN, Any]) -> None:
    model, data = karate
    node, layer, unit = 2, 1, 3
    for edits in ("", "-2-32 +2-11"):
        edges = graphs.edit(data.edge_index, 34, edits).edge_index
        step = len(edges[0][edges[1] == node]) + 2  # the activation: neighbours, itself, β come before
        app = opened(node=node, layer=layer, unit=unit, edits=edits, step=step)
        shown = numbers(app.latex[0].value)[-1]
        bar = film(app)
        assert bar["at"] == step and decimals(bar["equations"][step])[-1] == shown
        bias, messages = numbers(app.latex[0].value)[:2]
        assert bias == pytest.approx(model.layers[layer - 1].bias[unit].item(), abs=5.1e-4)
        assert shown == pytest.approx(max(0.0, bias + messages), abs=1.6e-3)
        assert shown == pytest.approx(model.embeddings(data.x, edges)[layer][node, unit].item(), abs=5.1e-4)
        assert float(machine(app)["update"].removeprefix("Σ ")) == pytest.approx(shown, abs=1e-3)
        guess = int(model(data.x, edges)[node].argmax())
        assert f"predicted **community {guess}**" in captions(app)


def test_the_pages_field_counts_are_those_of_hops_and_gradients(karate: tuple[GCN, Any]) -> None:
    model, data = karate
    app = opened(view="Reach", node=16, layer=2)
    measured, reached = map(
        int, re.findall(r"(\d+) \\le (\d+)$", app.latex[0].value.replace("$", "").strip())[0]
    )
    assert reached == len(k_hop_subgraph(16, 2, data.edge_index, num_nodes=34)[0])
    x = data.x.clone().requires_grad_()
    jacobian = torch.autograd.functional.jacobian(lambda x: model(x, data.edge_index)[16], x)
    every = jacobian.abs().sum((0, 2))
    assert measured == int((every > 0).sum())
    ordered = every.sort(descending=True).values
    half = next(k for k in range(1, 35) if ordered[:k].sum() >= every.sum() / 2)
    assert f"Half of the gradient comes from {half} nodes." in captions(app)
    assert machine(app) == {"h": "34 nodes", "sum": f"{reached} in 2 hops"}


def test_the_pages_distance_is_the_operators(karate: tuple[GCN, Any]) -> None:
    _, data = karate
    app = opened(view="Depth", rounds=7)
    distance, rate = decimals(film(app, "rounds")["equations"][7])
    a = adjacency(data.edge_index, 34) + torch.eye(34, dtype=torch.float64)
    root = a.sum(0).rsqrt()
    s = root[:, None] * a * root
    values, vectors = torch.linalg.eigh(s)
    power = torch.linalg.matrix_power(s, 7)
    outside = power - vectors[:, -1:] @ (vectors[:, -1:].T @ power)
    assert distance == pytest.approx((outside.norm() / power.norm()).item(), abs=5.1e-4)
    assert rate == pytest.approx(values[:-1].abs().max().item(), abs=5.1e-4)


@pytest.mark.parametrize("edits", ["+0-99", "+3-3", "+0-1", "nonsense"])
def test_a_bad_edit_on_the_page_is_one_sentence(edits: str) -> None:
    app = open_warned("graph/messages", edits=edits)
    assert len(app.warning) == 1 and edits in app.warning[0].value
    assert not app.latex


def test_what_the_scenes_say(karate: tuple[GCN, Any]) -> None:
    model, data = karate
    result = scenes(opened())
    wrong = result["Removed edge"].values
    edges = graphs.edit(data.edge_index, 34, wrong["edits"]).edge_index
    before, after = (int(lens.predict(model, data.x, e)[2].argmax()) for e in (data.edge_index, edges))
    assert before != int(data.y[2]) == after
    heard = hearing.hear(model, data.x, data.edge_index, 0, 1)
    assert len(heard.senders) == 17  # sixteen neighbours and itself
    lonely = hearing.hear(model, data.x, data.edge_index, 11, 1)
    assert lonely.senders.tolist() == [0, 11] and lonely.weights[1] > lonely.weights[0]
    smooth = depth.smoothing(data.edge_index, 34, model.propagation, 32)
    assert smooth.similarity[32].min() > 0.99


def test_the_check_offers_no_more_nodes_than_there_are() -> None:
    for node in (0, 16, 33):
        app = opened(view="Reach", node=node)
        app.button(key=next(b.key for b in app.button if b.label == "Predict first")).click().run()
        assert all(1 <= int(option) <= 34 for option in app.radio[0].options)


def test_missing_data_on_the_page_are_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(tmp_path))
    graphs._graph.cache_clear()
    app = open_warned("graph/messages", model="gcn-cora")
    assert len(app.warning) == 1
    assert "ind.cora" in app.warning[0].value and "gcn-karate" in app.warning[0].value


@pytest.mark.real_data
def test_the_page_walks_on_cora(real_data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LECTERN_DATA", str(real_data("Cora")))
    graphs._graph.cache_clear()
    for view in ("Messages", "Reach", "Depth"):
        app = opened(model="gcn-cora", node=1701, view=view)
        assert not app.warning and app.get("bidi_component")


# --- Shipped weights ----------------------------------------------------------------------------------


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name, graph", [("gcn-cora", "Cora"), ("gcn-citeseer", "Citeseer"), ("gcn-karate", None)]
)
def test_shipped_weights_reach_their_card(name: str, graph: str | None, request, monkeypatch) -> None:
    from lab import experiments, weights

    if graph:
        monkeypatch.setenv("LECTERN_DATA", str(request.getfixturevalue("real_data")(graph)))
    experiment = experiments.find(name)
    model, card = weights.load(experiment.weights), experiment.card
    graphs._graph.cache_clear()
    data = graphs.graph(card).data
    with torch.no_grad():
        right = (model.predict(data).argmax(1) == data.y)[data.test_mask].float().mean().item()
    assert right == pytest.approx(card["shipped"]["metrics"]["test/acc"], abs=1e-6)
    assert len(card["seeds"]) == 10
    if name == "gcn-cora":  # Kipf & Welling: 81.5 %
        assert abs(card["metrics"]["test/acc"] - 0.815) <= 0.01
