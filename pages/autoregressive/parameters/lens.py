"""Cost of an autoregressive model: its free numbers, and its multiplications for likelihood and sample.

Nothing here is a formula but `FORMULAS`: free numbers are the elements of the arrays of a model that is
really made, multiplications are seen as they happen.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lab.seeding import seeded
from modules.autoregressive.base import Autoregressive
from modules.autoregressive.fvsbn import FVSBN
from modules.autoregressive.made import MADE
from modules.autoregressive.markov import MarkovChain
from modules.autoregressive.nade import NADE
from modules.autoregressive.tables import ChainRuleTable, JointTable
from modules.autoregressive.untied import Untied
from pages.autoregressive.parameters.counting import both_counts, draw_weights, multiplications

LARGEST = 100_000  # free numbers of a model that is made to be counted,
LARGEST_TABLE = 4096  # and of one whose contexts are walked one by one

# name -> made for n variables, memory k, d hidden units
MODELS: dict[str, Callable[[int, int, int], Autoregressive]] = {
    "joint table": lambda n, k, d: JointTable((n,)),
    "chain-rule table": lambda n, k, d: ChainRuleTable((n,)),
    "chain of memory k": lambda n, k, d: MarkovChain((n,), memory=k),
    "FVSBN": lambda n, k, d: FVSBN((n,)),
    "untied networks": lambda n, k, d: Untied((n,), hidden=d),
    "NADE": lambda n, k, d: NADE((n,), hidden=d),
    "MADE": lambda n, k, d: MADE((n,), hidden=[d]),
}

FORMULAS: dict[str, Callable[[int, int, int], int]] = {
    "joint table": lambda n, k, d: 2**n - 1,
    "chain-rule table": lambda n, k, d: sum(2**i for i in range(n)),
    "chain of memory k": lambda n, k, d: sum(2 ** min(i, k) for i in range(n)),
    "FVSBN": lambda n, k, d: n * (n + 1) // 2,
    "untied networks": lambda n, k, d: d * n * (n - 1) // 2 + d + n * d + n,
    "NADE": lambda n, k, d: 2 * n * d + d + n,
    "MADE": lambda n, k, d: 2 * n * d + d + n,
}

# name -> the module and the call that makes it, for a program
CALLS = {
    "joint table": ("tables", "JointTable(({n},))"),
    "chain-rule table": ("tables", "ChainRuleTable(({n},))"),
    "chain of memory k": ("markov", "MarkovChain(({n},), memory={k})"),
    "FVSBN": ("fvsbn", "FVSBN(({n},))"),
    "untied networks": ("untied", "Untied(({n},), hidden={d})"),
    "NADE": ("nade", "NADE(({n},), hidden={d})"),
    "MADE": ("made", "MADE(({n},), hidden=[{d}])"),
}

WIDE = {"untied networks", "NADE", "MADE"}  # those with d hidden units
LATEX = {
    "joint table": r"2^n - 1",
    "chain-rule table": r"1 + 2 + 4 + \dots + 2^{n-1}",
    "chain of memory k": r"1 + 2 + \dots + 2^{k-1} + (n-k)\,2^k",
    "FVSBN": r"\tfrac{n(n+1)}{2}",
    "untied networks": r"d\,\tfrac{n(n-1)}{2} + d + nd + n",
    "NADE": r"2nd + d + n",
    "MADE": r"2nd + d + n",
}


def operands(name: str, n: int, k: int, d: int) -> str:
    """The formula of a model with its numbers put in, LaTeX."""
    m = min(n, k)  # variables that have fewer than k before them
    return {
        "joint table": rf"2^{{{n}}} - 1",
        "chain-rule table": rf"1 + \dots + 2^{{{n - 1}}}",
        "chain of memory k": rf"(2^{{{m}}} - 1) + {n - m} \cdot 2^{{{k}}}",
        "FVSBN": rf"\tfrac{{{n} \cdot {n + 1}}}{{2}}",
        "untied networks": rf"{d} \cdot \tfrac{{{n} \cdot {n - 1}}}{{2}} + {d} + {n} \cdot {d} + {n}",
        "NADE": rf"2 \cdot {n} \cdot {d} + {d} + {n}",
        "MADE": rf"2 \cdot {n} \cdot {d} + {d} + {n}",
    }[name]


@dataclass(frozen=True)
class Cost:
    """Cost of one model; None where it is too large to be made.

    Attributes:
        numbers: free numbers, counted.
        likelihood, sample: multiplications of one log p(x) and of one draw.
        live: of one log p(x), those with weights that no mask has set to 0.
        passes: of one draw that makes a full pass for each variable.
        steps: evaluations of a conditional, one after the other, in one draw.
    """

    numbers: int | None
    likelihood: int | None
    live: int | None
    sample: int | None
    passes: int | None
    steps: int


def too_large(name: str, n: int, k: int, d: int) -> bool:
    """To be made for a page."""
    return FORMULAS[name](n, k, d) > (LARGEST_TABLE if name.endswith("table") else LARGEST)


def depends(name: str, n: int, k: int, d: int) -> tuple[str, int, int, int]:
    """The same model with 1 for what it does not depend on."""
    return name, n, k if name == "chain of memory k" else 1, d if name in WIDE else 1


def cost(name: str, n: int, k: int, d: int) -> Cost:
    """Made, counted, run."""
    if too_large(name, n, k, d):
        return Cost(None, None, None, None, None, n)
    model = seeded(lambda: MODELS[name](n, k, d)).eval()
    draw_weights(model)  # FVSBN starts at 0, which is no mask

    steps, order = 0, model.component_order(0)

    def bits(batch: int) -> Tensor:
        return torch.ones(batch, n, dtype=model.dtype)  # a bit 0 adds nothing, and may be left out

    def draw(batch: int) -> None:
        nonlocal steps
        steps = sum(1 for _ in model._sequential_logits(bits(batch), order, 0, 0))

    def one_pass(batch: int) -> None:  # a draw by full passes takes one for every variable, all alike
        next(Autoregressive._sequential_logits(model, bits(batch), order, 0, 0))

    own, full = multiplications(draw), multiplications(one_pass)
    done, live = both_counts(lambda batch: model.log_prob(torch.ones(batch, n)))
    return Cost(model.num_parameters, done, live, own, steps * full, steps)


def cost_table(costs: Mapping[str, Cost]) -> dict[str, list[Any]]:
    """Columns, a row a model that was made."""
    return {
        "model": list(costs),
        "numbers": [f"{c.numbers:,}" for c in costs.values()],
        "× one pass": [f"{c.likelihood:,}" for c in costs.values()],
        "× without masked": [f"{c.live:,}" for c in costs.values()],
        "× running state": [f"{c.sample:,}" for c in costs.values()],
        "× n full passes": [f"{c.passes:,}" for c in costs.values()],
        "steps": [c.steps for c in costs.values()],
    }


def program(name: str, n: int, k: int, d: int) -> str:
    """Python that counts the numbers of a model, or takes the formula where it is too large to be made."""
    if too_large(name, n, k, d):
        return f"n = {n}\nresult = 2**n - 1"
    module, call = CALLS[name]
    made = call.format(n=n, k=k, d=d)
    return (
        f"from modules.autoregressive.{module} import {made.partition('(')[0]}\n\n"
        f"model = {made}\nresult = model.num_parameters"
    )


def curve(name: str, sizes: Sequence[int], k: int, d: int) -> list[float]:
    """The formula at every n; a float, as 2^n leaves the integers of a figure."""
    return [float(FORMULAS[name](n, k, d)) for n in sizes]


def clicked(
    lines: Mapping[str, Sequence[float]], sizes: Sequence[int], x: float, y: float
) -> tuple[str, int] | None:
    """The curve and the n of a point that was clicked; None if it is on no curve any more."""
    if x not in sizes:
        return None
    at = list(sizes).index(int(x))
    on = [name for name, values in lines.items() if math.isclose(values[at], y, rel_tol=1e-4)]
    return (on[0], sizes[at]) if on else None


def crossing(k: int, d: int, most: int) -> int | None:
    """The least n at which the joint table has more numbers than NADE; None if beyond `most`."""
    larger = (n for n in range(1, most + 1) if FORMULAS["joint table"](n, k, d) > FORMULAS["NADE"](n, k, d))
    return next(larger, None)


def not_there(low: int, high: int, cross: int | None, d: int) -> str:
    """Say why the table does not overtake NADE at an n from low to high."""
    late = cross is not None and cross < low
    n = low - 1 if late else high
    numbers = f"n = {n}: the table has {FORMULAS['joint table'](n, 1, d):,} numbers, "
    numbers += f"NADE {FORMULAS['NADE'](n, 1, d):,}."
    return ("That has happened already at " if late else "Two to the power of n starts slowly. At ") + numbers


def contexts_as_printed(n: int) -> tuple[int, int]:
    """Numbers of the chain rule with 2^m for m earlier bits, and with 2^m - 1 as [GM] 1.5.1 prints."""
    return sum(2**m for m in range(n)), sum(2**m - 1 for m in range(n))
