"""Latent diffusion: the law of a VAE's codes, learned, beside N(0, I) and diffusion of pixels."""

from lab import ui
from lab.figures import sheets
from lab.lenses.diffusion import SAID
from modules.diffusion.latent import LatentDDPM
from pages.diffusion.latent_diffusion import figures, lens
from pages.diffusion.latent_diffusion.room import ROOM

LATENT, PIXELS, REFEREE = "ldm-digits", "ddpm-digits", "cnn-digits"
VIEWS = ("Digits", "Codes", "Judged")
KNOBS = {"Steps S": "steps", "Noise η": "eta", "Guidance w": "guidance"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "One decoder": ui.scene("Left codes from N(0, I), in the middle by diffusion: the decoder is one."),
        "Led to eights": ui.scene("Both diffusions take a class; the prior knows none.", digit="8", w=1.0),
        "Five steps": ui.scene("Five steps each: a twentieth of the work or less, in the codes.", S=5,
                               step=5),
        "The codes": ui.scene("Play: noise moves to where the codes of digits lie.", view=VIEWS[1], at_t=0),
        "Arrived": ui.scene("At t = 0 diffusion's codes lie nearer to the digits' than N(0, I) does.",
                            view=VIEWS[1]),
        "More guidance": ui.scene("A little w makes the class sure; the distance only grows with w.",
                                  view=VIEWS[2], vary="Guidance w"),
        "More steps": ui.scene("Ten steps or fifty: in the codes there is little between them.",
                               view=VIEWS[2], vary="Steps S"),
    }
)  # fmt: skip


@ui.cached
def drawn(digit: int | None, weight: float, steps: int, seed: int) -> lens.Draws:
    return lens.draws(ui.load(LATENT), ui.load(PIXELS), digit, weight, steps, seed)


@ui.cached
def paid(weight: float, steps: int) -> list[int]:
    return lens.costs(ui.load(LATENT), ui.load(PIXELS), weight, steps)


@ui.cached
def clouded(steps: int, seed: int) -> tuple[lens.Clouds, list[float], float]:
    """The clouds, how far the walk's are from the digits' codes, and how far the prior's."""
    found = lens.clouds(ui.load(LATENT), steps, seed)
    off = [lens.distance(found.data, cloud) for cloud in found.walk]
    return found, off, lens.distance(found.data, found.prior)


def draw_digits() -> None:
    """Three ways to a digit."""
    with stage.rail:
        said = ui.choice("Digit", ["each", *map(str, range(10))], key="digit", as_list=True)
        weight = ui.slider("Guidance w", 0.0, 4.0, 0.0, key="w", step=0.5)
        steps = ui.choice("Steps S", [5, 10, 20], key="S", default=20)
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    digit = None if said == "each" else int(said)
    found, cost = drawn(digit, weight, steps, seed), paid(weight, steps)
    near = [(each, steps) for each in ui.near(weight, 0.0, 4.0, 0.5)]
    near += [(weight, each) for each in (5, 10, 20) if each != steps]
    ui.ahead(paid, *near)
    ui.ahead(drawn, *((digit, *each, seed) for each in near))
    count = len(found.times)
    film = ui.film(count, key="step", values=range(count), default=count - 1, label="Step", seconds=0.2)
    with stage.picture:
        for k, (column, name) in enumerate(zip(ui.columns(3), lens.WAYS, strict=True)):
            frames = sheets.frames(found.pictures[:, k], 3, between=0)
            with column:
                ui.figure(
                    figures.image(frames[film.at], name), key=f"way{k}", share=1.0, film=film,
                    frames={"data.0.z": frames}, alt=f"Twelve digits by the {name}",
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found))
    stage.metrics({f"Multiply-adds, {name}": lens.said(c) for name, c in zip(lens.WAYS, cost, strict=True)})
    counts = lens.sure(ui.load(REFEREE), found)
    with stage.below:
        ui.notice(
            f"Of twelve digits cnn-digits is more than 90 % sure of {counts[0]} by the prior, {counts[1]} by "
            f"latent diffusion and {counts[2]} by diffusion of pixels. A pixel digit costs "
            f"{cost[2] / cost[1]:.0f} times the work of a latent one. What the autoencoder has lost no "
            f"diffusion brings back: latent digits are smoother. {SAID}"
        )
        ui.check(
            "Of which is cnn-digits sure more often?", lens.MORE, lens.more(counts),
            f"{counts[1]} of latent diffusion, {counts[0]} of the prior.",
            wrong=(
                "It draws codes as digits have them, but a decoder makes sure digits of other codes too.",
                "Codes of digits do not fill N(0, I): many of its draws lie where no digit was.",
                "One decoder serves both, but the codes that it is given are not alike.",
            ),
            veils=("picture",),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.latent_diffusion import lens

            latent, pixels = weights.load({LATENT!r}), weights.load({PIXELS!r})
            result = lens.costs(latent, pixels, {weight}, {steps})
            """,
            shows=cost,
        )
        ui.source(LatentDDPM.sample, LatentDDPM.step, lens.work, references=ROOM.references)


def draw_codes() -> None:
    """Where codes lie."""
    with stage.rail:
        i = ui.slider("Dimension across", 1, 8, 1, key="i") - 1
        j = ui.slider("Dimension up", 1, 8, 2, key="j") - 1
        steps = ui.choice("Steps S", [5, 10, 20], key="S", default=20)
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    found, off, prior = clouded(steps, seed)
    ui.ahead(clouded, *((each, seed) for each in (5, 10, 20) if each != steps))
    count = len(found.times)
    film = ui.film(count, key="at_t", values=range(count), default=count - 1, label="Step", seconds=0.2)
    fig = figures.clouds(found.data, found.prior, found.walk[film.at], i, j, 4.0)
    with stage.picture:
        ui.figure(fig, key="clouds", share=1.0, film=film, alt="Codes of digits, of N(0, I) and of diffusion",
                  frames={"data.2.x": found.walk[:, :, i], "data.2.y": found.walk[:, :, j]},
                  data={"x": found.walk[film.at, :, i], "y": found.walk[film.at, :, j]})  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[f"t = {t}: energy distance to the digits' codes {o:.3f}; of N(0, I) {prior:.3f}."
                      for t, o in zip(found.times, off, strict=True)]
        )  # fmt: skip
    with stage.below:
        ui.notice(
            "The distance is taken in all eight dimensions; of draws of one law it scatters about 0. "
            "The VAE's KL has a weight of 0.1 alone, so its "
            f"codes need not fill N(0, I): this is {prior:.3f} from them, the codes that diffusion draws "
            f"{off[-1]:.3f}. " + SAID
        )
        ui.check(
            "Which cloud is nearer to the digits' codes now?", ["diffusion", "N(0, I)"],
            "diffusion" if off[film.at] < prior else "N(0, I)",
            f"Energy distance {off[film.at]:.3f} against {prior:.3f}.",
            wrong={
                "diffusion": "The walk starts from noise: so far its cloud is no nearer than N(0, I) is.",
                "N(0, I)": "The KL had a small weight: codes of digits need not fill N(0, I), and the walk "
                "knows them.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.latent_diffusion import lens

            found = lens.clouds(weights.load({LATENT!r}), {steps}, {seed})
            result = lens.distance(found.data, found.walk[{film.at}])
            """,
            shows=off[film.at],
        )
        ui.source(LatentDDPM.step, lens.clouds, references=ROOM.references)


def draw_judged() -> None:
    """What judges say, by steps, noise or guidance."""
    with stage.rail:
        name = ui.choice("Model", [LATENT, PIXELS], key="model", as_list=True)
        label = ui.choice("Vary", list(KNOBS), key="vary", default="Guidance w", as_list=True)
    vary = KNOBS[label]

    def shown(found: lens.Table) -> None:
        left, right = ui.columns(2)
        with left:
            ui.figure(figures.judged(found.values, found.mean[:, :1], found.error[:, :1], ["FD"], label,
                                     "Fréchet distance"),
                      key="fd", share=1.0, alt="Fréchet distance by the knob's value")  # fmt: skip
        with right:
            ui.figure(figures.judged(found.values, found.mean[:, 1:], found.error[:, 1:], lens.MEASURES[1:],
                                     label, "share"),
                      key="shares", share=1.0, alt="Precision, recall and accuracy by the value")  # fmt: skip

    with stage.picture:
        found = ui.found(
            "Judge", lambda: lens.measured(ui.load(name), ui.load(REFEREE), vary), key="judge",
            of=(name, vary), quick=False, says="Means of three seeds with their standard errors.",
        )  # fmt: skip
        shown(found)
    at = found.values.index(lens.best(found))
    stage.equation(
        rf"\mathrm{{FD}}={float(found.mean[at, 0]):.3f}\pm{float(found.error[at, 0]):.3f}",
        f"at {label} = {found.values[at]:g}, the least of these; {lens.DRAWN} digits, {lens.SEEDS} seeds",
    )
    with stage.below:
        ui.table({label: [f"{v:g}" for v in found.values], **lens.columns(found)}, alt="The judges' numbers")
        ui.notice(
            "Fréchet distance, precision and recall are of cnn-digits' features, of digits made black and "
            f"white; errors are standard errors over {lens.SEEDS} seeds. The other knobs stand at S = 20, "
            "η = 0 and w = 0. " + SAID
        )
        ui.check(
            f"At which {label} is the Fréchet distance least?", [f"{v:g}" for v in found.values],
            f"{found.values[at]:g}", f"{float(found.mean[at, 0]):.3f}.",
            wrong={
                f"{v:g}": f"At {v:g} it is {float(m):.3f}: more of it is not better by itself."
                for v, m in zip(found.values, found.mean[:, 0], strict=True)
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.source(lens.measured, references=ROOM.references)


with stage.rail:
    view = ui.choice("Show", VIEWS, key="view")
{VIEWS[0]: draw_digits, VIEWS[1]: draw_codes, VIEWS[2]: draw_judged}[view]()
