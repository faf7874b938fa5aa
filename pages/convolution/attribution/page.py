"""Where it looked: maps of what made a network decide, an integral in steps, and checks of such maps."""

from collections.abc import Mapping, Sequence

from lab import ui
from lab.lenses import attribution, inputs
from pages.convolution.attribution import figures, lens, words
from pages.convolution.attribution.room import (
    GRADIENT,
    INTEGRATED,
    MAPS,
    OWN,
    PATH,
    RANDOM,
    ROOM,
    TIMES,
    WEIGHTS,
)

Check = tuple[str, list[str], str, str, Mapping[str, str] | Sequence[str]]

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
question = ui.compute(lens.asked, now)
x = question.x[0]

if now.view == MAPS:
    maps = ui.compute(lens.compared, now)
    with stage.picture:
        left, right = ui.columns([3, 1])
        with left:
            shown = {"input": x[None], **figures.single(maps)}
            ui.figure(figures.tiles(x, shown, 3), key="maps", share=1.0,
                      alt="Input and five maps: blue speaks for the class, red against")  # fmt: skip
        with right:
            ui.figure(figures.logits(question), key="logits", share=1.0,
                      alt="Logits of all classes, the chosen ones in full colour")  # fmt: skip
    stage.equation(
        words.score_equation(question),
        words.sums(question, maps, now.baseline),
    )
    said = (
        "The gradient says what a small change of a pixel would do, blank paper included; times the input, "
        "only ink remains. Grad-CAM has the coarse grid of the last maps, stretched to the input, and shows "
        "only what speaks for the class. Occlusion asks what S falls by without a window."
    )
    check: Check = (
        "Which map sums to S(x) − S(x′), apart from the error of its steps?", [GRADIENT, TIMES, INTEGRATED],
        INTEGRATED, "It is the completeness of integrated gradients.",
        {GRADIENT: "A slope has no unit of S: it must be multiplied by a way.",
         TIMES: "It takes the slope at x for the slope of the whole way."},
    )  # fmt: skip
    shows, call = maps[INTEGRATED], (
        f"lens.compared(one, {now.patch}, {now.baseline})[{INTEGRATED!r}]"
    )  # fmt: skip
elif now.view == PATH:
    path = ui.compute(lens.integrated, now)
    film = ui.film_of(now, len(path.alphas), names=[f"{alpha:.2f}" for alpha in path.alphas.tolist()])
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(figures.tiles(x, figures.along(path), 2), key="path", share=1.0, film=film,
                      alt="Input on its way, gradient, what the step adds, sum so far")  # fmt: skip
        with right:
            ui.figure(figures.sums(path.alphas, path.reached, path.scores - path.scores[0]), key="sums",
                      share=1.0, film=film, alt="Sum of attributions, change of S")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.path_captions(path), equations=words.path_equations(path))
    said = (
        f"The sum of {now.steps} steps misses the difference by {path.error:.3f}; more steps, less. "
        "The baseline decides what counts as absent: a pixel that is equal to it gets 0, whatever the "
        "network does there."
    )
    check = (
        "The input is the baseline itself. What do the attributions sum to?", ["0", "S(x)", "the bias"], "0",
        "x − x′ is 0 everywhere, and so is S(x) − S(x′).",
        {"S(x)": "That takes a baseline with S(x′) = 0.", "the bias": "The bias is in S(x) and in S(x′)."},
    )  # fmt: skip
    shows, call = path.sums[-1], (
        f"lens.integrated(one, {now.baseline}, {now.steps}).sums[-1]"
    )  # fmt: skip
elif now.view == WEIGHTS:
    drawn = ui.compute(lens.cascade, now)
    film = ui.film_of(now, drawn.maps.shape[1], names=range(drawn.maps.shape[1]))
    rows = {figures.SHORT[name]: each for name, each in zip(lens.OF_GRADIENTS, drawn.maps, strict=True)}
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(figures.tiles(x, rows, 2, each=True), key="cascade", share=1.0, film=film,
                      alt="Four maps of a network whose last layers have random weights")  # fmt: skip
        with right:
            ui.figure(figures.correlations(drawn), key="correlations", share=1.0, film=film,
                      alt="Rank correlation of each map with that of the trained network")  # fmt: skip
    with stage.foot:
        film.bar(captions=words.cascade_captions(drawn), equations=words.cascade_equations(drawn))
    last = dict(zip(lens.OF_GRADIENTS, drawn.correlations[:, -1].tolist(), strict=True))
    kept, lost = max(last, key=lambda k: last[k]), min(last, key=lambda k: last[k])
    said = (
        "A map that hardly changes when the weights are random shows the input, not what was learned. "
        f"With all layers random {kept} still correlates {last[kept]:.2f} with its trained map, {lost} "
        f"{last[lost]:.2f}. Norms are set to the identity with their layers; the logits mean nothing then."
    )
    check = (
        "All weights are random. Which map is most like that of the trained network?",
        list(lens.OF_GRADIENTS), kept, f"Its correlation of ranks is {last[kept]:.2f}.",
        [f"Its correlation is only {last[name]:.2f}." for name in lens.OF_GRADIENTS],
    )  # fmt: skip
    shows, call = drawn.correlations, (
        f"lens.cascade(one, {now.seed}, {now.absolute}).correlations"
    )  # fmt: skip
else:
    left_over = ui.compute(lens.deletion, now)
    film = ui.film_of(now, len(left_over.counts), names=left_over.counts.tolist())
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(figures.remaining(x, left_over, now.baseline), key="left", share=1.0, film=film,
                      alt="What is left of the input; inputs that are gone are red")  # fmt: skip
        with right:
            ui.figure(figures.losses(left_over, now.method), key="losses", share=1.0, film=film,
                      alt="S as inputs go, in the order of each map and at random")  # fmt: skip
    with stage.foot:
        film.bar(
            captions=words.deletion_captions(left_over, now.method),
            equations=words.deletion_equations(left_over, now.method),
        )
    areas = {name: left_over.mean(name) for name in left_over.scores}
    best = min(areas, key=lambda k: areas[k])
    said = (
        f"S falls from {float(left_over.scores[best][0]):.2f}; its mean over the way is {areas[best]:.2f} by "
        f"{best} and {areas[RANDOM]:.2f} in random order, the mean of {lens.ORDERS}. The curve may go below "
        "its end: the network never saw digits with holes."
    )
    check = (
        "In which order does S have the lowest mean over the way?", list(areas), best,
        f"It is {areas[best]:.2f}.", [f"Its mean is {areas[name]:.2f}." for name in areas],
    )  # fmt: skip
    shows, call = left_over.scores[now.method], (
        f"lens.deletion(one, {now.patch}, {now.baseline}, "
        f"{now.method!r}).scores[{now.method!r}]"
    )  # fmt: skip

with stage.below:
    ui.notice(said)
    text, options, answer, why, wrong = check
    ui.check(text, options, answer, why, wrong=wrong, veils=("picture", "equation"))
    size, ink = x.shape[-1], now.small if x.shape[-1] == 8 else now.digit
    drawn_as = f"drawing.pixels({ink!r}, {size})" if x.ndim == 2 else None
    curve = f"drawing.pixels({now.curve!r}, {size})" if x.ndim == 1 and now.signal == OWN else None
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.ui.controls import drawing
        from pages.convolution.attribution import lens

        model = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)
        one = lens.asked(model, {drawn_as}, None, {now.signal!r}, {curve}, {now.target!r}, {now.against!r})
        result = {call}
        """,
        shows=shows,
    )
    ui.source(
        attribution.integrated, attribution.occlusion, attribution.grad_cam, attribution.deleted,
        inputs.chosen, references=ROOM.references,
    )  # fmt: skip
