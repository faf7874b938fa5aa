"""NADE's running state: one sum, to which every pixel adds its column."""

from typing import Any

import torch

from lab import ui
from lab.figures import basic
from lab.lenses import drawing
from lab.ui.models import shelves
from pages.autoregressive.inspector import common, figures, lens, nade_state
from pages.autoregressive.inspector.room import ROOM

MOST = 200  # frames with an equation each; a longer film shows that of where it rests


@ui.cached
def running(name: str, x: torch.Tensor) -> nade_state.RunningState:
    return nade_state.running_state(ui.load(name), x)


@ui.cached
def anew(name: str, x: torch.Tensor) -> torch.Tensor:
    return nade_state.anew(ui.load(name), running(name, x))


def view(stage: Any) -> None:
    """One hidden unit along the reader's digit."""
    with stage.rail:
        name, model, side = common.model_and_side(only=lens.is_nade)
        unit = ui.number("Hidden unit k", 0, model.hidden - 1, 7, key="unit")
        kind = ui.choice("Show of it", ["a", "σ(a)"], key="state")
        x = drawing.entries(shelves.plain_digit(side), model.num_categories)
    state, again = running(name, x), anew(name, x)
    counts = range(model.n + 1)
    film = ui.film(model.n + 1, key="pixels", values=list(counts), default=model.n * 9 // 16,
                   seconds=0.1, label="Pixels read")  # fmt: skip
    states, step = nade_state.shown_states(state, kind), film.at
    title = "running sum a" if kind == "a" else "σ(a)"
    with stage.picture:
        bars, path = ui.columns(2)
        with bars:
            shown = nade_state.around(unit, model.hidden)
            rows, frames = figures.units(shown, unit, states, step, title)
            ui.figure(
                rows, alt="Hidden units before and after the last pixel's column was added", share=1.0,
                film=film, frames=frames, data={"unit": shown, "now": states[step, shown]},
            )  # fmt: skip
        with path:
            ui.figure(
                basic.curves({f"unit {unit}": states[:, unit]}, mark=step, title=f"Unit {unit}, {title}",
                             xlabel="pixels read"),
                alt="One hidden unit along the picture", share=1.0, film=film,
                frames={"layout.shapes.0.x0": counts, "layout.shapes.0.x1": counts},
                data={"pixels": counts, "state": states[:, unit]},
            )  # fmt: skip
    largest = nade_state.drift(state, again)
    captions = [
        f"Carried {float(state.carried[t, unit]):.4f}, summed anew {float(again[t, unit]):.4f}; "
        f"all units agree within {float(largest[t]):.0e}."
        for t in counts
    ]
    equations = [nade_state.addition(model, state, t, unit) for t in (counts if model.n < MOST else [step])]
    with stage.foot:
        film.bar(captions=captions, equations=equations if model.n < MOST else ())
    if model.n >= MOST:
        stage.equation(equations[0])
    with stage.below:
        ui.notice(
            "The sum is additive: a pixel adds its own column, whatever came before, and nothing is "
            "forgotten. White pixels add nothing. The sum carried along and the one taken anew are the same "
            "number, but the first costs one addition a pixel and unit, the second as many as there are "
            "pixels before."
        )
        inked = nade_state.columns_taken(state, step)
        ui.check(
            f"After {step} pixels: how many columns has the sum taken in that are not multiplied by 0?",
            sorted({inked, step, model.n, model.hidden}),
            inked,
            f"{inked} of the {step} pixels read so far have ink.",
            wrong={
                model.hidden: "That is how many numbers a column has, one for each hidden unit.",
                model.n: f"Those are all pixels of the picture: only {step} have been read.",
                step: f"A pixel without ink adds nothing: of {step} only {inked} have ink.",
            },
            veils=("picture",),
        )
        ui.program(
            f"""
            import torch
            from lab import weights

            model = weights.load("{name}")
            x = {common.literal(x)}
            past, fed = model.order[:{step}], model.inputs(x)[:, 0]
            a = model.start + fed[past] @ model.weight[past, 0]
            result = a[{unit}].item()
            """,
            shows=float(again[step, unit]),
        )
        ui.source(
            nade_state.running_state,
            nade_state.anew,
            lens.NADE._sequential_logits,
            references=ROOM.references,
        )
