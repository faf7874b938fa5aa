"""Copying autoencoder: why small reconstruction errors make no generative model."""

from lab import ui
from lab.lenses import drawing
from lab.ui.models import shelves
from modules.autoregressive import autoencoder, made
from modules.trace import Trace
from pages.autoregressive.autoencoder import figures, lens
from pages.autoregressive.autoencoder.room import ROOM

FOIL, DENSITY = "autoencoder-digits", "made-digits"
NAMES = {"ae": "Autoencoder", "made": "MADE"}
COUNT = 200
WIDEST = 32  # hidden units


@ui.cached
def race(width: int, seed: int) -> Trace:
    return lens.race(width, seed, COUNT)


def live() -> None:
    with stage.rail:
        width = ui.slider("Hidden units of each", 1, WIDEST, 16, key="width")
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    trace = race(width, seed)
    ui.prefetch(race, *((each, seed) for each in ui.near(width, 1, WIDEST, 1)))
    film = ui.film(len(trace), key="step", default=len(trace) - 1, seconds=0.15)
    now, drawn = trace[film.at], trace.result

    passes = lens.column(trace, "passes")
    at = {"layout.shapes.0.x0": passes, "layout.shapes.0.x1": passes}
    lines = {
        "autoencoder": lens.column(trace, "loss_ae"),
        "MADE": lens.column(trace, "loss_made"),
    }
    sums = {"autoencoder": lens.column(trace, "total_ae"), "MADE": lens.column(trace, "total_made")}
    gradients, pictures = lens.film(trace, "reads"), lens.film(trace, "drawn")
    reach = lens.reach(gradients)
    with stage.picture:
        curves, *columns = ui.columns([5, 5, 5])
        with curves:
            ui.figure(
                figures.losses(lines, passes, lens.floor(), passes[film.at]),
                alt="Loss of autoencoder and MADE over training, and the entropy of the patterns", share=0.5,
                data={"passes": passes, **lines}, film=film, frames=at,
            )  # fmt: skip
            ui.figure(
                figures.sums(sums, passes, passes[film.at]),
                alt="Sum of the product of the outputs over all pictures", share=0.5,
                data={"passes": passes, **sums}, film=film, frames=at,
            )  # fmt: skip
        titles = {"ae": "Of random codes", "made": "Samples"}
        for column, (key, name) in zip(columns, NAMES.items(), strict=True):
            sheet, frames = figures.sheet(pictures[key].unflatten(-1, (3, 3)), film.at, titles[key])
            with column:
                ui.figure(
                    figures.jacobian(gradients[key][film.at], reach, name),
                    alt=f"{name}: gradient of each output's logit with respect to each input",
                    key=f"jacobian-{key}", share=0.68, film=film, frames={"data.0.z": gradients[key]},
                    data={"output, input": drawing.pairs(9), "gradient": gradients[key][film.at]},
                )  # fmt: skip
                ui.figure(
                    sheet, alt=f"Pictures drawn by {name} at this step", share=0.32, key=f"drawn-{key}",
                    film=film, frames=frames, data={"picture": drawing.bit_strings(pictures[key][film.at])},
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=[step.caption for step in trace], equations=[step.equation for step in trace])
    stage.metrics(
        {
            "Trained: bars or stripes of random codes": f"{100 * drawn.valid_ae:.0f} %",
            "of MADE's samples": f"{100 * drawn.valid_made:.0f} %",
        }
    )
    below = now.values["loss_ae"] < lens.floor()
    last = trace[len(trace) - 1].values
    with stage.below:
        ui.caption(
            "The sums run over all 512 pictures of 3 × 3 bits: a density gives exactly 1. The matrices are "
            f"∂ logit i / ∂ x j, mean over the patterns. The shares are of {COUNT} pictures after training."
        )
        ui.notice(
            f"After training the autoencoder's loss is {last['loss_ae']:.2f} nats"
            + (", below ln 14, where no density can be: " if last["loss_ae"] < lens.floor() else ": ")
            + "each output reads its answer from its own input, along the diagonal. Its product of outputs "
            f"sums to {last['total_ae']:.2f}, so it is no probability. MADE's diagonal is exactly 0; its "
            "loss stays above the floor, its sum stays 1."
        )
        ui.check(
            f"After {now.values['passes']} passes, is the autoencoder's loss below that of any density?",
            ["yes", "no"],
            "yes" if below else "no",
            f"{now.values['loss_ae']:.3f} against ln 14 = {lens.floor():.3f} nats.",
            wrong={
                "yes": "To get below the floor an output must copy its own input, and so far it has not "
                "learned to.",
                "no": "The floor binds densities: an output that sees its own input may cost nothing at all.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            import torch
            from datamodules.binary_images import patterns, strings
            from lab.seeding import seeded
            from modules.autoregressive.autoencoder import Autoencoder

            x = patterns("bars-and-stripes", 3).flatten(1).double()
            model = seeded(lambda: Autoencoder(event_shape=(9,), hidden={width}).double(), {seed})
            adam = torch.optim.Adam(model.parameters(), lr={lens.RATE})
            for _ in range({now.values["passes"]}):
                adam.zero_grad(), (-model.log_product(x).mean()).backward(), adam.step()
            result = model.log_product(strings(9).double()).exp().sum().item()
            """,
            shows=now.values["total_ae"],
        )
        ui.source(autoencoder.Autoencoder, lens.race, lens.decode_noise, references=ROOM.references)


def own_digit() -> None:
    with stage.rail:
        picture = shelves.plain_digit(8)
    x = drawing.bits(picture)
    result = lens.on_digit(ui.load(FOIL), ui.load(DENSITY), x)
    copies, own = result.largest
    parts = {
        "Autoencoder": (result.rebuilt, result.own_ae, copies),
        "MADE": (result.conditionals, result.own_made, own),
    }
    with stage.picture:
        for place, (name, (outputs, gradient, largest)) in zip(ui.columns(2), parts.items(), strict=True):
            with place:
                ui.figure(
                    figures.map_of_pixels(outputs, f"{name}: p(ink)"), share=0.5, key=f"{name}-outputs",
                    alt=f"{name}: its output for each pixel", data={"pixel": range(64), "value": outputs},
                )  # fmt: skip
                title = f"∂ own pixel: up to {largest:.1f}" if largest else "∂ own pixel: exactly 0"
                ui.figure(
                    figures.map_of_pixels(gradient, title, copies or 1.0), share=0.5, key=f"{name}-own",
                    alt=f"{name}: what each output takes from its own pixel",
                    data={"pixel": range(64), "value": gradient},
                )  # fmt: skip
    stage.metrics({"Autoencoder, loss": f"{result.bce:.2f} nats", "MADE, −log p": f"{result.nll:.2f} nats"})
    stage.equation(
        rf"-\sum_i \log \hat x_i^{{x_i}}(1-\hat x_i)^{{1-x_i}} = {result.bce:.2f}",
        f"Of the autoencoder, and no likelihood. Over MADE's outputs it is {result.nll:.2f}, and is −log p.",
    )
    with stage.below:
        ui.markdown(f"Two models of 8 × 8 digits: **{FOIL}** rebuilds, **{DENSITY}** predicts each pixel "
                    "from those before it.")  # fmt: skip
        ui.notice(
            "The two numbers must not be compared. The autoencoder's outputs may take from their own pixels, "
            "so a small loss only says that it copies. MADE says what it expected before it looked, so every "
            "surprise costs; its own pixel moves no output. Copying was learned on digits: try a scribble."
        )
        ui.check(
            "Which of the two numbers is a likelihood?",
            [FOIL, DENSITY],
            DENSITY if own == 0 else FOIL,
            "The one whose outputs take nothing from their own inputs: the largest own gradient is "
            f"{own:g} for MADE, {copies:.2f} for the other.",
            wrong={
                FOIL: "Its outputs read the very pixels that they predict: such costs are of no "
                "distribution.",
                DENSITY: "A mask that leaves an output its own input makes it an autoencoder.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            import torch
            from lab import experiments, weights

            x = torch.tensor([{drawing.bit_list(x)}]).float()
            autoencoder = weights.load(experiments.ZOO / "{FOIL}")
            made = weights.load(experiments.ZOO / "{DENSITY}")
            result = [-autoencoder.log_product(x).item(), -made.log_prob(x).item()]
            """,
            shows=[result.bce, result.nll],
        )
        ui.source(autoencoder.Autoencoder, made.MADE.logits, references=ROOM.references)


stage = ui.stage(ROOM)
stage.scenes(
    {
        "Below the floor": ui.scene(
            "The autoencoder's loss falls below ln 14, where no density can be: it copies along its diagonal."
        ),
        "At the start": ui.scene("Before training neither knows anything; step on or play.", step=0),
        "A narrow code": ui.scene("Two units cannot copy all patterns; the sum is not 1 either.", width=2),
        "Wide enough to copy": ui.scene("The loss goes to 0, and the sum far above 1.", width=32),
        "A digit": ui.scene("A digit comes back for next to nothing; MADE pays for its surprise.",
                            show="Your digit"),
        "A one": ui.scene("Own gradients: each output of the autoencoder reads its pixel, MADE's never.",
                          show="Your digit", digit="1"),
    }
)  # fmt: skip
with stage.rail:
    view = ui.choice("Show", ["Live", "Your digit"], key="show")
if view == "Live":
    live()
else:
    own_digit()
