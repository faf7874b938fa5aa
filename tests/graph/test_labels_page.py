"""The page Labels spread: two networks at once as each alone, labels that are told, what its scenes say."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from opening import film, open_page
from torch import nn

from lab.errors import UserError
from lab.figures import networks, theme
from lab.figures.moving import at
from lab.lenses import graphs
from lab.seeding import seeded
from modules.graph import encoding
from modules.graph.gcn import GCN
from pages.graph.labels import figures, lens, room, words
from pages.graph.labels.room import COMMUNITIES, KARATE, OWN

FIGURE = graphs.typed(room.FIGURE_13_11)
ENDS = "1:0 22:1"


def spread(
    graph: str = KARATE, labels: str = "", each: int = 1, layers: int = 2, kept: float = 1.0,
    hide: bool = False, seed: int = 0,
) -> lens.Spread:  # fmt: skip
    return lens.spread(graph, FIGURE, lens.told(labels), each, layers, kept, hide, 0.03, seed)


@pytest.fixture(scope="module")
def club() -> list[lens.Spread]:
    return [spread(seed=seed) for seed in range(3)]


def test_the_graph_network_is_that_of_the_family(club: list[lens.Spread]) -> None:
    """Trained by itself, on the edges and on sparse matrices."""
    data, one = graphs.karate().data, club[0]
    model = seeded(partial(GCN, 34, 4, [16], dropout=0.0), 0)
    optimizer = torch.optim.Adam(model.parameter_groups(), lr=0.03)
    for _ in room.STEPS[:-1]:
        loss = F.cross_entropy(model(data.x, data.edge_index)[data.train_mask], data.y[data.train_mask])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert torch.equal(one.nodes, data.train_mask.nonzero()[:, 0])
    torch.testing.assert_close(
        one.p[-1, 0], model(data.x, data.edge_index).softmax(1).detach(), rtol=0, atol=1e-3
    )


def test_the_dense_network_is_a_perceptron(club: list[lens.Spread]) -> None:
    data, one = graphs.karate().data, club[0]
    net = seeded(partial(GCN, 34, 4, [16], dropout=0.0), 0)
    dense = nn.Sequential(nn.Linear(34, 16), nn.ReLU(), nn.Linear(16, 4))
    for mine, layer in zip((dense[0], dense[2]), net.layers, strict=True):
        mine.load_state_dict({"weight": layer.weight, "bias": layer.bias})
    torch.testing.assert_close(one.p[0, 1], dense(data.x).softmax(1).detach())
    nll = F.cross_entropy(dense(data.x)[one.nodes], one.labels)
    assert float(one.loss[0, 1]) == pytest.approx(float(nll.detach()), abs=1e-5)
    alone = spread(kept=0.0)
    assert torch.equal(alone.p[:, 0], alone.p[:, 1]) and not alone.edges.numel()


def test_hidden_nodes_are_not_heard_in_training() -> None:
    """The loss is that of the graph without them; the answers are those of the whole graph."""
    one = spread(COMMUNITIES, each=2, hide=True)
    data = graphs.communities().graph()
    seen = data.edge_index[:, ~one.test[data.edge_index].any(0)]
    assert not one.test[seen].any() and int(one.test.sum()) == 56 and not one.test[one.nodes].any()
    net = seeded(partial(GCN, 32, 4, [16], dropout=0.0), 0)
    nll = F.cross_entropy(net(data.x, seen)[one.nodes], one.labels)
    assert float(one.loss[0, 0]) == pytest.approx(float(nll.detach()), abs=1e-5)
    whole = net(data.x, data.edge_index).softmax(1).detach()
    torch.testing.assert_close(one.p[0, 0], whole, rtol=0, atol=1e-5)


def test_what_the_scenes_of_the_club_say_holds_on_three_seeds(club: list[lens.Spread]) -> None:
    y, near = graphs.karate().data.y, FIGURE
    away = encoding.distances(near)[[1, 22]].amin(0)
    for seed, one in enumerate(club):
        assert float(one.right[-1, 0]) > float(one.right[-1, 1]) + 0.25
        assert float(one.fitted[-1].min()) == 1
        sure = lens.certainty(one.p[:, 0])
        assert float(sure[14].mean()) < 0.6 < 0.8 < float(sure[-1].mean())
        wrong = spread(labels="0 4 8 24 33:1", seed=seed)
        heard = graphs.karate().data.edge_index
        friends = heard[0][heard[1] == 33]
        bad, before = (each.p[-1, 0].argmax(-1) != y for each in (wrong, one))
        assert int(bad[friends].sum()) >= int(before[friends].sum()) + 3
        single, double = (lens.certainty(spread(OWN, ENDS, layers=k, seed=seed).p[-1, 0]) for k in (1, 2))
        assert float(single[away > 2].mean()) < 0.2 < float(single[away == 2].mean()) < 0.5
        assert float(double[away == 2].mean()) > 0.8
        ends = spread(OWN, ENDS, seed=seed).p[-1, 0].argmax(-1)
        assert not ends[[0, 1, 2, 3, 4, 12, 13]].any() and ends[17:].all()


def test_what_the_scenes_of_communities_say_holds_on_three_seeds() -> None:
    higher = []
    for seed in range(3):
        few, more = spread(COMMUNITIES, seed=seed), spread(COMMUNITIES, each=10, seed=seed)
        assert float(few.right[-1, 0]) > 0.9 > 0.45 > float(few.right[-1, 1])
        assert float(few.right[-1, 1]) + 0.1 < float(more.right[-1, 1]) < float(few.right[-1, 0])
        seen, unseen = (spread(COMMUNITIES, each=2, hide=hide, seed=seed) for hide in (False, True))
        assert float(unseen.right[-1, 0]) > float(unseen.right[-1, 1]) + 0.2
        higher.append(float(seen.right[-1, 0] - unseen.right[-1, 0]))
    assert 0.01 < sum(higher) / 3 < 0.3


def test_labels_are_told() -> None:
    assert lens.told("33:1, 0;5") == ((33, 1), (0, None), (5, None)) and lens.told(" ") == ()
    one = spread(labels="33:1 0")
    assert one.nodes.tolist() == [0, 33] and one.labels.tolist() == [1, 1]
    many = spread(COMMUNITIES, each=3, layers=1)
    assert graphs.communities().graph().y[many.nodes].bincount().tolist() == [3, 3, 3, 3]
    assert spread(each=10, layers=1).labels.bincount().tolist() == [10, 10, 3, 4]
    assert spread(OWN, layers=1).nodes.tolist() == [0, 22]


@pytest.mark.parametrize(
    ("text", "graph", "sentence"),
    [("x", KARATE, "“x” is no labelled node"), ("😀", KARATE, "no labelled node"), ("34", KARATE, "0 to 33"),
     ("1:4", KARATE, "from 0 to 3"), ("3", OWN, "Nobody knows the class of node 3"),
     ("1:4", OWN, "from 0 to 3"),
     (" ".join(str(n) for n in range(33)), KARATE, "at least two"), ("1 " * 41, KARATE, "at most 40"),
     ("9" * 50, KARATE, "no labelled node")],
)  # fmt: skip
def test_labels_that_cannot_be_are_named(text: str, graph: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        spread(graph, text, layers=1)


def test_a_click_tells_a_class_or_takes_it_back(club: list[lens.Spread]) -> None:
    assert lens.clicked(club[0], 5) == "0 4 5 8 24" and lens.clicked(club[0], 8) == "0 4 24"
    own = spread(OWN, ENDS, layers=1)
    assert lens.clicked(own, 7) == "1:0 7:0 22:1" and lens.clicked(own, 1) == "1:1 22:1"
    assert lens.clicked(spread(OWN, "1:3", layers=1), 1) == "1:3"  # the last one stays


def test_colours_and_rings_are_those_of_the_answers(club: list[lens.Spread]) -> None:
    one = club[0]
    tints = figures.tints(torch.tensor([[[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]]]))
    assert tints == [[theme.BLUE, theme.paper()]]
    tree = figures.nodes(one, networks.layout(one.world.edges, 34), 0)
    shown = next(trace for trace in at(tree, 60).data if trace.customdata is not None)
    wrong = one.p[-1, 0].argmax(-1) != one.world.classes
    assert [c == theme.VERMILLION for c in shown.marker.line.color] == wrong.tolist()
    assert [w == 5 for w in shown.marker.line.width] == [n in (0, 4, 8, 24) for n in range(34)]
    assert shown.hovertext[0].startswith("node 0: class 1, ") and "told 1" in shown.hovertext[0]
    assert f"{100 * float(one.right[-1, 0]):.0f} % right" in words.captions(one)[-1]
    assert f"{float(one.loss[-1, 1]):.3f}" in words.equations(one)[-1]


@pytest.mark.parametrize("given", [
    {"graph": OWN, "own": "0-1 1-2", "labels": "0:0 ", "view": room.ACCURACY},
    {"kept": 0.5, "view": room.LOSS},
])  # fmt: skip
def test_pages_open(given: dict) -> None:
    assert film(open_page("graph/labels", **given))
