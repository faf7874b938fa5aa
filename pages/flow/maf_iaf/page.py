"""MAF against IAF: the same network, one pass one way and D passes the other, roles exchanged."""

from lab import ui
from lab.lenses import masked_layer
from lab.lenses.typed import named
from modules.flow import maf
from pages.flow.maf_iaf import figures, lens
from pages.flow.maf_iaf.room import ROOM

VIEWS = ["Reading", "Clock"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Sampling": ui.scene("IAF has all its numbers after one call; MAF still waits for its own outputs."),
        "Sampling done": ui.scene("MAF has needed a call for each number.", step=5),
        "Scoring": ui.scene("The roles are exchanged: now MAF is done, and IAF waits.", way="score"),
        "Scoring done": ui.scene("IAF recovers z number by number: each needs the ones before.",
                                 way="score", step=5),
        "Two numbers": ui.scene("With D = 2 the slow way costs two calls.", values="1.2 -0.7", step=2),
        "Eight numbers": ui.scene("With D = 8 it costs eight; the fast way stays at one.",
                                  values="1 -0.5 0.3 2 -1.2 0.8 -0.1 1.5", step=5),
        "Clock": ui.scene("Press the button: the calls on this computer, in milliseconds.", view="Clock"),
    }
)  # fmt: skip


def reading() -> None:
    with stage.rail:
        way = ui.choice("Direction", ["sample", "score"], key="way")
        sampling = way == "sample"
        typed = ui.text("Numbers to start from", "0.5 -1 1.5 -0.3 0.8", key="values", max_chars=100)
        values, text = named(typed, lens.LARGEST, -5, 5)
        if text:
            ui.warning(text)
        if len(values) < 2:
            ui.stop("Type at least two numbers, such as 0.5 −1.")
        seed = ui.number("Seed of the network", 0, 999, 0, key="seed")
    models = dict(zip(("MAF", "IAF"), masked_layer.both(len(values), seed), strict=True))
    runs = {name: lens.course(model, values, sampling) for name, model in models.items()}
    D = len(values)
    film = ui.film(D + 1, key="step", values=range(D + 1), default=2, label="Call", seconds=0.8)
    rows = ("z", "x") if sampling else ("x", "z")
    with stage.picture:
        for place, (name, run) in zip(ui.columns(2), runs.items(), strict=True):
            known = [run.known(frame) for frame in range(D + 1)]
            now, before = known[film.at], known[max(0, film.at - 1)]
            parallel = run.calls == 1
            with place:
                ui.figure(
                    figures.reading(run.inputs, run.outputs, now, range(before, now), parallel, rows,
                                    f"{name}: {run.calls} call{'s' * (run.calls > 1)}"),
                    alt=f"{name}: the numbers known after each call, and what each has read", key=name,
                    share=1.0, data={rows[0]: run.inputs, rows[1]: run.outputs},
                    film=film, frames=figures.film(run.outputs, known, parallel),
                )  # fmt: skip
    slow = next(name for name, run in runs.items() if run.calls > 1)
    fast = "IAF" if slow == "MAF" else "MAF"
    with stage.foot:
        film.bar(
            captions=[lens.caption(runs, frame) for frame in range(D + 1)],
            equations=[
                rf"\text{{{slow}:}}\quad {lens.equation(runs[slow], f, sampling)}" for f in range(D + 1)
            ],
        )
    stage.metrics(
        {
            **{f"{name} calls": str(run.calls) for name, run in runs.items()},
            "log |det J|": " · ".join(f"{run.slope:.4f}" for run in runs.values()),
            "Way back, error": f"{max(run.error for run in runs.values()):.0e}",
        }
    )
    with stage.below:
        ui.notice(
            f"Both layers have the same weights. {fast} reads the numbers that it is given, so one call "
            f"answers for all {D}; {slow} reads the numbers that it makes, and has to wait for each. The "
            "other direction exchanges the two. [GM] 3.86 prints one equation, conditioned on its input, for "
            "both: read from z to x it is IAF's."
        )
        ui.check(
            f"How many calls of its network does {slow} need in this direction?",
            ["1", "2", str(D)] if D > 2 else ["1", "2"],
            D,
            f"Each of the {D} numbers waits for the ones before it.",
            wrong={
                "1": f"That is {fast}: it reads what it is given.",
                "2": "Two halves are a coupling's: here each number waits for every one before it.",
            },
            veils=("picture", "equation", "numbers"),
        )
        ui.program(
            f"""
            import torch
            from lab.lenses import masked_layer

            layers = masked_layer.both({D}, seed={seed})
            h = torch.tensor({values}, dtype=torch.float64)
            answers = [layer.{"generate" if sampling else "normalize"}(h)[0] for layer in layers]
            result = [value for one in answers for value in one.tolist()]
            """,
            shows=[v for run in runs.values() for v in run.outputs.tolist()],
        )
        ui.source(
            maf.MaskedConditioner.sequential,
            maf.MaskedAutoregressive,
            maf.InverseAutoregressive,
            lens.course,
            references=ROOM.references,
        )


def clock() -> None:
    def so_far(rows: dict[str, list[float]]) -> None:
        if rows["D"]:
            ui.figure(figures.clock(rows), alt="Times so far", key="so-far", share=1.0)

    def before() -> None:
        ui.markdown(
            f"A MAF layer with {' × '.join(map(str, lens.WIDTHS))} hidden units scores and samples "
            f"{lens.POINTS} points, for D = {', '.join(map(str, lens.SIZES))}."
        )

    with stage.picture:
        rows = ui.job("Measure here", lens.clocked, key="clock", of="clock", show=so_far, before=before)
        if rows is not None:
            left, right = ui.columns(2)
            with left:
                ui.figure(figures.clock(rows), alt="Time of scoring and of sampling, by D", key="times",
                          share=1.0, data=rows)  # fmt: skip
            with right:
                ui.figure(figures.ratios(rows), alt="Sampling time over scoring time, by D", key="ratio",
                          share=1.0, data=rows)  # fmt: skip
    if rows is not None:
        stage.metrics({f"D = {D}": f"{b / a:.1f} ×" for D, a, b in zip(*rows.values(), strict=True)})
    with stage.below:
        ui.notice(
            "The calls are 1 against D, exactly. Time need not follow them: of a sequential call only what "
            "is new is computed, and every call has a price of its own, however small D is. IAF's clock is "
            "this one with the words exchanged."
        )
        ui.source(lens.clocked, references=ROOM.references)


with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
{"Reading": reading, "Clock": clock}[view]()
