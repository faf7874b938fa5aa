"""Eigen-digits: a mean and a sum of components; what is left is the blur of every linear code."""

from lab import ui
from lab.figures import theme
from modules.latent.pca import PCA
from pages.latent.eigen_digits import common, figures, hidden, lens, sliders
from pages.latent.eigen_digits.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "The mean": ui.scene("k = 0: every digit is the same blot.", k=0),
        "Five": ui.scene("A blurred three: five components keep two thirds of its squared distance."),
        "Twenty": ui.scene("Twenty numbers lose what vae-digits, which is curved, loses with ten.", k=20),
        "No digit": ui.scene("A box is no digit: the plane of digits keeps less of it.", k=20, digit8="box"),
        "MNIST": ui.scene("28 × 28 pixels, thirty numbers: a soft copy.", pictures="MNIST", k=30),
        "Sliders": ui.scene("Turn the components by hand: pictures are added and taken away.", view="Sliders",
                            c1=2.0, c2=-1.5, c3=1.0),
        "Half hidden": ui.scene("Half of the digit is hidden: both models guess it from the rest.",
                                view="Hidden pixels", hidden=4),
        "All hidden": ui.scene("Nothing is seen: the guess is the mean, as unsure as can be.",
                               view="Hidden pixels", hidden=8),
        "Half of MNIST": ui.scene("The lower half is filled with a grey mean of all that could be there.",
                                  view="Hidden pixels", pictures="MNIST", hide="lower", hidden=14),
    }
)  # fmt: skip


@ui.cached
def curved(side: int) -> float:
    """Show what vae-digits loses with its ten numbers."""
    return lens.nonlinear_loss(ui.load("vae-digits"), common.held_out(side).reshape(-1, side, side))


def sums_view() -> None:
    with stage.rail:
        data, side = common.pictures()
        kind = ui.choice("Model", list(common.MODELS), key="model")
        own = common.digit(side)
    name = f"{common.MODELS[kind]}-{data}"
    ui.prefetch(
        common.readied,
        *((kind, *each) for each in common.SETS.values() if each != (data, side)),
        *((each, data, side) for each in common.MODELS if each != kind),
    )
    basis, average, tail = common.basis(name), common.losses(name, side), common.tail(data)
    steps = list(range(len(average)))
    film = ui.film(len(steps), key="k", values=steps, default=5, label="k =", seconds=0.35)
    codes = basis.codes(own.x[None])[0]
    sums = basis.sums(codes)
    left_over = own.x - sums
    mine = left_over.square().sum(1)
    reach, strong = float(left_over.abs().max()), float(basis.components.abs().max())
    newest = basis.components[[0, *range(len(codes))]].clone()
    newest[0] = 0  # at k = 0 none has been added
    frames = [v.reshape(-1, side, side) for v in (sums.clamp(0, 1), newest, left_over)]
    shown = [
        figures.Panel("x", own.x.reshape(side, side)),
        figures.Panel("x̂: the sum", frames[0][film.at]),
        figures.Panel("component k", frames[1][film.at], "diverging", strong),
        figures.Panel("x − x̂", frames[2][film.at], "diverging", reach),
    ]
    floor = curved(side) if side == 8 else None
    with stage.picture:
        pictures, curve = ui.columns([3, 2])
        with pictures:
            ui.figure(
                figures.panels(shown, 2), key="pictures", share=1.0, film=film,
                frames={f"data.{i}.z": frame for i, frame in enumerate(frames, start=1)},
                alt="The digit, the sum of k components, the newest of them, and what is left over",
            )  # fmt: skip
        with curve:
            lines = {
                "this digit": (mine, theme.OUTPUT),
                "held out": (average, theme.INPUT),
                "Σ λⱼ": (tail, theme.HIDDEN),
            }
            fig = figures.losses(lines, floor, "vae-digits (10)", film.at)
            ui.figure(
                fig, key="losses", share=1.0, film=film,
                frames={f"data.{len(fig.data) - 1}.x": [[k] for k in steps],
                        f"data.{len(fig.data) - 1}.y": [[v] for v in mine.tolist()]},
                data={"k": steps, **{n: v for n, (v, _) in lines.items()}},
                alt="What is lost with k components: of this digit, of held-out ones, of the training data",
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[
                (
                    f"k = {k}: the newest coefficient is {float(codes[k - 1]):+.2f}; "
                    if k
                    else "k = 0: the mean; "
                )
                + f"{1 - float(lost / mine[0]):.0%} of this digit's squared distance from the mean is kept."
                for k, lost in enumerate(mine)
            ],
            equations=[
                rf"\|x-\hat x_{{{k}}}\|^2={float(lost):.3f},\qquad \sum_{{j>{k}}}\lambda_j={float(t):.3f},"
                rf"\qquad \text{{held out }}{float(a):.3f}"
                for k, (lost, t, a) in enumerate(zip(mine, tail, average, strict=True))
            ],
        )
    K = len(codes)
    with stage.below:
        words = (
            f" vae-digits loses {floor:.3f} with ten numbers; this model {float(average[10]):.3f} "
            f"with ten and {float(average[K]):.3f} with {K}: its digits lie on a bent sheet, not on a plane."
            if floor is not None
            else ""
        )
        ui.notice(
            "PCA's plane is the best there is: on the training data it loses Σ λⱼ over the components left "
            "out, and no linear code of k numbers loses less. A plane through the digits also contains all "
            "that lies between them, so what it drops is what is sharp."
            + words
            + " PPCA and FA do not aim at this distance: they shrink each coefficient towards 0, FA most "
            "where a pixel has much noise of its own."
        )
        options = ["0 to 5", "5 to 10", "10 to 20"]
        gains = [float(average[a] - average[b]) for a, b in ((0, 5), (5, 10), (10, 20))]
        ui.check(
            "Over which stretch of k do held-out digits gain most?", options,
            options[gains.index(max(gains))],
            "They gain " + ", ".join(f"{g:.2f}" for g in gains) + ": the eigenvalues come in falling order.",
            wrong={
                option: f"From {option} they gain {gain:.2f}: later directions hold less of the variance."
                for option, gain in zip(options, gains, strict=True)
            },
            veils=("losses", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.ui.controls import drawing
            from pages.latent.eigen_digits import lens

            basis = lens.Basis.of(weights.load({ui.spelled(name)}))
            x = {own.program}
            result = basis.lost(x[None])
            """,
            shows=mine.tolist(),
        )
        ui.source(PCA, lens.Basis.of, lens.Basis.sums, lens.tail, references=ROOM.references)


VIEWS = {
    "Sum": sums_view,
    "Sliders": lambda: sliders.view(stage),
    "Hidden pixels": lambda: hidden.view(stage),
}
with stage.rail:
    view = ui.choice("View", list(VIEWS), key="view")
VIEWS[view]()
