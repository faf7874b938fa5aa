"""Many readers at once: what a page computes is the same, to the bit, alone and beside seven others."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
import torch
from opening import TOPICS, failures, run_page
from rotation import in_turns
from torch import nn

from datamodules.binary_images import strings
from lab import ui, weights
from lab.lenses import attention, graphs
from pages.autoregressive.autoencoder import lens as autoencoder
from pages.autoregressive.density import own_points
from pages.autoregressive.sharing import lens as sharing
from pages.graph.messages import depth

READERS = 8
Call = Callable[[], Any]


def same(one: Any, other: Any) -> bool:
    """Equal to the bit, whatever it is made of."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one.nan_to_num(7e77), other.nan_to_num(7e77))
    if isinstance(one, nn.Module):
        return same(one.state_dict(), other.state_dict())
    if is_dataclass(one) and not isinstance(one, type):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, Sequence) and not isinstance(one, str | bytes):
        return len(one) == len(other) and all(map(same, one, other))
    if one is not None and type(one).__eq__ is object.__eq__:
        return same(vars(one), vars(other))
    return bool(one == other) or one != one


def check(calls: Sequence[Call]) -> list[Any]:
    """Every call in eight threads at once, each thread beginning elsewhere, against the same alone; returns
    the results."""
    alone = [call() for call in calls]
    ready = threading.Barrier(READERS)

    def reader(number: int) -> list[tuple[int, Any]]:
        ready.wait()
        first = number * len(calls) // READERS
        turns = [(first + step) % len(calls) for step in range(len(calls))]
        return [(turn, calls[turn]()) for turn in turns]

    with ThreadPoolExecutor(READERS) as threads:
        for results in threads.map(reader, range(READERS)):
            for turn, result in results:
                assert same(result, alone[turn]), f"call {turn} gave another result beside other readers"
    return alone


def last(work: Any) -> Any:
    """What a longer computation yields in the end."""
    return deque(work, maxlen=1).pop()


def test_same_tells_results_apart() -> None:
    nan = torch.tensor([float("nan"), 1.0])
    assert same([nan, {"a": (1, "x")}], [nan.clone(), {"a": (1, "x")}])
    for one, other in ((nan, nan.double()), (1, 1.0), ([1], [1, 2]), ({"a": 1}, {"b": 1}), (nan, nan + 1)):
        assert not same(one, other)
    assert same(nn.Linear(2, 2).requires_grad_(False), nn.Linear(2, 2)) is False


def test_networks_trained_on_pages_do_not_know_of_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each builds its network from a seed and draws its batches; small ones, so that they are often mixed."""
    monkeypatch.setattr(sharing, "EVERY", 5)
    monkeypatch.setattr(autoencoder, "PASSES", 5)
    x = strings(2).float()
    ring = graphs.karate().data
    check(
        [
            lambda: last(sharing.train("NADE", 20, 4, 1, steps=10))[1],
            lambda: last(sharing.train("untied", 20, 4, 2, steps=10))[1],
            lambda: last(own_points.fit(x, 2, hidden=4, steps=10, seed=3))[1].losses,
            lambda: depth.train_depths(ring, "gcn", (2, 3), 4, steps=2),
            lambda: [p.detach() for p in autoencoder.train(3, 5)[2].parameters()],
        ]
    )


def test_attention_is_recorded_by_each_reader_alone() -> None:
    """One model for all: readers switch off different heads of it and look at different texts."""
    model = weights.load("gpt-senses").requires_grad_(False)
    tokens = torch.arange(6)
    check(
        [
            lambda off=off, length=length: attention.record(model, tokens[:length], off=off)
            for length in (3, 6)
            for off in ((), ((0, 0),), ((0, 1),))
        ]
        + [lambda: model(tokens[None])]  # nobody records here
    )


@pytest.mark.heavy
@pytest.mark.parametrize("topic", in_turns(TOPICS, "pages/{}".format))
def test_cached_lenses_are_the_same_for_eight_readers(topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a page keeps, as it asks for it when it is opened; without the keeping. And the page, whose
    readers all get the kept object, leaves it as it was."""
    calls: list[Call] = []
    given: list[Any] = []
    cached = ui.cached

    def recording(function: Callable[..., Any]) -> Callable[..., Any]:
        kept = cached(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            number = len(calls)
            calls.append(lambda: function(*args, **kwargs))
            given.append(None)
            given[number] = kept(*args, **kwargs)  # which may keep others meanwhile
            return given[number]

        return call

    monkeypatch.setattr(ui, "cached", recording)
    page = run_page(topic)
    assert not failures(page), failures(page)
    now = list(zip(calls, given, strict=True))  # cached functions that call others add to the lists
    for number, (alone, kept) in enumerate(
        zip(check([call for call, _ in now]), [k for _, k in now], strict=True)
    ):
        assert same(alone, kept), f"the page has changed what call {number} gave"
