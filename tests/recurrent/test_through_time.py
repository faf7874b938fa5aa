"""The receptive field along time: behind only, or on both sides; both measures by brute force."""

import pytest
import torch
from test_cells import drawn, randomised
from torch import Tensor

from lab.lenses import through_time
from modules.recurrent.labelling import Tagger
from modules.recurrent.language_model import RecurrentLM
from modules.recurrent.stack import Recurrent

T = 6
NETWORKS = [
    ("rnn", {}),
    ("rnn", {"nonlinearity": "sigmoid"}),
    ("lstm", {}),
    ("gru", {}),
    ("gru", {"reset": "before"}),
    ("gru", {"biases": 2}),
]


def test_paths_by_hand() -> None:
    """Through two layers a step is reached by a path for each step at which it may change layers."""
    one, two = (through_time.paths(Recurrent("gru", 2, 3, layers), 4) for layers in (1, 2))
    assert one.tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert two.tolist() == [[1, 0, 0, 0], [2, 1, 0, 0], [3, 2, 1, 0], [4, 3, 2, 1]]
    both = through_time.paths(Recurrent("gru", 2, 3, bidirectional=True), 3)
    assert both.tolist() == [[2, 1, 1], [1, 2, 1], [1, 1, 2]]  # a step reaches itself in both directions


@pytest.mark.parametrize("name, options", NETWORKS)
@pytest.mark.parametrize("layers, both", [(1, False), (3, False), (1, True), (2, True)])
def test_gradients_reach_where_the_theory_has_a_path_and_nowhere_else(
    name: str, options: dict, layers: int, both: bool
) -> None:
    """Each is that of autograd on one sequence, and of finite differences."""
    network = randomised(Recurrent(name, 3, 4, layers, both, **options))  # type: ignore[arg-type]
    x, head = drawn(T, 3), drawn(network.outputs, 2, seed=2)  # of both directions
    found = through_time.gradients(lambda x: network(x)[0] @ head, x, [(t, 1) for t in range(T)])
    assert torch.equal(found > 0, through_time.paths(network, T) > 0)
    assert both or torch.equal(found, found.tril())

    def said(sequence: Tensor) -> Tensor:
        return (network(sequence[None])[0] @ head)[0, :, 1]  # (T,)

    slopes = torch.autograd.functional.jacobian(said, x)  # (T, T, D)
    torch.testing.assert_close(found, slopes.abs().amax(-1), rtol=0, atol=1e-12)
    steps = torch.zeros_like(slopes)
    with torch.no_grad():
        for k in range(T):
            for d in range(3):
                nudge = torch.zeros_like(x)
                nudge[k, d] = 1e-6
                steps[:, k, d] = (said(x + nudge) - said(x - nudge)) / 2e-6
    torch.testing.assert_close(found, steps.abs().amax(-1), rtol=1e-6, atol=1e-8)


def test_a_reading_from_the_left_hears_nothing_that_comes_and_both_ways_hear_it() -> None:
    left, both = (
        randomised(Tagger(vocab_size=7, num_classes=3, embedding=4, hidden=5, bidirectional=way)).eval()
        for way in (False, True)
    )
    x = both.embedding(torch.tensor([1, 4, 2, 2, 6, 3])).detach()
    heard = [
        through_time.gradients(lambda e, m=m: m.head(m.recurrent(e)[0]), x, [(2, 1)])[0] for m in (left, both)
    ]
    assert (heard[0][:3] > 0).all() and (heard[0][3:] == 0).all()
    assert (heard[1] > 0).all()


@pytest.mark.parametrize("both", [False, True])
def test_replaced_tokens_move_what_they_reach(both: bool) -> None:
    """Each number is that of the two texts read alone."""
    tagger = randomised(Tagger(vocab_size=7, num_classes=3, embedding=4, hidden=5, bidirectional=both)).eval()
    tokens = torch.tensor([1, 4, 2, 2, 6, 3])
    others = tokens.expand(2, T, -1).clone()
    at = torch.arange(T)
    others[:, at, at] = 1 + (tokens + torch.tensor([[0], [1]])) % 6
    found = through_time.replacing(
        tagger.predict, tokens, others, lambda p, q: (p - q).square().sum(-1).sqrt()
    )
    assert found.shape == (2, T, T)
    assert torch.equal(found > 1e-6, (through_time.paths(tagger.recurrent, T) > 0).expand(2, -1, -1))
    with torch.no_grad():
        own = tagger.predict(tokens[None])[0]
        for s in range(2):
            for k in range(T):
                moved = (tagger.predict(others[s, k][None])[0] - own).norm(dim=-1)
                torch.testing.assert_close(found[s, :, k], moved, rtol=0, atol=1e-12)


def test_of_a_language_model_both_measures_agree_where_the_step_is_small() -> None:
    """Where another token differs by a small step in one feature, log p moves by gradient times step: that
    of the feature that moves it most is what `gradients` shows."""
    model = randomised(RecurrentLM(vocab_size=6, embedding=3, hidden=5)).eval()
    tokens, place, step = torch.tensor([0, 3, 1, 4, 2]), 1, 1e-5
    slopes = through_time.gradients(
        lambda x: model.head(model.recurrent(x)[0]).log_softmax(-1), model.embedding(tokens), [(4, 2)]
    )
    others = tokens.expand(1, 5, -1).clone()
    others[0, place, place] = 5
    moved = []
    for feature in range(3):
        near = model.embedding.weight.data[3].clone()
        near[feature] += step
        model.embedding.weight.data[5] = near
        found = through_time.replacing(
            lambda ids: model(ids)[0].log_softmax(-1)[..., 2], tokens, others, lambda p, q: (p - q).abs()
        )
        assert found[0, :, [0, 2, 3, 4]].max() < 1e-12  # these texts are the same
        moved.append(found[0, 4, place].item())
    assert max(moved) == pytest.approx(step * slopes[0, place].item(), rel=1e-3)
