"""RNADE density: a mixture of Gaussians that moves as x₁ moves; one Gaussian cannot be in two places."""

import torch

from lab import ui
from lab.figures import basic
from modules.autoregressive import rnade
from pages.autoregressive.density import figures, lens

REFERENCES = [
    "Bishop 1994, Mixture density networks",
    "Uria, Murray, Larochelle 2013, RNADE, arXiv:1306.0186",
    "Theis, van den Oord, Bethge 2016, A note on the evaluation of generative models, arXiv:1511.01844",
    "[GM] §1.5.2 (it writes N(x; μ, σ) and calls σ a standard deviation: the variance is σ²)",
]
PAD = 20  # pixels a side of the drawing pad
POINTS = 500


@ui.cached
def shipped_map(name: str) -> lens.Map:
    return lens.density_map(ui.load(name))


@ui.cached
def drawn(name: str, seed: int) -> torch.Tensor:
    return ui.load(name).sample(POINTS, generator=torch.Generator().manual_seed(seed))


@ui.cached
def without_noise(components: int, seed: int) -> lens.Trace:
    return lens.whole_numbers(components, seed)


def place() -> tuple[float, float]:
    """Where the reader looks: x₁, and x₂ on its section."""
    left, right = ui.columns(2)
    with left:
        x1 = ui.slider("x₁", -3.5, 3.5, 0.5, key="x1", step=0.05)
    with right:
        x2 = ui.slider("x₂", -3.5, 3.5, 0.8, key="x2", step=0.05)
    return x1, x2


def look(model: rnade.RNADE, whole: lens.Map, data, samples, x1: float, x2: float) -> lens.Section:
    """The map, the section through it, its arithmetic; the same for shipped and for own models."""
    part = lens.section(model, x1)
    axis = lens.axis()
    title = "p(x₁, x₂)" + (" and data" if data is not None else " and samples" if samples is not None else "")
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.plane(whole.coarse(200), whole.reach, data, samples, (x1, x2), title),
            alt="Density of the plane with points, and the section at the chosen x₁",
        )
    with right:
        ui.figure(
            figures.section(axis, part.density(axis), part.components(axis), x2, f"p(x₂ | x₁ = {x1:.2f})"),
            alt="Conditional density of the second variable and its components",
            data={"x2": axis, "density": part.density(axis)},
        )
    here = torch.tensor([x2], dtype=torch.float64)
    terms = part.components(here)[:, 0]
    values = {
        "Integral over the window": f"{whole.integral:.4f}",
        "Humps of this section": f"{part.modes(axis)}",
        f"p(x₂ = {x2:.2f} | x₁)": f"{float(part.density(here)):.4f}",
        "σ taken for the variance": f"{float(part.misread(here)):.4f}",
    }
    for column, (label, value) in zip(ui.columns(4), values.items(), strict=True):
        column.metric(label, value)
    largest = int(terms.argmax())
    pi, mu, sigma = (float(v[largest]) for v in (part.weights, part.means, part.sigmas))
    ui.equation(
        rf"\pi_{{{largest + 1}}} N(x_2; \mu_{{{largest + 1}}}, \sigma_{{{largest + 1}}}^2) = "
        rf"\frac{{{pi:.3f}}}{{{sigma:.3f}\sqrt{{2\pi}}}}\, "
        rf"e^{{-\frac12 \left(\frac{{{x2:.2f} - ({mu:.3f})}}{{{sigma:.3f}}}\right)^2}} = "
        rf"{float(terms[largest]):.4f}, \qquad \textstyle\sum_k = {float(terms.sum()):.4f}",
        "The largest term at x₂, and the sum of all; σ is a standard deviation. The integral is over "
        f"[−{whole.reach:g}, {whole.reach:g}]²; what is missing lies outside.",
    )
    heavy = max(1, int((part.weights > 0.001).sum()))
    ui.table(
        {
            "component": range(1, heavy + 1),
            "weight π": [f"{v:.4f}" for v in part.weights[:heavy].tolist()],
            "mean μ": [f"{v:.3f}" for v in part.means[:heavy].tolist()],
            "standard deviation σ": [f"{v:.3f}" for v in part.sigmas[:heavy].tolist()],
            "π N(x₂; μ, σ²)": [f"{v:.4f}" for v in terms[:heavy].tolist()],
        },
        alt="The components of the section and what each adds at the chosen place",
    )
    if heavy < len(terms):
        ui.caption(f"{len(terms) - heavy} more weigh less than 0.001 each.")
    return part


def trained_mode() -> None:
    left, right = ui.columns(2)
    with left:
        name = ui.experiment(
            "Model", family="autoregressive", key="model", default="rnade-moons", only=lens.of_the_plane
        )
    with right:
        shown = ui.choice("Points", ["data", "samples", "none"], key="points")
    x1, x2 = place()
    model, whole = ui.load(name), shipped_map(name)
    data = lens.data(lens.shape_of(name), POINTS) if shown == "data" else None
    part = look(model, whole, data, drawn(name, 0) if shown == "samples" else None, x1, x2)
    names = ui.trained("autoregressive", lens.of_the_plane)
    rungs = lens.ladder({other: ui.card(other) for other in names})
    ui.table(
        {
            "model": list(rungs),
            "Gaussians a variable": [k for k, _ in rungs.values()],
            "−log p of test points, nats": [f"{v:.3f}" for _, v in rungs.values()],
        },
        alt="Components and test cost of every trained model of the plane",
    )
    ui.notice(
        "Through the middle of the moons a section has several humps, and the mixture moves its weights from "
        "one to the other as x₁ moves. With one Gaussian a section is one hump: it must cover the gap "
        "between the arms, where no data lie. Both integrate to 1; the test cost tells them apart."
    )
    ui.presets(
        {
            "Two moons": {"model": "rnade-moons", "x1": 0.5, "x2": 0.8},
            "One Gaussian": {"model": "rnade-moons-k1", "x1": 0.5, "x2": 0.0},
            "Three rings": {"model": "rnade-rings", "x1": 0.0, "x2": 1.0},
            "One Gaussian on rings": {"model": "rnade-rings-k1", "x1": 0.0, "x2": 0.0},
            "Samples": {"points": "samples"},
        }
    )
    humps = part.modes(lens.axis())
    options = ["1", "2 or 3", "4 or more"]
    ui.check(
        f"How many humps has p(x₂ | x₁ = {x1:.2f}) of {name}?",
        options,
        options[0 if humps < 2 else 1 if humps < 4 else 2],
        f"{humps}, counted on the curve; the mixture has {model.components} components.",
    )
    ui.source(
        rnade.RNADE.mixture, rnade.RNADE.conditional_log_prob, lens.Section, lens.density_map,
        references=REFERENCES,
    )  # fmt: skip


def own_mode() -> None:
    left, right = ui.columns(2)
    with left:
        picture = ui.draw("Draw where the points lie", key="ink", size=PAD, examples=lens.examples(PAD))
    with right:
        components = ui.slider("Gaussians a variable, K", 1, 10, 5, key="k")
        seed = ui.number("Seed", 0, 999, 0, key="seed")
        ui.caption(
            f"{POINTS} points, spread over your ink; the pad is [−{lens.OWN_REACH:g}, "
            f"{lens.OWN_REACH:g}]². Training takes a few seconds."
        )
    try:
        data = lens.scattered(picture, POINTS, seed)
    except ValueError as error:
        ui.stop(str(error))

    def progress(found: lens.Fit) -> None:
        whole = lens.density_map(found.model)
        ui.figure(
            figures.plane(whole.coarse(100), whole.reach, data, title=f"{found.losses[-1]:.3f} nats a point"),
            alt="The density so far, with the points", key="so-far",
        )  # fmt: skip

    found = ui.job(
        "Train on these points",
        lambda: lens.fit(data, components, seed=seed),
        key="train",
        of=(picture.tolist(), components, seed),
        show=progress,
    )
    if found is None:
        ui.figure(
            basic.scatter(data, title="Your points", xlabel="x₁", ylabel="x₂", height=420),
            alt="The points that are trained on", data={"x1": data[:, 0], "x2": data[:, 1]},
        )  # fmt: skip
        ui.notice("Train with K = 1 and with K = 5 on the same ink: what can one Gaussian not do?")
    else:
        look(found.model, lens.density_map(found.model), data, None, *place())
        ui.figure(
            basic.curves({"−log p": found.losses}, xlabel="step", ylabel="nats a point", height=320),
            alt="Training loss by step", data={"step": range(len(found.losses)), "loss": found.losses},
        )  # fmt: skip
        ui.notice(
            "The network never sees x₂ when it says where x₂ may be: it reads x₁ and answers with weights, "
            "means and widths. Where your ink has gaps along a vertical line, only several Gaussians help."
        )
    ui.presets(
        {
            "Ring, five Gaussians": {"ink": "ring", "k": 5, "x1": 0.0, "x2": 2.0},
            "Ring, one Gaussian": {"ink": "ring", "k": 1, "x1": 0.0, "x2": 0.0},
            "Wave, one Gaussian": {"ink": "wave", "k": 1, "x1": 0.0, "x2": 0.0},
        }
    )
    most = lens.gaps(picture)
    ui.check(
        "Along some vertical line of your drawing, does the ink fall into two parts or more?",
        ["yes", "no"],
        "yes" if most > 1 else "no",
        f"Up to {most}: as many humps as p(x₂ | x₁) needs there.",
    )
    ui.source(lens.fit, lens.scattered, rnade.RNADE, references=REFERENCES)


def whole_numbers_mode() -> None:
    left, right = ui.columns(2)
    with left:
        components = ui.slider("Gaussians a variable, K", 1, 10, 10, key="k")
    with right:
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    trace = without_noise(components, seed)
    now = trace[ui.stepper(len(trace), key="step", default=len(trace) - 1)]
    ui.caption(now.caption)
    steps, floor = lens.column(trace, "steps"), trace.result
    left, right = ui.columns(2)
    with left:
        lines = {
            "as they are": lens.column(trace, "nll_raw"),
            "with noise": lens.column(trace, "nll_noisy"),
            "entropy": [floor] * len(trace),
        }
        ui.figure(
            basic.curves(lines, steps, mark=now.values["steps"], title="−log p of two pixels, nats",
                         xlabel="training steps"),
            alt="Loss with and without noise against the entropy of the levels",
            data={"steps": steps, **lines},
        )  # fmt: skip
    with right:
        lines = {
            "as they are": lens.column(trace, "log_sigma_raw"),
            "with noise": lens.column(trace, "log_sigma_noisy"),
        }
        ui.figure(
            basic.curves(lines, steps, mark=now.values["steps"], title="log σ of the narrowest Gaussian",
                         xlabel="training steps"),
            alt="Logarithm of the smallest standard deviation with and without noise",
            data={"steps": steps, **lines},
        )  # fmt: skip
    ui.equation(
        now.equation,
        "What one Gaussian gives a number it sits on, at the smallest σ of this step (in levels). A level is "
        "a whole number: σ can fall for ever, and the density rises with it.",
    )
    ui.notice(
        "Grey levels are whole numbers. Without noise, Gaussians shrink onto them and −log p falls below "
        "the entropy, where no probability of a level can be: it measures the spikes, not the digits. With "
        "uniform noise over each level the density is spread, log σ settles, and −log p is a bound on the "
        "probability of the levels. A single Gaussian per variable has no level to shrink onto."
    )
    ui.presets(
        {
            "Ten Gaussians": {"k": 10, "step": len(trace) - 1},
            "One Gaussian": {"k": 1},
            "The start": {"k": 10, "step": 0},
        }
    )
    below = now.values["nll_raw"] < floor
    ui.check(
        "At this step, is −log p without noise below the entropy of the levels?",
        ["yes", "no"],
        "yes" if below else "no",
        f"{now.values['nll_raw']:.2f} against {floor:.2f} nats.",
    )
    ui.source(lens.whole_numbers, rnade.RNADE.conditional_log_prob, references=REFERENCES)


ui.header(
    "RNADE density",
    "A network reads x₁ and answers with a mixture: where x₂ may be, how likely, and how sharply.",
    lenses=("sampling",),
)
modes = {"Trained": trained_mode, "Own points": own_mode, "Whole numbers": whole_numbers_mode}
modes[ui.choice("Show", list(modes), key="show", default="Trained")]()
