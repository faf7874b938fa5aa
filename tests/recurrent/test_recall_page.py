"""The page Long-lag bench: its gradients are those of autograd, its table is the bench's, its scenes hold."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from opening import figure, film, open_warned, run_page, spoken, warnings

from datamodules.algorithmic import CLASSES, Recall
from lab.bench import recall
from lab.lenses import rewind
from lab.lenses.rewind import stacked
from pages.recurrent.recall import lens, room


def whole(until: int, **parameters: object):
    """The page when it has trained."""
    page = run_page("recurrent/recall", until=until, **parameters)
    for _ in range(60):
        if film(page)["count"] == until + 1 and not page.button(key="train").disabled:
            break
        page.run()
    assert not page.exception and not page.error and film(page)["count"] == until + 1
    return page


def trained(setting: room.State, frames: int, seed: int) -> list[rewind.Frame]:
    knobs = rewind.knobs_of({"rate": setting.rate, "clip": setting.clip})
    recipe = lens.RecallRecipe(setting.cell, setting.lag, seed)
    run = rewind.Store().run(recipe, (rewind.Segment(0, knobs),))
    run.advance(frames, 1e9)
    return run.frames()


@pytest.mark.parametrize("name", [room.UNIFORM, room.LSTM_1, room.GRU_5])
def test_the_gradient_at_each_step_is_autograds(name: str) -> None:
    """Each state made a leaf, the rest of the sequence read from it."""
    network = recall.Network(*lens.STARTS[name], 6).double()
    x, y = Recall(lag=4).draw(5, 0)
    x, cell = x.double(), network.recurrent.cells[0]
    norms, gates = lens.through_time(network, x, y)
    states = [state for state, _ in cell.unroll(x)[2]]
    for t, state in enumerate(states):
        leaf = state.map(lambda s: s.detach().requires_grad_())
        last = cell.unroll(x[:, t + 1 :], leaf)[1]
        loss = F.cross_entropy(network.head(last.h), y)
        parts = [part for part in (leaf.h, leaf.cell) if part is not None]
        grads = torch.autograd.grad(loss, parts, allow_unused=True)
        flat = torch.cat([g for g in grads if g is not None], 1)
        torch.testing.assert_close(norms[t], flat.norm())
    inside = network.recurrent.unroll(x)[2][0]
    for gate, means in gates.items():
        values = 1 - inside["h"].square() if gate == lens.SLOPE else inside[gate]
        torch.testing.assert_close(means, values.mean((0, 2)).detach())
    assert list(gates) == lens.gates_of(type(cell))


def test_a_start_is_what_its_name_says() -> None:
    for name, count in ((room.LSTM_0, 0.5), (room.LSTM_1, 0.731), (room.LSTM_5, 0.993), (room.GRU_5, 0.993)):
        frame = trained(room.State(cell=name, lag=10), 0, 0)[0]
        assert float(frame["gates"][0].mean()) == pytest.approx(count, abs=0.02)
    assert float(trained(room.State(lag=10), 0, 0)[0]["right"]) == pytest.approx(1 / CLASSES, abs=0.08)


def test_the_table_is_what_the_bench_kept() -> None:
    found = lens.bench()
    assert {name for name, _ in found} == set(recall.STARTS)
    assert {lag for _, lag in found} == set(recall.LAGS)
    assert {kept.seeds for kept in found.values()} == {recall.SEEDS}
    assert all((kept.steps is None) == (kept.succeeded == 0) for kept in found.values())
    for cell in ("RNN", "LSTM", "GRU"):  # what the scene Five seeds says, and the question asks
        few, all_ = sorted(kept.succeeded for (name, lag), kept in found.items()
                           if name.startswith(cell) and lag == max(recall.LAGS))  # fmt: skip
        assert few < all_ / 2 and all_ == recall.SEEDS
    assert len(lens.always(100)) == 3 and sum(not found[name, 20].succeeded for name in recall.STARTS) == 1


@pytest.mark.parametrize("seed", [0, 1])
def test_what_the_quick_scenes_say(seed: int) -> None:
    scenes = {name: scene.state for name, scene in room.ROOM.scenes.items()}
    assert lens.arrives(trained(scenes["Uniform start"], 0, seed)[0]) < 1e-3
    ran = trained(scenes["Orthogonal start"], 5, seed)
    assert lens.arrives(ran[0]) > 0.1 and float(ran[5]["right"]) > 0.98
    ran = trained(scenes["Forget bias 5"], 6, seed)
    assert lens.arrives(ran[0]) > 0.1 and float(ran[6]["right"]) > 0.98
    assert lens.arrives(trained(scenes["Forget bias 0"], 0, seed)[0]) < 1e-3


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_what_the_slow_scenes_say(seed: int) -> None:
    scenes = {name: scene.state for name, scene in room.ROOM.scenes.items()}
    ends = {
        name: trained(state, state.until, seed)[-1]
        for name, state in scenes.items()
        if name in ("Uniform start", "Forget bias 0", "Lag 50", "Too fast")
    }
    right = {name: float(end["right"]) for name, end in ends.items()}
    assert right["Uniform start"] < 0.3 and right["Forget bias 0"] < 0.3 and right["Lag 50"] > 0.98
    assert right["Too fast"] < 0.9 and float(ends["Too fast"]["gates"].mean()) < 0.15


def test_the_page_shows_these_numbers() -> None:
    page = whole(2, lag=10, cell=room.LSTM_5, clip=0)
    frames = trained(room.State(lag=10, cell=room.LSTM_5, clip=0.0), 2, 0)
    bar = film(page)
    assert bar["count"] == 3 and "not clipped" in bar["captions"][1]
    assert f"{float(frames[2]['right']):.0%} of 256" in bar["captions"][2]
    numbers = spoken(bar["equations"][2])
    assert numbers[-1] == pytest.approx(lens.arrives(frames[2]), rel=0.06), numbers
    _, arrays = figure(page, "inside")
    share = stacked(frames, "gradient") / stacked(frames, "gradient")[:, -1:]
    np.testing.assert_allclose(arrays["data.0.y"], share, rtol=1e-3)
    np.testing.assert_allclose(arrays["data.1.y"], stacked(frames, "gates")[:, 0], atol=1e-5)


def test_a_course_without_the_knob_of_clipping_is_one_sentence() -> None:
    page = open_warned("recurrent/recall", course="0:rate=0.01")
    assert "Part 1 of the course" in warnings(page)


def test_a_number_is_spelled_with_two_figures() -> None:
    assert [lens.scientific(v) for v in (0.48, 1.7e-5, 0.0, 300.0, float("nan"))] == [
        "0.48", r"1.7 \cdot 10^{-5}", "0", "300", r"\text{undefined}",
    ]  # fmt: skip
    assert [lens.answer(v) for v in (1e-4, 0.5, 3.0)] == lens.OPTIONS
