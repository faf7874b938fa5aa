"""The page Sequential cost: who waits for whom, as by autograd; counts as torch counts them; a clock."""

import pytest
import torch
from opening import film, open_page
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from modules.recurrent.stack import Recurrent
from modules.transformer.attention import Attention
from pages.recurrent.cost import figures, lens
from pages.recurrent.cost.room import ANY, CLOCK, GENERATING, KEPT, MODES, PRODUCTS, READING, ROOM, State


def found(now: State) -> lens.Waves:
    return lens.waves(now.length, now.layers, now.mode, now.cores)


# --- Who waits for whom ------------------------------------------------------------------------------


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("length", [2, 5, 12])
def test_steps_are_those_of_the_formulas(length: int, layers: int) -> None:
    """RN-31: T + L − 1 against L in reading, T L for both in generating; with one core T L always."""
    assert lens.waves(length, layers, READING, ANY).counts == (length + layers - 1, layers)
    assert lens.waves(length, layers, GENERATING, ANY).counts == (length * layers,) * 2
    for mode in MODES:
        assert lens.waves(length, layers, mode, 1).counts == (length * layers,) * 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cores", [1, 2, 4, ANY])
def test_nothing_is_computed_before_what_it_waits_for_nor_more_at_once_than_allowed(
    mode: str, cores: int
) -> None:
    waves = lens.waves(6, 3, mode, cores)
    for net, steps in zip(waves.nets, waves.steps, strict=True):
        when = {(layer + 1, t): int(steps[layer, t]) for layer in range(3) for t in range(6)}
        for node in net.states:
            for parent in net.parents(node):
                sources = [parent] if parent[0] else net.parents(parent)
                assert all(when[source] < when[node] for source in sources)
        counts = [list(when.values()).count(step) for step in range(1, int(steps.max()) + 1)]
        assert sum(counts) == 18 and min(counts) >= 1 and max(counts) <= cores


def test_ancestors_are_what_a_state_depends_on() -> None:
    """Both nets of two layers: the inputs from which edges lead to an output, and its gradient by them."""
    T, H = 5, 4
    x = torch.randn(1, T, H, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    recurrent = Recurrent("rnn", H, H, layers=2).double()
    first, second = (Attention(H, 1).double() for _ in range(2))
    outputs = (
        lambda x: recurrent(x)[0],
        lambda x: second(first(x, causal=True), causal=True),
    )
    for net, output in zip(lens.waves(T, 2, READING, ANY).nets, outputs, strict=True):
        gradient = torch.autograd.functional.jacobian(output, x)[0].abs().sum((1, 2, 4)) > 0
        for t in range(T):
            seen, todo = set(), [(2, t)]
            while todo:
                node = todo.pop()
                seen.add(node)
                todo += [parent for parent in net.parents(node) if parent not in seen]
            assert [(0, s) in seen for s in range(T)] == gradient[t].tolist()


# --- Counted and measured ----------------------------------------------------------------------------


@pytest.mark.parametrize(("T", "H"), [(5, 8), (16, 4)])
def test_multiplications_are_those_that_torch_counts(T: int, H: int) -> None:
    x = torch.zeros(1, T, H)
    for kind in (lens.RNN, lens.GRU, lens.LSTM):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            Recurrent(kind.lower(), H, H).unroll(x)  # type: ignore[arg-type]
        assert counter.get_total_flops() // 2 == lens.products(kind, T, H)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        Attention(H, lens.HEADS)(x)
    masked = T * T - T * (T + 1) // 2  # pairs, each in the scores and in the mixture
    assert counter.get_total_flops() // 2 - 2 * masked * H == lens.products(lens.ATTENTION, T, H)


def test_what_is_kept_is_what_goes_on() -> None:
    T, H = 7, 8
    for kind in (lens.RNN, lens.GRU, lens.LSTM):
        _, state = Recurrent(kind.lower(), H, H)(torch.zeros(1, T, H))  # type: ignore[arg-type]
        numbers = sum(part.numel() for part in (state.h, state.cell) if part is not None)
        assert numbers == lens.kept_state(kind, T, H)
    _, k, v = Attention(H, 2).split(torch.zeros(1, T, H), None)
    assert k.numel() + v.numel() == lens.kept_state(lens.ATTENTION, T, H)


def test_a_measurement_goes_on_to_its_end() -> None:
    shares, times = zip(*lens.timings(16, lengths=(4, 8), budget=0.0), strict=True)
    assert list(shares) == sorted(shares) and shares[-1] == 1
    assert all(len(line) == 2 and min(line) > 0 for line in times[-1].seconds.values())
    assert torch.__version__ in times[-1].where and len(figures.clock(times[0])["data"]) == 1
    assert all(len(column) == 2 for column in times[0].columns.values())  # a table while it goes on


# --- What is said ------------------------------------------------------------------------------------


def test_what_the_scenes_say() -> None:
    states = {name: scene.state for name, scene in ROOM.scenes.items()}
    now = states["Step by step"]
    recurrent, attention = found(now).steps
    assert recurrent[0, 3] == now.step == 4 and attention.max() == 1
    now = states["Two layers"]
    assert found(now).counts == (now.length + 1, 2) and found(now).steps[0][1, 0] == 2
    now = states["More cores"]
    assert found(now).counts == (now.length, now.length // 2)
    for name in ("One core", "Generating"):
        assert found(states[name]).counts == (states[name].length,) * 2
    times = lens.kept()
    assert times.lengths == [16, 64, 256, 1024] and "threads 1," in times.where
    assert all(a > b for a, b in zip(times.seconds[lens.GRU], times.seconds[lens.ATTENTION], strict=True))
    narrow = lens.counted(PRODUCTS, states["Narrow"].width)
    assert max(narrow, key=lambda kind: narrow[kind][2]) == lens.ATTENTION  # from T = 64
    H = states["Wide"].width
    less = [lens.products(lens.ATTENTION, T, H) < lens.products(lens.LSTM, T, H) for T in (900, 1022, 1024)]
    assert less == [True, True, False]
    kept = lens.counted(KEPT, 64)
    assert len({*kept[lens.LSTM]}) == 1 and kept[lens.ATTENTION][-1] == 64 * kept[lens.ATTENTION][0]


def test_the_page_shows_its_numbers() -> None:
    page = open_page("recurrent/cost", layers=2, step=4)
    bar, waves = film(page, "step"), lens.waves(8, 2, READING, ANY)
    assert bar["count"] == 9 and bar["captions"] == lens.captions(waves) and bar["at"] == 3
    assert "recurrent 2 at once, 7 of 16 known" in bar["captions"][3]
    page = open_page("recurrent/cost", view=CLOCK)
    assert any("2026" in caption.value and "threads" in caption.value for caption in page.caption)
