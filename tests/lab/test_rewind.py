"""Training that is wound back: every bit again, branches, shared by readers, bounded in memory."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from lab.errors import UserError
from lab.lenses import rewind
from lab.lenses.rewind import Segment, Store, knobs_of, leading, parse, spell, turned

SLOW, FAST = knobs_of({"rate": 0.001, "weight": 1}), knobs_of({"rate": 0.05, "weight": 2})
PLAIN = (Segment(0, SLOW),)
WITHIN = {"rate": (0.001, 1.0), "weight": (0.0, 9.0)}
BRANCH = (Segment(0, SLOW), Segment(5, FAST))


@dataclass(frozen=True)
class Recipe(rewind.OfOneLoss):
    """A small regression of noise; counts its losses."""

    seed: int = 0
    stride: int = 3
    width: int = 8

    def build(self) -> nn.Module:
        return nn.Sequential(nn.Linear(2, self.width), nn.Tanh(), nn.Linear(self.width, 1))

    def loss(self, model: nn.Module, knobs: Mapping[str, float], generator: torch.Generator) -> Tensor:
        CALLS.append(self)
        x = torch.randn(16, 2, generator=generator)
        return knobs["weight"] * (model(x) - x.prod(1, keepdim=True)).square().mean()

    def look(self, model: nn.Module, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        return {"at": output(model).numpy()}


@dataclass(frozen=True)
class TwoPlayers:
    """A small game: an optimizer each, the second's rate a knob of its own, and a count that is no weight."""

    seed: int = 0
    stride: int = 3

    def build(self) -> nn.Module:
        net = nn.ModuleDict({"g": nn.Linear(2, 2), "d": nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8))})
        net.register_buffer("num_updates", torch.zeros(1))
        return net

    def optimizers(self, model: nn.ModuleDict) -> rewind.Optimizers:
        return {who: torch.optim.Adam(model[who].parameters(), betas=(0.5, 0.9)) for who in ("g", "d")}

    def step(
        self, model: nn.ModuleDict, optimizers: rewind.Optimizers, knobs: Mapping[str, float],
        generator: torch.Generator,
    ) -> None:  # fmt: skip
        rewind.set_rate(optimizers["g"], knobs["rate"])
        rewind.set_rate(optimizers["d"], 0.01 * knobs["weight"])
        for who in ("d", "g"):
            fake = model["d"](model["g"](torch.randn(16, 2, generator=generator))).mean()
            real = model["d"](3 + torch.randn(16, 2, generator=generator)).tanh().mean()
            optimizers[who].zero_grad()
            (fake.tanh() - real if who == "d" else -fake).backward()
            optimizers[who].step()
        model.num_updates += 1

    def look(self, model: nn.ModuleDict, knobs: Mapping[str, float]) -> dict[str, np.ndarray]:
        return {"at": torch.cat([output(model).flatten(), model.num_updates]).numpy()}


def output(model: nn.Module) -> Tensor:
    """Output of either model, as a frame shows it."""
    x = torch.ones(1, 2)
    with torch.no_grad():
        return model["d"](model["g"](x)) if isinstance(model, nn.ModuleDict) else model(x)


CALLS: list[Recipe] = []
both = pytest.mark.parametrize("recipe", [Recipe(), TwoPlayers()], ids=["one loss", "two players"])


def weights_of(model: nn.Module) -> Tensor:
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def trained(history: rewind.History, until: int, recipe: rewind.Recipe | None = None) -> rewind.Run:
    run = Store().run(recipe or Recipe(), history)
    run.advance(until, seconds=1e9)
    return run


def same(a: list[rewind.Frame], b: list[rewind.Frame]) -> bool:
    return len(a) == len(b) and all(np.array_equal(x["at"], y["at"]) for x, y in zip(a, b, strict=True))


@both
def test_a_seed_and_a_course_give_the_same_bits_in_chunks_and_at_once(recipe: rewind.Recipe) -> None:
    before = torch.get_rng_state()
    whole, chunks = trained(BRANCH, 12, recipe), Store().run(recipe, BRANCH)
    while chunks.count <= 12:
        had = chunks.count
        chunks.advance(12, seconds=0)
        assert chunks.count > had or chunks.parent.count <= 5  # a frame at least, the parent's first
    assert same(whole.frames(), chunks.frames()) and whole.count == 13
    assert not same(whole.frames(), trained(BRANCH, 12, replace(recipe, seed=1)).frames())  # type: ignore
    assert torch.equal(torch.get_rng_state(), before)


@both
def test_every_frame_is_restored_to_the_bit(recipe: rewind.Recipe) -> None:
    for history in (PLAIN, BRANCH):
        run = trained(history, 12, recipe)
        for frame in range(13):
            assert restored(run, frame)
    with pytest.raises(ValueError, match="there are 13"):
        run.restore(13)
    for kept in (run.kept, run.parent.kept):  # also where nothing is kept but the seed
        kept.clear()
    assert restored(run, 9)


def restored(run: rewind.Run, frame: int) -> bool:
    """Whether the model of a frame shows what stands in the frame."""
    return np.array_equal(run.recipe.look(run.restore(frame), {})["at"], run.frames()[frame]["at"])


@both
def test_wound_back_and_gone_on_it_is_as_if_it_had_never_left(recipe: rewind.Recipe) -> None:
    """A branch equals a run that turned its knobs there in the first place, and leaves its parent alone."""
    store = Store()
    first = store.run(recipe, PLAIN)
    first.advance(10, 1e9)
    old = first.frames()
    branch = store.run(recipe, turned(PLAIN, 5, FAST))
    assert branch.parent is first and branch.count == 6 and same(branch.frames(), old[:6])
    branch.advance(9, 1e9)
    assert same(branch.frames(), trained(BRANCH, 9, recipe).frames())
    assert not np.array_equal(branch.frames()[6]["at"], old[6]["at"])
    first.advance(11, 1e9)
    assert same(first.frames()[:11], old) and same(first.frames(), trained(PLAIN, 11, recipe).frames())


def test_readers_share_what_one_of_them_has_trained() -> None:
    CALLS.clear()
    store, ready, result = Store(), threading.Barrier(4), []

    def reader() -> None:
        ready.wait()
        run = store.run(Recipe(seed=7), PLAIN)
        run.advance(6, 1e9)
        result.append(run.frames())

    threads = [threading.Thread(target=reader) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(CALLS) == 6 * 3 and all(same(one, result[0]) for one in result)
    store.run(Recipe(seed=7), PLAIN).advance(6, 1e9)
    assert len(CALLS) == 18


@both
def test_a_history_keeps_little(recipe: rewind.Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    one = trained(PLAIN, 0, recipe)
    state = rewind.states_size(one.kept.values())
    monkeypatch.setattr(rewind, "MOST_KEPT", 5 * state)  # the first state has no moments yet
    run = trained((*PLAIN, Segment(30, FAST)), 60, recipe)
    parent = run.parent
    assert parent is not None and parent.spacing > 1 and sorted(parent.kept)[0] == 0
    kept = rewind.states_size(run.kept.values()) + run.inherited()
    assert kept <= 5 * state and run.size() <= 5 * state + 61 * 4 * run.frames()[0]["at"].size
    assert all(restored(run, frame) for frame in (0, 17, 30, 31, 59))


def test_more_is_kept_where_a_jump_back_would_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    state = rewind.states_size(trained(PLAIN, 1).kept.values())
    for name, most in {"MOST_KEPT": 5 * state, "MORE_KEPT": 15 * state, "JUMP": 1e9}.items():
        monkeypatch.setattr(rewind, name, most)
    quick = trained(PLAIN, 60)
    monkeypatch.setattr(rewind, "JUMP", 0.0)
    slow = trained(PLAIN, 60)
    assert slow.seconds > 0 and quick.spacing > slow.spacing > 1
    assert rewind.states_size(slow.kept.values()) <= 15 * state
    assert restored(slow, 59) and restored(quick, 59)


def test_clipping_is_a_knob() -> None:
    """Without it the norm is at most 5; 0 clips nothing, which is what a limit does that is never reached."""

    def ends(**knobs: float) -> Tensor:
        return weights_of(
            trained((Segment(0, knobs_of({"rate": 0.05, "weight": 50, **knobs})),), 4).restore(4)
        )

    assert torch.equal(ends(), ends(clip=5)) and torch.equal(ends(clip=0), ends(clip=1e9))
    assert not torch.equal(ends(clip=5), ends(clip=0))


def test_the_store_forgets_what_was_asked_for_longest_ago() -> None:
    store = Store(most=1)
    for seed in range(5):
        store.run(Recipe(seed=seed), PLAIN).advance(2, 1e9)
    assert len(store.runs) == 1 and (Recipe(seed=4), PLAIN) in store.runs


def test_courses_are_spelled_and_read() -> None:
    assert spell(BRANCH) == "0:rate=0.001,weight=1;5:rate=0.05,weight=2"
    assert parse(spell(BRANCH), WITHIN, most=10) == BRANCH
    assert turned(BRANCH, 3, FAST) == (Segment(0, SLOW), Segment(3, FAST))
    assert [leading(BRANCH, at) for at in (0, 4, 5, 9)] == [SLOW, SLOW, FAST, FAST]
    assert turned(BRANCH, 5, SLOW) == PLAIN and turned(BRANCH, 0, FAST) == (Segment(0, FAST),)
    for text, says in {
        "0:rate=0.1": "Part 1", "0:rate=0.1,weight=1;x": "Part 2", "0:rate=a,weight=1": "Part 1",
        "1:rate=0.1,weight=1": "start at 0", "0:rate=1,weight=1;99:rate=1,weight=1": "rise to 10",
        "0:rate=1,weight=1;4:rate=1,weight=1;3:rate=1,weight=1": "rise", "": "Part 1",
        "0:rate=1,weight=1;4:rate=1,weight=1e9": "Part 2 .* weight=1e.09: it runs from 0 to 9",
        "0:rate=-1,weight=1": "Part 1 .* rate=-1: it runs from 0.001 to 1",
    }.items():  # fmt: skip
        with pytest.raises(UserError, match=says):
            parse(text, WITHIN, most=10)
