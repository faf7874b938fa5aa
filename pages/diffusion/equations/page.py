"""Equations of noise: variance-preserving, sub-VP and variance-exploding, forwards and both ways back."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import sde
from pages.diffusion.equations import figures, lens
from pages.diffusion.equations.room import ROOM

BACK = {"way": lens.SDE_BACK}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Explodes": ui.scene("VE shrinks nothing: noise is heaped on the data until they are a dot in it."),
        "Preserves": ui.scene("VP shrinks the data as the noise comes: the cloud stays one unit wide.",
                              kind="VP"),
        "One walk": ui.scene("Seen in its own unit VE's cloud drowns as VP's does, at other times.",
                             unit="the cloud's"),
        "Back": ui.scene("From a cloud ten wide, noisy steps lead back to the eight.", unit="the cloud's",
                         S=100, **BACK),
        "Ten steps": ui.scene("In ten noisy steps VE brings most points home, VP little more than half.",
                              unit="the cloud's", S=10, **BACK),
        "Without noise": ui.scene("The flow of the same marginals: smooth paths, the same end.", kind="VP",
                                  unit="the cloud's", S=100, way=lens.ODE_BACK),
        "Too far": ui.scene("From σ = 50 ten steps of the ODE leave every point short of the eight.",
                            end=50, S=10, unit="the cloud's", way=lens.ODE_BACK),
        "Ends too soon": ui.scene("σ up to 2: the noise it starts from is narrower than p₁ by a tenth.",
                                  end=2, S=100, unit="the cloud's", **BACK),
    }
)  # fmt: skip


@ui.cached
def ran(kind: str, way: str, steps: int, end: float, seed: int) -> lens.Run:
    return lens.run(kind, way, steps, end, seed)


@ui.cached
def lines(end: float) -> tuple[dict, dict]:
    return lens.widths(end), lens.log_snr(end)


with stage.rail:
    kind = ui.choice("Equation", lens.KINDS, key="kind", default="VE")
    way = ui.choice("Way", lens.WAYS, key="way")
    steps = ui.choice("Steps S", lens.STEPS, key="S", default=50)
    end = ui.choice("VE's σ at t = 1", lens.ENDS, key="end", default=10)
    unit = ui.choice("Unit of the plane", ["the data's", "the cloud's"], key="unit")
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
made, own = lens.equation(kind, end), unit == "the cloud's"
found = ran(kind, way, steps, end, seed)
ui.ahead(ran, *((each, way, steps, end, seed) for each in lens.KINDS if each != kind),
         *((kind, each, steps, end, seed) for each in lens.WAYS if each != way))  # fmt: skip
count = len(found.times)
film = ui.film(count, key="step", values=range(count), default=count - 1, label="t =", seconds=0.12,
               names=[f"{t:.2f}" for t in found.times])  # fmt: skip
cloud, means = lens.seen(found, made, own)
fig, moves = figures.plane(cloud, means, lens.TRAILS, lens.reach(made, own), film.at)
wide, snr = lines(end)
now = found.times[film.at]
turn = {f"layout.shapes.0.x{side}": found.times for side in (0, 1)}

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(fig, alt="The cloud, the paths of some points, and where the eight means are now",
                  key="cloud", share=1.0, film=film, frames=moves)  # fmt: skip
    with right:
        ui.figure(
            figures.over_time(wide, lens.GRID, kind, now, "width √(m² + v)", log=True), key="widths",
            share=0.5, film=film, frames=turn, alt="Width of the cloud over t, of three equations",
            data={"t": lens.GRID, **wide},
        )  # fmt: skip
        if way == lens.NOISING:
            ui.figure(
                figures.over_time(snr, lens.GRID, kind, now, "log₁₀ SNR"), key="snr", share=0.5, film=film,
                frames=turn, alt="Signal-to-noise ratio over t, of three equations",
                data={"t": lens.GRID, **snr},
            )  # fmt: skip
        else:
            home = {each: float(ran(each, way, steps, end, seed).share[-1]) for each in lens.KINDS}
            ui.figure(figures.arrived(home, kind, lens.data()), key="arrived", share=0.5,
                      alt="Share of the points near a mode at the end, of three equations",
                      data={"equation": list(home), "share": list(home.values())})  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found, made))
short, wide_end = lens.short(made), lens.width(made, 1.0)
stage.metrics(
    {
        "Width at t = 1": f"{wide_end:.4g}",
        "The prior is narrower by": f"{short:.2%}",
        "Near a mode, last frame": f"{float(found.share[-1]):.3f}",
    }
)
with stage.below:
    ui.notice(
        "All three know one score: divided by √(m² + v), the cloud of each has the law that the others have "
        "at the same signal-to-noise ratio. What differs is how that ratio falls over t, so where equal "
        "steps are spent, and what noise the way back starts from. That noise is the cloud at t = 1 without "
        f"the data: here narrower by {short:.2%}. No network is asked: what misses a mode is the solver's, "
        "and the start's. "
        + SAID
    )  # fmt: skip
    ui.check(
        f"Is the noise that this way back starts from narrower than the cloud at t = 1 by more than "
        f"{lens.OFF:.0%}?",
        ["yes", "no"], "yes" if short > lens.OFF else "no",
        f"The cloud is {wide_end:.4g} wide, the noise {(1 - short) * wide_end:.4g}.",
        wrong={
            "yes": "At t = 1 noise has drowned the data: what they add to the width is below "
            f"{lens.OFF:.0%}.",
            "no": "The cloud at t = 1 still has the width of the data in it, and the noise leaves that out.",
        },
        veils=("numbers",),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.diffusion.equations import lens

        run = lens.run({kind!r}, {way!r}, {steps}, {end}, {seed})
        result = [float(run.share[-1]), lens.short(lens.equation({kind!r}, {end}))]
        """,
        shows=[float(found.share[-1]), short],
    )
    ui.source(sde.VP, sde.VE, sde.reverse, lens.drowned, lens.along_flow, references=ROOM.references)
