"""DCGAN: convolutions that grow a picture out of z, their sizes, and the recipe with a line left out."""

from lab import ui
from lab.figures import sheets
from modules.adversarial import dcgan
from pages.adversarial.dcgan import figures, lens, one_number, recipe
from pages.adversarial.dcgan.room import LAYERS, ROOM, SAMPLES, VALUES

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

# --- Layers -------------------------------------------------------------------------------------

if now.view == LAYERS:
    result = ui.compute(lens.look, now)
    k = ui.load(now.game).latent_dim if now.game else 100
    film = ui.film_of(now, len(result.rows) + 1, names=range(len(result.rows) + 1))

    def bars() -> None:
        ui.figure(figures.parameters(result), key="parameters", share=1.0, film=film,
                  alt="Shape and parameters of every layer")  # fmt: skip

    with stage.picture:
        if result.shown is None:
            bars()
        else:
            left, right = ui.columns([2, 1])
            with left:
                ui.figure(figures.maps(result, now.player), key="maps", share=1.0, film=film,
                          alt="What goes in, and beside it the maps of each layer, a pixel as large in "
                              "all")  # fmt: skip
            with right:
                bars()
    with stage.foot:
        if now.game:
            ui.machine(
                now.game,
                film=film,
                lit=lens.working(result, now.player),
                says=lens.numbers(result, now.player),
            )
        film.bar(captions=lens.layer_captions(result, now.player, k), equations=lens.layer_equations(result))

# --- One number of z ----------------------------------------------------------------------------

elif now.view == SAMPLES:
    results = ui.compute(one_number.turning, now)
    film = ui.film_of(now, len(VALUES))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(sheets.film(results, 6, zmin=0, zmax=1), key="sheet", share=1.0, film=film,
                      alt="Samples with one coordinate of z at this value")  # fmt: skip
        with right:
            ui.figure(
                figures.change(results), key="change", share=1.0, film=film,
                alt="How far the pictures are from those at 0, and two samples from each other",
            )  # fmt: skip
    with stage.foot:
        answer = [{"z": f"z{now.number} = {value:g}"} for value in VALUES]
        ui.machine(now.model, film=film, lit=["z"] * len(VALUES), says=answer)
        film.bar(
            captions=one_number.value_captions(now.number, results),
            equations=one_number.value_equations(now.number, results),
        )

# --- The recipe ---------------------------------------------------------------------------------

else:
    floor = ui.compute(recipe.floor, now)

    def draw(rounds: list[recipe.Round], film: ui.Film | None = None) -> None:
        """Both games, where the film stands, or as far as they have come."""
        left, middle, right = ui.columns(3)
        for place, pictures, key, title in (
            (left, [r.whole for r in rounds], "whole", recipe.PLAIN),
            (middle, [r.other for r in rounds], "other", now.switch),
        ):
            with place:
                sheet = sheets.film(pictures, 4, title=title, zmin=0, zmax=1)
                alt = f"Samples of the training with {title}"
                ui.figure(sheet, key=key, share=1.0, film=film, alt=alt)
        with right:
            ui.figure(figures.distances(rounds, floor, now.switch), key="distances", share=1.0, film=film,
                      alt="Distance of both games' pictures to held-out digits")  # fmt: skip

    with stage.picture:
        says = "The film can be played when both trainings are over."
        rounds = ui.compute(recipe.playing, now, label="Train", quick=False, says=says, show=draw)
        film = ui.film_of(now, len(rounds), names=[r.batches for r in rounds])
        draw(rounds, film)
    with stage.foot:
        lit = ["made", *[("G", "D")] * (len(rounds) - 1)]
        ui.machine(recipe.game(now.switch, now.seed)[0], film=film, lit=lit)
        captions = recipe.round_captions(rounds, now.switch)
        film.bar(captions=captions, equations=recipe.round_equations(rounds))

# --- Words --------------------------------------------------------------------------------------

shows: object
with stage.below:
    if now.view == LAYERS:
        ui.notice(lens.layer_notice(result))
        row = result.rows[max(0, film.at - 1)]
        ui.check(
            f"How many weights has layer {max(1, film.at)}, without biases and batch norm?",
            lens.counts(result, film.at),
            f"{row.weights:,}",
            f"{row.kind} to {row.title}.",
            wrong={
                f"{row.weights // 2:,}": "That is half: each channel that enters has a kernel for each "
                "that leaves.",
                f"{2 * row.weights:,}": "That is twice: a kernel serves every place, and the stride adds "
                "no weights.",
            },
            veils=("parameters", "equation"),
        )
        loaded = f"weights.load({now.game!r})" if now.game else None
        program = f"[row.parameters for row in lens.look({loaded}, {now.player!r}, {now.seed}).rows]"
        shows = [row.parameters for row in result.rows]
    elif now.view == SAMPLES:
        ui.notice(
            f"{one_number.SHEET} samples; from frame to frame one coordinate of their z alone is another. "
            "No coordinate has a meaning of its own: each changes different things in different samples, as "
            "the loss asks for nothing more. Another seed gives other samples."
        )
        changes, apart = one_number.changes(results), one_number.between(results)
        ui.check(
            "Do the pictures at this value differ from those at 0 more than half as much as two draws do?",
            ["yes", "no"],
            "yes" if changes[film.at] > apart / 2 else "no",
            f"By {changes[film.at]:.3f}, two draws by {apart:.3f}.",
            wrong={
                "yes": "One number of many moves a picture a little; two draws differ in all of them.",
                "no": "One of many seems little, but a value so far out counts for more than usual draws "
                "of it.",
            },
            veils=("change", "equation"),
        )
        of = f"weights.load({now.game!r}), {now.seed}, {now.number}"
        program = f"one_number.changes(one_number.turning({of}))[{film.at}]"
        shows = changes[film.at]
    else:
        ui.notice(recipe.recipe_notice(now.switch, floor))
        ends = rounds[-1].distances
        ui.check(
            "At the end, how is the right game's distance to that of the whole recipe?",
            recipe.OUTCOMES,
            recipe.outcome(rounds[-1]),
            f"{ends[1]:.2f} beside {ends[0]:.2f}.",
            wrong=(
                "Then the whole recipe would be worse by a factor of 2 for the rule it has more.",
                "Then this rule would hardly count: here it moves the distance by more than a factor of 2.",
                "Rules that large networks need are not all needed by one so small.",
            ),
            veils=("picture", "equation"),
        )
        program = f"[*[*recipe.playing{(now.switch, now.batches, now.seed)}][-1][1][-1].distances]"
        shows = [*ends]
    ui.program(
        f"""
        from lab import weights
        from pages.adversarial.dcgan import lens, one_number, recipe

        result = {program}
        """,
        shows=shows,
    )
    ui.source(dcgan.conv_generator, dcgan.ConvDiscriminator, references=ROOM.references)
