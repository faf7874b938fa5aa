"""Translate: from an outline to a picture, by distance alone or in a game, and what D sees of it."""

from dataclasses import replace

from lab import ui
from lab.figures.moving import turning
from lab.ui.controls.drawing import ink_code
from modules.adversarial.translation import Pix2Pix, patch_discriminator
from pages.adversarial.translate import figures, lens
from pages.adversarial.translate.room import DISTANCE, GAME, JUDGED, PHASES, ROOM, TRUE, VERDICT

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
film = ui.film_of(now, PHASES, names=[f"{p / PHASES:.0%}" for p in range(PHASES)])
now = replace(now, phase=film.at)
result = ui.compute(lens.look, now)
cell = ui.cell(now.verdict, *result.verdict.shape) or lens.falsest(result.verdict)
box = lens.box(ui.load(now.game), *cell)
boxes = {name: box if name == now.judged else None for name in JUDGED}  # what D looks at is framed

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        alone, game = ui.columns(2)
        with alone:
            ui.figure(figures.picture(result.alone, "ℓ₁ alone", boxes[DISTANCE]), key="alone", share=0.6,
                      alt="Output of the generator trained with the ℓ₁ loss alone")  # fmt: skip
        with game:
            ui.figure(figures.picture(result.game, "ℓ₁ + adversarial", boxes[GAME]), key="game", share=0.6,
                      alt="Output of the generator trained with an adversarial loss")  # fmt: skip
        outline, truth, judged = ui.columns(3)
        with outline:
            ui.figure(figures.picture(result.outline, "outline c"), key="outline", share=0.4,
                      alt="The outline of the digit, the input of both generators")  # fmt: skip
        with truth:
            ui.figure(
                turning(figures.picture(result.truths[0], "target x", boxes[TRUE]), z=result.truths),
                key="truth",
                share=0.4,
                film=film,
                alt="One of the possible targets: the digit on stripes of this phase",
            )
        with judged:
            ui.clickable(figures.verdict(result.verdict, cell), key=VERDICT, mark=False, share=0.4,
                         alt=f"Probability that D gives each patch of its input ({now.judged}) of being "
                             "real; click one",
                         data={"probability": result.verdict.flatten()})  # fmt: skip
    with right:
        ui.figure(
            figures.distances(result.distances), key="distances", share=1.0, film=film,
            alt="Mean ℓ₁ distance of both outputs to the target, over its phase",
        )  # fmt: skip
mean = float(result.verdict.mean())
with stage.foot:
    ui.machine(now.game, film=film, lit=[lens.LIT[now.judged]] * PHASES, says=[{"D": f"{mean:.2f}"}] * PHASES)
    film.bar(captions=lens.captions(result), equations=lens.equations(result))
energy = result.energies
stage.metrics(
    {
        "Gradient energy, ℓ₁ alone": f"{energy[DISTANCE]:.0%} of the target's",
        "adversarial": f"{energy[GAME]:.0%} of the target's",
    }
)
averages = {name: float(line.mean()) for name, line in result.distances.items()}
with stage.below:
    ui.notice(
        f"Averaged over all phases the ℓ₁ distance to the target is {averages[DISTANCE]:.3f} with ℓ₁ alone "
        f"and {averages[GAME]:.3f} with the adversarial loss. D, on average {mean:.3f} here, is a "
        f"PatchGAN: each of its logits has a receptive field of {now.patch} × {now.patch} pixels of input "
        "and output together, which is framed for the chosen patch. Its loss is the mean of the patches' "
        "losses, not the loss of their mean."
    )
    ui.check(
        "What is the mean output of D for this picture?",
        ["rather real", "rather made"],
        "rather real" if mean > 0.5 else "rather made",
        f"{mean:.3f} over {result.verdict.numel()} patches.",
        wrong={
            "rather real": "D classifies patch by patch, and most patches show what no real pair has.",
            "rather made": "D sees patches and never the whole: strokes that are right locally pass for "
            "real.",
        },
        veils=("verdict", "numbers"),
    )
    ui.program(
        f"""
        from lab import weights
        from lab.ui.controls import drawing
        from pages.adversarial.translate import lens

        digit = {ink_code(result.digit)}
        alone, game = (weights.load(name).eval() for name in {(now.alone, now.game)})
        stages = lens.look(alone, game, digit, {now.judged!r}, {now.at})
        result = [float(line.mean()) for line in stages.distances.values()] + [float(stages.verdict.mean())]
        """,
        shows=[*averages.values(), mean],
    )
    ui.source(Pix2Pix.g_loss, patch_discriminator, lens.look, references=ROOM.references)
