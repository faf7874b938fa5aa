"""Four views of one prediction: noise, data, velocity and score, and where each of them blows up."""

from lab import ui
from lab.lenses.diffusion import SAID, digits
from lab.lenses.precision import double
from lab.ui.drawing import inked
from modules.diffusion import parameterisation
from pages.diffusion.four_views import figures, lens
from pages.diffusion.four_views.room import ROOM

SEEN: dict[str, lens.Kind] = {"x̂₀": "x0", "ε̂": "eps"}
SPANS = {"x0": (-2.4, 3.0), "eps": (-3.0, 2.4)}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "One prediction": ui.scene("Four arrows from one answer: any of them gives the other three."),
        "Near the data": ui.scene("At t = 1 the score is a hundred times ε̂; v̂ all but lies on ε̂.", t=1,
                                  x1=1.5, x2=0.3),
        "Near noise": ui.scene("At t = T the noise is xₜ itself, and x̂₀ the mean of all data.", t=1000),
        "A network": ui.scene("A network at the same place: nearly the exact arrows.", source=lens.NETWORK),
        "Its x̂₀ at T": ui.scene("At t = T the network's ε̂ is slightly off, its x̂₀ far: √ᾱ divides it.",
                                 source=lens.NETWORK, t=1000),
        "A digit": ui.scene("The same four as pictures: v̂ turns from noise into the digit's negative.",
                            source=lens.DIGIT, t=501),
        "Error in ε̂": ui.scene("A slight error in ε̂ late in time: x̂₀ is lost, for √ᾱ divides it.",
                               source=lens.DIGIT, t=950, off=0.2),
        "Error in v̂": ui.scene("The same error in v̂ instead: no division, and x̂₀ hardly shows it.",
                               source=lens.DIGIT, t=950, off=0.2, kind="v̂"),
        "Error in x̂₀": ui.scene("Early in time it is x̂₀ whose error grows: ε̂ divides it by √(1−ᾱ).",
                                source=lens.DIGIT, t=26, off=0.2, kind="x̂₀", seen="ε̂"),
    }
)  # fmt: skip


@ui.cached
def told(source: str, place: tuple[float, float], drawn, seed: int, kind: str, error: float) -> lens.Views:
    model = double(ui.load(lens.MODELS[source]))
    x = lens.start(model, place, drawn, seed)
    return lens.views(lens.said_by(source, model), model.schedule, x, kind, error, seed)  # type: ignore[arg-type]


@ui.cached
def densities():
    return lens.density(ui.load(lens.MODELS[lens.EXACT]))


kinds = {name: kind for kind, name in lens.NAMES.items()}
place, drawn, seed = (0.0, 0.0), None, 0
with stage.rail:
    source = ui.choice("Of", lens.SOURCES, key="source", as_list=True)
    if source == lens.DIGIT:
        drawn = ui.draw("Your digit", key="drawing", size=8, examples=digits())
        seed = ui.number("Seed of the noise", 0, 9999, 0, key="seed")
    else:
        place = (
            ui.number("xₜ, first", -2.0, 2.0, 1.2, key="x1", step=0.1),
            ui.number("xₜ, second", -2.0, 2.0, 0.3, key="x2", step=0.1),
        )
    error = ui.slider("Error added", 0.0, 0.5, 0.0, key="off", step=0.05)
    kind = kinds[ui.choice("to", list(kinds), key="kind")]
    seen = SEEN[ui.choice("Its size in", list(SEEN), key="seen")]
model = ui.load(lens.MODELS[source])
found = told(source, place, drawn, seed, kind, error)
count, schedule = len(found.times), model.schedule
film = ui.film(count, key="t", values=found.times, default=101, label="t =", seconds=0.25)
gains = {lens.NAMES[k]: lens.gain(schedule, k, seen) for k in lens.KINDS}
sizes = {lens.NAMES[k]: found.size[k] for k in lens.KINDS}

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        if source == lens.DIGIT:
            shown = {"xₜ": found.x, **{lens.NAMES[k]: found.told[k] for k in ("x0", "eps", "v", "score")}}
            for names, share in ((("xₜ", "x̂₀"), 0.5), (("ε̂", "v̂", "score"), 0.5)):
                for column, name in zip(ui.columns(len(names)), names, strict=True):
                    fig, moves = figures.panel(shown[name].squeeze(1), name, film.at, lens.SHADE)
                    with column:
                        ui.figure(fig, alt=f"{name} as a picture", key=f"picture-{kinds.get(name, 'xt')}",
                                  share=share, film=film, frames=moves)  # fmt: skip
        else:
            arrows = {lens.NAMES[k]: found.told[k] for k in lens.KINDS}
            fig, moves = figures.arrows(densities(), place, arrows, lens.REACH, film.at)
            ui.button_figure(
                fig, key="arrows", share=1.0, whole=False, film=film, frames=moves,
                alt="The four predictions as arrows on the density; a click puts xₜ there",
                on_press=lambda a, b: {"x1": float(a), "x2": float(b)},
            )  # fmt: skip
    with right:
        for key, curves, label, span in (
            ("sizes", sizes, "size of a number", lens.span(sizes)),
            ("gains", gains, f"1 off: how much in {lens.NAMES[seen]}", SPANS[seen]),
        ):
            fig, moves = figures.lines(curves, found.times, film.at, label, span)
            ui.figure(fig, alt=f"{label}, of each kind over t", key=key, share=0.5, film=film, frames=moves,
                      data={"t": found.times, **curves})  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found, schedule))
now = float(gains[lens.NAMES[kind]][film.at])
stage.metrics(
    {
        f"1 off in {lens.NAMES[kind]} is, in {lens.NAMES[seen]}": f"{now:.3g}",
        "Lost by converting": f"{found.lost:.1e}",
    }
)
worst = lens.worst(schedule, seen, film.at)
with stage.below:
    how = (
        "Blue is above 0, orange below, full at ±2." if source == lens.DIGIT else
        "x̂₀ is a place: its arrow starts in the middle; the others start at xₜ. Lengths are true, in the "
        "model's units; what is longer leaves the picture."
    )  # fmt: skip
    ui.notice(
        "The four say the same about xₜ, but an error in one is not the same error in another: to tell x₀ "
        "from ε divides by √ᾱ, which is small late in time, to tell ε from x₀ by √(1−ᾱ), small early; from v "
        f"nothing is divided. {how} {SAID}"
    )
    ui.check(
        f"At t = {found.times[film.at]}, an error of which grows most on its way to {lens.NAMES[seen]}?",
        list(kinds),
        lens.NAMES[worst],
        "; ".join(f"{name}: times {float(g[film.at]):.3g}" for name, g in gains.items()) + ".",
        wrong={
            name: f"An error of {name} is multiplied by {float(g[film.at]):.3g}: at this t nothing smaller "
            "divides it."
            for name, g in gains.items()
        },
        veils=("gains", "equation", "numbers"),
    )
    shelf = inked(drawn) if drawn is not None else None
    ui.program(
        f"""
        from lab import weights
        from lab.lenses.precision import double
        from lab.ui import drawing
        from pages.diffusion.four_views import lens

        model, picture = double(weights.load({lens.MODELS[source]!r})), {shelf}
        x = lens.start(model, {place}, picture, {seed})
        found = lens.views(lens.said_by({source!r}, model), model.schedule, x, {kind!r}, {error}, {seed})
        result = [float(size[{film.at}]) for size in found.size.values()]
        """,
        shows=[float(size[film.at]) for size in found.size.values()],
    )
    ui.source(
        parameterisation.convert,
        parameterisation.clean_and_noise,
        parameterisation.express,
        lens.views,
        references=ROOM.references,
    )
