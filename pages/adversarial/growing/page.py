"""Growing: a game of 4 × 4 pixels first, then of twice as many a side, faded in so that nothing breaks."""

from lab import ui
from lab.figures import basic, sheets
from modules.adversarial import growing
from pages.adversarial.growing import figures, lens, levels
from pages.adversarial.growing.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Nothing changes": ui.scene("α = 0: the grown networks answer as before, to the bit."),
        "Half faded": ui.scene("α = ½: each pixel lies between the two ways, strokes begin.", alpha=0.5),
        "Grown": ui.scene("α = 1: the new way alone, 8 × 8 pixels.", alpha=1.0),
        "From 4 to 32": ui.scene("The same z from 4 × 4 pixels to 32 × 32: play it.",
                                 view="Levels", model=lens.MNIST),
        "At 16 × 16": ui.scene("Strokes stand: over nine tenths of the most that so few pixels can have.",
                               view="Levels", model=lens.MNIST, place=2.0),
        "To 32 × 32": ui.scene("The last fade changes least: halved again, most pixels are as before.",
                               model=lens.MNIST, alpha=1.0),
        "As it goes": ui.scene("A game of 800 turns, the same z: pixels come, content drifts, no jump.",
                               view="Training", phase=lens.PHASES[1]),
    }
)  # fmt: skip


@ui.cached
def faded(name: str, side: int, seed: int):
    return lens.fade(ui.load(name), seed, side)


@ui.cached
def shown(name: str, seed: int):
    return levels.through(ui.load(name), seed)


side = 0
with stage.rail:
    view = ui.choice("Show", ["Fade", "Levels", "Training"], key="view")
    if view == "Training":
        phase = ui.choice("Turns of a phase", lens.PHASES, key="phase")
    else:
        name = ui.choice("Model", [lens.NAME, lens.MNIST], key="model", as_list=True,
                         default=lens.MNIST if view == "Levels" else lens.NAME)  # fmt: skip
    if view == "Fade":
        larger = lens.sides(ui.load(name))[1:]
        side = ui.choice("Pixels along a side", larger, key="side", default=larger[-1])
    seed = ui.number("Seed", 0, 999, 0, key="seed")


def drawn(pictures, at: int, film, alt: str) -> None:
    """Pictures (F, N, S, S) at a frame, as one sheet."""
    frames = {"data.0.z": sheets.frames(pictures, 6)} if film else None
    ui.figure(
        basic.images(pictures[at], 6, zmin=0, zmax=1),
        key="sheet",
        share=1.0,
        film=film,
        frames=frames,
        alt=alt,
    )


# --- The fade -----------------------------------------------------------------------------------

if view == "Fade":
    ui.ahead(faded, *((name, each, seed) for each in larger if each != side))
    found = faded(name, side, seed)
    film = ui.film(len(lens.ALPHAS), key="alpha", values=lens.ALPHAS, default=0.0, label="α", seconds=0.15)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            drawn(found.pictures, film.at, film, "Draws at this α, always of the same z")
        with right:
            ui.figure(
                figures.fade(found, film.at), key="course", share=1.0, film=film,
                frames=figures.fade_points(found),
                alt="Difference from the doubled small picture, and of the halved one, against α",
                data={"alpha": lens.ALPHAS, "detail": found.detail, "content": found.content},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.fade_captions(found), equations=lens.fade_equations(found))
    stage.metrics(
        {
            "α = 0, pixels change by": f"{found.same[0]:g}",
            "D's answers by": f"{found.same[1]:g}",
        }
    )

# --- All levels ---------------------------------------------------------------------------------

elif view == "Levels":
    through = shown(name, seed)
    film = ui.film(len(through.places), key="place", values=through.places, default=0.0, label="Levels",
                   seconds=0.4)  # fmt: skip
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            drawn(through.pictures, film.at, film, "Draws at this size, always of the same z")
        with right:
            ui.figure(
                figures.levels(through, film.at), key="course", share=1.0, film=film,
                frames=figures.level_points(through),
                alt="Correlation with the finished pictures against the level",
                data={"place": through.places, "there": through.there, "room": through.room},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=levels.captions(through), equations=levels.equations(through))

# --- The growth as it goes ----------------------------------------------------------------------

else:

    def draw(looks: list[lens.Look], at: int, film=None) -> None:
        """The game at a look."""
        left, right = ui.columns([3, 2])
        with left:
            drawn([one.pictures for one in looks], at, film, "Draws at this turn, always of the same z")
        with right:
            for what, says in (("distance", "Distance to held-out digits along the game"),
                               ("kept", "Correlation with the last small pictures")):  # fmt: skip
                ui.figure(
                    figures.course(looks, phase, at, what), key=what, share=0.5, film=film, alt=says,
                    frames=figures.course_points(looks, what) if film else None,
                    data={"turns": [one.turns for one in looks],
                          what: [getattr(one, what) for one in looks]},
                )  # fmt: skip

    with stage.picture:
        looks = ui.found(
            "Grow", lambda: lens.playing(phase, seed), key="grow", of=(phase, seed), quick=False,
            show=lambda so_far: draw(so_far, len(so_far) - 1), says="The film is there when it has grown.",
        )  # fmt: skip
        film = ui.film(len(looks), key="look", default=len(looks) - 1, label="Turn", seconds=0.2,
                       names=[one.turns for one in looks])  # fmt: skip
        draw(looks, film.at, film)
    with stage.foot:
        film.bar(captions=lens.look_captions(looks), equations=lens.look_equations(looks, phase))

# --- Words --------------------------------------------------------------------------------------

shows: object
with stage.below:
    if view == "Fade":
        ui.notice(
            f"{name} has learned at 4 × 4 pixels, then through each fade, and last at its full size alone. "
            "The small pictures are made by the old way to pixels, taught until the fade ended, while "
            "the layers before it went on learning: what it shows is not what it showed then, and the halves "
            "of the grown pictures differ from it. How much is kept while the game goes, the training here "
            "tells. That growing changes nothing at α = 0 holds of any weights: the mean of "
            "four equal pixels is the pixel."
        )
        ui.check(
            "To which are the pictures of this α nearer?",
            ["the grown one", "the doubled small one"], lens.half_way(found, film.at),
            f"α = {film.value:g}.",
            wrong={
                "the grown one": "α is the share of the new layers, and so small a share leaves the old "
                "picture.",
                "the doubled small one": "α is the share of the new layers, and here they outweigh the "
                "doubled picture.",
            },
            veils=("course", "equation"),
        )  # fmt: skip
        program = f"lens.fade(weights.load({name!r}), {seed}, {side}).detail[{film.at}]"
        shows = found.detail[film.at]
    elif view == "Levels":
        ui.notice(
            "Every frame is of the trained game's last weights, with the way to pixels that its level had. "
            "Orange is the correlation with the finished pictures, their mean taken off, over "
            f"{lens.DRAWN} draws. Grey is that of the finished pictures themselves, made so small: no other "
            "pictures of so few pixels come nearer to them. The gap is what a level says otherwise than the "
            "finished picture: later levels move strokes too."
        )
        ui.check(
            "How large is the correlation of this picture with the finished one?",
            lens.OPTIONS, lens.much(through.there[film.at]), f"{through.there[film.at]:.2f}.",
            wrong=(
                "A coarse layer already places the strokes: it says more than that of the finished picture.",
                "How much is settled depends on the level: at this one it is not so middling.",
                "Layers to come do not only refine, they move strokes too.",
            ),
            veils=("course", "equation"),
        )  # fmt: skip
        program = f"levels.through(weights.load({name!r}), {seed}).there[{film.at}]"
        shows = through.there[film.at]
    else:
        last = looks[-1]
        ui.notice(
            "The pictures of one z stay alike through the growth as far as the game lets them: both networks "
            "go on learning, and the small pictures move too. Correlation is that of the pictures made small "
            "again with those of the last turn at 4 × 4, over 500 draws, their mean taken off."
        )
        ui.check(
            "How large is that correlation at the end?", lens.OPTIONS, lens.much(last.kept),
            f"{last.kept:.2f}.",
            wrong=(
                "The new layers begin from what the old ones made: the same z is not dealt anew.",
                "Half kept and half forgotten is the cautious guess, but this game lies to one side of it.",
                "Old layers are not frozen: both networks go on learning and move the small picture too.",
            ),
            veils=("picture", "equation"),
        )  # fmt: skip
        program = f"(lambda one: [one.distance, one.kept])([*lens.playing({phase}, {seed})][-1][1][-1])"
        shows = [last.distance, last.kept]
    ui.program(
        f"""
        from lab import weights
        from pages.adversarial.growing import lens, levels

        result = {program}
        """,
        shows=shows,
    )
    ui.source(growing.fade, growing.GrowingGenerator, growing.GrowingJudge, references=ROOM.references)
