"""Nothing accepted is ignored: every argument of every class changes what its row says."""

import functools
from typing import Any

import contracts
import pytest
import torch
from arguments import ARGUMENTS, SIZES, Other
from members import MEMBERS, found
from torch import Tensor

from modules.base import Sampler

PAIRS = [(name, argument) for name in sorted(MEMBERS) for argument in sorted(found(name).argument_names())]


def row_of(name: str, argument: str) -> Other | None:
    """The row of a class's argument: its own, or the nearest base's."""
    for cls in found(name).__mro__:
        if argument in ARGUMENTS.get(cls.__name__, {}):
            row = ARGUMENTS[cls.__name__][argument]
            return row if isinstance(row, Other) else Other(row)
    return None


def test_every_argument_has_a_row() -> None:
    missing = [
        f"{name.rpartition('.')[2]}.{argument}" for name, argument in PAIRS if not row_of(name, argument)
    ]
    assert not missing, f"give these a row in arguments.py: {', '.join(missing)}."
    for (name, argument), row in ((pair, row_of(*pair)) for pair in PAIRS):
        assert (row.kind == "cost") == bool(row.saves), f"{name} {argument}: say what is saved."


def build(name: str, settings: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    return found(name)(**settings)


def life(
    name: str, member: int, settings: str, start: dict[str, Tensor] | None
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """What a model has become and answers after six steps, and what was measured of it on the way."""
    row, model = MEMBERS[name][member], build(name, eval(settings))
    if start is not None:
        with torch.no_grad():
            for key, parameter in model.named_parameters():
                parameter.copy_(start[key])
    contracts.fitted(model, row.batch, epochs=3)
    measured = {k: v for k, v in model.trainer.callback_metrics.items() if k != "train/loss"}
    trainer = contracts.trainer()
    trainer.test(model, contracts.loader(row.batch), verbose=False)
    measured |= trainer.callback_metrics
    state = {
        k: v.detach().clone()
        for k, v in [*model.named_parameters(), *model.named_buffers()]
        if "meters" not in k
    }
    torch.manual_seed(0)
    with torch.no_grad():
        state["answer"] = row.call(model.eval())
        if Sampler in row.offers:
            state["draw"] = model.sample(5)
    state |= {k: v for k, v in measured.items() if k.startswith("train/")}  # losses
    return state, measured


first_life = functools.lru_cache(maxsize=64)(life)


def differ(a: dict[str, Tensor], b: dict[str, Tensor], tolerance: float = 0.0) -> set[str]:
    """The names whose values are not the same."""
    return {
        k
        for k in a.keys() | b.keys()
        if k not in a
        or k not in b
        or a[k].shape != b[k].shape
        or not torch.allclose(a[k].double(), b[k].double(), 0, tolerance, equal_nan=True)
    }


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "argument"), PAIRS, ids=[f"{name.rpartition('.')[2]}-{argument}" for name, argument in PAIRS]
)
def test_an_argument_does_what_its_row_says(name: str, argument: str) -> None:
    row = row_of(name, argument)
    settings = {k: v for k, v in (MEMBERS[name][row.member].settings | row.needs).items()}
    other = settings | {argument: row.value}
    if row.kind == "refused":
        with pytest.raises(ValueError, match=r"[.]$"):
            build(name, other)
        return
    plain, changed = build(name, settings), build(name, other)
    ours, theirs = dict(plain.named_parameters()), dict(changed.named_parameters())
    shapes = {k: p.shape for k, p in ours.items()} != {k: p.shape for k, p in theirs.items()}
    if (argument in SIZES or row.kind == "size") and (
        shapes or plain_buffers(plain) != plain_buffers(changed)
    ):
        return  # a batch of another size is needed to go on, and would be the difference
    if shapes and row.kind == "model":  # what is new must also be used: a gradient reaches it
        before = {k: p.detach().clone() for k, p in theirs.items() if p.requires_grad}
        contracts.fitted(changed, MEMBERS[name][row.member].batch, epochs=3)
        idle = {k for k in before if torch.equal(theirs[k], before[k])}
        new = {k for k in idle if k not in ours or ours[k].shape != theirs[k].shape}
        assert not new or new != {k for k in theirs if k not in ours or ours[k].shape != theirs[k].shape}, (
            f"{argument} = {row.value!r} adds {sorted(new)}, which nothing moves."
        )
        return
    start = None if shapes else {k: p.detach().clone() for k, p in ours.items()}
    if argument in SIZES or row.kind == "size":
        try:
            life(name, row.member, repr(other), start)
        except (ValueError, RuntimeError, IndexError):
            return  # a batch of another size
    a, measured = first_life(name, row.member, repr(settings), None)
    b, changed_measured = life(name, row.member, repr(other), start)
    state, metrics = differ(a, b), differ(measured, changed_measured)
    if row.kind == "cost":
        assert not differ(a, b, 1e-6) and not differ(measured, changed_measured, 1e-6)
    elif row.kind == "measure":
        assert metrics, f"no metric changes with {argument} = {row.value!r}."
    else:
        begins = any(not torch.equal(p, theirs[k]) for k, p in ours.items()) if not shapes else True
        assert state or begins, f"{argument} = {row.value!r} changes nothing."


def plain_buffers(model: Any) -> dict[str, Any]:
    return {k: b.shape for k, b in model.named_buffers()}
