"""Three bits with p(x_1 = 1) = .6 drawn one after the other, each conditional computed once."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import contracts
import pytest
import torch
from torch import Tensor

from modules.autoregressive.base import Autoregressive
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.gated_pixelcnn import GatedPixelCNN
from modules.autoregressive.made import MADE
from modules.autoregressive.nade import NADE
from modules.autoregressive.pixelcnn import PixelCNN
from modules.autoregressive.tables import ChainRuleTable, JointTable
from modules.autoregressive.untied import Untied

DRAWS = 100_000
LOG_ODDS = math.log(0.6 / 0.4)


def shifted(model: Any, bias: Callable[[Any], Tensor]) -> Any:
    """The model with random parameters, and p(x_1 = 1) = .6 by the bias that its first logit is."""
    model = contracts.exact(model)
    with torch.no_grad():
        bias(model)[0] += LOG_ODDS - model.logits(torch.zeros(1, 3, dtype=torch.float64))[0, 0]
    return model


def tables(model: Any, numbers: list[Any]) -> Any:
    model.put(torch.tensor(numbers, dtype=torch.float64))
    return model


TOYS: dict[str, Callable[[], Autoregressive]] = {
    "chain-rule table": lambda: tables(
        ChainRuleTable((3,), smoothing=0.0),
        [[0.4, 0.6], [0.3, 0.7], [0.8, 0.2], [0.5, 0.5], [0.1, 0.9], [0.6, 0.4], [0.75, 0.25]],
    ),
    "joint table": lambda: tables(
        JointTable((3,), smoothing=0.0), [0.1, 0.05, 0.2, 0.05, 0.3, 0.1, 0.05, 0.15]
    ),
    "FVSBN": lambda: shifted(FVSBN((3,)), lambda m: m.bias),
    "NADE": lambda: shifted(NADE((3,), hidden=4), lambda m: m.bias.view(3)),
    "untied": lambda: shifted(Untied((3,), hidden=4), lambda m: m.bias.view(3)),
    "MADE": lambda: shifted(MADE((3,), hidden=[6]), lambda m: m.out.bias),
}
toys = pytest.mark.parametrize("make", TOYS.values(), ids=TOYS)


@toys
def test_frequencies_are_those_of_the_exact_table(make: Callable[[], Autoregressive]) -> None:
    model = make()
    draws = model.sample(DRAWS, generator=torch.Generator().manual_seed(0))
    assert draws[:, 0].mean().item() == pytest.approx(0.6, abs=4 * math.sqrt(0.24 / DRAWS))
    contracts.density_sums_to_one(model.log_prob, (3,))
    contracts.samples_follow_the_density(draws, model.log_prob)


@toys
def test_draws_are_those_of_their_generator(make: Callable[[], Autoregressive]) -> None:
    model = make()
    first, again = (model.sample(50, generator=torch.Generator().manual_seed(1)) for _ in range(2))
    assert torch.equal(first, again)


MEMBERS: dict[str, Callable[[], Autoregressive]] = TOYS | {
    "PixelCNN": lambda: contracts.exact(
        PixelCNN((3, 2, 2), num_categories=3, channels=6, layers=1, first_kernel=3)
    ),
    "Gated PixelCNN": lambda: contracts.exact(GatedPixelCNN((1, 2, 3), channels=4, layers=2, first_kernel=3)),
}


@pytest.mark.parametrize("make", MEMBERS.values(), ids=MEMBERS)
def test_a_draw_computes_each_conditional_once(
    make: Callable[[], Autoregressive], monkeypatch: pytest.MonkeyPatch
) -> None:
    """n conditionals for n variables, in the order, however many examples at once; and of a completion only
    those of what is free, after one pass over what is given."""
    model = make()
    chosen: list[int] = []
    passes: list[int] = []
    walk, logits, sample_conditional = model._sequential_logits, model.logits, model.sample_conditional

    def counted_walk(x: Tensor, order: Tensor, index: int, start: int) -> Iterator[Tensor]:
        asked = order[start:].tolist()
        steps = walk(x, order, index, start)
        for j in asked:
            step = next(steps)
            assert len(step) == len(x)  # this variable's conditional alone, of every example
            chosen.append(j)
            yield step
        assert next(steps, None) is None

    monkeypatch.setattr(model, "_sequential_logits", counted_walk)
    monkeypatch.setattr(model, "logits", lambda *a, **k: passes.append(1) or logits(*a, **k))
    drawn: list[int] = []
    monkeypatch.setattr(model, "sample_conditional", lambda *a: drawn.append(1) or sample_conditional(*a))
    for examples in (1, 7):
        chosen.clear(), passes.clear(), drawn.clear()
        model.sample(examples, generator=torch.Generator().manual_seed(0))
        assert chosen == model.order.tolist() and len(drawn) == model.n
        plain = type(model)._sequential_logits is Autoregressive._sequential_logits
        assert len(passes) == (model.n if plain else 0)  # a running state needs no full pass at all
    chosen.clear(), passes.clear(), drawn.clear()
    given = torch.full((model.n,), torch.nan, dtype=torch.float64)
    given[model.order[:1]] = 1.0
    model.sample(4, given=given, generator=torch.Generator().manual_seed(0))
    assert chosen == model.order[1:].tolist() and len(drawn) == model.n - 1


@pytest.mark.parametrize("temperature", [1e-40, 1e-124, 5e-324])
def test_a_temperature_next_to_zero_takes_the_likeliest(temperature: float) -> None:
    """Single precision takes it for 0, and what is divided by it for infinite."""
    bits = MADE(event_shape=(2,), hidden=[4])
    levels = NADE(event_shape=(2,), hidden=4, num_categories=3)
    assert bits.probabilities(torch.tensor([-2.0, 0.0, 3.0]), temperature).tolist() == [0, 0, 1]
    assert levels.probabilities(torch.tensor([1.0, 5.0, 0.0]), temperature).tolist() == [0, 1, 0]
