"""Super-resolution: 49 numbers enlarged to 784, blurred by squared error or invented in a game."""

from lab import ui
from lab.figures.moving import turning
from lab.ui.drawing import inked
from modules.adversarial.super_resolution import SRResNet, SuperResolution
from pages.adversarial.super_resolution import figures, lens
from pages.adversarial.super_resolution.room import ROOM, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
found = ui.compute(lens.look, now)
drawn = lens.errors(found) if now.wrong else found
film = ui.film_of(now, STEPS)

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
            turning(figures.picture(drawn.blends[0], "this blend"), z=drawn.blends),
            key="blends", share=0.5, film=film, alt="Enlarged by this blend of both networks",
        )  # fmt: skip
    with right:
        ui.figure(figures.picture(found.truth, "the truth"), key="truth", share=0.5, alt="The large picture")
        ui.figure(figures.trade(found), key="trade", share=0.5, film=film,
                  alt="Sharpness over PSNR for every blend of the two networks, and for bicubic")  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found))
p, s = found.psnr.tolist(), found.sharpness.tolist()
tested = ui.card(now.model)["metrics"]
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

        picture = {inked(found.truth)}
        found = lens.look(weights.load({now.model!r}).eval(), picture)
        result = [*found.psnr[[0, -1]].tolist(), *found.sharpness[[0, -1]].tolist()]
        """,
        shows=[p[0], p[-1], s[0], s[-1]],
    )
    ui.source(SRResNet, SuperResolution.generator_loss, lens.look, references=ROOM.references)
