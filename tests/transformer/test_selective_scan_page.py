"""The page Selective scan: printed states, gates and states by another road, scenes, and what it refuses."""

import pytest
import torch
from opening import figure, film, open_page, run_page

from datamodules.algorithmic import SelectiveCopying
from lab import experiments, weights
from lab.errors import UserError
from lab.lenses import scan_rounds
from modules.transformer import scan
from modules.transformer.mixer_tagger import MixerTagger
from pages.transformer.selective_scan import lens
from pages.transformer.selective_scan.room import HOLD, NOISE, ROOM, SCAN, SEQUENCES, State

STATES = {name: scene.state for name, scene in ROOM.scenes.items()}


@pytest.fixture(scope="module")
def models() -> tuple[MixerTagger, MixerTagger]:
    places = [experiments.find(name).weights for name in (State().mamba, State().twin)]
    first, second = (weights.load(place).eval() for place in places)  # type: ignore[arg-type]
    return first, second  # type: ignore[return-value]


def read(name: str, models: tuple[MixerTagger, MixerTagger]) -> lens.Watched:
    now = STATES[name]
    return lens.watched(lens.sequence(now.tokens), now.selective, now.layer, *models)


def test_printed_states_of_the_hold() -> None:  # TF-O48
    found = lens.held([-10, 0, 10, -10], [5, 1, 7, 3])
    assert found.zoh.tolist() == pytest.approx([0.000227, 0.500113, 6.999705, 6.999523], abs=1e-6)
    assert found.euler.tolist() == pytest.approx([0.000227, 0.693261, 70.00035, 69.99731], abs=1e-5)
    h = 0.0
    for z, x, after in zip([-10, 0, 10, -10], [5, 1, 7, 3], found.zoh, strict=True):
        gate = float(torch.tensor(z, dtype=torch.float64).sigmoid())
        h = (1 - gate) * h + gate * x
        assert float(after) == pytest.approx(h, abs=1e-14)
    assert "6.9997" in lens.held_equations(found)[2] and "70" in lens.held_captions(found)[2]


def test_states_and_gates_by_a_loop(models: tuple[MixerTagger, MixerTagger]) -> None:
    for selective in (True, False):
        for layer in (1, 2):
            found = lens.watched(lens.sequence("3..1....7..5"), selective, layer, *models)
            h = torch.zeros_like(found.states[0])
            for t in range(len(found.names)):
                h = found.decay[t] * h + found.write[t]
                torch.testing.assert_close(found.states[t], h, rtol=1e-4, atol=1e-4)
            A = -models[0 if selective else 1].blocks[layer - 1].mixer.ssm.A_log.exp()[found.order]
            exponent = (1 - found.gate.double()).log()[..., None] * -A.double()  # ΔA, Δ = −log(1 − σ(z))
            open_ = found.gate < 0.98
            torch.testing.assert_close(
                found.decay.double()[open_], exponent.exp()[open_], rtol=1e-3, atol=1e-4
            )
            assert sorted(found.order) == list(range(32)) and len(found.names) == 24


def test_scan_is_the_loop_and_brackets_are_free(models: tuple[MixerTagger, MixerTagger]) -> None:  # TF-O49
    found = lens.rounds(read("Scan", models), 1)
    assert found.count == 3 and found.a.shape == (4, 8) and lens.apart(found) < 1e-14
    assert scan_rounds.composed(found, 2) == [1, 2, 3, 4, 4, 4, 4, 4]
    x, y, z = ((found.a[0, t], found.b[0, t]) for t in (2, 3, 4))
    left, right = scan.combine(scan.combine(x, y), z), scan.combine(x, scan.combine(y, z))
    torch.testing.assert_close(left, right, rtol=0, atol=1e-14)
    assert abs(scan.combine(x, y)[1] - scan.combine(y, x)[1]) > 1e-3  # it does not commute


def test_the_gate_opens_for_data_and_shuts_for_noise(models: tuple[MixerTagger, MixerTagger]) -> None:
    x, _ = SelectiveCopying().draw(20, 9)
    for row in x[:, :20]:
        found = lens.watched(row, True, 1, *models)
        data = [t for t in range(17) if row[t] < 8]
        behind = [t + 3 for t in data]
        quiet = [t for t in range(6, 20) if (row[t - 3 : t + 1] == SelectiveCopying.NOISE).all()]
        first, last = found.gate[:, 0], found.gate[:, -1]
        assert first[behind].min() > 0.5 and (not quiet or first[quiet].max() < 0.1)
        assert last[behind].max() < 0.5 and (not quiet or last[quiet].min() > 0.9)
        if behind and quiet:  # what is closed out changes the state little
            moved = found.states[:, 0].diff(dim=0, prepend=found.states[:1, 0]).norm(dim=1)
            assert moved[behind].mean() > 5 * moved[quiet].mean()


def test_scenes_say_what_is_so(models: tuple[MixerTagger, MixerTagger]) -> None:
    found = read("Data kept", models)
    assert found.answers == found.wanted == [3, 5, 1, 7]
    assert [t for t in range(3, 24) if found.gate[t, 0] > 0.5] == [5, 9, 12, 18]
    assert read("Noise alone", models).gate[3:, 0].max() < 0.1
    twin = read("LTI twin", models)
    assert (twin.gate.amax(0) - twin.gate.amin(0)).max() < 1e-6 and twin.order == list(range(32))
    assert twin.answers != twin.wanted == [3, 5, 1, 7]
    assert lens.watched(lens.sequence(SEQUENCES["Early"]), True, 1, *models).answers == twin.wanted
    row = read("Four in a row", models).gate[:, 0]
    assert [t for t in range(3, 24) if row[t] > 0.5] == [19, 20, 21, 22]
    last = read("Forgets at noise", models).gate[:, -1]
    assert [t for t in range(3, 24) if last[t] < 0.5] == [5, 9, 12, 18]
    now = STATES["Shortcut"]
    held = lens.held(lens.gates(now.z), lens.inputs(now.x))
    assert 69 < float(held.euler[2]) < 71 and float(held.zoh[2]) < 7


def test_bad_input_gets_a_sentence() -> None:
    with pytest.raises(UserError, match="neither a data token"):
        lens.sequence("3.9")
    with pytest.raises(UserError, match="21 tokens"):
        lens.sequence(NOISE * 21)
    with pytest.raises(UserError, match="no number in the row of z"):
        lens.gates("")
    with pytest.raises(UserError, match="equally many"):
        lens.held([1.0], [1.0, 2.0])
    assert len(lens.sequence("")) == 20 and "added" in lens.says("31") and "2 data tokens" in lens.says("31")
    assert lens.says(SEQUENCES["Four"]) == ""


def test_the_page_shows_these_numbers(models: tuple[MixerTagger, MixerTagger]) -> None:
    page = open_page("transformer/selective_scan", scene=1)
    found = read("Data kept", models)
    bar = film(page, "token")
    assert bar["count"] == 24 and f"{float(found.gate[5, 0]):.3f}" in bar["captions"][5]
    _, arrays = figure(page, "gates")
    assert arrays["layout.shapes.0.x0"][5] == 4.5
    assert film(open_page("transformer/selective_scan", view=SCAN), "turn")["count"] == 4
    assert film(open_page("transformer/selective_scan", view=HOLD, z="1 2", x="3 4"))["count"] == 2
    assert not run_page("transformer/selective_scan", tokens="hello").exception
