"""DCGAN: convolutions that grow a picture out of z, their sizes, and the recipe with a line left out."""

from lab import ui
from lab.figures import basic, sheets
from lab.lenses.recipe import CONNECTED
from modules.adversarial import dcgan
from pages.adversarial.dcgan import figures, lens, one_number, recipe
from pages.adversarial.dcgan.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Up": ui.scene("From 64 numbers to maps of 4 × 4, 7 × 7 and 14 × 14, and to a picture."),
        "Down": ui.scene("The mirror: D halves the picture three times, and one convolution sees all of it.",
                         player=lens.JUDGING),
        "As printed": ui.scene("12.7 million parameters; two thirds are in the step from 4 × 4 to 8 × 8.",
                               model=lens.PRINTED, layer=2),
        "One number": ui.scene("One of 64 numbers at 3: it changes pixels less than another draw would.",
                               view="Samples", value=3.0),
        "No batch norm": ui.scene("Left the whole recipe, right without batch norm: watch who draws digits.",
                                  view="Recipe"),
        "Momentum": ui.scene("Right β₁ = 0.9, as Adam has it by itself: watch both distances.",
                             view="Recipe", switch="β₁ = 0.9"),
        "Pooling": ui.scene("Right pooling and resizing for strides: watch both distances.",
                            view="Recipe", switch="pooling, not strides"),
        "No convolutions": ui.scene("Right as many parameters, fully connected: watch both distances.",
                                    view="Recipe", switch=CONNECTED),
    }
)  # fmt: skip


@ui.cached
def looked(name: str, player: str, seed: int):
    return lens.look(None if name == lens.PRINTED else ui.load(name), player, seed)


@ui.cached
def turning(name: str, seed: int, number: int):
    return one_number.turning(ui.load(name), seed, number)


@ui.cached
def floor():
    return recipe.floor()


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice("Show", ["Layers", "Samples", "Recipe"], key="view", as_list=True)
    if view == "Layers":
        name = ui.choice("Model", [*lens.SHIPPED, lens.PRINTED], key="model", as_list=True)
        player = ui.choice("Player", [lens.MADE, lens.JUDGING], key="player")
    elif view == "Samples":
        name = ui.choice("Model", lens.SHIPPED, key="model", as_list=True)
        number = ui.slider("Number of z", 1, ui.load(name).latent_dim, 1, key="number")
    else:
        switch = ui.choice(
            "Beside it", list(recipe.SWITCHES), key="switch", default=recipe.BESIDE, as_list=True
        )
        batches = ui.choice("Batches", recipe.TURNS, key="batches", default=recipe.TURNS[1])
    seed = ui.number("Seed", 0, 999, 0, key="seed")

# --- Layers -------------------------------------------------------------------------------------

if view == "Layers":
    found = looked(name, player, seed)
    k = 100 if name == lens.PRINTED else ui.load(name).latent_dim
    film = ui.film(len(found.rows) + 1, key="layer", default=1, label="Layer", seconds=1.0)

    def bars() -> None:
        ui.figure(
            figures.parameters(found, film.at), key="parameters", share=1.0, film=film,
            frames={"data.0.x": figures.marks(found)}, alt="Shape and parameters of every layer",
            data={"layer": [row.kind for row in found.rows], "shape": [row.title for row in found.rows],
                  "parameters": [row.parameters for row in found.rows]},
        )  # fmt: skip

    with stage.picture:
        if found.frames is None:
            bars()
        else:
            left, right = ui.columns([2, 3])
            with left:
                ui.figure(
                    figures.maps(found.frames[film.at]), key="maps", share=1.0, film=film,
                    frames={"data.0.z": found.frames}, alt="What goes in, and the maps of each layer",
                )  # fmt: skip
            with right:
                bars()
    with stage.foot:
        film.bar(captions=lens.layer_captions(found, player, k), equations=lens.layer_equations(found))

# --- One number of z ----------------------------------------------------------------------------

elif view == "Samples":
    seen = turning(name, seed, number)
    film = ui.film(len(seen), key="value", values=one_number.VALUES, default=0.0, label="Value", seconds=0.3)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                basic.images(seen[film.at], 6, zmin=0, zmax=1), key="sheet", share=1.0, film=film,
                frames={"data.0.z": sheets.frames(seen, 6)}, alt="Draws with one number of z at this value",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.change(seen, film.at), key="change", share=1.0, film=film,
                frames=figures.change_points(seen),
                alt="How far the pictures are from those at 0, and two draws from each other",
                data={"value": one_number.VALUES, "rms": one_number.changes(seen)},
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=one_number.value_captions(number, seen),
            equations=one_number.value_equations(number, seen),
        )

# --- The recipe ---------------------------------------------------------------------------------

else:

    def draw(rounds: list[recipe.Round], at: int, film=None) -> None:
        """Both games at a look."""
        left, middle, right = ui.columns([2, 2, 3])
        for place, pictures, key, title in (
            (left, [r.whole for r in rounds], "whole", recipe.PLAIN),
            (middle, [r.other for r in rounds], "other", switch),
        ):
            with place:
                ui.figure(
                    basic.images(pictures[at], 4, title, zmin=0, zmax=1), key=key, share=1.0, film=film,
                    frames={"data.0.z": sheets.frames(pictures, 4)} if film else None,
                    alt=f"Pictures of the game with {title}",
                )  # fmt: skip
        with right:
            ui.figure(
                figures.distances(rounds, at, floor(), switch), key="distances", share=1.0, film=film,
                frames=figures.distance_points(rounds) if film else None,
                alt="Distance of both games' pictures to held-out digits",
                data={"batches": [r.batches for r in rounds], "whole": [r.distances[0] for r in rounds],
                      "other": [r.distances[1] for r in rounds]},
            )  # fmt: skip

    with stage.picture:
        rounds = ui.found(
            "Play", lambda: recipe.playing(switch, batches, seed), key="play", of=(switch, batches, seed),
            quick=False, show=lambda so_far: draw(so_far, len(so_far) - 1),
            says="The film is there when both games are over.",
        )  # fmt: skip
        film = ui.film(len(rounds), key="look", default=len(rounds) - 1, label="Batch", seconds=0.25,
                       names=[r.batches for r in rounds])  # fmt: skip
        draw(rounds, film.at, film)
    with stage.foot:
        film.bar(captions=recipe.round_captions(rounds, switch), equations=recipe.round_equations(rounds))

# --- Words --------------------------------------------------------------------------------------

shows: object
with stage.below:
    if view == "Layers":
        ui.notice(lens.layer_notice(found))
        row = found.rows[max(0, film.at - 1)]
        ui.check(
            f"How many weights has layer {max(1, film.at)}, without biases and batch norm?",
            lens.counts(found, film.at), f"{row.weights:,}", f"{row.kind} to {row.title}.",
            wrong={
                f"{row.weights // 2:,}": "That is half: each channel that enters has a kernel for each "
                "that leaves.",
                f"{2 * row.weights:,}": "That is twice: a kernel serves every place, and the stride adds "
                "no weights.",
            },
            veils=("parameters", "equation"),
        )  # fmt: skip
        loaded = "None" if name == lens.PRINTED else f"weights.load({name!r})"
        program = f"[row.parameters for row in lens.look({loaded}, {player!r}, {seed}).rows]"
        shows = [row.parameters for row in found.rows]
    elif view == "Samples":
        ui.notice(
            f"{one_number.SHEET} draws, alike but for one number of z. No number has a meaning of its own: "
            "each changes different things in different draws, as nothing in the game asks for more. Turn "
            "the seed for other draws."
        )
        changes, apart = one_number.changes(seen), one_number.between(seen)
        ui.check(
            "Do the pictures at this value differ from those at 0 more than half as much as two draws do?",
            ["yes", "no"], "yes" if changes[film.at] > apart / 2 else "no",
            f"By {changes[film.at]:.3f}, two draws by {apart:.3f}.",
            wrong={
                "yes": "One number of many moves a picture a little; two draws differ in all of them.",
                "no": "One of many seems little, but a value so far out counts for more than usual draws "
                "of it.",
            },
            veils=("change", "equation"),
        )  # fmt: skip
        program = (
            f"one_number.changes(one_number.turning(weights.load({name!r}), {seed}, {number}))[{film.at}]"
        )
        shows = changes[film.at]
    else:
        ui.notice(recipe.recipe_notice(switch, floor()))
        ends = rounds[-1].distances
        ui.check(
            "At the end, how is the right game's distance to that of the whole recipe?", recipe.OUTCOMES,
            recipe.outcome(rounds[-1]), f"{ends[1]:.2f} beside {ends[0]:.2f}.",
            wrong=(
                "Then the whole recipe would be worse by a factor of 2 for the rule it has more.",
                "Then this rule would hardly count: here it moves the distance by more than a factor of 2.",
                "Rules that large networks need are not all needed by one so small.",
            ),
            veils=("picture", "equation"),
        )  # fmt: skip
        program = f"[*[*recipe.playing({switch!r}, {batches}, {seed})][-1][1][-1].distances]"
        shows = [*ends]
    ui.program(
        f"""
        from lab import weights
        from pages.adversarial.dcgan import lens, one_number, recipe

        result = {program}
        """,
        shows=shows,
    )
    ui.source(dcgan.generator_of, dcgan.ConvJudge, references=ROOM.references)
