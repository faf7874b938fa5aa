"""Inpainting: what is missing of a digit, drawn by a denoiser that was never trained for it."""

from lab import ui
from lab.figures import sheets
from lab.lenses.diffusion import SAID, digits, spelled
from lab.ui.drawing import inked
from modules.diffusion import inpainting
from pages.diffusion.inpainting import figures, lens
from pages.diffusion.inpainting.room import ROOM

MODEL, REFEREE = "ddpm-digits", "cnn-digits"
VIEWS = ("Digit", "Gaussian")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A hole": ui.scene("The middle is gone: with ten passes a level the completions fit the frame."),
        "Replacement alone": ui.scene("One pass: the middle fits its surroundings less often.", r=1),
        "Bottom half": ui.scene("Several digits have this upper half, and several come out.",
                                missing="lower", digit="3"),
        "Every second pixel": ui.scene("Every second pixel is enough to know the digit.",
                                       missing="dots"),
        "Nothing known": ui.scene("All is missing: these are samples of the model.", missing="all", r=1),
        "Nothing missing": ui.scene("The known pixels come back to the bit.", missing="none", r=1),
        "A wrong mean": ui.scene("The exact step, yet replacement reaches the mean 0.496, not 0.8.",
                                 view=VIEWS[1], passes=1),
        "Resampled": ui.scene("Fifty passes come near: 0.793.", view=VIEWS[1], passes=50),
        "Independent": ui.scene("Without correlation there is nothing to miss.", view=VIEWS[1], rho=0.0,
                                passes=1),
    }
)  # fmt: skip


@ui.cached
def toy_of(rho: float, value: float) -> lens.Toy:
    return lens.toy(rho, value)


def draw_toy() -> None:
    """The law that is reached in two dimensions, by the number of passes."""
    with stage.rail:
        rho = ui.slider("Correlation ρ", -0.9, 0.9, 0.8, key="rho", step=0.1)
        value = ui.slider("Known x₁", -2.0, 2.0, 1.0, key="value", step=0.5)
    found = toy_of(rho, value)
    film = ui.film(len(lens.PASSES), key="passes", values=lens.PASSES, default=1, label="r =", seconds=0.8)
    at = film.at
    grid, reached, exact = lens.grid(), lens.bells(found.mean, found.variance), lens.exact_bell(found)
    bells, moves = figures.toy(grid, reached, exact, at)
    means, moved = figures.means(lens.PASSES, found.mean, found.exact[0], at)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(bells, alt="Densities of x₂: exact, and reached", key="bells", share=1.0, film=film,
                      frames=moves, data={"x2": grid, "reached": reached[at], "exact": exact})  # fmt: skip
        with right:
            ui.figure(means, alt="Mean of x₂ against the number of passes", key="means", share=1.0, film=film,
                      frames=moved, data={"passes": lens.PASSES, "mean": found.mean})  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.toy_captions(found), equations=lens.toy_equations(found, rho, value))
    mean, variance = float(found.mean[at]), float(found.variance[at])
    with stage.below:
        ui.notice(
            "The denoiser and its steps are exact here, T = 250: what is off is due to replacement. The "
            "noise that is put on the known entry knows nothing of the other one. After "
            f"{lens.PASSES[at]} pass{'es' if at else ''} a level the mean is {mean:.3f}, where "
            f"{found.exact[0]:.3f} is right, the variance {variance:.3f}, where {found.exact[1]:.3f} is. "
            + SAID
        )
        ui.check(
            f"With r = {lens.PASSES[at]}, where is the mean of x₂?", lens.LANDED, lens.landed(found, at),
            f"{mean:.4f}; exact is {found.exact[0]:.4f}.",
            wrong=(
                "Passes up and down let x₂ learn of x₁, and an x₁ that tells little leaves nothing to miss.",
                "The noisy x₁ knows nothing of x₂: put beside it once a level it tells too little.",
            ),
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.diffusion.inpainting import lens

            found = lens.toy({rho}, {value})
            result = [float(found.mean[{at}]), float(found.variance[{at}])]
            """,
            shows=[mean, variance],
        )
        ui.source(inpainting.exact_gaussian, lens.moments, references=ROOM.references)


def draw_digit() -> None:
    """Completions of a digit."""
    with stage.rail:
        passes = ui.choice("Passes r", [1, 2, 5, 10], key="r", default=10)
        missing = ui.draw("Ink is missing", key="missing", size=8, examples=lens.masks())
        picture = ui.draw("Your digit", key="digit", size=8, examples=digits())
        steps = ui.choice("Steps S", [10, 20], key="S")
        seed = ui.number("Seed", 0, 9999, 0, key="seed")
    model = ui.load(MODEL)

    def begun(steps: int, passes: int, seed: int):
        """All that a completion depends on, and how it begins."""
        of = (spelled(picture), spelled(missing), steps, passes, seed)
        return of, lambda: lens.complete(model, picture, missing, steps, passes, seed)

    of, start = begun(steps, passes, seed)
    others = [(steps, each, seed) for each in (1, 2, 5, 10) if each != passes]
    others += [(each, passes, seed) for each in (10, 20) if each != steps]
    others += [(steps, passes, min(9999, seed + 1))]
    with stage.picture:
        found = ui.found(
            "Complete", start, key="complete", of=of, quick=steps * passes <= 100,
            says="Twelve completions, when they are drawn.",
            soon=[begun(*each) for each in others if each[0] * each[1] <= 100],
        )  # fmt: skip
    film = ui.film(len(found.times), key="step", values=range(len(found.times)),
                   default=len(found.times) - 1, label="Step", seconds=0.4)  # fmt: skip
    with stage.picture:
        for column, pictures, key, title in zip(
            ui.columns(2), (found.noisy, found.guess), ("noisy", "guess"), ("xₜ", "guess of x₀"), strict=True
        ):
            frames = sheets.frames(lens.marked(pictures, missing), 3, between=0)
            with column:
                ui.figure(figures.digits(frames[film.at], title), key=key, share=1.0, film=film,
                          alt=f"Twelve completions at this step: {title}; what was missing is orange",
                          frames={"data.0.z": frames})  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found, passes))
    named, votes = lens.judged(ui.load(REFEREE), picture, found)
    same = int(votes[named])
    stage.metrics(
        {
            "Missing pixels": f"{lens.gone(missing)} of 64",
            "Judged as the whole digit is": f"{same} of {lens.SHOWN}",
            "Known pixels off by": f"{found.off:g}",
            "Calls of the network": f"{(steps - 1) * passes + 1}",
        }
    )
    with stage.below:
        ui.notice(
            f"Known ink is dark, drawn ink orange. cnn-digits calls your whole digit {named}, and {same} of "
            f"the {lens.SHOWN} too. Of 120 test digits without their middle, in 10 steps, it finds "
            "the class in 57 % at one pass a level and in 78 % at ten. The model has not seen masks: the "
            "same weights draw whole digits. " + SAID
        )
        ui.check(
            "How many of the twelve are judged to be of the whole digit's class?", lens.ALIKE,
            lens.alike(same), f"{same} of {lens.SHOWN}, by cnn-digits.",
            wrong=(
                "The known pixels are given at every level, and they still show which digit it is.",
                "What is left either shows the class or does not: it is rarely a matter of half.",
                "What is hidden is drawn and not recalled: more than one class fits what is left.",
            ),
            veils=("picture", "numbers"),
        )  # fmt: skip
        ui.program(
            f"""
            from collections import deque
            from lab import weights
            from lab.ui import drawing
            from pages.diffusion.inpainting import lens

            digit = {inked(picture)}
            missing = {inked(missing)}
            model = weights.load({MODEL!r})
            work = lens.complete(model, digit, missing, {steps}, {passes}, {seed})
            ((_, found),) = deque(work, maxlen=1)
            result = float(found.noisy[-1].mean())
            """,
            shows=float(found.noisy[-1].mean()),
        )
        ui.source(inpainting.inpaint, inpainting.ancestral_hop, references=ROOM.references)


with stage.rail:
    view = ui.choice("Show", VIEWS, key="view")
if view == VIEWS[0]:
    draw_digit()
else:
    draw_toy()
