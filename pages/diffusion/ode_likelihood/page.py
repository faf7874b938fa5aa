"""Likelihood by ODE: one point's way to noise, and the log-density that falls out of it."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import ode_likelihood, sde
from pages.diffusion.ode_likelihood import figures, lens
from pages.diffusion.ode_likelihood.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A point": ui.scene("The hills melt into N(0, I); how much the point's neighbourhood grows adds up."),
        "Far out": ui.scene("A point far off the data has a log p too, and a very low one: a GAN has none.",
                            x1=4.0, x2=-3.5),
        "Too little noise": ui.scene("Noise ends early, p₁ is not N(0, I): no tolerance mends the mismatch.",
                                     last=2.0),
        "Loose solver": ui.scene("At tolerance 0.1 a few steps serve, and log p is off from the truth.",
                                 tolerance=0.1, source="eight modes", x1=3.0, x2=0.5),
        "Probes": ui.scene("One random probe for the divergence is off; the mean of many comes near.",
                           probes=32),
        "Other noise": ui.scene("sub-VP noises less on the way: another path, and nearly the same log p.",
                                kind="sub-VP"),
        "Network": ui.scene("A trained network's own log p, next to the data's.", source="eight, network",
                            x1=3.0, x2=0.25),
        "Between moons": ui.scene("Between the arms the network's log p is far below that on an arm.",
                                  source="moons, network", x1=-2.0, x2=0.25),
    }
)  # fmt: skip


def made(name: str, last: float, kind: str) -> lens.Source:
    model = ui.load(lens.NETWORKS[name]) if name in lens.NETWORKS else None
    return lens.source(name, last, model, kind)


@ui.cached
def found(
    name: str, last: float, kind: str, point: tuple[float, float], tolerance: float, probes: int
):  # fmt: skip
    told = made(name, last, kind)
    run = lens.run(told, point, tolerance, probes)
    maps = lens.maps(told, run.times)
    return run, maps, lens.clouds(name, told, run.times) if maps is None else None


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("Score of", lens.SOURCES, key="source", as_list=True)
    x1 = ui.number("x₁", -4.0, 4.0, -1.5, key="x1", step=0.25)
    x2 = ui.number("x₂", -4.0, 4.0, 0.5, key="x2", step=0.25)
    last = ui.choice("β at the end", lens.ENDS, key="last", default=20.0, format="{:g}".format)
    kind = ui.choice("Noising", lens.EQUATIONS, key="kind")
    tolerance = ui.choice("Tolerance", lens.TOLERANCES, key="tolerance", default=1e-3, format="{:g}".format)
    probes = ui.slider("Hutchinson probes", 0, 64, 0, key="probes", step=4)
try:
    run, maps, clouds = found(name, last, kind, (x1, x2), tolerance, probes)
except ValueError as error:
    ui.stop(str(error))
others = [(each, kind, tolerance, probes) for each in lens.ENDS if each != last]
others += [(last, each, tolerance, probes) for each in lens.EQUATIONS if each != kind]
others += [(last, kind, each, probes) for each in lens.TOLERANCES if each != tolerance]
others += [(last, kind, tolerance, each) for each in ui.near(probes, 0, 64, 4)]
ui.ahead(found, *((name, a, b, (x1, x2), c, d) for a, b, c, d in others))
count = len(run.times)
film = ui.film(count, key="step", values=range(count), default=6, label="t =", seconds=0.15,
               names=[f"{t:.2f}" for t in run.times])  # fmt: skip

# --- Picture ------------------------------------------------------------------------------------

fig, moves = figures.way(maps, clouds, run.path, lens.REACH, film.at)
line, steps = figures.stretched(run.times, run.stretch, run.stops, run.sums, film.at)
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.button_figure(
            fig, key="way", share=1.0, whole=False, film=film, frames=moves,
            alt="The point's way through the density of each time; a click puts the point there",
            on_press=lambda a, b: {"x1": float(a), "x2": float(b)},
        )  # fmt: skip
    with right:
        ui.figure(line, alt="Integral of the divergence along the way, and the solver's steps", key="stretch",
                  share=0.5 if probes else 1.0, film=film, frames=steps,
                  data={"t": run.times, "integral": run.stretch})  # fmt: skip
        if probes:
            ui.figure(figures.estimates(run.probed, run.log_prob), key="probed", share=0.5,
                      alt="log p by each probe, their running mean, and the computed one (dashed)",
                      data={"log p": run.probed})  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(run))
stage.equation(lens.equation(run))
known = run.truth == run.truth
stage.metrics(
    {
        "log p by the ODE": f"{run.log_prob:.4f}",
        "The data's log p": f"{run.truth:.4f}" if known else "no formula",
        "Prior's mismatch": f"{run.mismatch:+.4f}" if known else "no formula",
        "Calls of the score": str(run.calls),
    }
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    gap = (
        f"With the data's own p₁ in the place of N(0, I) it would be {run.true_end:.4f}: the difference is "
        "the prior's, and no solver helps against it. " if known else ""
    )  # fmt: skip
    learned = (
        " A network's density is that of its first, least noisy time. Near the data a tolerance of 0.001 "
        "holds its log p to a few tenths of a nat, 1e-05 to a few hundredths."
        if name in lens.NETWORKS
        else ""
    )
    ui.notice(
        f"log p is what N(0, I) says of the end, and the integral of the divergence on the way: "
        f"{run.log_prob:.4f} nats, no bound. {gap}The solver took {len(run.stops) - 1} steps "
        f"(crosses), few where the way is straight.{learned} {SAID}"
    )
    whole = ui.job(
        "Integrate over the window", lambda: lens.integral(made(name, last, kind), lens.INTEGRATED),
        key="integral", of=(name, last, kind),
    )  # fmt: skip
    if whole is not None:
        ui.markdown(f"The density integrates to **{whole:.4f}** over the window: it is one.")
    ui.check(
        "Is the log p of the ODE above or below that of the end under N(0, I)?",
        ["above", "below"],
        "above" if run.sums[-1] > 0 else "below",
        f"The integral of the divergence is {run.sums[-1]:.3f}.",
        wrong={
            "above": "Around this point the way to the noise squeezes: a negative divergence takes from "
            "log p.",
            "below": "Data are denser than N(0, I): the way to the noise spreads them, and that adds to "
            "log p.",
        },
        veils=("stretch", "equation", "numbers"),
    )
    model = f"weights.load({lens.NETWORKS[name]!r})" if name in lens.NETWORKS else "None"
    ui.program(
        f"""
        from lab import weights
        from pages.diffusion.ode_likelihood import lens

        made = lens.source({name!r}, {last}, {model}, {kind!r})
        run = lens.run(made, ({x1}, {x2}), {tolerance}, 0)
        result = [run.prior, run.sums[-1], run.log_prob]
        """,
        shows=[run.prior, run.sums[-1], run.log_prob],
    )
    ui.source(
        ode_likelihood.likelihood, ode_likelihood.divergence, sde.flow_field, references=ROOM.references
    )
