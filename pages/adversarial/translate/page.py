"""Translate: from an outline to a picture, by distance alone or in a game, and what D sees of it."""

from lab import ui
from lab.lenses import drawing
from lab.ui.drawing import inked
from modules.adversarial.translation import Pix2Pix, patch_judge
from pages.adversarial.translate import figures, lens
from pages.adversarial.translate.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Grey or stripes": ui.scene("The outline tells no phase: ℓ₁ alone greys the paper."),
        "Another truth": ui.scene("A shifted truth is as true: the grey stays near, the stripes are far.",
                                  phase=lens.OPPOSITE),
        "Grey is caught": ui.scene("D looks at the grey picture: no patch of 16 pixels passes.",
                                   judged=lens.DISTANCE),
        "A true one": ui.scene("The same D trusts a true picture more than the game's, yet not every patch.",
                               judged=lens.TRUE),
        "Single pixels": ui.scene("A D of single pixels sees greys, not how they lie: no stripes.",
                                  patch=1),
        "The whole": ui.scene("A logit that sees 34 pixels sees the whole picture: stripes again.",
                              patch=34),
        "A seven": ui.scene("Another outline: the paper is striped again.", digit="7"),
    }
)  # fmt: skip


@ui.cached
def examples():
    return drawing.examples(lens.SIDE)


@ui.cached
def looked(digit, patch: int, judged: str, at: int) -> lens.Look:
    return lens.look(ui.load(lens.ALONE), ui.load(lens.GAMES[patch]), digit, judged, at)


with stage.rail:
    digit = ui.draw(
        "Draw a digit: its outline is the input", key="digit", size=lens.SIDE, examples=examples()
    )
    patch = ui.choice("A logit of D sees", list(lens.GAMES), key="patch", default=16,
                      help="Pixels a side of a patch; each is a network of its own.")  # fmt: skip
    judged = ui.choice("D looks at", list(lens.JUDGED), key="judged", as_list=True)
if not bool((digit > 0.5).any()):
    ui.stop("There is no ink: draw something dark enough to have an outline.")
film = ui.film(lens.PHASES, key="phase", default=lens.DRAWN, label="Phase", seconds=0.15)
found, game = looked(digit, patch, judged, film.at if judged == lens.TRUE else 0), ui.load(lens.GAMES[patch])
cell = ui.selected_cell("verdict", *found.verdict.shape) or lens.falsest(found.verdict)
box = lens.box(game, *cell)

with stage.picture:
    left, middle, right = ui.columns(3)
    with left:
        ui.figure(figures.picture(found.outline, "outline c"), key="outline", share=0.5,
                  alt="The outline of the digit, which is all that both generators see")  # fmt: skip
        ui.figure(
            figures.picture(found.game, "in a game", box if judged == lens.GAME else None), key="game",
            share=0.5, alt="What the generator of the game makes of the outline",
        )  # fmt: skip
    with middle:
        ui.figure(
            figures.picture(found.alone, "ℓ₁ alone", box if judged == lens.DISTANCE else None), key="alone",
            share=0.5, alt="What the generator of the distance alone makes of the outline",
        )  # fmt: skip
        ui.clickable(figures.verdict(found.verdict, cell), key="verdict", mark=False, share=0.5,
                     alt=f"What D says of {judged} picture, patch by patch; click one",
                     data={"probability": found.verdict.flatten()})  # fmt: skip
    with right:
        ui.figure(
            figures.picture(found.truths[film.at], "one truth x", box if judged == lens.TRUE else None),
            key="truth", share=0.5, film=film, frames={"data.0.z": found.truths},
            alt="One of the true pictures: the digit on stripes of this phase",
        )  # fmt: skip
        ui.figure(
            figures.distances(found.distances, film.at), key="distances", share=0.5, film=film,
            frames={f"layout.shapes.0.x{end}": list(range(lens.PHASES)) for end in (0, 1)},
            alt="Mean distance of both generators' pictures to the truth, over its phase",
            data={"phase": list(range(lens.PHASES)), **found.distances},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found))
mean = float(found.verdict.mean())
energy = found.energies
stage.metrics(
    {
        "Gradient energy, ℓ₁ alone": f"{energy[lens.DISTANCE]:.0%} of the truth's",
        "in the game": f"{energy[lens.GAME]:.0%} of the truth's",
        "D's mean verdict": f"{mean:.3f}",
    }
)
averages = {name: float(line.mean()) for name, line in found.distances.items()}
with stage.below:
    ui.notice(
        f"Averaged over all phases the picture of ℓ₁ alone is {averages[lens.DISTANCE]:.3f} away from the "
        f"truth, the game's {averages[lens.GAME]:.3f}. A logit of this D sees {patch} × {patch} pixels of "
        "input and output together; the frame shows those of the chosen patch, at the rim what is left of "
        "them. D's loss is the mean of the patches' losses, not the loss of their mean."
    )
    ui.check(
        "What does D say of this picture on the mean?", ["rather real", "rather made"],
        "rather real" if mean > 0.5 else "rather made", f"{mean:.3f} over {found.verdict.numel()} patches.",
        wrong={
            "rather real": "D judges patch by patch, and most patches show what no true pair has.",
            "rather made": "D sees patches and never the whole: strokes that are right nearby convince it.",
        },
        veils=("verdict", "numbers"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import weights
        from lab.ui import drawing
        from pages.adversarial.translate import lens

        digit = {inked(digit)}
        alone, game = (weights.load(name).eval() for name in (lens.ALONE, lens.GAMES[{patch}]))
        found = lens.look(alone, game, digit, {judged!r}, {film.at if judged == lens.TRUE else 0})
        result = [float(line.mean()) for line in found.distances.values()] + [float(found.verdict.mean())]
        """,
        shows=[*averages.values(), mean],
    )
    ui.source(Pix2Pix.generator_loss, patch_judge, lens.look, references=ROOM.references)
