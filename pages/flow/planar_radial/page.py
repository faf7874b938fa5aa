"""Planar and radial: one layer from nothing to all of its push; K planar layers on a potential."""

from lab import ui
from modules.flow import planar, reverse_kl
from pages.flow.planar_radial import figures, lens
from pages.flow.planar_radial.room import ROOM

VIEWS = ["Planar", "Radial", "K layers"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Cut": ui.scene("The plane parts along a line: the cloud is pulled to two sides."),
        "Fold": ui.scene("Without the constraint the curve falls: three places go to 0. No flow.",
                         u1=-2.0, w1=1.0, constrained=False, step=20),
        "Held": ui.scene("The same numbers, constrained: the curve rises everywhere.",
                         u1=-2.0, w1=1.0, step=20),
        "Shear": ui.scene("u across w: layers slide along each other, and no volume changes.",
                          u1=0.0, u2=2.0, w1=1.5, constrained=False),
        "Ball": ui.scene("A radial layer pushes everything away from its centre.", view="Radial"),
        "Drain": ui.scene("β near −α: the plane is drawn into the centre.",
                          view="Radial", beta=-0.9, step=20),
        "K layers": ui.scene("Press the button: K cuts, trained to make a ring with two lobes.",
                             view="K layers"),
    }
)  # fmt: skip


def one(layer, kind: str, point: tuple[float, float]) -> None:
    run = lens.bend(layer, point)
    film = ui.film(
        lens.SHARES, key="step", values=range(lens.SHARES), default=14, label="Frame", seconds=0.15
    )
    grid, moves = figures.bent(run.grid, run.cloud, run.moved, lens.DOTS, film.at)
    name = "wᵀz" if kind == "planar" else "distance from z0, signed"
    curve, turns = figures.profile(run.along, run.profile, name, film.at)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(grid, alt=f"A grid and a cloud under a {kind} layer", key="grid", share=1.0, film=film,
                      frames=moves)  # fmt: skip
        with right:
            ui.figure(curve, alt="Where the coordinate that the layer sees goes", key="profile", share=1.0,
                      film=film, frames=turns,
                      data={"before": run.along, "after": run.profile[film.at]})  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(run), equations=lens.equations(run, point))
    least, count = float(run.slopes[-1]), lens.preimages(run)
    stage.metrics(
        {
            "Least slope, all of the push": f"{least:.4f}",
            "Places that go to 0": str(count),
            "log |det J| at the point": f"{float(run.ladj[-1]):.4f}",
        }
    )
    with stage.below:
        ui.notice(
            "A planar layer reads one number, wᵀz, and moves along û; it is one to one if wᵀû ≥ −1, and its "
            "inverse is one root. A radial layer reads the distance from a centre; it is one to one if "
            "β ≥ −α, and its inverse is the root of a quadratic. The texts leave both conditions out, and "
            "call the inverses hard."
        )
        ui.check(
            "With all of the push, is the map one to one?",
            ["yes", "no"],
            "yes" if least >= 0 else "no",
            f"The least slope of the curve is {least:.4f}.",
            wrong={
                "yes": "So strong a push folds the plane: where the slope of the curve is negative two "
                "points meet.",
                "no": "A bend is no fold: the slope of the curve stays at 0 or above.",
            },
            veils=("picture", "equation", "numbers"),
        )
        ui.source(type(layer).generate, type(layer).inverse, lens.bend, references=ROOM.references)


def planar_view() -> None:
    with stage.rail:
        u1 = ui.slider("u₁", -3.0, 3.0, 2.0, key="u1", step=0.1)
        u2 = ui.slider("u₂", -3.0, 3.0, 0.0, key="u2", step=0.1)
        w1 = ui.slider("w₁", -3.0, 3.0, 2.0, key="w1", step=0.1)
        w2 = ui.slider("w₂", -3.0, 3.0, 0.0, key="w2", step=0.1)
        b = ui.slider("b", -2.0, 2.0, 0.0, key="b", step=0.1)
        constrained = ui.toggle("Constrained", True, key="constrained")
    if w1 == w2 == 0:
        ui.stop("With w = 0 the layer sees nothing: set w₁ or w₂.")
    point = (1.0, -1.0)
    one(lens.planar((u1, u2), (w1, w2), b, constrained), "planar", point)
    with stage.below:
        ui.program(
            f"""
            import torch
            from modules.flow.planar import Planar

            layer = Planar(2, constrained={constrained}).double()
            layer.theta.data = torch.tensor([{u1}, {u2}, {w1}, {w2}, {b}], dtype=torch.float64)
            with torch.no_grad():
                x, ladj = layer.generate(torch.tensor([1.0, -1.0], dtype=torch.float64))
            result = [*x.tolist(), float(ladj)]
            """,
            shows=lens.answer(lens.planar((u1, u2), (w1, w2), b, constrained), point),
        )


def radial_view() -> None:
    with stage.rail:
        c1 = ui.slider("Centre z0₁", -2.0, 2.0, 0.5, key="c1", step=0.1)
        c2 = ui.slider("Centre z0₂", -2.0, 2.0, 0.0, key="c2", step=0.1)
        alpha = ui.slider("α", 0.1, 3.0, 1.0, key="alpha", step=0.1)
        beta = ui.slider("β", -2.9, 5.0, 3.0, key="beta", step=0.1)
    if beta <= -alpha:
        ui.warning(f"β = {beta:g} is not above −α = {-alpha:g}: {-alpha + 0.05:g} is used.")
        beta = -alpha + 0.05
    one(lens.radial((c1, c2), alpha, beta), "radial", (1.0, -1.0))


def many_view() -> None:
    with stage.rail:
        target = ui.choice("Target", list(reverse_kl.TARGETS), key="target", as_list=True)
        layers = ui.slider("Planar layers K", 1, 16, 8, key="K")
        seed = ui.number("Seed", 0, 99, 0, key="seed")
    density = lens.density(target)

    def so_far(run: lens.Fit) -> None:
        fig, _ = figures.over(density, run.samples, len(run.kl) - 1)
        ui.figure(fig, alt="Samples of the flow so far over the target", key="so-far", share=1.0)

    def before() -> None:
        fig, _ = figures.over(density, lens.draws()[None], 0)
        ui.figure(fig, alt="The target, and samples of the base", key="before", share=1.0)

    with stage.picture:
        run = ui.job(f"Train {layers} layers", lambda: lens.fit(target, layers, seed), key="train",
                     of=(target, layers, seed), show=so_far, before=before)  # fmt: skip
        if run is not None:
            film = ui.film(len(run.kl), key="frame", values=run.steps, default=run.steps[-1], label="Step",
                           seconds=0.3)  # fmt: skip
            cloud, moves = figures.over(density, run.samples, film.at)
            line, turns = figures.course(run.steps, run.kl, film.at)
            left, right = ui.columns([3, 2])
            with left:
                ui.figure(cloud, alt="Samples of the flow over the target", key="cloud", share=1.0, film=film,
                          frames=moves)  # fmt: skip
            with right:
                ui.figure(line, alt="KL of the flow from the target over training", key="kl", share=1.0,
                          film=film, frames=turns, data={"step": run.steps, "kl": run.kl})  # fmt: skip
    if run is not None:
        with stage.foot:
            film.bar(
                captions=[
                    f"After {s} steps: KL {kl:.3f} nats." for s, kl in zip(run.steps, run.kl, strict=True)
                ]
            )
        stage.metrics({"KL(flow ‖ target)": f"{run.kl[-1]:.3f} nats", "Layers": str(layers)})
    with stage.below:
        ui.notice(
            "Trained by reverse KL on the density alone, without data: few cuts cannot part the cloud into "
            "the shape, and may leave out a lobe altogether. Compare K = 2 with K = 16."
        )
        ui.source(planar.PlanarFlow, reverse_kl.reverse_kl, lens.fit, references=ROOM.references)


with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
{"Planar": planar_view, "Radial": radial_view, "K layers": many_view}[view]()
