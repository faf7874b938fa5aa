"""Kalman filter: a state that moves, seen through noise; forward as it comes, backward from the end."""

from typing import Any

from lab import ui
from lab.figures import theme
from modules.latent.kalman import LinearDynamicalSystem, condition_gaussian
from pages.latent.kalman import figures, lens
from pages.latent.kalman.room import ROOM

OWN = "own"
POINTS = "-3, -2; -2, -1.2; -1, -1; 0, -1.1; ?; ?; 2, 0.4; 2.2, 1.5; 1.6, 2.4; 0.5, 2.6"
NUMBERS = "1, 0, 1"
END = 2 * lens.STEPS - 1

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Under way": ui.scene("Dotted: where the next cross was expected. Seeing it narrows the belief."),
        "All seen": ui.scene("The filter's path: smoother than the crosses, and always a little late.",
                             step=lens.STEPS - 1),
        "Looking back": ui.scene("The smoother knows what came later: violet is nearer to the truth.",
                                 step=END),
        "Nothing to see": ui.scene("Eight frames are missing: the belief moves on, and widens.", gap=True,
                                   step=18),
        "Stiff": ui.scene("A model that expects straight runs: the filter is further off than the crosses.",
                          path="zigzag", q=0.001, step=lens.STEPS - 1),
        "Nervous": ui.scene("The model expects any turn: the filter jumps after every cross.", q=1.0,
                            step=lens.STEPS - 1),
        "Three numbers": ui.scene("By hand: 1, 0, 1 are seen; the means are 0.67, 0.31 and 0.59.",
                                  view="Line", series=OWN, a=0.9, drift=0.19, noise=0.707107, step=2),
        "Outlier": ui.scene("One wild value pulls the beliefs after it: the gain is blind to values.",
                            view="Line", series="outlier", step=15),
        "Own path": ui.scene("Click into the plane: each click is the next cross.", path=OWN, step=9),
    }
)  # fmt: skip


def given(columns: int, shelf: dict, key: str, start: str) -> tuple:
    """The reader's path: its name, truth or None, frames, r, a program's words, and the typed text."""
    label, text = "Path" if columns == 2 else "Series", start
    with stage.rail:
        name = ui.choice(label, [*shelf, OWN], key=key, as_list=True)
        noise = ui.slider("Noise of the eye, r", 0.05, 1.5, 0.4, key="noise", step=None)
        gap = ui.toggle("Hide frames 13 to 20", False, key="gap")
        if name != OWN:
            seed = ui.number("Seed of the noise", 0, 99, 0, key="seed")
    if name != OWN:
        truth = shelf[name]()
        odd = name == "outlier"
        x = lens.observations(truth, noise, seed, odd)
        paths = "PATHS" if columns == 2 else "SERIES"
        words = f"lens.observations(lens.{paths}[{name!r}](), {noise}, {seed}, {odd})"
    else:
        with stage.below:
            text = ui.text("Frames, “?” for one that is missing", start, key=f"own{columns}", max_chars=2000)
            ui.upload("CSV", into=f"own{columns}")
        truth, words = None, f"lens.typed({text!r}, {columns})[0]"
        try:
            x, bad = lens.typed(text, columns)
        except ValueError as error:
            ui.stop(str(error))
        if bad:
            stage.top.warning(bad)
    if gap:
        if bool(lens.hidden(x).isnan().all()):
            ui.stop("Nothing is left to see: let frames 13 to 20 be seen, or give more frames.")
        x, words = lens.hidden(x), f"lens.hidden({words})"
    return name, truth, x, noise, words, text


def captions(story: lens.Story) -> list[str]:
    """Caption of each frame of the film, forward and then backward."""
    before, after, late = (v[:, 0, 0].sqrt().tolist() for v in
                           (story.predicted_spread, story.filtered_spread,
                           story.smoothed_spread))  # fmt: skip
    gains, count = story.gains[:, 0, 0].tolist(), len(story.x)
    empty = story.x.isnan().any(1).tolist()
    texts = [
        f"t = {t + 1}, forward: nothing is seen, the belief stays at ± {before[t]:.3f}." if empty[t] else
        f"t = {t + 1}, forward: ± {before[t]:.3f} before x, ± {after[t]:.3f} after it; gain {gains[t]:.3f}."
        for t in range(count)
    ]  # fmt: skip
    return texts + [
        f"t = {t + 1}, backward: what came later narrows ± {after[t]:.3f} to ± {late[t]:.3f}."
        for t in reversed(range(count))
    ]


def equations(story: lens.Story) -> list[str]:
    """The update of the first coordinate with its numbers, forward and then backward."""
    count, forward, backward = len(story.x), [], []
    for t in range(count):
        p, g, m = float(story.predicted[t, 0]), float(story.gains[t, 0, 0]), float(story.filtered[t, 0])
        x = float(story.x[t, 0])
        forward.append(
            rf"m_{{{t + 1}}}=m^-_{{{t + 1}}}={m:.3f}" if x != x else
            rf"m_{{{t + 1}}}=m^-+G\,(x-m^-)={p:.3f}+{g:.3f}\,({x:.3f}-({p:.3f}))={m:.3f}"
        )  # fmt: skip
        late = float(story.smoothed[t, 0])
        backward.append(
            rf"\hat m_{{{t + 1}}}=m_{{{t + 1}}}+J\,(\hat m_{{{t + 2}}}-m^-_{{{t + 2}}})="
            rf"{m:.3f}+({late - m:.3f})={late:.3f}" if t + 1 < count else
            rf"\hat m_{{{t + 1}}}=m_{{{t + 1}}}={m:.3f}"
        )  # fmt: skip
    return forward + backward[::-1]


def show(system: LinearDynamicalSystem, result: str, columns: int, path: tuple) -> None:
    """The film of a path, and what is said of it."""
    name, truth, x, _, words, text = path
    story = lens.story(system, x)
    count = len(x)
    film = ui.film(2 * count, key="step", default=min(14, 2 * count - 1), seconds=0.25)
    sd = {"before": story.predicted_spread, "after": story.filtered_spread, "late": story.smoothed_spread}
    means = {"before": story.predicted, "after": story.filtered, "late": story.smoothed}
    deviations = {n: v[:, 0, 0].sqrt() for n, v in sd.items()}
    parts: dict[str, Any] = {"truth": truth, "x": x, "filtered": story.filtered[:, :columns],
                             "smoothed": story.smoothed[:, :columns]}  # fmt: skip
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            if columns == 2:
                parts |= {n: lens.ellipses(means[n], sd[n]) for n in sd}
                fig, frames = figures.plane(parts, film.at, name == OWN)
            else:
                flat = {n: v if v is None else v[:, 0] for n, v in parts.items()}
                fig, frames = figures.line(flat | deviations, film.at)
            ui.button_figure(
                fig, key="path", share=1.0, film=film, frames=frames, whole=False,
                alt="What is seen, the filter's path forward and the smoother's backward, and the belief",
                on_press=lambda a, b: added(text, a, b, count) if columns == 2 and name == OWN else {},
                data={"t": range(1, count + 1), "seen": x[:, 0], "filter": story.filtered[:, 0],
                      "smoother": story.smoothed[:, 0]},
            )  # fmt: skip
        with right:
            gains = story.first_gain
            lines = {"sd before x": (deviations["before"], theme.HIDDEN, "dot"),
                     "sd after x": (deviations["after"], theme.OUTPUT, "solid"),
                     "sd at the end": (deviations["late"], theme.ATTENTION, "solid")}  # fmt: skip
            fig, frames = figures.widths(gains, lines, film.at)
            ui.figure(
                fig, key="widths", share=1.0, film=film, frames=frames,
                data={"t": range(1, count + 1), "gain": gains, **deviations},
                alt="The gain, and the deviation of the belief before, after and at the end, over time",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=captions(story), equations=equations(story))
    total, apart = float(story.log_steps.sum()), lens.referee(system, story)
    near = {} if truth is None else {
        label: f"{lens.distance(v, truth):.3f}"
        for label, v in (("Crosses", x), ("Filter", story.filtered), ("Smoother", story.smoothed))
    }  # fmt: skip
    stage.metrics(
        {**{f"{label} off": v for label, v in near.items()}, "log p(x)": f"{total:.2f}",
         "Joint Gaussian": f"{apart:.0e} apart"}
    )  # fmt: skip
    with stage.below:
        ui.notice(
            "Ellipses and bands reach two standard deviations. It is a hidden Markov model whose state is a "
            "Gaussian vector: predict by the model, correct by "
            "what is seen, the gain weighing one against the other. Gains and deviations depend on the model "
            "and on which frames are seen, never on their values. The backward pass gives every state the "
            f"frames that came later. Both are exact: the one Gaussian of all {story.smoothed.numel()} state "
            f"numbers and all frames, conditioned in one go, differs by {apart:.0e}."
        )
        options = ["narrows", "stays", "widens"]
        change = float(story.filtered_spread[-1, 0, 0] - story.filtered_spread[0, 0, 0])
        ui.check(
            "From the first frame to the last, the filter's belief of the first coordinate …", options,
            options[1 if abs(change) < 1e-6 else 0 if change < 0 else 2],
            f"Its deviation goes from {float(deviations['after'][0]):.3f} to "
            f"{float(deviations['after'][-1]):.3f}.",
            wrong=(
                "Frames narrow it, but the motion adds noise: without a frame, or after a sure start, it "
                "widens.",
                "It stays only where each frame takes away just what the motion adds.",
                "The motion adds noise, but what is seen takes away more.",
            ),
            veils=("widths", "equation", "numbers"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.latent.kalman import lens

            system = {result}
            x = {words}
            story = lens.story(system, x)
            result = [float(story.log_steps.sum()), float(story.smoothed[0, 0])]
            """,
            shows=[total, float(story.smoothed[0, 0])],
        )
        ui.source(
            LinearDynamicalSystem.filter,
            LinearDynamicalSystem.smooth,
            condition_gaussian,
            lens.referee,
            references=ROOM.references,
        )


def added(text: str, a: float, b: float, count: int) -> dict[str, Any]:
    """A click: one frame more, where the film then stands."""
    return {"own2": "; ".join(p for p in (text.rstrip("; \n"), f"{a:.3g}, {b:.3g}") if p), "step": count}


with stage.rail:
    view = ui.choice("View", ["Plane", "Line"], key="view")
if view == "Plane":
    path = given(2, lens.PATHS, "path", POINTS)
    with stage.rail:
        q = ui.choice("Restlessness q", [0.001, 0.01, 0.1, 1.0], key="q", default=0.01,
                      format=lambda v: f"{v:g}")  # fmt: skip
    show(lens.plane_system(q, path[3]), f"lens.plane_system({q}, {path[3]})", 2, path)
else:
    path = given(1, lens.SERIES, "series", NUMBERS)
    with stage.rail:
        a = ui.slider("Memory a", 0.0, 1.0, 1.0, key="a", step=0.05)
        q = ui.slider("Drift q", 0.01, 2.0, 0.1, key="drift", step=0.01)
    show(lens.line_system(a, q, path[3]), f"lens.line_system({a}, {q}, {path[3]})", 1, path)
