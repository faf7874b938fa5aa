"""The page Gradients through time: norms, bounds and clipped gradients computed again; scenes that hold."""

from functools import cache

import numpy as np
import pytest
import torch
from opening import figure, film, open_page
from torch import Tensor

from lab.figures import moving
from lab.figures.basic import array
from modules.recurrent.cell import State
from modules.recurrent.rnn import RNNCell
from pages.recurrent.gradients import figures, lens
from pages.recurrent.gradients.room import GAINS, ROOM, TOGETHER
from pages.recurrent.gradients.room import State as Setting

SEEDS = (0, 1)


@cache
def ran(kind: str, weights: str, noise: float, bias: float, seed: int) -> list[lens.Run]:
    return lens.through_time(kind, weights, noise, bias, seed)


def at_scene(name: str, seed: int) -> tuple[Setting, list[Tensor], list[Tensor]]:
    """State, norms and limits over the lag at the gain where the scene opens."""
    now = ROOM.scenes[name].state
    kinds = lens.THREE if now.kind == TOGETHER else (now.kind,)
    runs = [lens.run(k, now.weights, now.noise, now.bias, seed, gains=(now.gain,)) for k in kinds]
    return now, [one.norms[0] for one in runs], [one.limit[0] for one in runs]


@pytest.mark.parametrize("kind", ["RNN, tanh", "RNN, ReLU", "LSTM", "GRU"])
def test_norms_are_those_of_autograd(kind: str) -> None:
    """Lag 5 at g = 1.2, by the derivative of the state after six steps by the state after one."""
    cell, w, x, first = lens.start(kind, "Gaussian", 1.0, 1.0, 3)
    cell.weight_h.copy_(1.2 * w)
    one = cell(x[:1], first)
    parts = [s for s in (one.h, one.cell) if s is not None]

    def later(flat: Tensor) -> Tensor:
        last = cell.unroll(x[None, 1:6], State(*flat.chunk(len(parts), 1)))[1]
        return torch.cat([s for s in (last.h, last.cell) if s is not None], 1)[0]

    expected = torch.autograd.functional.jacobian(later, torch.cat(parts, 1))[:, 0]
    norm = torch.linalg.matrix_norm(expected, 2)
    (result,) = ran(kind, "Gaussian", 1.0, 1.0, 3)
    torch.testing.assert_close(result.norms[GAINS.index(1.2), 5], norm, rtol=1e-10, atol=0)


@pytest.mark.parametrize("weights", ["Orthogonal", "Symmetric", "Gaussian", "Shear", "Nilpotent"])
@pytest.mark.parametrize("kind", ["RNN, tanh", "RNN, sigmoid"])
def test_no_norm_is_above_its_bound(kind: str, weights: str) -> None:
    for noise in (0.0, 1.0):
        (result,) = ran(kind, weights, noise, 1.0, 0)
        assert (result.norms <= result.limit * (1 + 1e-9)).all()


def test_powers_of_a_linear_network() -> None:
    """RN-O3: 0.9¹⁰⁰ and 1.1⁵⁰ with orthogonal weights, which the bound meets. RN-O4: a shear of radius 0.9
    peaks at lag 9; a nilpotent W leaves nothing after two steps, whatever its norm (RN-E4)."""
    for weights in ("Orthogonal", "Symmetric"):
        (result,) = ran("RNN, identity", weights, 1.0, 1.0, 0)
        assert result.norms[GAINS.index(0.9), 100].item() == pytest.approx(2.65614e-5, rel=1e-5)
        assert result.norms[GAINS.index(1.1), 50].item() == pytest.approx(117.3909, rel=1e-5)
        torch.testing.assert_close(result.norms, result.limit, rtol=1e-9, atol=0)
    (shear,) = ran("RNN, identity", "Shear", 1.0, 1.0, 0)
    norms = shear.norms[GAINS.index(0.9)]
    for n, norm in ((1, 5.157), (9, 19.3788), (20, 13.5095), (50, 1.4316), (100, 0.014756)):
        assert norms[n].item() == pytest.approx(norm, rel=1e-4)
    assert norms.argmax() == 9 and shear.radius[GAINS.index(0.9)].item() == pytest.approx(0.9, abs=1e-6)
    (nothing,) = ran("RNN, identity", "Nilpotent", 1.0, 1.0, 0)
    assert (
        nothing.norms[GAINS.index(1.0), 1].item() == pytest.approx(10)
        and (nothing.norms[GAINS.index(1.0), 2:] < 1e-12).all()
    )


def test_driven_and_undriven_networks_of_64_units() -> None:
    """RN-O5 at g = 1.2, log₁₀ of the norm after 100 steps; the bound is 7.92."""
    for noise, expected in ((1.0, -12.4), (0.0, 2.0)):
        result = lens.run("RNN, tanh", "Orthogonal", noise, 1.0, 0, hidden=64, gains=(1.2,))
        assert result.norms[0, -1].log10().item() == pytest.approx(expected, abs=2.5)
        assert result.limit[0, -1].log10().item() == pytest.approx(7.92, abs=0.01)


def test_the_direct_path_is_the_product_of_a_gate() -> None:
    """RN-O8: a gate that stands at σ(b) leaves 2.48e-14 after 100 steps at b = 1, .510924 at b = 5."""
    for bias, expected in ((1.0, 2.48e-14), (5.0, 0.510924)):
        assert lens.kept(bias) == pytest.approx(expected, rel=2e-3)
    (result,) = ran("GRU", "Orthogonal", 1.0, 1.0, 0)
    cell, w, x, first = lens.start("GRU", "Orthogonal", 1.0, 1.0, 0)
    cell.weight_h.copy_(GAINS[4] * w)
    kept = torch.ones(1, cell.hidden)
    for _, gates in cell.unroll(x[None], first)[2][1:]:
        kept = kept * gates["z"]
    torch.testing.assert_close(result.limit[4, -1], kept.amax(), rtol=1e-9, atol=0)


def test_clipping_is_that_of_torch() -> None:
    """The gradient at g = 1.2 by autograd, clipped by torch; by norm it keeps its direction."""
    found = lens.clipping("RNN, tanh", "Gaussian", 0.0, 1.0, 0, 0.1)
    cell, w, x, first = lens.start("RNN, tanh", "Gaussian", 0.0, 1.0, 0)
    cell.requires_grad_().weight_h.data.copy_(1.2 * w)
    cell.unroll(x[None], first)[1].h.mean().backward()
    f, flat = GAINS.index(1.2), torch.cat([p.grad.flatten() for p in cell.parameters()])
    assert found.raw[f].item() == pytest.approx(flat.norm().item(), rel=1e-9)
    torch.nn.utils.clip_grad_value_(cell.parameters(), 0.1)
    clipped = torch.cat([p.grad.flatten() for p in cell.parameters()])
    assert found.by_value[f].item() == pytest.approx(clipped.norm().item(), rel=1e-9)
    assert found.cosine[f].item() == pytest.approx(torch.cosine_similarity(flat, clipped, 0).item(), rel=1e-9)
    torch.testing.assert_close(found.by_norm, found.raw.clamp(max=0.1))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_scenes_say(seed: int) -> None:
    _, (norm,), (bound,) = at_scene("Vanishing gradient", seed)
    assert norm[-1] < 1e-9 and bound[-1] > 1e7
    _, (norm,), (bound,) = at_scene("Exploding gradient", seed)
    assert norm[-1] > 1e7 and norm[-1].item() == pytest.approx(bound[-1].item())
    _, (norm,), _ = at_scene("Undriven tanh", seed)
    assert norm[-1] > 2  # RN-E1: γ = 1 for tanh
    _, (norm,), (bound,) = at_scene("Sigmoid", seed)
    assert norm[-1] < bound[-1] < 1e-30 and (norm[1:] < bound[1:]).all()
    _, (norm,), _ = at_scene("Radius below one", seed)
    assert norm[1] > 5 and norm[9] > 19 and norm[-1] < 1
    _, (norm,), (direct,) = at_scene("Forget bias 1", seed)
    assert direct[-1] < norm[-1] < 1e-6  # RN-E5
    _, (rnn, lstm, gru), _ = at_scene("Three cells", seed)
    assert rnn[-1] < 1e-15 and lstm[-1] > 0.5 and gru[-1] > 0.5
    now = ROOM.scenes["Clipping"].state
    found = lens.clipping(now.kind, now.weights, now.noise, now.bias, seed, now.threshold)
    f = GAINS.index(now.gain)
    assert found.raw[f] > 1e8 and found.by_norm[f].item() == pytest.approx(now.threshold)
    assert found.cosine[f] < 0.8 and found.by_norm[0] == found.raw[0]


def test_lines_end_where_they_leave_the_plot() -> None:
    runs = ran("RNN, sigmoid", "Orthogonal", 1.0, 1.0, 0)
    tree = figures.norms(runs, False)
    low, high = tree["layout"]["yaxis"]["range"]
    (line, bound), f = moving.at(tree, 3).data, 3
    known = array(runs[0].norms[f])
    inside = known >= 10.0**low
    assert not inside.all() and (line.y[inside] == known[inside]).all() and np.isnan(line.y[~inside]).all()
    assert [trace.name for trace in (line, bound)] == ["norm", "bound"] and high == 5


def test_the_page_shows_its_numbers() -> None:
    page = open_page("recurrent/gradients")
    bar, (_, arrays) = film(page, "gain"), figure(page, "norms")
    (run,) = ran("RNN, tanh", "Orthogonal", 1.0, 1.0, 0)
    f = GAINS.index(1.2)
    assert bar["at"] == f and bar["count"] == len(GAINS)
    assert f"norm {run.norms[f, -1]:.2g}, bound {1.2**100:.2g}" in bar["captions"][f]
    assert torch.tensor(arrays["data.0.y"][f]).tolist() == pytest.approx(run.norms[f].tolist(), rel=1e-6)
    page = open_page("recurrent/gradients", kind="LSTM", view="Clipping")
    assert figure(page, "clipped")[0]["alt"] and len(film(page, "gain")["captions"]) == len(GAINS)


def test_a_plain_rnn_has_one_weight_matrix() -> None:
    cell, w, _, _ = lens.start("RNN, tanh", "Gaussian", 1.0, 1.0, 0)
    assert isinstance(cell, RNNCell) and w.shape == cell.weight_h.shape
    (result,) = ran("RNN, tanh", "Gaussian", 1.0, 1.0, 0)
    assert result.radius[0] < 0.8 * result.top[0]  # a Gaussian matrix is not normal
