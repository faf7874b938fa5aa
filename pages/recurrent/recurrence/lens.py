"""A recurrent language model unrolled over a text; a gate can be frozen, a unit clamped.

    LSTM    cell_t = f cell_{t−1} + i g,  h_t = o tanh cell_t        GRU    h_t = (1 − z) n + z h_{t−1}
    clamped unit k: (h_t)_k is replaced by a number in each step, and all that follows by what comes of it

References: Hochreiter & Schmidhuber 1997; Cho et al. 2014, arXiv:1406.1078; [LLM] definitions 1.3, 1.4.
"""

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from lab.experiments import Experiment
from lab.lenses import text as texts
from modules.recurrent.cell import Cell, State
from modules.recurrent.language_model import RecurrentLM
from pages.recurrent.recurrence.room import NOTHING, WORDS

MOST = 40  # characters
NEXT = 8  # that are shown


def fits(experiment: Experiment) -> bool:
    return experiment.module.endswith(".RecurrentLM")


def top(model: RecurrentLM) -> Cell:
    """The cell of the top layer."""
    return model.recurrent.cells[-1]  # type: ignore[return-value]


def last_unit(model: RecurrentLM) -> int:
    return top(model).hidden - 1


def gates(model: RecurrentLM) -> list[str]:
    return [NOTHING, *top(model).GATES]


def shown(model: RecurrentLM) -> list[str]:
    """Names of what a cell has at each step."""
    names = ["h", *(["cell"] if "f" in top(model).GATES else []), *top(model).BLOCKS]
    return [WORDS[name] for name in names]


@dataclass(frozen=True)
class Run:
    """A text of T characters, read.

    Attributes:
        names: characters, as shown.
        inside: h, an LSTM's cell, gates and candidate by name, each (T + 1, H); row 0 is of <bos>.
        p: of the next character after each, (T, V).
    """

    names: list[str]
    inside: Mapping[str, Tensor]
    p: Tensor


def tokens(model_card: Mapping[str, Any], text: str) -> tuple[list[str], Tensor]:
    """Characters of a text that the model knows, as shown, and their numbers (T,).

    Raises:
        UserError: there is none.
    """
    coder = texts.tokenizer(model_card)
    ids = texts.read(coder, texts.readable(coder, text)[0], MOST)
    return texts.names(coder, ids), ids


def says(model_card: Mapping[str, Any], text: str) -> str:
    """Say which characters are left out, "" for none."""
    return texts.readable(texts.tokenizer(model_card), text)[1]


def plain(model: RecurrentLM, model_card: Mapping[str, Any], text: str) -> Run:
    """The text read by the model as it is."""
    return run(model, *tokens(model_card, text))


def changed(
    model: RecurrentLM, model_card: Mapping[str, Any], text: str, freeze: str, frozen: float, unit: int,
    clamp: bool, value: float,
) -> Run:  # fmt: skip
    """The text read with a gate of the top layer frozen, and a unit of it clamped."""
    held = {} if freeze == NOTHING else {freeze: frozen}
    return run(model, *tokens(model_card, text), held, (unit, value) if clamp else None)


def run(
    model: RecurrentLM,
    names: list[str],
    ids: Tensor,
    frozen: Mapping[str, float] | None = None,
    clamp: tuple[int, float] | None = None,
) -> Run:
    """Read <bos> and characters (T,), step by step."""
    *below, last = model.recurrent.cells
    cell: Any = copy.copy(last)
    cell.frozen = dict(frozen or {})
    rows: list[dict[str, Tensor]] = []
    with torch.no_grad():
        x = model.embedding(F.pad(ids, (1, 0), value=model.bos))[None]
        for layer in below:
            x = layer.unroll(x)[0]  # type: ignore[operator]
        state: State = cell.initial_state(x)
        for a in cell.project(x).unbind(1):
            state, inside = cell.advance(a, state)
            if clamp is not None:
                h = state.h.clone()
                h[:, clamp[0]] = clamp[1]
                state = State(h, state.cell)
            memory = {} if state.cell is None else {"cell": state.cell}
            rows.append({"h": state.h, **memory, **inside})
        seen = {name: torch.cat([row[name] for row in rows]) for name in rows[0]}
        p = model.head(seen["h"][1:]).softmax(-1)
    return Run(names, seen, p)


def distance(a: Tensor, b: Tensor) -> Tensor:
    """Total variation distance of distributions (T, V), in [0, 1]: (T,)."""
    return (a - b).abs().sum(-1) / 2


# --- One unit at one character ------------------------------------------------------------------------


def equations(result: Run, unit: int, clamp: bool) -> list[str]:
    """The arithmetic of one unit at each character, with its operands."""
    v = {name: values[:, unit].tolist() for name, values in result.inside.items()}
    rows = []
    for t in range(1, len(result.names) + 1):
        if "cell" in v:
            f, i, g, o = (v[name][t] for name in ("f", "i", "candidate", "o"))
            memory = (
                r"\mathrm{cell}_t = f\,\mathrm{cell}_{t-1} + i\,g = "
                rf"{f:.2f} \cdot {signed(v['cell'][t - 1])} + {i:.2f} \cdot {signed(g)} = {v['cell'][t]:.2f}"
            )
            out = rf"h_t = o \tanh(\mathrm{{cell}}_t) = {o:.2f} \cdot {signed(math.tanh(v['cell'][t]))}"
        elif "z" in v:
            z, n = v["z"][t], v["candidate"][t]
            memory, out = (
                "",
                (
                    rf"h_t = (1 - z)\,n + z\,h_{{t-1}} = {1 - z:.2f} \cdot {signed(n)} + {z:.2f} \cdot "
                    rf"{signed(v['h'][t - 1])}"
                ),
            )
        else:
            memory, out = "", r"h_t = \tanh(W x_t + U h_{t-1} + b)"
        end = rf"h_t \leftarrow {v['h'][t]:.2f}" if clamp else rf"{out} = {v['h'][t]:.2f}"
        rows.append(memory + (r",\quad " if memory else "") + end)
    return rows


def signed(number: float) -> str:
    """A factor behind a dot: a negative one in brackets."""
    return f"({number:.2f})" if number < 0 else f"{number:.2f}"


def captions(result: Run, model_card: Mapping[str, Any]) -> list[str]:
    """The most probable next character after each."""
    known = texts.shown(texts.tokenizer(model_card).tokens)
    best = result.p.max(1)
    return [
        f"After {name} the most probable next character is {known[k]}, with {p:.3f}."
        for name, k, p in zip(result.names, best.indices.tolist(), best.values.tolist(), strict=True)
    ]
