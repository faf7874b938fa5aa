"""Denoise a digit: noise on the left, and what the network makes of it on the right, step by step."""

from lab import ui
from lab.figures import basic
from lab.lenses import drawing
from lab.lenses.diffusion import BEYOND, SAID, digits
from modules.diffusion.guidance import classifier_free
from modules.diffusion.learned import Diffusion
from pages.diffusion.denoise_digit import lens

REFERENCES = [
    "Ho, Jain, Abbeel 2020, arXiv:2006.11239",
    "Ho & Salimans 2022, arXiv:2207.12598 (guidance without a classifier)",
    "Meng et al. 2022, arXiv:2108.01073 (SDEdit: starting from a drawing)",
    BEYOND,
]
MODELS = ("ddpm-digits", "ddpm-mnist")
NOISE, DRAWING = STARTS = ("noise", "a drawing")

stage = ui.stage("Digits out of noise", "Take away a little noise, guess again: a digit comes forth.",
                 lenses=("sampling",))  # fmt: skip
stage.scenes(
    {
        "All digits": ui.scene("Each class in turn: at the end both sides show the same digits."),
        "First guess": ui.scene("Under pure noise small errors grow large: the guess is no digit.", step=1),
        "Half-way": ui.scene("The guess has its shape already while the left is still half noise.",
                             step=20),
        "No clip": ui.scene("Nothing bounds the first guess, which is a thousand off: the end is blots.",
                            clip=False),
        "MNIST": ui.scene("28 × 28 pixels, twelve times as many numbers: the strokes come first here too.",
                          model="ddpm-mnist", step=25),
        "Guided": ui.scene("With w = 3 the threes are surer, and more alike.", digit="3", w=3.0),
        "Five steps": ui.scene("Five steps already give digits.", S=5, step=5),
        "Noisy": ui.scene("η = 1 adds fresh noise at every step but the last.", eta=1.0),
        "From a drawing": ui.scene("A 3 under noise, led to 8: eights nearer to the 3 than from noise alone.",
                                   start=DRAWING, level=600, digit="8", w=2.0, drawing="3"),
    }
)  # fmt: skip


def asked(
    name: str, digit: lens.Wanted, weight: float, steps: int, eta: float, seed: int, picture=None,
    level: int = 1000, clip: bool = True,
):  # fmt: skip
    """What the digits depend on, and how they are begun."""
    drawing = None if picture is None else ui.ink(picture)
    return (name, digit, weight, steps, eta, seed, drawing, level, clip), lambda: lens.running(
        ui.load(name), digit, weight, steps, eta, seed, picture, level, clip
    )


def show_digits(found: lens.Run, at: int, film=None) -> None:
    """x_t and the guess at a step."""
    for column, pictures, key, title in zip(
        ui.columns([1, 1]), (found.noisy, found.guess), ("noisy", "guess"), ("xₜ", "guess of x₀"), strict=True
    ):
        sheet = lens.greys(pictures if film else pictures[at:][:1])
        with column:
            ui.figure(
                basic.image(sheet[at if film else 0], title=title, zmin=0, zmax=255), key=key, share=1.0,
                film=film, frames={"data.0.z": sheet} if film else None,
                alt=f"The digits at this step: {title}",
            )  # fmt: skip


with stage.rail:
    name = ui.choice("Model", MODELS, key="model")
    model = ui.load(name)
    side = model.event_shape[-1]
    start = ui.choice("Start from", STARTS, key="start")
    picture, level = None, 1000
    if start == DRAWING:
        level = ui.slider("Noise on it, level t", 50, 1000, 500, key="level", step=50)
    said = ui.choice("Digit", ["each", "any", *map(str, range(10))], key="digit", as_list=True)
    weight = ui.slider("Guidance w", 0.0, 4.0, 0.0, key="w", step=0.5)
    steps = ui.choice("Steps S", [5, 10, 40], key="S", default=40)
    eta = ui.slider("Noise η", 0.0, 1.0, 0.0, key="eta", step=0.25)
    clip = ui.toggle(
        "Clip the guess", True, key="clip", help="Keep each guess of x₀ between white and black."
    )
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
    if start == DRAWING:
        small = side == 8
        picture = ui.draw("Your drawing", key="drawing" if small else "drawing28", size=side,
                          examples=digits() if small else drawing.examples(side))  # fmt: skip
digit = None if said == "each" else lens.ANY if said == "any" else int(said)
others = [(digit, each, steps, eta) for each in ui.near(weight, 0.0, 4.0, 0.5)]
others += [(digit, weight, each, eta) for each in (5, 10, 40) if each != steps]
others += [(digit, weight, steps, each) for each in ui.near(eta, 0.0, 1.0, 0.25)]
others += [(each, weight, steps, eta) for each in (None, lens.ANY, 3, 8) if each != digit]
soon = [asked(each, digit, weight, steps, eta, seed, None, level, clip)
        for each in MODELS if picture is None and each != name]  # fmt: skip
soon = [asked(name, *each, seed, picture, level, clip) for each in others] + soon
of, begin = asked(name, digit, weight, steps, eta, seed, picture, level, clip)
with stage.picture:
    found = ui.found(
        "Draw", begin, key="digits", of=of, quick=True, soon=soon, says="Digits, when they are out of noise.",
        show=lambda so_far: show_digits(so_far, -1),
    )  # fmt: skip
count = len(found.times)
film = ui.film(count, key="step", values=range(count), default=count - 1, label="Step", seconds=0.2)

with stage.picture:
    show_digits(found, film.at, film)
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found, model))
early = lens.settled(found)
stage.metrics(
    {
        "Guess within 0.1 of the end from": f"t = {found.times[early]}",
        "Spread among them": f"{lens.spread(found):.3f}",
        "Calls of the network": str(steps),
    }
    | ({} if picture is None else {"Distance from the drawing": f"{lens.left_of(found, picture):.3f}"})
)
with stage.below:
    ui.notice(
        f"From t = {found.times[early]} on the guess differs from the end by less than a tenth a pixel; "
        "the detail comes later. Guidance leans every guess towards the class; with more of it the "
        "digits of a class are more alike. A drawing under noise can be a start too: what the noise hides is "
        f"drawn anew, what it leaves is kept. {lens.unbound(found) if not clip else ''}{SAID}"
    )
    ui.check(
        "When does the guess come within 0.1 a pixel of the end?",
        ["in the first half of the steps", "in the second half"],
        lens.first_half(found),
        f"At step {early} of {count - 1}.",
        wrong=(
            "Under much noise the guess is a mean of many digits: which one it becomes is settled late.",
            "The shape is settled under much noise: what is left for the end is detail.",
        ),
        veils=("guess", "equation", "numbers"),
    )
    ink = f"drawing.read({ui.ink(picture)!r}, {{}}, {side}) / drawing.LEVELS" if picture is not None else None
    ui.program(
        f"""
        from lab import weights
        from lab.ui import drawing
        from pages.diffusion.denoise_digit import lens

        picture = {ink}
        model = weights.load({name!r})
        found = lens.run(model, {digit!r}, {weight}, {steps}, {eta}, {seed}, picture, {level}, {clip})
        result = lens.spread(found)
        """,
        shows=lens.spread(found),
    )
    ui.source(Diffusion.walk, classifier_free, lens.run, references=REFERENCES)
