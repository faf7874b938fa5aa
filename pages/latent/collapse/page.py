"""Collapse: decoders that need no code, what shows it, and what is done against it."""

from lab import ui
from lab.figures import basic, latents
from lab.lenses import drawing, stock
from lab.ui.models import shelves
from lab.ui.rooms import training_course
from modules.latent.autoregressive_decoder import AutoregressiveVAE
from modules.latent.collapse import free_bits, kl_weight
from pages.latent.collapse import dimensions, figures, lens
from pages.latent.collapse.room import ROOM

VIEWS = ("Training", "Codes swapped", "Dimensions")
SHOWN = 20
EXAMPLE = "0000 0001 1111 1111 1000 0000 0000 1111"

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Near bounds": ui.scene("All but the factorised decoder end within a nat; their KLs do not."),
        "Early on": ui.scene("After the first epoch the GRU pays almost nothing for a code.", epoch=1),
        "Nobody listens": ui.scene("The GRU loses next to nothing when it gets another string's code.",
                                   view=VIEWS[1]),
        "Free bits": ui.scene("With bits that are not paid for, the GRU listens: another's code costs it.",
                              view=VIEWS[1], model="gru-freebits-chains"),
        "A poor decoder": ui.scene("A factorised decoder must be told: it loses most by another's code.",
                                   view=VIEWS[1], model="factorised-chains"),
        "By dimension": ui.scene("The plain GRU: a dimension that moves a little, for a hundredth of a nat.",
                                 view=VIEWS[2], which=2),
        "Ten of ten": ui.scene("MADE: all ten dimensions are active, and the plain decoder's cost more each.",
                               view=VIEWS[2], data="Digits", which=2),
        "Digits": ui.scene("MADE as a decoder: another digit's code costs it less than the plain decoder.",
                           view=VIEWS[1], data="Digits"),
    }
)  # fmt: skip


@ui.cached
def split(data: str, part: str):
    return lens.chains(part) if data == "Two chains" else stock.bits(part)


@ui.cached
def used(name: str, data: str) -> lens.Use:
    return lens.use(ui.load(name), *split(data, "test"), *split(data, "train"))


@ui.cached
def swapped(name: str, x, seed: int):
    return lens.decoded(ui.load(name), x, seed)


with stage.rail:
    view = ui.choice("View", VIEWS, key="view", as_list=True)
    data = ui.choice("Data", list(lens.DATA), key="data")
names = ui.trained("latent", lens.fits(data))
short = lens.short(names)
truth = lens.TwoChains(length=lens.LENGTH) if data == "Two chains" else None


def training() -> None:
    """The bound split, and the KL, epoch by epoch."""
    training_course.view(stage, dict(zip(short, names, strict=True)), "gru-chains")
    if truth is not None:
        stage.equation(
            rf"-\mathrm{{ELBO}}\ge H(x)={truth.least_nll:.3f},\qquad "
            rf"I(x;\mathrm{{chain}})={truth.information:.3f}",
            "Nats, exact; a code of the chain can hold no more than that.",
        )


def swapping() -> None:
    """Show what the code saves, and what is drawn with one's own code and with another's."""
    with stage.rail:
        start = "gru-chains" if data == "Two chains" else "madevae-digits"
        name = ui.choice("Model", names, key="model", default=start, as_list=True)
        seed = ui.number("Seed of the draws", 0, 999, 0, key="seed")
        if data == "Digits":
            own = shelves.small_digit("digit", first=3).x
        else:
            text = ui.text("Your string, 32 bits", EXAMPLE, key="string", max_chars=80)
            try:
                own = lens.typed(text)
            except ValueError as error:
                ui.warning(str(error))
                own = lens.typed(EXAMPLE)
    results = [used(one, data) for one in names]
    at = names.index(name)
    now, model = results[at], ui.load(name)
    x = lens.beside(own, split(data, "test")[0][: SHOWN - 1])
    panels = dict(zip(("x", "own code", "another's code"), (x, *swapped(name, x, seed)), strict=True))
    with stage.picture:
        left, right = ui.columns([2, 3])
        with left:
            ui.figure(
                latents.paid_and_saved(short, [u.paid for u in results], [u.saved for u in results], at),
                key="use",
                share=1.0,
                alt="What each model pays for its code, and what its own code saves against another's",
                data={"model": short, "paid": [u.paid for u in results], "saved": [u.saved for u in results]},
            )  # fmt: skip
        with right:
            for place, (title, rows) in zip(ui.columns(3), panels.items(), strict=True):
                with place:
                    fig = (
                        figures.strings(rows, title) if data == "Two chains"
                        else basic.images(drawing.squares(rows), columns=4, title=title)
                    )  # fmt: skip
                    ui.figure(
                        fig, key=f"rows-{title}", share=1.0, alt=f"{SHOWN} examples: {title}; yours first"
                    )
    floor = lens.majority_accuracy(split(data, "train")[1], split(data, "test")[1])
    mine, other, kl = lens.code_costs(model, own, split(data, "test")[0][:100])
    stage.equation(
        rf"E\log\frac{{p(x|z)}}{{p(x|z')}}={now.other:.2f}-{now.own:.2f}={now.saved:.3f},\qquad "
        rf"\mathrm{{KL}}={now.paid:.3f}",
        f"Test, nats; z′ is another example's. Yours: {other:.2f} − {mine:.2f} = {other - mine:.2f}, KL "
        f"{kl:.2f}.",
    )
    with stage.below:
        ui.table(
            {
                "model": short, "−ELBO": [round(u.cost, 3) for u in results],
                "KL": [round(u.paid, 3) for u in results],
                "active": [u.active for u in results],
                "class from μ": [f"{u.from_mean:.0%}" for u in results],
                "class from z": [f"{u.from_draw:.0%}" for u in results],
            },
            alt="Bound, KL, active dimensions and probes of every model",
        )  # fmt: skip
        ui.notice(
            f"{short[at]} pays {now.paid:.3f} nats for its code, and another example's code costs it "
            f"{now.saved:.3f} nats. A line reads the class from μ for {now.from_mean:.0%} of the examples, "
            f"and from a draw of z for {now.from_draw:.0%}; blind guessing gives {floor:.0%}. "
            + (
                "μ still tells, but the noise around it drowns it, and the decoder sees z alone."
                if now.from_mean > now.from_draw + 0.1
                else "What the code holds is something else than the class."
                if now.from_draw < floor + 0.1
                else "The decoder can read it too."
            )
        )
        ui.check(
            "Which model would miss its code least?", short, min(zip(results, short, strict=True),
                                                                 key=lambda p: p[0].saved)[1],
            "It loses least by another example's code.",
            wrong={
                name: f"Another example's code costs “{name}” {one.saved:.3f} nats: its decoder listens."
                for name, one in zip(short, results, strict=True)
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            import torch
            from lab import experiments, weights
            from lab.lenses import stock
            from modules.latent.bounds import gaussian_kl
            from pages.latent.collapse import lens

            x, _ = {'lens.chains("test")' if data == "Two chains" else 'stock.bits("test")'}
            mean, log_var = weights.load({ui.spelled(name)}).encode_parameters(x)
            result = gaussian_kl(mean, log_var).sum(1).mean().item()
            """,
            shows=now.paid,
        )


def by_dimension() -> None:
    dimensions.view(stage, names, split(data, "test")[0], data)


ui.prefetch(used, *((name, data) for name in names))
ui.prefetch(dimensions.measured, *((name, split(data, "test")[0]) for name in names))
dict(zip(VIEWS, (training, swapping, by_dimension), strict=True))[view]()
with stage.below:
    ui.source(
        free_bits, kl_weight, AutoregressiveVAE.pixel_log_likelihood, lens.use, references=ROOM.references
    )
