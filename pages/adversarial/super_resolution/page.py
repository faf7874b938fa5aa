"""Super-resolution: 49 numbers enlarged to 784, blurred by squared error or invented in a game."""

from lab import ui
from lab.lenses import drawing
from lab.ui.drawing import inked
from modules.adversarial.super_resolution import SRResNet, SuperResolution
from pages.adversarial.super_resolution import figures, lens
from pages.adversarial.super_resolution.room import ROOM

LAST, HALF = lens.STEPS - 1, lens.STEPS // 2

stage = ui.stage(ROOM)
stage.scenes(
    {
        "In the game": ui.scene("The game's nought is the sharper one, and its error is larger."),
        "Squared error": ui.scene("An error near the least of all blends, and soft strokes.", blend=0),
        "Between": ui.scene("Weights half-way: error and sharpness lie between.", blend=HALF),
        "A blend wins": ui.scene("Of this eight a blend has less error than either network.", digit="8",
                                 blend=6),
        "A nine": ui.scene("Bicubic knows no digits: it has the largest error and the least sharpness.",
                           digit="9"),
    }
)  # fmt: skip


@ui.cached
def examples():
    return sorted(drawing.examples(lens.SIDE), key=lambda example: example[0])


@ui.cached
def looked(picture) -> lens.Look:
    return lens.look(ui.load(lens.MODEL), picture)


with stage.rail:
    picture = ui.draw("Draw a digit, or upload one", key="digit", size=lens.SIDE, examples=examples())
    wrong = ui.toggle("Show what is wrong", False, key="wrong", help="|x − x̂| in place of the pictures.")
if not bool(picture.any()):
    ui.stop("There is no ink: draw something to be made small and large again.")
found = looked(picture)
drawn = lens.errors(found, picture) if wrong else found
film = ui.film(lens.STEPS, key="blend", default=LAST, label="Blend", seconds=0.15)

with stage.picture:
    left, middle, right = ui.columns(3)
    with left:
        ui.figure(figures.picture(found.low, "7 × 7: all there is"), key="low", share=0.5,
                  alt="The small picture, each pixel the mean of 4 × 4")  # fmt: skip
        ui.figure(figures.picture(drawn.plain, lens.PLAIN), key="plain", share=0.5,
                  alt="Enlarged by the network of squared error")  # fmt: skip
    with middle:
        ui.figure(figures.picture(drawn.cubic, lens.CUBIC), key="cubic", share=0.5,
                  alt="Enlarged by a cubic, which learns nothing")  # fmt: skip
        ui.figure(
            figures.picture(drawn.blends[film.at], "this blend"), key="blends", share=0.5, film=film,
            frames={"data.0.z": drawn.blends}, alt="Enlarged by this blend of both networks",
        )  # fmt: skip
    with right:
        ui.figure(figures.picture(picture, "the truth"), key="truth", share=0.5, alt="The large picture")
        ui.figure(
            figures.trade(found, film.at), key="trade", share=0.5, film=film,
            frames={"data.3.x": found.psnr[:, None], "data.3.y": found.sharpness[:, None]},
            alt="Sharpness over PSNR for every blend of the two networks, and for bicubic",
            data={"blend": lens.weights_between(), "PSNR": found.psnr, "sharpness": found.sharpness},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found))
p, s = found.psnr.tolist(), found.sharpness.tolist()
tested = ui.card(lens.MODEL)["metrics"]
stage.metrics(
    {
        f"{lens.CUBIC}": f"{found.of_cubic[0]:.2f} dB, {found.of_cubic[1]:.0%} sharp",
        f"{lens.PLAIN}": f"{p[0]:.2f} dB, {s[0]:.0%} sharp",
        f"{lens.GAME}": f"{p[-1]:.2f} dB, {s[-1]:.0%} sharp",
    }
)
with stage.below:
    ui.notice(
        f"From squared error to the game PSNR goes from {p[0]:.2f} to {p[-1]:.2f} dB here, and sharpness, "
        f"the mean squared step between neighbours, from {s[0]:.0%} to {s[-1]:.0%} of the truth's. Over "
        f"2,000 test digits of MNIST: {tested['test/psnr_bicubic']:.2f} dB by bicubic, "
        f"{tested['test/psnr_plain']:.2f} by squared error, {tested['test/psnr']:.2f} in the game; sharpness "
        f"{tested['test/energy_plain']:.0%} and {tested['test/energy']:.0%}. All that was learned was "
        "learned from MNIST: of another drawing the networks make strokes like those of its digits."
    )
    ui.check(
        "Which network is nearer to the truth, pixel by pixel?", [lens.PLAIN, lens.GAME], lens.better(found),
        f"{p[0]:.2f} dB by squared error, {p[-1]:.2f} dB in the game.",
        wrong={
            lens.PLAIN: "Squared error is all it was trained on, but on digits of MNIST, and this drawing "
            "is another.",
            lens.GAME: "What looks sharp need not be near: a sharp stroke one pixel off is paid for twice.",
        },
        veils=("trade", "numbers", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import weights
        from lab.ui import drawing
        from pages.adversarial.super_resolution import lens

        picture = {inked(picture)}
        found = lens.look(weights.load(lens.MODEL).eval(), picture)
        result = [*found.psnr[[0, -1]].tolist(), *found.sharpness[[0, -1]].tolist()]
        """,
        shows=[p[0], p[-1], s[0], s[-1]],
    )
    ui.source(SRResNet, SuperResolution.generator_loss, lens.look, references=ROOM.references)
