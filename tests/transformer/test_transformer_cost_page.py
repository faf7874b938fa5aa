"""Cost page: grids against what a cache must compute, and what its scenes say, by arithmetic."""

import numpy as np
import pytest

from lab.errors import UserError
from lab.room import Scene
from pages.transformer.cost import lens
from pages.transformer.cost.room import LENGTHS, MODELS, ROOM


def sizes(scene: Scene) -> lens.Size:
    state = scene.state
    return lens.size(state.model, state.layers, state.heads, state.width, state.kv)


def test_grids_are_one_row_a_token_with_a_cache_and_all_rows_without() -> None:
    found = lens.reading(16, 16, 8)
    kept, anew = (lens.grids(passes) for passes in found.passes)
    triangle = np.tril(np.ones((16, 16)))
    for t in range(16):
        row = np.zeros((16, 16))
        row[t, : t + 1] = 1
        assert np.array_equal(kept[t] == lens.NOW, row == 1)
        assert np.array_equal(anew[t] == lens.NOW, (triangle * (np.arange(16) <= t)[:, None]) == 1)
        assert np.array_equal(kept[t] > 0, anew[t] > 0)
    assert lens.totals(found.kept)[15] == (kept == lens.NOW).sum() == 136
    assert lens.totals(found.anew)[15] == (anew == lens.NOW).sum() == 816
    assert found.apart < 1e-6
    assert "136" in lens.equations(found)[15] and "816" in lens.equations(found)[15]


def test_past_the_context() -> None:
    """Scenes: four rows again at token 9; with all eight kept, every later token is a full pass."""
    state = ROOM.scenes["Past the context"].state
    found = lens.reading(state.length, state.context, state.keep)
    assert [(p.queries, p.keys) for p in found.kept[7:10]] == [(1, 8), (4, 4), (1, 5)]
    assert "4 rows and 10 scores with a cache" in lens.captions(found)[8]
    state = ROOM.scenes["Sliding by one"].state
    found = lens.reading(state.length, state.context, state.keep)
    assert all(p.queries == q.queries == 8 for p, q in zip(found.kept[8:], found.anew[8:], strict=True))
    grid = lens.grids(found.kept)[state.step - 1]
    assert (grid == lens.NOW).sum() == 36
    with pytest.raises(UserError, match="keep at most 4"):
        lens.reading(8, 4, 5)


def test_scenes_of_the_calculator() -> None:
    scenes = ROOM.scenes
    gpt3 = sizes(scenes["Operations of GPT-3"])
    lines = lens.operations(gpt3)
    at = LENGTHS.index(2048)
    assert lines["scores and values"][at] / lines["weights"][at] == pytest.approx(0.0278, abs=5e-5)
    assert lens.meeting(gpt3, "operations") == 73_728
    memory = lens.memory(gpt3, "float16")
    more = [
        T for T, cache, w in zip(LENGTHS, memory["KV cache"], memory["weights"], strict=True) if cache > w
    ]
    assert more[0] == scenes["Cache in bytes"].state.tokens == 131_072
    assert memory["weights"][0] == 2 * 174_604_259_328
    shared = lens.memory(sizes(scenes["Shared keys"]), "float16")
    assert [4 * v for v in shared["KV cache"]] == shared["of all heads"]
    costs = lens.next_token(gpt3)
    cheaper = [T for T, s, n in zip(LENGTHS, costs["softmax"], costs["linear"], strict=True) if n < s]
    assert cheaper[0] == 256 and lens.meeting(gpt3, "next token") == 128
    flops = lens.compute(gpt3, 300)
    assert [round(flops[name] / 1e23, 1) for name in ("this one", "Gopher", "Chinchilla")] == [3.1, 5.0, 5.9]
    assert lens.days(3.15e23, 40) == pytest.approx(28.5, abs=0.03)


def test_every_model_takes_every_sharing_of_heads() -> None:
    for model in MODELS:
        for heads in (4, 64):
            widths = [lens.size(model, 2, heads, 64, kv).kv_width for kv in ("H", "H/4", "1")]
            assert widths[0] == 4 * widths[1] and widths[2] <= widths[1]


def test_numbers_in_words() -> None:
    assert lens.bytes_of(9_663_676_416) == "9.66 GB" and lens.bytes_of(12) == "12 B"
    assert lens.power(3.15e23) == r"3.150\cdot10^{23}" and lens.power(2048) == "2{,}048"
