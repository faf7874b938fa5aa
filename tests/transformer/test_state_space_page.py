"""The page State space: its numbers by another road, its scenes, and what it refuses."""

import math

import numpy as np
import pytest
import torch
from opening import film, open_page, run_page

from lab.errors import UserError
from lab.lenses import scan_rounds
from pages.transformer.state_space import hippo, lens
from pages.transformer.state_space.room import DELTAS, MEMORY, ROOM, SCAN, STEP, SYSTEMS

STATES = {name: scene.state for name, scene in ROOM.scenes.items()}


def forms(name: str) -> lens.Forms:
    now = STATES[name]
    return lens.forms(lens.signal(now.signal), now.system, now.delta, now.padded)


@pytest.mark.parametrize("system", SYSTEMS)
def test_outputs_are_sums_over_the_response(system: str) -> None:
    found = lens.forms([1.0, 2.0, 0.0, -1.0], system, 0.5, True)
    for t in range(4):
        y = sum(float(found.response[t - s] * found.x[s]) for s in range(t + 1))
        for form in (found.by_recurrence, found.by_convolution, found.by_fft):
            assert abs(float(form[t]) - y) < 1e-12


def test_the_memory_is_the_best_polynomial() -> None:
    """Of a line and N = 2 it is the line itself; of any past its mean is the first coefficient."""
    found = hippo.memory([0.0, 6.0], 2)
    assert float(found.errors[-1]) < 0.1
    found = hippo.memory([1.0, -2.0, 3.0, 0.0], 16)
    for t in (10, 60, hippo.PARTS - 1):
        assert abs(float(found.coefficients[t, 0] - found.x[: t + 1].mean())) < 1e-9
    past, memory = found.x, found.memory[-1]
    u = (2 * (np.arange(hippo.PARTS) + 0.5) / hippo.PARTS) - 1
    best = np.polynomial.legendre.Legendre.fit(u, past.numpy(), 15)(u)
    assert float(np.abs(best - memory.numpy()).mean()) < 0.05
    assert torch.isnan(found.memory[5, 6:]).all() and not torch.isnan(found.memory[5, :6]).any()


def test_every_round_doubles_what_is_composed() -> None:
    found = lens.scan([1.0, 2.0, 0.0, -1.0, 3.0], 0.5)
    assert found.count == 3 and scan_rounds.composed(found, 2) == [1, 2, 3, 4, 4]
    h = 0.0
    for t, b in enumerate([1.0, 2.0, 0.0, -1.0, 3.0]):
        h = 0.5 * h + b
        assert abs(float(found.b[-1, t]) - h) < 1e-12 and abs(float(found.states[t]) - h) < 1e-12
    assert lens.scan([2.0], 0.5).count == 0 and len(scan_rounds.scan_equations(lens.scan([2.0], 0.5))) == 1


def test_what_the_scenes_say() -> None:
    assert forms("Three forms").apart < 1e-12 < 0.1 < forms("Unpadded FFT").apart
    wrong = (forms("Unpadded FFT").by_fft - forms("Unpadded FFT").by_recurrence).abs()
    assert wrong[:3].min() > 1e-3 and wrong[-1] < 1e-12
    A, _, _ = lens.matrices(STATES["No inverse"].system)
    assert float(torch.linalg.det(A)) == 0 and forms("No inverse").by_recurrence.isfinite().all()
    now = STATES["Zero-order hold"]
    found = lens.steps(lens.signal(now.signal), now.system)
    f, ends = DELTAS.index(now.size), slice(lens.FINE - 1, None, lens.FINE)
    apart = {name: float((y[f] - found.exact[f, ends]).abs().max()) for name, y in found.outputs.items()}
    assert apart["zero-order hold"] < 1e-12 < 1e-2 < apart["Euler"]
    f = DELTAS.index(STATES["Euler blows up"].size)
    far = {name: lens.farthest(poles[f]) for name, poles in found.poles.items()}
    assert far["Euler"] > 1 > max(far["zero-order hold"], far["bilinear"])
    assert [lens.farthest(p) > 1 + 1e-9 for p in found.poles["Euler"]] == [d > 1 for d in DELTAS]
    signal = lens.signal(STATES["HiPPO"].signal)
    sixteen, two = (hippo.memory(signal, STATES[n].states).errors[89] for n in ("HiPPO", "Two states"))
    assert sixteen < 0.3 < two
    now = STATES["Scan in rounds"]
    rounds = lens.scan(lens.signal(now.signal), now.decay)
    assert rounds.count == 4 and max(scan_rounds.composed(rounds, now.turn)) == 4 and len(rounds.states) == 12


def test_the_page_shows_its_numbers() -> None:
    page = open_page("transformer/state_space", scene=1)
    bar = film(page, "step")
    assert bar["count"] == 12 and bar["captions"] == lens.form_captions(forms("Three forms"))
    for view, count in ((STEP, len(DELTAS)), (MEMORY, hippo.PARTS), (SCAN, 5)):
        page = open_page("transformer/state_space", view=view)
        key = {STEP: "size", MEMORY: "time", SCAN: "turn"}[view]
        assert film(page, key)["count"] == count


def test_own_numbers_and_bad_ones() -> None:
    assert lens.signal("1 x 2") == [1.0, 2.0] and "x" in lens.says("1 x 2")
    with pytest.raises(UserError, match="no number"):
        lens.signal("none")
    for text in ("1", "0", "0 0 0", "9 " * 20):
        for view in ROOM.state().__class__.__dataclass_fields__["view"].type.__metadata__[0].options:
            page = run_page("transformer/state_space", view=view, signal=text)
            assert not page.exception
    assert math.isclose(float(hippo.memory([3.0], 4).errors[-1]), 0, abs_tol=1e-9)
