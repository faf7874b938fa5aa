"""Chains and neighbours: counted models of pictures, and a picture of a chain that is no chain."""

import torch

from lab import ui
from lab.figures import basic
from lab.lenses import drawing, neighbours
from modules.autoregressive import bayesnet, markov, tables
from pages.autoregressive.chains import figures, lens

REFERENCES = ["[GM] §1.2.1, §1.2.2", "[BB] §5.1, example 5.10", "Pearl 1988; Norris 1997"]


FIVE, PRINTED = (lens.spelled_matrix(m) for m in (markov.FIVE_STATES, markov.PRINTED))
MEMORY = {"show": "memory"}

stage = ui.stage("Chains and neighbours", "Count who follows whom: a density without training.")
stage.scenes(
    {
        "Four neighbours": ui.scene("Four neighbours, a table for each place: counted, not trained."),
        "Independent": ui.scene("Without parents the samples are dust.", template="none"),
        "Raster chain": ui.scene("Knowing only what is left makes streaks.", template="left"),
        "Left and above": ui.scene("One neighbour above takes nats off.", template="left-up"),
        "One table": ui.scene(
            "Twelve neighbours, but one table for all places.", template="neighbours12", shared=True
        ),
        "By hand": ui.scene(
            "Five painted parents: click a cell to add one or take it away.", template="own",
            own="0 -1; -1 -1; -1 0; -1 1; -2 0", shared=True,
        ),
        "Memory": ui.scene("The bars change with the fourth symbol back: no chain of order 3.", **MEMORY),
        "1 then 2": ui.scene("After 2, one in three is 1; after 1 then 2, none.", history="1 2", **MEMORY),
        "All seen": ui.scene(
            "Where every state shows, one symbol is enough.", matrix="0.9 0.1; 0.5 0.5", symbols="1 2",
            **MEMORY,
        ),
    }
)  # fmt: skip


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
    with stage.rail:
        names = [*lens.LADDER, "own"]
        template = ui.choice("Parents of a pixel", names, key="template", default="neighbours4", as_list=True)
        shared = ui.toggle("One table for all pixels", False, key="shared")
        seed = ui.number("Seed of the samples", 0, 9999, 0, key="seed")
        typed = ui.held_text("own", "0 -1; -1 0")
        try:
            offsets = lens.typed_offsets(typed) if template == "own" else tuple(bayesnet.TEMPLATES[template])
        except ValueError as error:
            ui.stop(str(error))
        x = lens.bits(ui.draw("Draw a digit", key="digit", size=neighbours.SIDE, examples=examples()))
    model = neighbours.counted(offsets, shared)
    film = ui.film(model.n, key="pixel", values=range(model.n), default=27, label="Pixel", seconds=0.2)
    found, sample = ladder(offsets, shared), drawn(offsets, shared, 25, seed)
    side = neighbours.SIDE
    each = -model.log_conditionals(x[None])[0].reshape(side, side)
    with stage.picture:
        left, middle, right = ui.columns(3)
        with left:
            ui.button_figure(
                figures.painter(
                    lens.painted(offsets), range(-lens.REACH, lens.REACH + 1), range(-lens.REACH, 1),
                    title="Parents: click",
                ),
                key="cell", alt="Template of the parents of a pixel: a click adds one or takes it away",
                on_press=lambda column, row: {
                    "template": "own", "own": lens.spelled(lens.toggled(offsets, row, column))
                },
                data={"offset": lens.spelled(offsets).split("; ")}, share=0.45,
            )  # fmt: skip
            ui.figure(
                basic.bars(
                    list(found), list(found.values()), highlight=len(found) - 1, horizontal=True,
                    title="Test nats",
                ).update_xaxes(nticks=3),
                alt="Test cost of growing templates and of this one", key="ladder",
                data={"parents": list(found), "nll": list(found.values())}, share=0.55,
            )  # fmt: skip
        with middle:
            ui.figure(
                figures.surprisal(each.flatten(), side, film.at, "Surprisal, nats"), key="surprisal",
                alt="Surprisal of each pixel of the drawn digit", data={"nats": each.flatten()}, share=1.0,
                film=film,
                frames={"data.2.x": [[i % side] for i in range(model.n)],
                        "data.2.y": [[i // side] for i in range(model.n)]},
            )  # fmt: skip
        with right:
            ui.figure(
                basic.images(sample, columns=5, title="Samples"), alt="25 samples of this model",
                key="samples", data={"picture": drawing.bit_strings(sample)}, share=1.0,
            )  # fmt: skip
    captions, equations = lens.lookups(model, x)
    with stage.foot:
        film.bar(captions=captions, equations=equations)
    preset = min(lens.LADDER, key=found.__getitem__)
    stage.metrics(
        {
            "Nats, yours": f"{found['yours']:.2f}",
            f"best preset ({preset})": f"{found[preset]:.2f}",
            "Numbers": f"{model.num_parameters:,}",
            "−log p(x)": f"{float(each.sum()):.2f}",
        }
    )
    better = "left-up" if found["left-up"] < found["left"] else "left"
    with stage.below:
        ui.notice(
            "A chain that knows only what is left makes streaks: it cannot tell what stands above. A "
            "neighbour above takes nats off without any training, by counting alone. One table for all "
            "places cannot tell middle from margin. Your digit costs the sum of its 64 surprisals."
        )
        options = ["left", "left-up"]
        if template not in (*options, "own"):
            options.append(template)
        better = min(options, key=found.__getitem__)
        ui.check(
            "Which describes unseen digits best?",
            options,
            better,
            "; ".join(f"{name}: {found[name]:.2f} nats" for name in options) + ".",
            veils=("ladder", "numbers"),
        )
        ui.program(
            f"""
            from lab.lenses import neighbours

            model = neighbours.counted({offsets!r}, shared={shared})
            result = [neighbours.nll_on_test(model), model.num_parameters]
            """,
            shows=[found["yours"], model.num_parameters],
        )
        ui.source(tables.Counted.rows, tables.Counted.count, bayesnet.neighbours, references=REFERENCES)


def memory_mode() -> None:
    with stage.rail:
        typed = ui.text("Transitions, rows apart by ;", FIVE, key="matrix", max_chars=400)
        try:
            transition = lens.typed_matrix(typed)
            symbols = lens.typed_symbols(
                ui.text("Symbol of each state", "1 1 1 2 2", key="symbols", max_chars=20), len(transition)
            )
            history = lens.typed_history(
                ui.text("Symbols seen, oldest first", "2 1 1 1", key="history", max_chars=20)
            )
        except ValueError as error:
            ui.stop(str(error))
    film = ui.film(21, key="m", values=range(21), default=2, label="m =", seconds=0.3)
    found = lens.memory(transition, symbols, history)
    known = {name: p for name, p in found.items() if p == p}
    after, captions, equations = lens.courses(transition, 0, film.count - 1)
    rest = lens.distributions(transition, 0, 0)[1]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                basic.bars(
                    list(known), list(known.values()), probability=True,
                    title="p(next is 1 | last symbols)", xlabel="symbols remembered",
                ),
                alt="Probability of symbol 1 after longer and longer histories", key="memory", share=1.0,
                data={"history": list(found), "p": list(found.values())},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.states(after[film.at], rest, "State after m steps"), key="states", share=1.0,
                alt="Distribution of the hidden state after m steps, beside the stationary one",
                data={"state": range(1, len(rest) + 1), "distribution": after[film.at], "stationary": rest},
                film=film, frames={"data.1.y": after},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=captions, equations=equations)
    values = r",\quad ".join(rf"p(1\mid {name})={p:.4f}" for name, p in list(known.items())[1:]) or (
        rf"p(1)={known['nothing']:.4f}"
    )
    spread = max(list(known.values())[1:], default=0.0) - min(list(known.values())[1:], default=0.0)
    stage.equation(values)
    with stage.below:
        if len(known) < len(found):
            ui.caption("Histories that never occur have no bar.")
        ui.notice(
            "The states are a chain; the symbols they show are not, where the bars go on changing with more "
            "history. A model of symbols may therefore need all of the past, which is what the chain rule "
            "gives. The text's matrix is printed transposed: its rows do not sum to 1."
        )
        ui.check(
            "Is one symbol of memory enough after this history?",
            ["yes", "no"],
            "yes" if spread < 1e-6 else "no",
            f"Given one symbol or more, p(1) changes by {spread:.4f}.",
            veils=("memory", "equation"),
        )
        ui.program(
            f"""
            from pages.autoregressive.chains import lens

            transition = lens.typed_matrix("{typed}")
            result = list(lens.memory(transition, {symbols}, {history}).values())
            """,
            shows=list(found.values()),
        )
        ui.source(
            markov.history_distribution, markov.distribution_after, markov.check_transition,
            references=REFERENCES,
        )  # fmt: skip


modes = {"pictures": pictures_mode, "memory": memory_mode}
with stage.rail:
    mode = ui.choice("View", list(modes), key="show", default="pictures")
modes[mode]()
