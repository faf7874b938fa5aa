"""Nothing accepted is ignored: every argument of every class changes what its row says."""

import functools
from functools import partial
from typing import Any

import contracts
import pytest
import torch
from arguments import ARGUMENTS, SIZES, Other
from members import MEMBERS, Member, class_of, make
from torch import Tensor
from torch.optim.lr_scheduler import StepLR
from torchmetrics import Metric

from modules.base import SPLITS, CountModel, Sampler

PAIRS = [(name, argument) for name in sorted(MEMBERS) for argument in sorted(class_of(name).argument_names())]


def row_of(name: str, argument: str) -> Other | None:
    """The row of a class's argument: its own, or the nearest base's."""
    for cls in class_of(name).__mro__:
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
    return class_of(name)(**settings)


def life(
    model: Any, row: Member, start: dict[str, Tensor] | None = None, judged: bool = True
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """What a model has become and answers after three epochs, and what was measured of it on the way: where
    it is not to be judged, of its training alone, which is one step an epoch."""
    if start is not None:
        with torch.no_grad():
            for key, parameter in model.named_parameters():
                parameter.copy_(start[key])
    limits = {} if judged else {"limit_train_batches": 1, "limit_val_batches": 0}
    contracts.fitted(model, row.batch, epochs=3, **limits)
    measured = {k: v for k, v in model.trainer.callback_metrics.items() if k != "train/loss"}
    if judged:
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


@functools.lru_cache(maxsize=64)
def first_model(name: str, settings: str) -> Any:
    """A model that nothing changes."""
    return build(name, eval(settings))


@functools.lru_cache(maxsize=64)
def first_life(
    name: str, member: int, settings: str, judged: bool
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    return life(build(name, eval(settings)), MEMBERS[name][member], judged=judged)


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
    plain, changed = first_model(name, repr(settings)), build(name, other)
    ours, theirs = dict(plain.named_parameters()), dict(changed.named_parameters())
    shapes = {k: p.shape for k, p in ours.items()} != {k: p.shape for k, p in theirs.items()}
    if (argument in SIZES or row.kind == "size") and (
        shapes or plain_buffers(plain) != plain_buffers(changed)
    ):
        return  # a batch of another size is needed to go on, and would be the difference
    if shapes and row.kind == "model":  # what is new must also be used: a gradient reaches it
        before = {k: p.detach().clone() for k, p in theirs.items() if p.requires_grad}
        contracts.fitted(changed, MEMBERS[name][row.member].batch, epochs=3, limit_train_batches=1)
        idle = {k for k in before if torch.equal(theirs[k], before[k])}
        new = {k for k in idle if k not in ours or ours[k].shape != theirs[k].shape}
        assert not new or new != {k for k in theirs if k not in ours or ours[k].shape != theirs[k].shape}, (
            f"{argument} = {row.value!r} adds {sorted(new)}, which nothing moves."
        )
        return
    if row.kind == "model" and not shapes and any(not torch.equal(p, theirs[k]) for k, p in ours.items()):
        return  # it begins elsewhere
    judged = row.kind in ("measure", "cost")
    try:
        b, changed_measured = life(changed, MEMBERS[name][row.member], None if shapes else ours, judged)
    except (ValueError, RuntimeError, IndexError):
        if argument in SIZES or row.kind == "size":
            return  # a batch of another size
        raise
    a, measured = first_life(name, row.member, repr(settings), judged)
    state, metrics = differ(a, b), differ(measured, changed_measured)
    if row.kind == "cost":
        assert not differ(a, b, 1e-6) and not differ(measured, changed_measured, 1e-6)
    elif row.kind == "measure":
        assert metrics, f"no metric changes with {argument} = {row.value!r}."
    else:
        assert state or shapes, f"{argument} = {row.value!r} changes nothing."


@pytest.mark.heavy
@pytest.mark.parametrize("name", sorted(MEMBERS), ids=lambda name: name.rpartition(".")[2])
def test_optimizer_and_schedule_are_those_that_were_given(name: str) -> None:
    """Another optimizer ends elsewhere, and a schedule steps every epoch or every batch, as it was told."""
    descent, tenth = partial(torch.optim.SGD, lr=0.01), partial(StepLR, step_size=1, gamma=0.1)

    def trained(**how: Any) -> Any:
        return contracts.fitted(make(name, **how), MEMBERS[name][0].batch, epochs=2, limit_val_batches=0)

    if issubclass(class_of(name), CountModel):  # nothing is optimized
        for how in ({"optimizer": descent}, {"lr_scheduler": tenth}, {"lr_interval": "step"}):
            with pytest.raises(ValueError, match=r"[.]$"):
                make(name, **how)
        return
    plain = dict(trained().named_parameters())
    for interval, steps in (("epoch", 2), ("step", 4)):
        model = trained(optimizer=descent, lr_scheduler=tenth, lr_interval=interval)
        assert any(not torch.equal(p, plain[k]) for k, p in model.named_parameters())
        given = [o for o in model.trainer.optimizers if isinstance(o, torch.optim.SGD)]
        assert given
        for rate in [group["lr"] for o in given for group in o.param_groups]:
            assert rate == pytest.approx(0.01 * 0.1**steps), f"{interval}: {rate}"


class Seen(Metric):
    """How often it was told of anything."""

    def __init__(self) -> None:
        super().__init__()
        self.add_state("times", torch.tensor(0.0), dist_reduce_fx="sum")

    def update(self, *values: Any) -> None:
        self.times += 1

    def compute(self) -> Tensor:
        return self.times


@pytest.mark.parametrize("name", sorted(MEMBERS), ids=lambda name: name.rpartition(".")[2])
def test_metrics_that_are_given_are_reported(name: str) -> None:
    """Each in place of the class's own of that name; of what the class does not measure, none is taken."""
    plain = make(name)
    own = [metric.removeprefix("val/") for metric in plain.metric_names("val")]
    for given in ([own[0]], own):
        model = make(name, metrics={metric: Seen() for metric in given})
        assert model.metric_names("val") == plain.metric_names("val")
        assert {n for n, meter in model.meters.items() if isinstance(meter, Seen)} == {
            f"{split}_{metric}" for split in SPLITS for metric in given
        }
    contracts.fitted(model, MEMBERS[name][0].batch)
    measured = dict(model.trainer.callback_metrics)
    trainer = contracts.trainer()
    trainer.test(model, contracts.loader(MEMBERS[name][0].batch), verbose=False)
    measured = {k: v for k, v in {**measured, **trainer.callback_metrics}.items() if k != "train/loss"}
    assert {k.partition("/")[2] for k in measured} == set(own) and min(measured.values()) >= 1
    with pytest.raises(ValueError, match=r" measures .*[.]$"):
        contracts.fitted(make(name, metrics={"none": Seen()}), MEMBERS[name][0].batch)


def plain_buffers(model: Any) -> dict[str, Any]:
    return {k: b.shape for k, b in model.named_buffers()}
