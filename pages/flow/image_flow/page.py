"""Glow pipeline: a digit squeezed, stepped and split into Gaussian numbers; one level drawn anew."""

from lab import ui
from lab.figures import tables
from lab.lenses import glows
from lab.lenses.precision import double
from lab.ui.models import grey_digits
from modules.flow.glow import Glow, step_of_flow
from modules.flow.image import MultiScale
from pages.flow.image_flow import figures, lens
from pages.flow.image_flow.room import ROOM

TEMPERATURES = [i / 10 for i in range(13)]
COUNT = 7

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A digit": ui.scene("At the start: the pixels themselves, with noise between the grey levels."),
        "Squeezed": ui.scene("Every 2 × 2 block becomes four channels: the same 64 numbers.", step=2),
        "Split": ui.scene("Half of the channels leave below the line, and are done.", step=9),
        "The end": ui.scene("All 64 numbers are scored: the black curve ends at log p.", step=17),
        "A box": ui.scene("No digit: the numbers at the end are far from 0, and log p is low.",
                          digit="box", step=17),
        "One level anew": ui.scene("Level 1 drawn anew leaves the digit; level 2 drawn anew makes another.",
                                   view="new levels"),
        "Cold": ui.scene("At temperature 0 each row is one picture, drawn seven times.", view="new levels",
                         t=0.0),
        "MNIST": ui.scene("784 numbers, 256 grey levels: half of the numbers leave at the first split.",
                          model="glow-mnist", step=7),
    }
)  # fmt: skip

with stage.rail:
    name, model = grey_digits.model(glows.any_size)
    small = glows.fits(ui.recipe(name))  # of a larger one the film takes seconds
    view = ui.choice("View", ["stages", *(["new levels"] if small else [])], key="view")
    own = grey_digits.digit("Your digit", "digit", 3, model)
    seed = ui.number("Seed", 0, 999, 0, key="seed") if view == "new levels" else 0


@ui.cached
def way(name: str, x) -> tuple[list[lens.Stage], float]:
    precise = double(ui.load(name))
    return lens.journey(precise, x), lens.round_trip(precise, x)


@ui.cached
def redrawn(name: str, x, seed: int) -> list:
    return [lens.anew(ui.load(name), x, COUNT, t, seed) for t in TEMPERATURES]


if small:
    ui.prefetch(redrawn, *((name, own.x, each) for each in dict.fromkeys((seed, min(999, seed + 1)))))
(stages, missed), side = way(name, own.x), len(own.picture)
end = stages[-1]
pieces = " + ".join(f"{c} × {h} × {w}" for c, h, w in model.scales.pieces)
log_p = end.ladj + end.base
bits = glows.bits_of(model, log_p)

if view == "stages":
    film = ui.film(len(stages), key="step", seconds=0.5, label="Stage")
    maps = [figures.canvas(s.values, lens.gone(stages, i), side) for i, s in enumerate(stages)]
    reach = [lens.reach(model, s) for s in stages]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.stage(maps[film.at], reach[film.at]), key="stage", share=1.0, film=film,
                frames={"data.0.z": maps, "data.0.zmin": [-r for r in reach], "data.0.zmax": reach},
                alt="All numbers at this stage: channels that go on above, what has left below",
            )  # fmt: skip
        with right:
            ladj, base = [s.ladj for s in stages], [s.base for s in stages]
            ui.figure(
                figures.sums(ladj, base, film.at), key="sums", share=1.0, film=film,
                frames=tables.mark(range(len(stages))), data={"ladj": ladj, "base": base},
                alt="Log-determinants and base log-densities summed up to each stage",
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[lens.caption(stages, i) for i in range(len(stages))],
            equations=[lens.formula(s) for s in stages],
        )
else:
    film = ui.film(len(TEMPERATURES), key="t", values=TEMPERATURES, default=1.0, label="T =", seconds=0.3)
    drawn = redrawn(name, own.x, seed)
    rows = lens.row_names(model)
    every = lens.stack([table for table, _ in drawn])
    with stage.picture:
        ui.figure(
            tables.sheet(every[film.at], rows, glows.white(model)), key="anew", share=1.0, film=film,
            frames={"data.0.z": tables.frames(every)},
            alt="Pictures with one level of z drawn anew, a level a row, and all levels anew",
        )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[
                f"T = {t:.1f}: pixels changed by more than a grey level: "
                + ", ".join(f"{row} {share:.0%}" for row, share in zip(rows, changed.tolist(), strict=True))
                + "."
                for t, (_, changed) in zip(TEMPERATURES, drawn, strict=True)
            ],
        )
stage.metrics(
    {
        "Pieces": f"{pieces} = {model.event_dim}",
        "log p(x + u)": f"{log_p:.2f} nats",
        "Bits per pixel": f"{bits:.3f}",
        "Round trip": f"{missed:.1e}",
    }
)
with stage.below:
    card = ui.card(name)["metrics"]
    ui.notice(
        "A split sends half of the channels straight to the base: later levels are cheaper, and each stands "
        f"for another size of detail. This digit costs {bits:.3f} bits per pixel with one draw of noise, "
        f"test digits cost {card['test/bpd']:.3f}. Without a model {model.num_categories} grey levels cost "
        f"{lens.unmodelled(model):.3f}."
    )
    ui.check(
        f"How many of the {model.event_dim} numbers leave at the first split?",
        [str(part * model.event_dim // 4) for part in (1, 2, 3)],
        str(lens.size(model, 0)),
        f"Half of the channels: {' × '.join(map(str, model.scales.pieces[0]))}.",
        wrong={
            str(model.event_dim // 4): "That is what leaves at a second split: the first sends half to the "
            "base.",
            str(3 * model.event_dim // 4): "That is what has left after a second split: the first sends "
            "half to the base.",
        },
        veils=("picture", "numbers", "equation"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import glows
        from lab.ui.controls import drawing
        from pages.flow.image_flow import lens

        model = weights.load({ui.spelled(name)}).double()
        x = {own.program}
        result = float(model.log_prob(lens.noisy(x)))
        """,
        shows=log_p,
    )
    ui.source(Glow, step_of_flow, MultiScale, lens.journey, references=ROOM.references)
