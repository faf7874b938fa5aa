"""Copying autoencoder: why small reconstruction errors make no generative model."""

from lab import ui
from lab.figures import basic, theme
from lab.lenses import drawing
from modules.autoregressive import autoencoder, made
from modules.trace import Trace
from pages.autoregressive.autoencoder import lens

REFERENCES = [
    "[GM] §1.5.3 (it says that an unmasked network reaches zero error: only if its code is wide enough)",
    "Germain, Gregor, Murray, Larochelle 2015, MADE, arXiv:1502.03509",
]
FOIL, DENSITY = "autoencoder-digits", "made-digits"
COUNT = 200


@ui.cached
def race(width: int, seed: int) -> Trace:
    return lens.race(width, seed, COUNT)


@ui.cached
def digits() -> list:
    return drawing.examples(8)


def live() -> None:
    left, right = ui.columns(2)
    with left:
        width = ui.slider("Hidden units of each", 1, 32, 16, key="width")
    with right:
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    trace = race(width, seed)
    step = ui.stepper(len(trace), key="step", default=len(trace) - 1)
    now = trace[step]
    ui.caption(now.caption)

    passes = lens.column(trace, "passes")
    loss, total = ui.columns(2)
    with loss:
        lines = {
            "autoencoder": lens.column(trace, "loss_ae"),
            "MADE": lens.column(trace, "loss_made"),
            "ln 14": [lens.floor()] * len(trace),
        }
        ui.figure(
            basic.curves(lines, passes, mark=passes[step], title="Loss, nats a picture", xlabel="passes"),
            alt="Loss of autoencoder and MADE over training, and the entropy of the patterns",
            data={"passes": passes, **lines},
        )
    with total:
        sums = {"autoencoder": lens.column(trace, "total_ae"), "MADE": lens.column(trace, "total_made")}
        ui.figure(
            basic.curves(sums, passes, mark=passes[step], title="Sum over all 512 pictures", xlabel="passes"),
            alt="Sum of the product of the outputs over all pictures", data={"passes": passes, **sums},
        )  # fmt: skip
    foil, density = ui.columns(2)
    for place, name, title in (
        (foil, "ae", "Autoencoder: ∂ logit i / ∂ x j"),
        (density, "made", "MADE: ∂ logit i / ∂ x j"),
    ):
        with place:
            gradient = now.values[f"jacobian_{name}"]
            ui.figure(
                basic.heatmap(gradient, scale="diverging", title=title, square=True, xlabel="input j",
                              ylabel="output i"),
                alt=title, key=f"jacobian-{name}",
                data={"output, input": drawing.pairs(9), "gradient": gradient},
            )  # fmt: skip
    drawn = trace.result
    noise, samples = ui.columns(2)
    with noise:
        ui.figure(
            basic.images(drawn.ae[:24].reshape(-1, 3, 3), columns=8, title="Autoencoder: random codes"),
            alt="Pictures decoded from random codes", data={"picture": drawing.bit_strings(drawn.ae)},
        )  # fmt: skip
    with samples:
        ui.figure(
            basic.images(drawn.made[:24].reshape(-1, 3, 3), columns=8, title="MADE: samples"),
            alt="Samples of MADE", data={"picture": drawing.bit_strings(drawn.made)},
        )  # fmt: skip
    for place, (label, value) in zip(
        ui.columns(4),
        {
            "Σ autoencoder": f"{now.values['total_ae']:.3f}",
            "Σ MADE": f"{now.values['total_made']:.3f}",
            "Bars or stripes, autoencoder": f"{100 * drawn.valid_ae:.0f} %",
            "Bars or stripes, MADE": f"{100 * drawn.valid_made:.0f} %",
        }.items(),
        strict=True,
    ):
        place.metric(label, value)
    ui.equation(
        now.equation,
        "Over all 512 pictures of 3 × 3 bits. A density gives exactly 1. Samples are of the trained models, "
        f"the shares of {COUNT} of them.",
    )
    ui.notice(
        "The autoencoder's loss falls below ln 14, where no density can be: it reads the answer from its own "
        "input, along the diagonal of its Jacobian. Its product of outputs sums to far more than 1, so it is "
        "no probability, and random codes give pictures of nothing. MADE's diagonal is exactly 0; its loss "
        "stops at the floor, its sum stays 1. A narrow code cannot copy well, but sums to something else "
        "than 1 all the same."
    )
    ui.presets(
        {
            "Wide enough to copy": {"width": 32, "step": 0},
            "A narrow code": {"width": 2},
            "Your digit": {"show": "Your digit"},
        }
    )
    below = now.values["loss_ae"] < lens.floor()
    ui.check(
        "At this step, is the autoencoder's loss smaller than that of any density?",
        ["yes", "no"],
        "yes" if below else "no",
        f"{now.values['loss_ae']:.3f} against ln 14 = {lens.floor():.3f} nats.",
    )
    ui.source(autoencoder.Autoencoder, lens.race, lens.decode_noise, references=REFERENCES)


def own_digit() -> None:
    left, right = ui.columns(2)
    with left:
        picture = ui.draw("Draw a digit", key="digit", size=8, examples=digits())
    found = lens.on_digit(ui.load(FOIL), ui.load(DENSITY), drawing.bits(picture))
    with right:
        ui.markdown(f"Two models of 8 × 8 digits: **{FOIL}** rebuilds, **{DENSITY}** predicts each pixel "
                    "from those before it.")  # fmt: skip
        for label, value in {
            "Autoencoder, loss in nats": f"{found.bce:.2f}",
            "MADE, −log p in nats": f"{found.nll:.2f}",
        }.items():
            ui.columns(1)[0].metric(label, value)
    scale: theme.Scale
    for title, scale, pair in (
        ("outputs", "probability", (found.rebuilt, found.conditionals)),
        ("∂ logit i / ∂ x i, its own pixel", "diverging", (found.own_ae, found.own_made)),
    ):
        for place, name, values in zip(ui.columns(2), ("Autoencoder", "MADE"), pair, strict=True):
            with place:
                ui.figure(
                    basic.heatmap(values.reshape(8, 8), scale=scale, title=f"{name}: {title}", square=True),
                    alt=f"{name}: {title}", key=f"{name}-{scale}",
                    data={"pixel": range(64), "value": values},
                )  # fmt: skip
    ui.equation(
        rf"-\sum_i \log \hat x_i^{{x_i}}(1-\hat x_i)^{{1-x_i}} = {found.bce:.2f}",
        "Nats of the autoencoder, and no likelihood. The same sum over MADE's outputs is "
        f"{found.nll:.2f} nats, and is −log p: the two must not be compared.",
    )
    ui.notice(
        "The autoencoder shows a digit back for next to nothing: each output takes most from its own pixel. "
        "MADE says what it expected before it looked, so every surprise costs; its own pixel moves no "
        "output. A scribble is beyond both: the copying was learned on digits."
    )
    ui.presets({"Train both live": {"show": "Live"}, "A five": {"digit": "5"}, "A one": {"digit": "1"}})
    ui.check(
        "Which of the two numbers is a likelihood?",
        [FOIL, DENSITY],
        DENSITY if float(found.own_made.abs().max()) == 0 else FOIL,
        "The one whose outputs take nothing from their own inputs: the largest own gradient is "
        f"{float(found.own_made.abs().max()):g} for MADE, {float(found.own_ae.abs().max()):.2f} for the "
        "other.",
    )
    ui.source(autoencoder.Autoencoder, made.MADE.logits, references=REFERENCES)


ui.header("Copying autoencoder", "A network that sees its answer needs no model of the data.")
if ui.choice("Show", ["Live", "Your digit"], key="show") == "Live":
    live()
else:
    own_digit()
