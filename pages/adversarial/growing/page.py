"""Growing: a game of 4 × 4 pixels first, then of twice as many a side, faded in so that nothing breaks."""

from typing import Any

from lab import ui
from lab.figures import sheets
from modules.adversarial import growing
from pages.adversarial.growing import figures, lens, levels
from pages.adversarial.growing.room import ALPHAS, FADE, LEVELS, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def beside(sheet: Any, film: ui.Film | None, alt: str) -> Any:
    """The pictures, and the place for a chart beside them."""
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(sheet, key="sheet", share=1.0, film=film, alt=alt)
    return right


# --- The fade -----------------------------------------------------------------------------------

if now.view == FADE:
    fade = ui.compute(lens.fade, now)
    film = ui.film_of(now, len(ALPHAS))
    with stage.picture:
        alt = "Samples of the same z at α = 0, at this α, and at α = 1"
        with beside(figures.blend(fade.pictures), film, alt):
            ui.figure(
                figures.fade(fade), key="course", share=1.0, film=film,
                alt="Difference from the doubled small picture, and of the halved one, against α",
            )  # fmt: skip
    with stage.foot:
        results = [{"made": f"α = {alpha:g}"} for alpha in ALPHAS]
        ui.machine(now.model, film=film, lit=["G"] * len(ALPHAS), says=results)
        film.bar(captions=lens.fade_captions(fade), equations=lens.fade_equations(fade))

# --- All levels ---------------------------------------------------------------------------------

elif now.view == LEVELS:
    through = ui.compute(levels.through, now)
    film = ui.film_of(now, len(through.places), values=through.places)
    with stage.picture:
        alt = "Samples of the same z in a row, at every resolution up to this one"
        with beside(figures.growth(through), film, alt):
            ui.figure(figures.levels(through), key="course", share=1.0, film=film,
                      alt="Correlation with the finished pictures against the level")  # fmt: skip
    with stage.foot:
        results = [{"made": figures.size(side)} for side in through.sides]
        ui.machine(now.model, film=film, lit=["G"] * len(results), says=results)
        film.bar(captions=levels.captions(through), equations=levels.equations(through))

# --- The growth as it goes ----------------------------------------------------------------------

else:

    def draw(looks: list[lens.Look], film: ui.Film | None = None) -> None:
        """The game, where the film stands, or as far as it has come."""
        pictures = sheets.film([one.pictures for one in looks], 6, zmin=0, zmax=1)
        with beside(pictures, film, "Samples at this step, always of the same z"):
            for what, says in (
                ("distance", "Fréchet distance to held-out digits, by steps"),
                ("kept", "Correlation with the last small pictures, by steps"),
            ):
                fig = figures.course(looks, now.phase, what)
                ui.figure(fig, key=what, share=0.5, film=film, alt=says)

    with stage.picture:
        says = "The film can be played when the training is over."
        looks = ui.compute(lens.playing, now, label="Train", quick=False, says=says, show=draw)
        film = ui.film_of(now, len(looks), names=[one.turns for one in looks])
        draw(looks, film)
    with stage.foot:
        lit = ["made", *[("G", "D")] * (len(looks) - 1)]
        results = [{"made": f"α = {one.alpha:g}" if one.level else "4 × 4"} for one in looks]
        ui.machine(lens.growing(now.phase, now.seed), film=film, lit=lit, says=results)
        film.bar(captions=lens.look_captions(looks), equations=lens.look_equations(looks, now.phase))

# --- Words --------------------------------------------------------------------------------------

shows: object
with stage.below:
    if now.view == FADE:
        ui.notice(
            f"{now.model} has learned at 4 × 4 pixels, then through each fade, and last at its full size "
            "alone. The small pictures are made by the old way to pixels, taught until the fade ended, while "
            "the layers before it went on learning: what it shows is not what it showed then, and the halves "
            "of the grown pictures differ from it. How much is kept while the game goes, the training here "
            f"tells. Growing at α = 0 changes a pixel by {fade.same[0]:g} and D's answer by "
            f"{fade.same[1]:g}, with any weights: the mean of four equal pixels is the pixel."
        )
        ui.check(
            "To which are the pictures of this α nearer?",
            ["the grown one", "the doubled small one"],
            lens.half_way(fade, film.at),
            f"α = {film.value:g}.",
            wrong={
                "the grown one": "α is the share of the new layers, and so small a share leaves the old "
                "picture.",
                "the doubled small one": "α is the share of the new layers, and here they outweigh the "
                "doubled picture.",
            },
            veils=("course", "equation"),
        )
        program = f"lens.fade(weights.load({now.model!r}), {now.seed}, {now.side}).detail[{film.at}]"
        shows = fade.detail[film.at]
    elif now.view == LEVELS:
        ui.notice(
            "Every frame is of the trained game's last weights, with the way to pixels that its level had. "
            "Orange is the correlation with the finished pictures, their mean taken off, over "
            f"{lens.DRAWN} draws. Grey is that of the finished pictures themselves, made so small: no other "
            "pictures of so few pixels come nearer to them. The gap is what a level says otherwise than the "
            "finished picture: later levels move strokes too."
        )
        ui.check(
            "How large is the correlation of this picture with the finished one?",
            lens.OPTIONS,
            lens.much(through.there[film.at]),
            f"{through.there[film.at]:.2f}.",
            wrong=(
                "A coarse layer already places the strokes: it says more than that of the finished picture.",
                "How much is settled depends on the level: at this one it is not so middling.",
                "Layers to come do not only refine, they move strokes too.",
            ),
            veils=("course", "equation"),
        )
        program = f"levels.through(weights.load({now.model!r}), {now.seed}).there[{film.at}]"
        shows = through.there[film.at]
    else:
        last = looks[-1]
        ui.notice(
            "The pictures of one z stay alike through the growth as far as the game lets them: both networks "
            "go on learning, and the small pictures move too. Correlation is that of the pictures made small "
            "again with those of the last turn at 4 × 4, over 500 draws, their mean taken off."
        )
        ui.check(
            "How large is that correlation at the end?",
            lens.OPTIONS,
            lens.much(last.kept),
            f"{last.kept:.2f}.",
            wrong=(
                "The new layers begin from what the old ones made: the same z is not dealt anew.",
                "Half kept and half forgotten is the cautious guess, but this game lies to one side of it.",
                "Old layers are not frozen: both networks go on learning and move the small picture too.",
            ),
            veils=("picture", "equation"),
        )
        program = (
            f"(lambda one: [one.distance, one.kept])([*lens.playing({now.phase}, {now.seed})][-1][1][-1])"
        )
        shows = [last.distance, last.kept]
    ui.program(
        f"""
        from lab import weights
        from pages.adversarial.growing import lens, levels

        result = {program}
        """,
        shows=shows,
    )
    ui.source(
        growing.fade, growing.GrowingGenerator, growing.GrowingDiscriminator, references=ROOM.references
    )
