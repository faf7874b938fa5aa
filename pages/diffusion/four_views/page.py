"""Four views of one prediction: noise, data, velocity and score, and where each of them blows up."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import parameterisation
from pages.diffusion.four_views import figures, lens
from pages.diffusion.four_views.room import DIGIT, EXACT, ROOM

SPANS = {"x̂₀": (-2.4, 3.0), "ε̂": (-3.0, 2.4)}

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
result, schedule = ui.compute(lens.views_of_place, now), ui.load(now.model).schedule
film = ui.film_of(now, len(result.times), values=result.times)
results, of_digit = lens.KIND_OF[now.seen], now.source == DIGIT
gains = {name: lens.gain(schedule, kind, results) for kind, name in lens.NAMES.items()}
sizes = {name: result.size[kind] for kind, name in lens.NAMES.items()}
answer = {name: result.predictions[kind] for kind, name in lens.NAMES.items()}

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        if of_digit:
            shown = {"xₜ": result.x, **answer}
            for names, share in ((("xₜ", "x̂₀"), 0.5), (("ε̂", "v̂", "score"), 0.5)):
                for column, name in zip(ui.columns(len(names)), names, strict=True):
                    fig = figures.panel(shown[name].squeeze(1), name, lens.SHADE)
                    key = f"picture-{lens.KIND_OF.get(name, 'xt')}"
                    with column:
                        ui.figure(fig, alt=f"{name} as a picture", key=key, share=share, film=film)
        else:
            density = ui.compute(lens.density, now)
            ui.button_figure(
                figures.arrows(density, now.place, answer, lens.REACH), key="arrows", share=1.0, whole=False,
                film=film, on_press=lambda a, b: ui.moved(now, x1=float(a), x2=float(b)),
                alt="The four predictions as arrows on the density; a click puts xₜ there",
            )  # fmt: skip
    with right:
        for key, curves, label, span in (
            ("sizes", sizes, "size of a number", lens.span(sizes)),
            ("gains", gains, f"1 off: how much in {now.seen}", SPANS[now.seen]),
        ):
            fig = figures.lines(curves, result.times, label, span)
            ui.figure(fig, alt=f"{label}, of each kind over t", key=key, share=0.5, film=film)
with stage.foot:
    if now.source != EXACT:
        texts = [{"xt": f"t = {t}"} for t in result.times]
        ui.machine(now.model, film=film, lit=["said"] * film.count, says=texts)
    film.bar(captions=lens.captions(result), equations=lens.equations(result, schedule))
gain = float(gains[now.kind][film.at])
stage.metrics(
    {
        f"1 off in {now.kind} is, in {now.seen}": f"{gain:.3g}",
        "Lost by converting": f"{result.lost:.1e}",
    }
)
worst = lens.worst(schedule, results, film.at)
with stage.below:
    how = (
        "Blue is above 0, orange below, full at ±2."
        if of_digit
        else "x̂₀ is a place: its arrow starts in the middle; the others start at xₜ. Lengths are true, in "
        "the model's units; what is longer leaves the picture."
    )
    ui.notice(
        "The four say the same about xₜ, but an error in one is not the same error in another: to tell x₀ "
        "from ε divides by √ᾱ, which is small late in time, to tell ε from x₀ by √(1−ᾱ), small early; from v "
        f"nothing is divided. {how} {SAID}"
    )
    ui.check(
        f"At t = {result.times[film.at]}, an error in which is amplified most in {now.seen}?",
        list(lens.KIND_OF),
        lens.NAMES[worst],
        "; ".join(f"{name}: times {float(g[film.at]):.3g}" for name, g in gains.items()) + ".",
        wrong={
            name: f"An error of {name} is multiplied by {float(g[film.at]):.3g}: at this t another "
            "is amplified more."
            for name, g in gains.items()
        },
        veils=("gains", "equation", "numbers"),
    )
    shelf = f"drawing.pixels({now.drawing!r}, 8)" if of_digit else None
    ui.program(
        f"""
        from lab import weights
        from lab.lenses.precision import double
        from lab.ui.controls import drawing
        from pages.diffusion.four_views import lens

        model, picture = double(weights.load({now.model!r})), {shelf}
        x = lens.start(model, {now.place}, picture, {now.seed})
        predict, kind = lens.predictor({now.source!r}, model), lens.KIND_OF[{now.kind!r}]
        views = lens.views(predict, model.schedule, x, kind, {now.off}, {now.seed})
        result = [float(size[{film.at}]) for size in views.size.values()]
        """,
        shows=[float(size[film.at]) for size in result.size.values()],
    )
    ui.source(
        parameterisation.convert,
        parameterisation.to_x0_eps,
        parameterisation.from_x0_eps,
        lens.views,
        references=ROOM.references,
    )
