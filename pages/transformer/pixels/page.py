"""ImageGPT: pixels one by one, completions, similar positions, what layers know of classes."""

from lab import ui
from lab.ui.controls.drawing import ink_code
from modules.transformer.image_gpt import ImageGPT
from pages.transformer.pixels import figures, lens, probe
from pages.transformer.pixels.room import COMPLETIONS, PIXELS, POSITIONS, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
model = ui.load(now.model)
width, K = lens.side(model), model.num_categories
load = f"""
    from lab import experiments, weights
    from lab.ui.controls import drawing
    from pages.transformer.pixels import lens, probe

    model = weights.load({ui.spelled(now.model)}).eval()
    """

if now.view == PIXELS:
    one = ui.compute(lens.drawn, now)
    film = ui.film_of(now, len(one.places))
    with stage.picture:
        left, middle, right = ui.columns(3)
        with left:
            ui.figure(figures.picture(one, width, K), key="picture", share=1.0, film=film,
                      alt="The picture so far, the present pixel framed")  # fmt: skip
        with middle:
            ui.figure(figures.looks(one, width, now.head), key="looks", share=1.0, film=film,
                      alt=f"Where head {now.head} attends when the present pixel is drawn")  # fmt: skip
        with right:
            ui.figure(figures.conditional(one), key="conditional", share=1.0, film=film,
                      alt="Probability of each level of the present pixel")  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=[("attention", "logits")] * film.count,
                   says=[{"tokens": f"{place} before"} for place in one.places])  # fmt: skip
        film.bar(captions=lens.captions(one, width, now.head), equations=lens.equations(one))
    shows = one.p[film.at]
    call = f"""picture = {ink_code(one.digit)}
    result = lens.drawn(model, picture, {now.rows}, {now.t}, {now.seed}, {now.head!r}).p[{film.at}]
    """
elif now.view == COMPLETIONS:
    done = ui.compute(lens.completed, now)
    with stage.picture:
        left, right = ui.columns([1, 2])
        with left:
            ui.figure(figures.given(done, width, K), key="given", share=1.0, alt="What is given")
        with right:
            ui.figure(figures.completions(done, width, K), key="completions", share=1.0,
                      alt=f"{lens.COUNT} completions: given ink black, drawn ink orange")  # fmt: skip
    with stage.foot:
        ui.machine(now.model, lit=["logits"], says=[{"tokens": f"{now.rows * width} given"}])
    known, whole = done.log_p
    stage.equation(
        rf"\log p(x_{{\text{{rest}}}} \mid x_{{\text{{given}}}}) = {whole:.2f} - ({known:.2f}) = "
        rf"{whole - known:.2f}",
        "log p(x) − log p(given) of your own picture, nats: how well the rest that you drew is guessed.",
    )
    shows = done.pictures[0]
    call = f"""picture = {ink_code(done.digit)}
    result = lens.completed(model, picture, {now.rows}, {now.t}, {now.seed}).pictures[0]
    """
elif now.view == POSITIONS:
    similar = ui.compute(lens.similarity, now)
    film = ui.film_of(now, width * width)
    mean = lens.by_offset(similar, width)
    with stage.picture:
        ui.figures(
            ("similar", figures.similar(similar, width), "Similarity of positions to the framed one"),
            ("offsets", figures.offsets(mean), "Mean similarity by rows and columns apart"), film=film,
        )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=["embedding"] * film.count)
        film.bar(captions=lens.nearest(similar, width), equations=lens.cosines(similar, width))
    shows, call = similar[film.at], f"result = lens.similarity(model)[{film.at}]"
else:
    found = ui.compute(probe.probed, now)
    with stage.picture:
        ui.figure(figures.probes(found), key="probes", share=1.0,
                  alt="Accuracy of a linear probe on each layer, and on the pixels")  # fmt: skip
    best = int(found.accuracy[:-1].mean(1).argmax())
    with stage.foot:
        ui.machine(now.model, lit=["attention"])
    stage.equation(
        r"\Pr(y \mid x) = \text{softmax}\left(W \tfrac{1}{n} \sum_t z_t + b\right), \quad "
        rf"\text{{{found.names[best]}: }} {float(found.accuracy[best].mean()):.3f} \pm "
        rf"{float(found.accuracy[best].std()):.3f}",
        f"{probe.LABELS} labelled digits, {probe.SEEDS} draws of them; the ImageGPT itself was trained once.",
    )
    shows, call = found.accuracy.mean(1), "result = probe.probed(model).accuracy.mean(1)"

with stage.below:
    ui.notice(
        "A pixel is one token, its embedding a row of a table plus one learned position. Each is drawn from "
        "its conditional given all pixels before it in raster order: a picture can be gone on with from its "
        "upper rows exactly, not from its lower ones. Temperature sharpens each conditional by itself."
    )
    ui.check(
        "Which part of a picture can this model complete by exact draws from p(rest | given)?",
        ["the lower rows", "the upper rows", "any part"], "the lower rows",
        "Raster order: what is given must come first.",
        wrong={"the upper rows": "They come first in raster order, and cannot hear what is below.",
               "any part": "For that a model must be trained on other orders too."}, veils=(),
    )  # fmt: skip
    ui.program(load + call, shows=shows)
    ui.source(ImageGPT, lens.similarity, probe.probed, references=ROOM.references)
