"""Sequential cost: what waits for what, step by step; times measured and operations counted over T."""

from functools import partial

from lab import ui
from modules.recurrent.stack import Recurrent
from modules.transformer.attention import Attention
from pages.recurrent.cost import figures, lens
from pages.recurrent.cost.room import GRAPH, PRODUCTS, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def graph() -> None:
    found = ui.compute(lens.waves, now)
    recurrent, attention = found.counts
    count = max(found.counts)
    film = ui.film_of(now, count, values=range(1, count + 1))
    with stage.picture:
        names = ("Recurrent network", "Causal self-attention")
        for place, net, steps, name in zip(ui.columns(2), found.nets, found.steps, names, strict=True):
            with place:
                ui.figure(
                    figures.waiting(net, steps, count, name), key=name.split()[0].lower(), share=1.0,
                    film=film, alt=f"{name}: states that are known, computed now, or wait, with their edges",
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found), equations=[lens.equation(found, now.cores)] * count)
    T, L = now.length, now.layers
    wrong = {
        T * L: "That is one state at a time: some are ready together.",
        L: "A layer would be computed at once, but a state waits for the one before it.",
        T + L - 1: "So many suffice where all that is ready is computed, and all inputs are known.",
        T: "Each layer above takes steps of its own.",
    }
    with stage.below:
        ui.notice(
            "The longest chain of states that wait for each other is a bound from below, whatever the "
            "number of cores. In a decoder with attention the scores of step t wait for s at t − 1, additive "
            "or dot product alike; what they need of the source is computed at once, for all places."
        )
        ui.check(
            "How many steps does the recurrent network take here?",
            sorted({recurrent, *wrong}),
            recurrent,
            f"Attention takes {attention}.",
            wrong=wrong,
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from pages.recurrent.cost import lens

            result = list(lens.waves({T}, {L}, {now.mode!r}, {now.cores}).counts)
            """,
            shows=list(found.counts),
        )
        ui.source(lens.Net.parents, lens.Net.schedule, references=ROOM.references)


def draw_times(times: lens.Times) -> None:
    ui.figure(
        figures.clock(times), alt="Milliseconds of one pass over the length, by kind of layer", key="times",
        share=1.0, data={"T": times.lengths, **times.columns},
    )  # fmt: skip
    ui.caption(times.where)


def clock() -> None:
    counted = lens.counted(now.count, now.width)
    kept = lens.kept()
    with stage.picture:
        left, right = ui.columns(2)
        with right:
            ui.figure(
                figures.counts(counted, now.count, now.width), key="counts", share=1.0,
                alt=f"{now.count.capitalize()} of one layer over the length, by kind",
                data={"T": list(lens.LENGTHS), **counted},
            )  # fmt: skip
        with left:
            times = ui.job(
                "Measure here", partial(lens.timings, now.width), key="measure", of=now.width,
                show=draw_times, before=partial(draw_times, kept),
            )  # fmt: skip
            if times is not None:
                draw_times(times)
    T, H = lens.LENGTHS[-1], now.width
    values = {kind: line[-1] for kind, line in counted.items()}
    lstm, attention = values[lens.LSTM], values[lens.ATTENTION]
    formula = (
        (rf"8TH^2={lstm:,}", rf"4TH^2+T(T+1)H={attention:,}")
        if now.count == PRODUCTS
        else (rf"2H={lstm:,}", rf"2TH={attention:,}")
    )
    stage.equation(
        rf"T={T:,},\; H={H}:\quad \text{{LSTM}}\;\; {formula[0]},\qquad \text{{attention}}\;\; {formula[1]}"
        .replace(",", "{,}").replace("{,}\\", ",\\"),
        "Multiplications in matrix products." if now.count == PRODUCTS else "Numbers that a layer keeps.",
    )  # fmt: skip
    with stage.below:
        ui.notice(
            f"{lens.growth(kept if times is None else times)} The recurrent networks do T H² "
            "multiplications in T dependent steps, attention T² H in a few large products: with cores to "
            "spare the steps decide, with a long sequence the T². Times are of one machine and moment."
        )
        options = [lens.RNN, lens.GRU, lens.LSTM, lens.ATTENTION]
        largest = max(values, key=lambda kind: values[kind])
        ui.check(
            f"At T = {T:,} and H = {H}: which has the most {now.count}?"
            if now.count == PRODUCTS
            else f"At T = {T:,} and H = {H}: which keeps most?",
            options,
            largest,
            f"It has {values[largest]:,}.",
            wrong={
                kind: f"{lens.reason(now.count, kind)}, {value:,} in all." for kind, value in values.items()
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from pages.recurrent.cost import lens

            result = [line[-1] for line in lens.counted({now.count!r}, {H}).values()]
            """,
            shows=list(values.values()),
        )
        ui.source(Recurrent, Attention, lens.products, lens.timings, references=ROOM.references)


if now.view == GRAPH:
    graph()
else:
    clock()
