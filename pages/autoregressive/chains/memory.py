"""A picture of a chain: what its symbols remember, and where its states end."""

from typing import Any

from lab import ui
from lab.figures import basic
from lab.lenses.typed import square_commas
from modules.autoregressive import markov
from pages.autoregressive.chains import common, figures, lens
from pages.autoregressive.chains.room import ROOM


def view(stage: Any) -> None:
    """Typed states and symbols, and how far back the symbols remember."""
    with stage.rail:
        typed = ui.text("Transitions, rows apart by ;", common.FIVE, key="matrix", max_chars=400,
                        says=square_commas)  # fmt: skip
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
    memory = lens.memory(transition, symbols, history)
    known = lens.possible(memory)
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
                data={"history": list(memory), "p": list(memory.values())},
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
    spread = lens.spread(known)
    stage.equation(values)
    with stage.below:
        if len(known) < len(memory):
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
            wrong={
                "yes": "That is the Markov property, and a hidden state breaks it: earlier symbols still "
                "tell of it.",
                "no": "A hidden state makes no memory by itself: after this history older symbols add "
                "nothing.",
            },
            veils=("memory", "equation"),
        )
        ui.program(
            f"""
            from pages.autoregressive.chains import lens

            transition = lens.typed_matrix("{typed}")
            result = list(lens.memory(transition, {symbols}, {history}).values())
            """,
            shows=list(memory.values()),
        )
        ui.source(
            markov.history_distribution, markov.distribution_after, markov.check_transition,
            references=ROOM.references,
        )  # fmt: skip
