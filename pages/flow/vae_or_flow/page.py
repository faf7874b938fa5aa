"""Two philosophies: a VAE and a flow on the same digits, each line of the text's table measured."""

from lab import ui
from lab.lenses import glows
from lab.ui.models import grey_digits
from modules.flow.glow import Glow
from modules.latent.vae import VAE
from pages.flow.vae_or_flow import figures, lens
from pages.flow.vae_or_flow.room import ROOM

VIEWS = ["two digits", "samples", "table"]
FIRST = "vae-large-digits"  # as many weights as the Glow that ships
AT = [i / (lens.STEPS - 1) for i in range(lens.STEPS)]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Halfway": ui.scene("Two digits mixed in z. The flow finds its own mixes likelier.", t=0.5),
        "Digit A": ui.scene("At t = 0 the flow has the digit itself; the VAE has its own version of it.",
                            t=0.0),
        "1 and 0": ui.scene("Digits of little common ink: compare the middles.", a="1", b="0", t=0.5),
        "No digit": ui.scene("The flow returns the box exactly; the VAE's 10 numbers cannot.", a="box",
                             t=0.0),
        "Samples": ui.scene("Left one network called once, right twelve in turn.", view="samples"),
        "The table": ui.scene("Seven lines of the text, measured; the last column says what they leave out.",
                              view="table"),
    }
)  # fmt: skip


@ui.cached
def measured(vae: str, flow: str) -> lens.Measured:
    return lens.measure(ui.load(vae), ui.load(flow), glows.digits("train"), glows.digits(), 250)


@ui.cached
def travelled(vae: str, flow: str, a, b):
    return lens.ways(ui.load(vae), ui.load(flow), a, b)


@ui.cached
def scored(vae: str, flow: str, x) -> tuple[float, float]:
    y = x + glows.noise(x)
    best = lens.vae_bounds(ui.load(vae), y)[1]
    return lens.bits(best), lens.bits(ui.load(flow).log_prob(y))


def sizes() -> dict[str, str]:
    return {"Parameters": f"{lens.size(ui.load(FIRST)):,} and {lens.size(model):,}"}


def two_digits() -> None:
    with stage.rail:
        a = grey_digits.digit("Digit A", "a", 3)
        b = grey_digits.digit("Digit B", "b", 9)
    film = ui.film(lens.STEPS, key="t", values=AT, default=0.5, label="t =", seconds=0.25)
    ui.prefetch(measured, (FIRST, name))
    vae, flow = travelled(FIRST, name, a.x, b.x)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            fig, moves = figures.pair(vae.pictures, flow.pictures, glows.WHITE, film.at)
            ui.figure(fig, alt="The picture that each model has at this step between the digits", key="pair",
                      share=1.0, film=film, frames=moves)  # fmt: skip
        with right:
            ui.figure(figures.course(vae.log_prob, flow.log_prob, AT, film.value),
                      alt="The flow's log p of the pictures along both ways", key="course", share=1.0,
                      film=film, data={"t": AT, "VAE": vae.log_prob, "flow": flow.log_prob},
                      frames={f"layout.shapes.0.x{end}": AT for end in (0, 1)})  # fmt: skip
    with stage.foot:
        film.bar(captions=[
            f"t = {t:g}. log p by the flow, nats: {v:.1f} of the VAE's picture, {f:.1f} of the flow's."
            for t, v, f in zip(AT, vae.log_prob.tolist(), flow.log_prob.tolist(), strict=True)
        ])  # fmt: skip
    one, other = scored(FIRST, name, a.x)
    stage.metrics({"Digit A, VAE": f"≤ {one:.3f} bits per pixel", "flow": f"{other:.3f}",
                   "Ends off, VAE": f"{vae.ends:.2f} grey levels", "flow's": f"{flow.ends:.0e}"})  # fmt: skip
    with stage.below:
        ui.notice(
            f"The ends of the flow's way are the digits, off by {flow.ends:.0e} grey levels; the VAE's are "
            f"off by up to {vae.ends:.1f} of 16, since 10 numbers must do for 64. Both densities are of grey "
            "levels with uniform noise, in the same units; that of the VAE is bounded by 200 draws of z."
        )
        ui.check("Whose end points are the digits themselves?", ["the VAE's", "the flow's", "both"],
                 "the flow's", "An inverse gives back what went in; an encoder of fewer numbers cannot.",
                 wrong={
                     "the VAE's": "Its code has fewer numbers than the digit: what the encoder leaves out "
                     "does not come back.",
                     "both": "Only an inverse brings all of x back: a decoder knows what the code has kept.",
                 },
                 veils=("picture", "numbers"),
        )  # fmt: skip
        program(f"x = {a.program}", "y = x + glows.noise(x)",
                "result = [lens.bits(lens.vae_bounds(vae, y)[1]), lens.bits(flow.log_prob(y))]",
                shows=[one, other])  # fmt: skip


def samples() -> None:
    with stage.rail:
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    drawn = lens.samples(ui.load(FIRST), model, seed)
    with stage.picture:
        for column, fig, who in zip(
            ui.columns(2), figures.sheets(*drawn, glows.WHITE, 5), ("VAE", "flow"), strict=True
        ):
            with column:
                ui.figure(fig, alt=f"{lens.SHOWN} digits drawn from the {who}", key=who, share=1.0)
    result = measured(FIRST, name)
    stage.metrics({"100 samples, VAE": f"{result.sampling[0]:.2f} ms", "flow": f"{result.sampling[1]:.1f} ms",
                   "Networks in turn": "{} and {}".format(*result.networks), **sizes()})  # fmt: skip
    with stage.below:
        ui.notice(
            "Both draw from N(0, I) first. The VAE's pictures are the means of its pixels: with the noise of "
            "its Gaussian they would be grainier. Times are of this machine."
        )
        program(f"result = float(lens.samples(vae, flow, {seed})[1].mean())", shows=float(drawn[1].mean()))


def table() -> None:
    result = measured(FIRST, name)
    rows = lens.table(result)
    with stage.picture:
        cells = [[r.aspect, *(f"**{text}**: {result}" for text, result in zip(r.claims, r.measured,
            strict=True)),
                  r.but] for r in rows]  # fmt: skip
        lines = [["", "VAE", "flow", "but"], ["---"] * 4, *cells]
        ui.markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))
    vae, flow = (f"{bits:.3f}" for bits in result.bits)
    stage.metrics({"VAE": f"≤ {vae} bits per pixel", "flow": flow, **sizes()})
    with stage.below:
        ui.notice(
            f"On 250 held-out digits the VAE costs {result.bits[0]:.3f} bits per pixel at most, the flow "
            f"{result.bits[1]:.3f}. {lens.weighed(lens.size(ui.load(FIRST)), lens.size(model))} Neither was "
            "tuned: two models are compared here, not two families. The text's judgements alone stand on "
            "another page."
        )
        ui.page_link(next(page for page in ui.pages() if page.topic == "taxonomy"))
        cheaper = "the VAE" if result.bits[0] < result.bits[1] else "the flow"
        ui.check("Which model needs fewer bits for a held-out digit?", ["the VAE", "the flow"], cheaper,
                 f"{result.bits[0]:.3f} against {result.bits[1]:.3f} bits per pixel.",
                 wrong=(
                     "It pays for a code on top of the pixels, and its bound is no likelihood.",
                     "An exact likelihood need not be a high one: here even the VAE's bound takes fewer "
                     "bits.",
                 ),
                 veils=("picture", "numbers"),
        )  # fmt: skip
        program("x = glows.digits()[0][:250]", "y = x + glows.noise(x)",
                "result = [lens.bits(lens.vae_bounds(vae, y, 64)[1]), lens.bits(flow.log_prob(y))]",
                shows=list(result.bits))  # fmt: skip


def program(*lines: str, shows) -> None:
    head = [
        "from lab import experiments, weights", "from lab.lenses import glows",
        "from lab.ui.controls import drawing",
        "from pages.flow.vae_or_flow import lens", "",
        f"vae = weights.load({ui.spelled(FIRST)})", f"flow = weights.load({ui.spelled(name)})",
    ]  # fmt: skip
    ui.program("\n".join([*head, *lines]), shows=shows)
    ui.source(VAE.log_weights, Glow.log_prob, lens.vae_bounds, lens.measure, references=ROOM.references)


with stage.rail:
    view = ui.choice("View", VIEWS, key="view", as_list=True)
    name, model = grey_digits.model()
{"two digits": two_digits, "samples": samples, "table": table}[view]()
