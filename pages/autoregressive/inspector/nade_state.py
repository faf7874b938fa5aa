"""NADE's running state on a picture: which units move a pixel's logit, and all states along the order."""

from dataclasses import dataclass

import torch
from torch import Tensor

from modules.autoregressive.nade import NADE


@dataclass(frozen=True)
class RunningUnits:
    """Some hidden units of NADE at one pixel: those that move its logit most.

    Attributes:
        unit: (m,) which units.
        state: (m,) a_i; after: (m,) a_{i+1} = a_i + W_i x_i; column: (m,) W_i.
        vote: (m,) V_i h_i, the part of each in the logit (of K values, of the logit of what x_i is).
        rest: the sum of the votes of all other units; bias: b_i.
        drift: largest difference of a_i from c + Σ_{j<i} W_j x_j taken anew.
    """

    unit: Tensor
    state: Tensor
    after: Tensor
    column: Tensor
    vote: Tensor
    rest: float
    bias: float
    drift: float


@torch.no_grad()
def running_units(model: NADE, x: Tensor, pixel: int, units: int = 16) -> RunningUnits:
    """NADE's running state just before `pixel` of x (n,), carried column by column along the order."""
    order, x = model.component_order(0).tolist(), x.to(model.device, model.dtype)
    rank = order.index(pixel)
    u = model.inputs(x)[:, 0]  # (n,)
    a = model.start.clone()
    for j in order[:rank]:
        if u[j]:
            a += model.weight[j, 0] * u[j]
    anew = model.start + u[order[:rank]] @ model.weight[order[:rank], 0]
    output = 0 if model.num_categories == 2 else int(x[pixel])
    column, vote = model.weight[pixel, 0], model.readout[pixel, output] * a.sigmoid()
    top = vote.abs().topk(min(units, len(vote))).indices
    after = a + column * u[pixel]
    return RunningUnits(
        top,
        a[top],
        after[top],
        column[top],
        vote[top],
        float(vote.sum() - vote[top].sum()),
        float(model.bias[pixel, output]),
        float((a - anew).abs().max()),
    )


@dataclass(frozen=True)
class RunningState:
    """All of NADE's states on one picture, along its order.

    Attributes:
        order: (n,) the pixels as they are visited.
        fed: (n,) what each pixel feeds to the state: x, or x / (K - 1) of K values.
        carried: (n + 1, d) a before the first pixel, after one pixel, …: a column is added a pixel.
    """

    order: Tensor
    fed: Tensor
    carried: Tensor


@torch.no_grad()
def running_state(model: NADE, x: Tensor) -> RunningState:
    """The state carried through a picture x (n,): one addition of a column a pixel, in single precision."""
    order, fed = model.component_order(0), model.inputs(x.to(model.device, model.dtype))[:, 0]
    states = [model.start.clone()]
    for j in order.tolist():
        states.append(states[-1] + model.weight[j, 0] * fed[j])
    return RunningState(order, fed, torch.stack(states))


def around(unit: int, count: int, shown: int = 16) -> list[int]:
    """Numbers of `shown` neighbouring units of `count`, `unit` among them."""
    first = max(0, min(unit - shown // 2, count - shown))
    return list(range(first, min(count, first + shown)))


def shown_states(state: RunningState, kind: str) -> Tensor:
    """(n + 1, d): the running sum "a", or the hidden units "σ(a)" that read it."""
    return state.carried if kind == "a" else torch.sigmoid(state.carried)


def columns_taken(state: RunningState, step: int) -> int:
    """Number of the first `step` pixels that have fed anything but 0."""
    return int(state.fed[state.order[:step]].count_nonzero())


@torch.no_grad()
def anew(model: NADE, state: RunningState) -> Tensor:
    """The state after 0, 1, … pixels, each as one sum c + Σ_j W_j x_j of its own, (n + 1, d)."""
    n = len(state.order)
    past = torch.ones(n + 1, n).tril(-1).to(state.carried)  # row t: the first t pixels
    columns = state.fed[state.order][:, None] * model.weight[state.order, 0]  # (n, d)
    return model.start + past @ columns


def drift(state: RunningState, again: Tensor) -> Tensor:
    """The largest difference of `carried` from the sums taken `anew`, over the units, (n + 1,)."""
    return (state.carried - again).abs().amax(1)


def addition(model: NADE, state: RunningState, step: int, unit: int) -> str:
    """Addition of the last of `step` pixels to one unit, as LaTeX."""
    if step == 0:
        return rf"a_{{{unit}}} = c_{{{unit}}} = {float(model.start[unit]):.4f}"
    last = int(state.order[step - 1])
    return (
        rf"a_{{{unit}}} \leftarrow {float(state.carried[step - 1, unit]):.4f} "
        rf"{float(model.weight[last, 0, unit]):+.4f} \cdot {float(state.fed[last]):.4g} = "
        rf"{float(state.carried[step, unit]):.4f}"
    )
