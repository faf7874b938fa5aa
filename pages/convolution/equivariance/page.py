"""Equivariance: a layer of a moved picture against the moved output, and a classifier of a moved digit."""

from lab import ui
from lab.lenses import photographs
from lab.lenses.photographs import SIDE
from lab.ui.controls import drawing
from modules.convolution import convolution, pooling
from pages.convolution.equivariance import figures, lens, words
from pages.convolution.equivariance.room import BLUR, FARTHEST, MAPS, MAX, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
count = FARTHEST + 1
film = ui.film_of(now, count, names=range(count))


def photo_code() -> str:
    """A program's words for the picture."""
    for name, picture in photographs.shelf():
        if drawing.ink(picture) == now.photo:
            return f"drawing.pixels(drawing.ink(dict(photographs.shelf())[{name!r}]), {SIDE})"
    return f"drawing.pixels({now.photo!r}, {SIDE})"


if now.view == MAPS:
    one = ui.compute(lens.compared, now)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.maps(one), key="maps", share=1.0, film=film,
                alt="A moved picture, its output, the moved output of the picture, their difference",
            )  # fmt: skip
        with right:
            ui.figure(figures.errors(one, now.layer), key="errors", share=1.0, film=film,
                      alt="Size of the difference by shift, for four layers")  # fmt: skip
    with stage.foot:
        film.bar(
            captions=words.captions(one, now.layer, now.stride, now.border),
            equations=words.equations(one, now.layer),
        )
    pooled, blurred = (float(one.errors[name][1]) for name in (MAX, BLUR))
    with stage.below:
        ui.notice(
            "ε is the root mean square of the difference over that of f(x), in the columns inside the frame: "
            "neither zeros of the border nor what enters reaches them. Where the stride does not divide the "
            "shift, the better of the two whole shifts is taken. At t = 1 max pooling leaves "
            f"{pooled:.2f}, max-blur pooling {blurred:.2f}."
        )
        ui.check(
            f"For which shifts is the layer equivariant at a stride of {now.stride}?",
            ["all", f"multiples of {now.stride}", "none"], f"multiples of {now.stride}",
            "Then the moved picture is read at the same places as before.",
            wrong={"all": "Between two strides other pixels are read.",
                   "none": "At t = s every patch is one that was read before, a cell further left."},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.lenses import photographs
            from lab.ui.controls import drawing
            from pages.convolution.equivariance import lens

            photo = {photo_code()}
            omega = lens.kernel({now.omega!r})
            one = lens.compared(photo, omega, {now.layer!r}, {now.stride}, {now.border!r})
            result = one.errors[{now.layer!r}]
            """,
            shows=one.errors[now.layer],
        )
        ui.source(
            convolution.convolve, pooling.max_pool, pooling.max_blur_pool, lens.compared,
            references=ROOM.references,
        )  # fmt: skip
else:
    seen = ui.compute(lens.read, now)
    with stage.picture:
        ui.figures(
            ("digit", figures.digit(seen), "The digit, moved to the right"),
            ("probabilities", figures.probabilities(seen), "Probability of its class by shift"),
            film=film,
        )
    with stage.foot:
        film.bar(captions=words.class_captions(seen), equations=words.class_equations(seen))
    first = words.lost(seen)
    with stage.below:
        ui.notice(
            (f"Another class is likelier at t = {first}. " if first else "It is read alike at all shifts. ")
            + "The maps move with the digit, but a dense layer reads them place by place, and it was trained "
            "on digits in the middle: convolution is equivariant, a network of it need not be invariant."
        )
        ui.check(
            "Which last layer would make the logits invariant, but for the border and the strides?",
            ["dense", "mean over all positions", "one more convolution"], "mean over all positions",
            "A mean over the grid does not know where a feature stood.",
            wrong={"dense": "It has a weight of its own for every position.",
                   "one more convolution": "Its output moves with the input: equivariant, not invariant."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.ui.controls import drawing
            from pages.convolution.equivariance import lens

            model = weights.load(experiments.find({now.model.partition("/")[0]!r}).weights)
            seen = lens.read(model, drawing.pixels({now.digit!r}, 28))
            result = seen.probabilities[:, {seen.label}]
            """,
            shows=seen.probabilities[:, seen.label],
        )
        ui.source(lens.read, lens.moved, references=ROOM.references)
