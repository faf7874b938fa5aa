"""The page Universality: scenes hold for three seeds, floors are not crossed, frames are recomputed."""

import pytest
import torch
from opening import open_page

from lab.lenses import rewind
from modules.transformer.recorder import record_attention
from pages.transformer.universality import figures, lens
from pages.transformer.universality.room import ROOM, STRIDE, State

SEEDS = (0, 1, 2)
MARGIN = 0.01  # of floors of sort by place, which is the one that is no second moment


def course(name: str, seed: int) -> tuple[lens.Recipe, list[rewind.Frame]]:
    now = ROOM.scenes[name].state
    recipe = lens.Recipe(now.target, now.network, now.positions, now.layers, now.length, seed)
    run = rewind.Store().run(recipe, (rewind.Segment(0, rewind.knobs_of({"rate": now.rate})),))
    run.advance(now.until, seconds=600)
    return recipe, run.frames()


@pytest.mark.parametrize("name", ROOM.scenes)
def test_scenes_reach_their_floor_and_do_not_cross_it(name: str) -> None:
    """For seeds 0, 1 and 2."""
    for seed in SEEDS:
        recipe, frames = course(name, seed)
        errors = [float(frame["error"]) for frame in frames]
        assert min(errors) > recipe.floor * (1 - MARGIN) - 1e-9, (seed, min(errors), recipe.floor)
        if name.startswith("Sort, ") and recipe.floor == 0:
            assert errors[-1] < 0.2, (seed, errors[-1])  # below 0.75, the floor without positions
        else:
            assert errors[-1] < recipe.floor + 0.05, (seed, errors[-1], recipe.floor)


def test_held_out_sequences_have_the_floors_exactly() -> None:
    x, y = lens.held_out("first", 4)
    assert torch.allclose(x[..., 0].T @ x[..., 0] / len(x), torch.eye(4), atol=1e-5)
    assert float(((x.mean(1, keepdim=True) - y) ** 2).mean()) == pytest.approx(0.75, abs=1e-5)
    x, y = lens.held_out("mean", 4)
    assert float(((x / 4 - y) ** 2).mean()) == pytest.approx(0.1875, abs=1e-5)


def test_sort_needs_depth() -> None:
    """For seeds 0, 1 and 2, after 200 steps."""
    for seed in SEEDS:
        one, deep = (float(course(f"Sort, {name}", seed)[1][-1]["error"]) for name in ("one layer", "deeper"))
        assert deep < one, (seed, one, deep)


def test_a_frame_by_another_road() -> None:
    recipe, frames = course("Mean, attention", 0)
    run = rewind.Store().run(recipe, (rewind.Segment(0, rewind.knobs_of({"rate": 0.005})),))
    run.advance(3, seconds=600)
    model, (x, y) = run.restore(3), lens.held_out("mean", 4)
    with torch.no_grad(), record_attention() as seen:
        outputs = model(x)
    assert float(((outputs - y) ** 2).mean()) == pytest.approx(float(frames[3]["error"]), rel=1e-4)
    assert len(seen.calls) == 1
    assert torch.allclose(y, x.mean(1, keepdim=True).expand_as(x))


def test_floors_in_words() -> None:
    for network in ("token-wise", "attention"):
        for positions in ("none", "learned"):
            for target in ("mean", "first", "sort", "reverse"):
                for T in (2, 3, 4):
                    recipe = lens.Recipe(target, network, positions, 1, T, 0)
                    text = lens.formula(recipe)
                    assert recipe.floor == pytest.approx(float(text.split()[-1]), abs=1e-4), (recipe, text)
    frames = [{"error": torch.tensor(0.2).numpy()}] * 2
    assert f"After {STRIDE} steps" in lens.captions(frames, recipe)[1]
    assert "0.2000" in lens.equations(frames, recipe)[1]


def test_outputs_are_drawn_by_position() -> None:
    _, frames = course("Mean, token-wise", 0)
    tree = figures.outputs(frames, lens.targets("mean", 4))
    assert len(tree["data"]) == 1 + 4


def test_the_page_opens_and_takes_every_scheme() -> None:
    open_page("transformer/universality", until=2)
    open_page("transformer/universality", target="sort", positions="rotary", until=2)
    assert State().target == "first"
