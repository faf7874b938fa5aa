"""What a unit wants: gradient ascent on the input, inversion of a layer, units against concepts."""

from lab import ui
from modules.convolution import visualization
from pages.convolution.unit import dissection, figures, lens, networks, words
from pages.convolution.unit.figures import WITH, WITHOUT
from pages.convolution.unit.room import ASCENT, DISSECTION, INVERSION, LOGITS, ROOM, SHARES, UNITS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
looked = ui.compute(lens.subject, now)
made = f"lens.subject({now.view!r}, model, dissected)"
priors = f"{now.seed}, {now.decay}, {now.variation}, {now.blur}"
check = None

if now.view == ASCENT:
    wanted, free = ui.compute(lens.ascent, now), ui.compute(lens.ascent_without_prior, now)
    largest = ui.compute(lens.largest, now)
    film = ui.film_of(now, len(wanted.values))
    with stage.picture:
        left, right = ui.columns([7, 3])
        with left:
            pair = {WITH: wanted.inputs[:, 0, 0], WITHOUT: free.inputs[:, 0, 0]}
            ui.figure(figures.tiles(pair, 2), key="ascent", share=1.0, film=film,
                      alt="Input that the unit wants, with the prior and without")  # fmt: skip
        with right:
            lines = {WITH: wanted.values[:, 0], WITHOUT: free.values[:, 0]}
            ui.figure(figures.course(lines, "a(x)", largest), key="values", share=1.0, film=film,
                      alt="The unit's value by step; dotted, the best picture of the shelf")  # fmt: skip
    with stage.foot:
        film.bar(
            captions=words.ascent_captions(wanted, free, largest), equations=words.ascent_equations(wanted)
        )
    reached = float(wanted.values[-1, 0])
    said = (
        f"The ascent reaches {reached:.1f} with the prior and {float(free.values[-1, 0]):.1f} without; the "
        f"best picture of the shelf (dotted) makes {largest:.1f}. Far beyond all pictures the unit is still "
        "sure: what it wants is not what it was trained on, and the prior alone brings it near."
    )
    check = (
        "The prior gets stronger. What becomes of the value that is reached?", ["it falls", "it rises"],
        "it falls", "The ascent gives up value for a cheaper picture.",
        {"it rises": "A cost can only take away; the ascent without one is free to do better."},
    )  # fmt: skip
    shows = wanted.values[-1]
    call = f"lens.ascent(one, {now.layer!r}, {now.unit}, {now.everywhere}, {priors}).values[-1]"
elif now.view == UNITS:
    wall = ui.compute(lens.ascents, now)
    film = ui.film_of(now, len(wall.values))
    with stage.picture:
        names = {f"unit {k}": wall.inputs[:, k, 0] for k in range(wall.values.shape[1])}
        ui.figure(figures.tiles(names, 4), key="wall", share=1.0, film=film,
                  alt="Inputs that units of the layer want, one each")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.wall_captions(wall), equations=words.ascent_equations(wall))
    size = looked.units(now.layer)
    said = (
        f"Eight of {size} units at most, each with its own input from the same noise. A unit can only change "
        "what lies in its receptive field; the mean of its map has all of the picture."
    )
    shows = wall.values[-1]
    call = f"lens.ascents(one, {now.layer!r}, {now.everywhere}, {priors}).values[-1]"
elif now.view == INVERSION:
    one, other = ui.compute(lens.inversion, now), ui.compute(lens.inversion_without_prior, now)
    film = ui.film_of(now, len(one.errors))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            three = {
                "given": one.x[None],
                WITH: one.found.inputs[:, 0, 0],
                WITHOUT: other.found.inputs[:, 0, 0],
            }
            ui.figure(figures.tiles(three, 3), key="inversion", share=1.0, film=film,
                      alt="The picture, and two that the layer takes for it")  # fmt: skip
        with right:
            lines = {WITH: one.found.values[:, 0], WITHOUT: other.found.values[:, 0]}
            ui.figure(figures.course(lines, "distance of activations", log=True), key="gaps", share=1.0,
                      film=film, alt="Distance of the activations by step")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.inversion_captions(one, other), equations=words.inversion_equations(one))
    said = (
        f"At the end activations differ by {100 * float(one.found.values[-1, 0]):.1f} % and pixels by "
        f"{float(one.errors[-1]):.2f} with the prior, by {100 * float(other.found.values[-1, 0]):.1f} % and "
        f"{float(other.errors[-1]):.2f} without. What differs is what the layer has thrown away; there the "
        f"prior decides alone. The network says {one.classes[0]} of the picture and {one.classes[1]} of what "
        "was found."
    )
    check = (
        "From which layer does the picture come back best?", ["layer 1", LOGITS], "layer 1",
        "Its maps have more numbers than the picture has pixels.",
        {LOGITS: "A few numbers cannot say where each stroke lies."},
    )  # fmt: skip
    size = looked.side
    drawn = f"drawing.pixels({now.digit!r}, {size}), None" if size == 28 else (
        f"None, drawing.pixels({now.texture!r}, {size})"
    )  # fmt: skip
    shows, call = one.errors[-1], f"lens.inversion(one, {now.layer!r}, {priors}, {drawn}).errors[-1]"
elif now.view == DISSECTION:
    seen = ui.compute(dissection.dissect, now)
    film = ui.film_of(now, len(SHARES), names=[f"{share:g} %" for share in SHARES])
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            shown = {" " * k: x[None] for k, x in enumerate(seen.x)}
            ui.figure(figures.tiles(shown, 3, seen.on), key="masks", share=1.0, film=film,
                      alt="Six pictures that excite the unit most, orange where it is on")  # fmt: skip
        with right:
            ui.figure(figures.overlaps(seen), key="iou", share=1.0, film=film,
                      alt="IoU of the unit with three textures and three shapes")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.dissection_captions(seen), equations=words.dissection_equations(seen))
    said = (
        f"Over {networks.COUNT} pictures with exact masks; the six shown hold the unit's largest values. "
        "The threshold is a quantile of the unit's own map: a small share cannot cover a concept, a large "
        "one covers the ground too."
    )
    check = (
        "A unit is on exactly where there are stripes. What is its IoU with stripes?", ["1", "½", "0"], "1",
        "Intersection and union are the same pixels.",
        {"½": "Both areas are one: none is counted twice.", "0": "0 is of a unit that is never on there."},
    )  # fmt: skip
    shows, call = seen.iou[3], f"dissection.dissect(one, {now.layer!r}, {now.unit}).iou[3]"
else:
    tables = ui.compute(dissection.tables, now)
    film = ui.film_of(now, len(SHARES), names=[f"{share:g} %" for share in SHARES])
    with stage.picture:
        ui.figures(
            ("layers", figures.by_layer(tables), "Best IoU of each unit with a texture and with a shape"),
            ("best", figures.best_units(tables), "Best IoU of any unit, concept by layer"),
            film=film,
        )
    with stage.foot:
        film.bar(captions=words.layer_captions(tables), equations=words.layer_equations(tables))
    first, *_, last = tables.values()
    said = (
        f"At {SHARES[film.at]:g} % above T the best concept is a texture of "
        f"{100 * words.leaning(first, film.at):.0f} % of the units in the first layer and of "
        f"{100 * words.leaning(last, film.at):.0f} % in the last. Textures do not leave: the class "
        f"needs them too. Each point is a unit, over {networks.COUNT} pictures; textures and shapes cover "
        "equally many pixels, so that chance favours neither."
    )
    shows, call = tables["layer 1"].textures[3], 'dissection.tables(one)["layer 1"].textures[3]'

with stage.below:
    ui.notice(said)
    if check:
        text, options, answer, why, wrong = check
        ui.check(text, options, answer, why, wrong=wrong, veils=("picture", "equation"))
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.ui.controls import drawing
        from pages.convolution.unit import dissection, lens

        model = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)
        dissected = weights.load({now.dissected!r})
        one = {made}
        result = {call}
        """,
        shows=shows,
    )
    ui.source(
        visualization.maximize, visualization.invert, visualization.total_variation, visualization.excited,
        visualization.overlaps, references=ROOM.references,
    )  # fmt: skip
