"""Exponential-Gaussian: a bound and an evidence that are formulas; the bound printed and right."""

from typing import Any

from lab import ui
from modules.latent import exponential_gaussian
from pages.latent.exponential_gaussian import figures, lens
from pages.latent.exponential_gaussian.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Under the line": ui.scene("At every φ the blue curve stays under log p(x)."),
        "As printed": ui.scene(
            "With E z² = 1/φ² the red curve crosses log p(x): −0.919 over −1.193.", formula="printed"
        ),
        "Summit": ui.scene("L is highest at θ = φ = 2/x.", theta=2.0, phi=2.0),
        "Printed summit": ui.scene(
            "The printed formula puts the summit at 1/x, where it is no bound.", formula="printed", theta=1.0
        ),
        "Likelihood": ui.scene(
            "log p(x) is highest near θ = 1.7, not at the summit of L.", theta=1.7, phi=2.0
        ),
        "L up, p down": ui.scene("Step back to θ = 1: L rises while log p(x) falls.", theta=1.7),
        "Larger x": ui.scene("At x = 2 the summit moves to θ = φ = 1.", x=2.0),
        "No summit": ui.scene(
            "For x below 0 the bound grows with θ and φ without end.", x=-1.0, theta=4.0, phi=4.0
        ),
    }
)


@ui.cached
def surface(x: float) -> lens.Surface:
    return lens.surface(x)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    x = ui.slider("Observation x", -2.0, 4.0, 1.0, key="x", step=0.1)
    phi = ui.slider("φ of q", 0.1, 4.0, 1.0, key="phi", step=0.1)
    formula = ui.choice("Map of L", list(lens.FORMULAS), key="formula")
    ui.caption("Click the map to set θ and φ.")
film = ui.film(len(lens.VALUES), key="theta", values=lens.VALUES, default=1.0, label="θ =", seconds=0.25)
result, at, p = surface(x), film.at, lens.index(phi)
bound, printed, evidence = (
    float(result.bound[at, p]),
    float(result.printed[at, p]),
    float(result.evidence[at]),
)


def put(theta: float, phi: float) -> dict[str, Any]:
    return {"theta": round(theta, 1), "phi": round(phi, 1)}


# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        fig = figures.surface(result, formula, lens.VALUES[at], phi)
        ui.button_figure(
            fig,
            key="surface",
            share=1.0,
            film=film,
            on_press=put,
            whole=False,
            frames={
                f"data.{len(fig.data) - 1}.x": [[v] for v in lens.VALUES],
                **{f"layout.shapes.0.x{end}": lens.VALUES for end in (0, 1)},
            },
            alt="The bound over θ and φ",
            data={"φ": lens.VALUES, "L at this θ": result.of(formula)[at]},
        )
    with right:
        level = result.evidence[:, None].expand_as(result.bound)
        ui.figure(
            figures.curves(result, at, phi),
            key="curves",
            share=1.0,
            film=film,
            frames={"data.0.y": result.bound, "data.1.y": result.printed, "data.2.y": level},
            alt="The bound, as it is and as printed, against the evidence, over φ",
            data={"φ": lens.VALUES, "L": result.bound[at], "printed": result.printed[at], "log p": level[at]},
        )
with stage.foot:
    film.bar(captions=lens.captions(result, phi), equations=lens.equations(result, phi))

# --- Words --------------------------------------------------------------------------------------

answer = lens.move(result, at, phi)
with stage.below:
    if result.summit is None:
        where = "At this x neither L nor log p(x) has a maximum: both grow with θ without end."
    else:
        where = (
            f"L is highest at θ = φ = 2/x = {result.summit:.3f}, log p(x) at θ = {result.likeliest:.3f}: "
            "maximising the bound is not maximum likelihood."
        )
    ui.notice(
        f"Under Exp(φ) the mean square is 2/φ². Taken as 1/φ², the “bound” is ½/φ² too high, here by "
        f"{printed - bound:.3f} nats. {where}"
    )
    ui.check(
        f"θ goes one step {'up' if at + 1 < film.count else 'down'}: what happens?",
        lens.MOVES,
        answer,
        "Where the bound is loose, the two need not move together.",
        wrong=(
            "The bound and log p have tops at different θ: here one of them is past its own.",
            "The bound and log p have tops at different θ: one of them is still below its own.",
            "The bound is greatest where θ suits q, and this step does not lead there while log p falls.",
            "The bound lies below log p, but may rise towards it: its slope is not that of log p.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        import torch
        from modules.latent.exponential_gaussian import elbo, log_evidence, printed_elbo

        theta, phi, x = torch.tensor([{film.value}, {phi}, {x}], dtype=torch.float64)
        values = elbo(theta, phi, x), printed_elbo(theta, phi, x), log_evidence(theta, x)
        result = [float(v) for v in values]
        """,
        shows=[bound, printed, evidence],
    )
    ui.source(
        exponential_gaussian.elbo,
        exponential_gaussian.printed_elbo,
        exponential_gaussian.log_evidence,
        exponential_gaussian.maximum_likelihood,
        references=ROOM.references,
    )
