"""Temperature: the same draws from a narrower base, and what that costs in variety."""

from lab import ui
from lab.figures import tables
from lab.lenses import glows
from lab.ui.models import grey_digits
from modules.flow.flow import Flow
from pages.flow.temperature import lens
from pages.flow.temperature.room import ROOM

ROWS, ACROSS = 5, 5

stage = ui.stage(ROOM)
stage.scenes(
    {
        "T = 1": ui.scene("As the model was trained: varied, and some are no digits."),
        "T = 0.7": ui.scene("The customary compromise: closer to the training digits, less varied.", t=0.7),
        "T = 0.3": ui.scene("Cleaner still, and alike.", t=0.3),
        "T = 0": ui.scene("One picture, over and over: the one at the peak of the base.", t=0.0),
        "α below 1": ui.scene("T = 1.4 is α = 0.51, a positive power too: it widens the base.", t=1.4),
        "Level 1 cold": ui.scene("Only the 32 numbers that leave first are at 0: the digits stay different.",
                                 which="1", t=0.0),
        "Level 2 cold": ui.scene("Only the last 32 numbers are at 0: one shape, its details varied.",
                                 which="2", t=0.0),
    }
)  # fmt: skip

with stage.rail:
    which = ui.choice("Levels of z at T", ["all", "1", "2"], key="which", help="The others stay at T = 1.")
    seed = ui.number("Seed of ε", 0, 999, 0, key="seed")
    name, model = grey_digits.model()


@ui.cached
def swept(name: str, which: str, seed: int) -> lens.Sweep:
    return lens.sweep(ui.load(name), glows.digits("train")[0], ROWS * ACROSS, which, seed)


@ui.cached
def held_out() -> tuple[float, float]:
    """Spread and distance of real digits that the model has not seen."""
    x = glows.digits()[0]
    return lens.spread_of(x), lens.distance_of(x, glows.digits("train")[0])


result = swept(name, which, seed)
others = [each for each in ("all", "1", "2") if each != which]
ui.prefetch(swept, *((name, each, seed) for each in others), (name, which, min(999, seed + 1)))
spread, distance = held_out()
T = lens.TEMPERATURES
film = ui.film(len(T), key="t", values=T, default=1.0, label="T =", seconds=0.25)
grid = result.shown.unflatten(1, (ROWS, ACROSS))

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            tables.sheet(grid[film.at], [""] * ROWS, 16), key="samples", share=1.0, film=film,
            frames={"data.0.z": tables.frames(grid)},
            alt="25 pictures drawn at this temperature, from the same noise at every one",
        )  # fmt: skip
    with right:
        lines = {"spread": result.spread, "to nearest training": result.distance}
        ui.figure(
            tables.course(lines, T, T[film.at], "T", "grey levels",
                           {"real: spread": spread, "real: nearest": distance}),
            key="curves", share=1.0, film=film, frames=tables.mark(T), data={"T": T, **lines},
            alt="Spread of pixels and distance to the nearest training digit against the temperature",
        )  # fmt: skip
with stage.foot:
    film.bar(
        captions=[
            f"T = {t:.1f}, α = {lens.power(t)}: spread of a pixel {s:.2f} grey levels (real {spread:.2f}), "
            f"nearest training digit {d:.2f} away (real {distance:.2f})."
            for t, s, d in zip(T, result.spread, result.distance, strict=True)
        ],
        equations=[
            rf"z=T\,\varepsilon,\quad T=\alpha^{{-1/2}}={t:.2f}"
            + (rf",\quad \alpha={lens.power(t)}" if t else r",\quad \alpha\to\infty")
            for t in T
        ],
    )
base_mean, model_mean = lens.log_space_means(4.0)
one, cold = T.index(1.0), T.index(0.7)
with stage.below:
    ui.notice(
        f"From T = 1 to 0.7 the spread goes from {result.spread[one]:.2f} to {result.spread[cold]:.2f} grey "
        f"levels, the distance to training digits from {result.distance[one]:.2f} to "
        f"{result.distance[cold]:.2f}. "
        "Only powers α above 1 sharpen; and the base's power, pushed forward, is not the model's: "
        f"for x = eᶻ and α = 4 the means of log x are {round(base_mean, 2) + 0.0:.2f} and {model_mean:.2f}."
    )
    ui.check(
        "Which α belongs to T = 0.5?",
        ["0.25", "0.5", "2", "4"],
        "4",
        "T = α^(−1/2), so α = 1/T² = 4.",
        wrong={
            "0.25": "That is T²: α < 1 widens the base.",
            "0.5": "That is T itself: T scales the spread, α the log-density.",
            "2": "That is 1/T, without the square.",
        },
    )  # fmt: skip
    ui.program(
        f"""
        import torch
        from lab import experiments, weights

        model = weights.load({ui.spelled(name)})
        noise = torch.randn({lens.MANY}, 64, generator=torch.Generator().manual_seed({seed}))
        x = model.decode(noise).detach().floor().clamp(0, 16)  # at T = 1
        result = float(x.flatten(1).std(0).mean())
        """,
        shows=result.spread[one],
    )
    ui.source(Flow.noise, Flow.sample, lens.sweep, lens.log_space_means, references=ROOM.references)
