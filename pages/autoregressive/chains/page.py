"""Chains and neighbours: counted models of pictures, and a picture of a chain that is no chain."""

import torch

from lab import ui
from lab.figures import basic, raster
from lab.lenses import drawing, neighbours
from modules.autoregressive import bayesnet, markov, tables
from pages.autoregressive.chains import figures, lens

REFERENCES = ["[GM] §1.2.1, §1.2.2", "[BB] §5.1, example 5.10", "Pearl 1988; Norris 1997"]


@ui.cached
def ladder(offsets: tuple, shared: bool) -> dict:
    return lens.ladder(offsets, shared)


@ui.cached
def drawn(offsets: tuple, shared: bool, count: int, seed: int) -> torch.Tensor:
    return neighbours.counted(offsets, shared).sample(count, generator=torch.Generator().manual_seed(seed))


@ui.cached
def examples() -> list:
    return drawing.examples(neighbours.SIDE)


def pictures_mode() -> None:
    left, right = ui.columns(2)
    with right:
        names = [*lens.LADDER, "own"]
        template = ui.choice("Parents of a pixel", names, key="template", default="neighbours4", as_list=True)
        shared = ui.toggle("One table for all pixels", False, key="shared")
        seed = ui.number("Seed of the samples", 0, 9999, 0, key="seed")
        typed = ui.held_text("own", "0 -1; -1 0")
        try:
            offsets = lens.typed_offsets(typed) if template == "own" else tuple(bayesnet.TEMPLATES[template])
        except ValueError as error:
            ui.stop(str(error))
    with left:
        x = lens.bits(ui.draw("Draw a digit", key="digit", size=neighbours.SIDE, examples=examples()))
    model = neighbours.counted(offsets, shared)
    pixel = ui.slider("Pixel", 0, model.n - 1, 27, key="pixel")

    parents, costs = ui.columns(2)
    with parents:
        ui.button_figure(
            figures.painter(
                lens.painted(offsets), range(-lens.REACH, lens.REACH + 1), range(-lens.REACH, 1),
                title="Parents (blue); click a cell",
            ),
            key="cell", alt="Template of the parents of a pixel: a click adds one or takes it away",
            on_press=lambda column, row: {
                "template": "own", "own": lens.spelled(lens.toggled(offsets, row, column))
            },
            data={"offset": lens.spelled(offsets).split("; ")},
        )  # fmt: skip
    found = ladder(offsets, shared)
    with costs:
        ui.figure(
            basic.bars(
                list(found), list(found.values()), highlight=len(found) - 1, height=380, horizontal=True,
                title="Nats per test digit",
            ),
            alt="Test cost of growing templates and of this one",
            data={"parents": list(found), "nll": list(found.values())},
        )  # fmt: skip
    preset = min(lens.LADDER, key=found.__getitem__)
    for place, (label, value) in zip(
        ui.columns(3),
        {
            "Yours, nats a test digit": f"{found['yours']:.2f}",
            "Numbers in the tables": f"{model.num_parameters:,}",
            f"Best preset: {preset}": f"{found[preset]:.2f}",
        }.items(),
        strict=True,
    ):
        place.metric(label, value)
    sheet, surprisal = ui.columns(2)
    with sheet:
        sample = drawn(offsets, shared, 25, seed)
        ui.figure(
            basic.images(sample, columns=5, title="Samples", height=380), alt="25 samples of this model",
            data={"picture": drawing.bit_strings(sample)},
        )  # fmt: skip
    each = -model.log_conditionals(x[None])[0].reshape(neighbours.SIDE, neighbours.SIDE)
    with surprisal:
        ui.figure(
            raster.surprisal(each.flatten(), neighbours.SIDE, "Surprisal of your digit, nats"),
            alt="Surprisal of each pixel of the drawn digit", data={"nats": each.flatten()},
        )  # fmt: skip
    look = lens.lookup(model, x, pixel)
    context = ", ".join(f"x_{{{p}}}={v}" for p, v in look.context.items())
    given = rf"\mid {context}" if context else ""
    ui.equation(
        rf"p(x_{{{pixel}}}=1{given})=\frac{{{look.ones}+\frac12}}{{{look.zeros + look.ones}+1}}={look.p:.4f}"
        rf",\qquad -\log p(x)={float(each.sum()):.2f}",
        f"Of {look.zeros + look.ones:,} training pixels with these parents {look.ones:,} were 1. "
        f"{model.num_parameters:,} numbers in all; your digit costs the sum of its 64 surprisals.",
    )
    ui.notice(
        "A chain that knows only what is left makes streaks: it cannot tell what stands above. A neighbour "
        "above takes nats off without any training, by counting alone. Here a table for each place pays: "
        "one for all of them is worse with the same neighbours, as it cannot tell middle from margin."
    )
    ui.presets(
        {
            "Independent": {"template": "none", "shared": False},
            "Raster chain": {"template": "left", "shared": False},
            "Left and above": {"template": "left-up", "shared": False},
            "Twelve, one table": {"template": "neighbours12", "shared": True},
            "Five by hand": {"template": "own", "own": "0 -1; -1 -1; -1 0; -1 1; -2 0", "shared": True},
        }
    )
    better = "left-up" if found["left-up"] < found["left"] else "left"
    ui.check(
        "Which describes unseen digits better?",
        ["left", "left-up"],
        better,
        f"left {found['left']:.2f} nats, left-up {found['left-up']:.2f}.",
    )
    ui.source(tables.Counted.rows, tables.Counted.count, bayesnet.neighbours, references=REFERENCES)


def memory_mode() -> None:
    five, printed = (lens.spelled_matrix(m) for m in (markov.FIVE_STATES, markov.PRINTED))
    typed = ui.text("Transition matrix, rows apart by ;", five, key="matrix", max_chars=400)
    left, middle, right = ui.columns(3)
    try:
        transition = lens.typed_matrix(typed)
        with left:
            symbols = lens.typed_symbols(
                ui.text("Symbol of each state", "1 1 1 2 2", key="symbols", max_chars=20), len(transition)
            )
        with middle:
            history = lens.typed_history(
                ui.text("Symbols seen, oldest first", "2 1 1 1", key="history", max_chars=20)
            )
    except ValueError as error:
        ui.stop(str(error))
    with right:
        steps = ui.slider("Steps m", 0, 20, 2, key="m")
    found = lens.memory(transition, symbols, history)
    known = {name: p for name, p in found.items() if p == p}
    bars, after_many = ui.columns(2)
    with bars:
        ui.figure(
            basic.bars(
                list(known), list(known.values()), probability=True, title="p(next is 1 | last symbols)",
                xlabel="symbols remembered",
            ),
            alt="Probability of symbol 1 after longer and longer histories",
            data={"history": list(found), "p": list(found.values())},
        )  # fmt: skip
    after, rest = lens.distributions(transition, 0, steps)
    with after_many:
        ui.figure(
            basic.bars(
                [str(i + 1) for i in range(len(after))], after, baseline=rest, probability=True,
                title=f"State after {steps} steps from 1", xlabel="state", names=("ν Aᵐ", "in the long run"),
            ),
            alt="Distribution of the hidden state after m steps, beside the stationary one",
            data={"state": range(1, len(after) + 1), "distribution": after, "stationary": rest},
        )  # fmt: skip
    if len(known) < len(found):
        ui.caption("Histories that never occur have no bar.")
    values = r",\quad ".join(rf"p(1\mid {name})={p:.4f}" for name, p in list(known.items())[1:]) or (
        rf"p(1)={known['nothing']:.4f}"
    )
    spread = max(list(known.values())[1:], default=0.0) - min(list(known.values())[1:], default=0.0)
    ui.equation(values, "Exact sums over the hidden states, the chain having run for long.")
    ui.notice(
        "The states are a chain; the symbols they show are not, where the bars go on changing with more "
        "history. A model of symbols may therefore need all of the past, which is what the chain rule gives. "
        "The text's matrix is printed transposed: its rows do not sum to 1."
    )
    ui.presets(
        {
            "Last symbol 2": {"matrix": five, "symbols": "1 1 1 2 2", "history": "2"},
            "1 then 2": {"matrix": five, "symbols": "1 1 1 2 2", "history": "1 2"},
            "2 then 2": {"matrix": five, "symbols": "1 1 1 2 2", "history": "2 2"},
            "As printed": {"matrix": printed},
            "Every state seen": {"matrix": "0.9 0.1; 0.5 0.5", "symbols": "1 2", "history": "2 1 1 1"},
        }
    )
    ui.check(
        "Is one symbol of memory enough after this history?",
        ["yes", "no"],
        "yes" if spread < 1e-6 else "no",
        f"Given one symbol or more, p(1) changes by {spread:.4f}.",
    )
    ui.source(
        markov.history_distribution, markov.distribution_after, markov.check_transition, references=REFERENCES
    )


ui.header(
    "Chains and neighbours", "Count who follows whom: a density without training, if memory is short enough."
)
mode = ui.choice("Show", ["pictures", "memory"], key="show", default="pictures")
{"pictures": pictures_mode, "memory": memory_mode}[mode]()
