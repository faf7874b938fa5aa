"""The page of generators: what it shows, recomputed; what its scenes say, on several seeds."""

import networkx as nx
import numpy as np
import pytest
import torch
from opening import open_page, warnings

from datamodules.graph_families import grid
from lab.errors import UserError
from lab.weights import load
from modules.graph.graph_rnn import GraphRNN
from modules.graph.vgae import VGAE
from pages.graph.generators import figures, lens
from pages.graph.generators.room import MEANS, PRIOR, STARTS


def model(name: str) -> GraphRNN:
    found = load(name)
    assert isinstance(found, GraphRNN)
    return found


def card(family: str) -> lens.Card:
    return {"config": {"data": {"init_args": {"family": family}}}}


def test_frames_show_the_rows_that_were_drawn() -> None:
    trace = lens.grown(model("graphrnn-grids"), None, 1.0, 0)
    assert lens.valid(trace.result, "grids") and trace[7].caption == "Node 8 is joined to 6 and 4."
    drawn, rows = figures.growth(trace), figures.matrix(trace)["data"][0]["z"].values
    total = 0.0
    for f, step in enumerate(trace):
        node = step.values["node"]
        lit = drawn["data"][1]["x"].values[f]
        degree = int(trace.result[node, :node].sum()) if node < len(trace.result) else 0
        assert np.isfinite(lit).sum() == 2 * degree
        assert np.isfinite(rows[f]).sum() == node * (node + 1) / 2
        p, taken = rows[f][node, :node], step.values["row"][:node].flip(0).numpy()
        total += float(np.log(np.where(taken > 0, p, 1 - p)).sum())
        assert abs(total - step.values["log_p"]) < 1e-4
    square = lens.grown(model("graphrnn-grids"), lens.beginning(STARTS["Square"]), 1.0, 0)
    assert lens.valid(square.result, "grids") and square[2].caption == "Node 3 is given, joined to 2 and 1."
    assert square[2].values["log_p"] == 0


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_scenes_say_holds_on_three_seeds(seed: int) -> None:
    shares = {}
    for name in ("graphrnn-grids", "graphrnn-s-grids", "graphrnn-trees", "graphrnn-s-trees"):
        family = name.rpartition("-")[2]
        shares[name] = [lens.valid(a, family) for a in lens.sampled(model(name), 1.0, seed)].count(True)
    assert shares["graphrnn-grids"] > 60 > 20 > shares["graphrnn-s-grids"]
    assert shares["graphrnn-trees"] > 90 > 60 > shares["graphrnn-s-trees"]
    one = lens.measured(model("graphrnn-grids"), card("grids"), 1.0, seed)
    ours, random = one.mmds["the model"], one.mmds["Erdős–Rényi"]
    assert all(2 * ours[name] < random[name] for name in ours) and 50 * ours["degrees"] < random["degrees"]
    vgae = load("vgae-communities")
    assert isinstance(vgae, VGAE)
    prior, means = lens.embedded(vgae, PRIOR, seed), lens.embedded(vgae, MEANS, seed)
    assert 0.5 < prior.density[0] / prior.density[1] < 2
    assert abs(means.density[0] - means.density[1]) < 1e-6
    assert means.communities is not None
    alike = means.communities[:, None] == means.communities
    assert float(means.p[alike].mean()) > 3 * float(means.p[~alike].mean())


def test_grids_and_trees_are_told_from_others() -> None:
    ring, path = nx.cycle_graph(6), nx.path_graph(5)
    assert lens.valid(grid(3, 4), "grids") and lens.valid(torch.tensor(nx.to_numpy_array(path)), "trees")
    for family in ("grids", "trees"):
        assert lens.valid(torch.tensor(nx.to_numpy_array(ring)), family) is False
    assert lens.valid(grid(2, 2), "communities") is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0-1 2-3", "Node 2 is not joined to node 0"),
        (" ".join(f"{n}-{n + 1}" for n in range(19)), "20 nodes, and a model makes at most 20"),
        ("0", "A node alone is how every graph begins"),
    ],
)
def test_graphs_that_no_model_goes_on_from_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        lens.beginning(text)


def test_the_page_opens_with_two_communities() -> None:
    page = open_page("graph/generators", model="graphrnn-communities", view="Gallery")
    assert not warnings(page)
