"""Super-resolution: 49 numbers enlarged to 784, blurred by squared error or invented in a game."""

from lab import ui
from lab.figures.moving import turning
from lab.ui.controls.drawing import ink_code
from modules.adversarial.super_resolution import SRResNet, SuperResolution
from pages.adversarial.super_resolution import figures, lens
from pages.adversarial.super_resolution.room import ROOM, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
result = ui.compute(lens.look, now)
drawn = lens.errors(result) if now.wrong else result
p, s = result.psnr.tolist(), result.sharpness.tolist()
film = ui.film_of(now, STEPS, names=lens.shares())

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        plain, blends = ui.columns(2)
        with plain:
            ui.figure(figures.picture(drawn.plain, f"{lens.PLAIN}, {p[0]:.2f} dB"), key="plain", share=0.6,
                      alt="Enlarged by the network trained with squared error")  # fmt: skip
        with blends:
            ui.figure(
                turning(figures.picture(drawn.blends[0], "interpolated weights"), z=drawn.blends),
                key="blends",
                share=0.6,
                film=film,
                alt="Enlarged by a network with weights between those of both",
            )
        low, cubic, truth = ui.columns(3)
        with low:
            ui.figure(figures.picture(result.low, "input, 7 × 7"), key="low", share=0.4,
                      alt="The input, each pixel the mean of 4 × 4 pixels")  # fmt: skip
        with cubic:
            ui.figure(figures.picture(drawn.cubic, f"{lens.CUBIC}, {result.of_cubic[0]:.2f} dB"), key="cubic",
                      share=0.4, alt="Enlarged by bicubic interpolation, which learns nothing")  # fmt: skip
        with truth:
            ui.figure(
                figures.picture(result.truth, "target"), key="truth", share=0.4, alt="The target, 28 × 28"
            )
    with right:
        ui.figure(
            figures.trade(result), key="trade", share=1.0, film=film,
            alt="Sharpness over PSNR for all interpolations between the two networks, and for bicubic",
        )  # fmt: skip
with stage.foot:
    texts = [{"G": share} for share in lens.shares()]
    ui.machine(now.model, film=film, lit=[["z", "G", "made"]] * STEPS, says=texts)
    film.bar(captions=lens.captions(result), equations=lens.equations(result))
tested = ui.card(now.model)["metrics"]
with stage.below:
    ui.notice(
        f"From squared error to the adversarial loss PSNR goes from {p[0]:.2f} to {p[-1]:.2f} dB here, and "
        f"sharpness, the mean squared step between neighbours, from {s[0]:.0%} to {s[-1]:.0%} of the "
        f"target's. Over 2,000 test digits of MNIST: {tested['test/psnr_bicubic']:.2f} dB by bicubic, "
        f"{tested['test/psnr_plain']:.2f} by squared error, {tested['test/psnr']:.2f} with the adversarial "
        f"loss; sharpness {tested['test/energy_plain']:.0%} and {tested['test/energy']:.0%}. Both networks "
        "are trained on MNIST: of any other drawing they make strokes like those of its digits."
    )
    ui.check(
        "Which network has the lower squared error?",
        [lens.PLAIN, lens.GAME],
        lens.better(result),
        f"{p[0]:.2f} dB by squared error, {p[-1]:.2f} dB with the adversarial loss.",
        wrong={
            lens.PLAIN: "It is trained on squared error alone, but on digits of MNIST, and this drawing is "
            "none.",
            lens.GAME: "A sharp picture need not be close: a sharp stroke that is one pixel off counts "
            "twice.",
        },
        veils=("trade", "plain", "equation"),
    )
    ui.program(
        f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.adversarial.super_resolution import lens

        picture = {ink_code(result.truth)}
        stages = lens.look(weights.load({now.model!r}).eval(), picture)
        result = [*stages.psnr[[0, -1]].tolist(), *stages.sharpness[[0, -1]].tolist()]
        """,
        shows=[p[0], p[-1], s[0], s[-1]],
    )
    ui.source(SRResNet, SuperResolution.g_loss, lens.look, references=ROOM.references)
