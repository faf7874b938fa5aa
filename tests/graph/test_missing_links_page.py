"""The page Missing links: what is hidden, its ranking and area, what its scenes say on several seeds."""

import numpy as np
import pytest
import torch
from opening import open_page, warnings
from sklearn.metrics import roc_auc_score, roc_curve

from lab.errors import UserError
from lab.figures import networks
from lab.lenses import graphs
from pages.graph.missing_links import figures, lens
from pages.graph.missing_links.room import COMMUNITIES, FIGURE_13_11, KARATE, OWN


def found(graph: str = COMMUNITIES, hide: float = 0.1, dim: int = 8, seed: int = 0) -> lens.Found:
    return lens.found(graph, graphs.typed(FIGURE_13_11), hide, dim, 1, seed)


def test_nothing_that_is_asked_for_was_seen() -> None:
    for graph, edges in ((COMMUNITIES, 404), (KARATE, 78), (OWN, 41)):
        one = found(graph, 0.3)
        seen, whole = ({tuple(pair) for pair in e.T.tolist()} for e in (one.seen, one.world.edges))
        asked = [tuple(pair) for pair in one.pairs.T.tolist()]
        assert len(whole) == edges and len(set(asked)) == len(asked) == 2 * round(0.3 * edges)
        for pair, linked in zip(asked, one.linked.tolist(), strict=True):
            assert (pair in whole) == linked and pair not in seen
        assert len(seen) == edges - len(asked) // 2 and seen < whole
        assert float(one.nll[-20:].mean()) < float(one.nll[:5].mean())


def test_curve_and_area_are_those_of_scikit_learn() -> None:
    one = found(hide=0.2)
    assert bool((one.logits[:-1] >= one.logits[1:]).all())
    assert abs(one.auc - roc_auc_score(one.linked, one.logits)) < 1e-9
    false, true, _ = roc_curve(one.linked, one.logits, drop_intermediate=False)
    torch.testing.assert_close(one.false, torch.tensor(false))
    torch.testing.assert_close(one.true, torch.tensor(true))
    m, n = one.pairs
    torch.testing.assert_close(lens.probabilities(one)[m, n], one.p)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_scenes_say_holds_on_three_seeds(seed: int) -> None:
    many, single = found(seed=seed), found(dim=1, seed=seed)
    assert single.auc + 0.05 < many.auc and many.auc > 0.8
    assert float(many.true[20]) > 2 * float(many.false[20])  # the curve rises before it goes to the right
    half = found(hide=0.5, seed=seed)
    assert half.auc > 0.75
    assert int(torch.linalg.matrix_rank(single.z @ single.z.T)) == 1
    p, community = lens.probabilities(many), many.world.communities
    assert community is not None
    alike = community[:, None] == community
    assert float(p[alike].mean()) > float(p[~alike].mean()) + 0.3
    signs = lens.probabilities(single) > 0.5  # two blocks: three of four communities cannot be one
    shares = [float(signs[:30, 30 * k : 30 * (k + 1)].float().mean()) for k in range(4)]
    assert sum(share > 0.6 for share in shares) == 2
    own = found(OWN, 0.3, seed=seed)
    part = torch.bucketize(torch.arange(23), torch.tensor([4, 11, 16]))
    first = part[own.pairs[:, : int(own.linked.sum())]]
    assert int((first[0] == first[1]).sum()) > len(first.T) / 2


def test_texts_and_lines_of_each_frame() -> None:
    one = found(OWN, 0.3)
    captions, equations = lens.captions(one), lens.equations(one)
    count = len(one.linked)
    assert len(captions) == len(equations) == count + 1
    assert captions[-1].endswith(f"with {count // 2} of {count // 2} pairs that are none.")
    assert f"{float(one.p[0]):.3f}" in equations[1]
    tree = figures.graph(one, networks.layout(one.world.edges, 23))
    for kind, trace in ((True, tree["data"][1]), (False, tree["data"][2])):
        for k, xs in enumerate(trace["x"].values):
            drawn = xs[~np.isnan(xs)]
            assert len(drawn) == 2 * int((one.linked[:k] == kind).sum())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("0-1", "at least two"), ("0-1 0-2 1-2", "More than half of all pairs are joined")],
)
def test_graphs_without_anything_to_hide_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        lens.found(OWN, graphs.typed(text), 0.3, 2, 1, 0)


def test_pages_of_small_graphs_open() -> None:
    page = open_page("graph/missing_links")
    assert not warnings(page)
