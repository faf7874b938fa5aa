"""Equivariance: a layer of a moved or turned picture against its moved or turned output; a digit's class."""

from lab import ui
from lab.lenses import photographs
from lab.lenses.photographs import SIDE
from lab.ui.controls import drawing
from modules.convolution import convolution, group_convolution, pooling
from pages.convolution.equivariance import figures, lens, rotation, words
from pages.convolution.equivariance.room import ANGLES, BLUR, FARTHEST, GROUP, MAPS, MAX, QUARTERS, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def photo_code() -> str:
    """A program's words for the picture."""
    for name, picture in photographs.shelf():
        if drawing.ink(picture) == now.photo:
            return f"drawing.pixels(drawing.ink(dict(photographs.shelf())[{name!r}]), {SIDE})"
    return f"drawing.pixels({now.photo!r}, {SIDE})"


if now.view == MAPS:
    film = ui.film_of(now, FARTHEST + 1, names=range(FARTHEST + 1))
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
elif now.view == QUARTERS:
    both = ui.compute(rotation.quarters, now)
    film = ui.film_of(now, len(both.x), names=range(len(both.x)))
    with stage.picture:
        ui.figure(
            figures.turned_maps(both), key="turned", share=1.0, film=film,
            alt="The turned picture, kernels, maps of the turned picture, and the maps of x, turned",
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=words.turn_captions(both), equations=words.turn_equations(both))
    with stage.below:
        ui.notice(
            "The same weights are used in four orientations: as many numbers to learn, four times the "
            "operations. Turns of the picture turn the maps and pass them on in a circle. A maximum over the "
            "four orientations, then a mean over all places, does not change with quarter turns at all."
            if now.knows == GROUP
            else "A convolution knows its kernel in one orientation: a turned edge needs a turned kernel."
        )
        ui.check(
            "Which kernels make an ordinary convolution equivariant to quarter turns?",
            ["those that turns leave alone", "all", "none"], "those that turns leave alone",
            "The Laplacian is one: turned, it is itself. Sobel's kernel finds other edges when it is turned.",
            wrong={"all": "Take Sobel's kernel and one orientation, and turn.",
                   "none": "Take the Laplacian and one orientation, and turn."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.lenses import photographs
            from lab.ui.controls import drawing
            from pages.convolution.equivariance import lens, rotation

            photo = {photo_code()}
            result = rotation.quarters(photo, lens.kernel({now.omega!r}), {now.knows!r}).errors
            """,
            shows=both.errors,
        )
        ui.source(group_convolution.lifting_weight, group_convolution.P4CNN, rotation.quarters,
                  references=ROOM.references)  # fmt: skip
elif now.view == ANGLES:
    rows = ui.compute(rotation.by_angle, now)
    film = ui.film_of(now, len(rows.x))
    names = [now.model.partition("/")[0], now.turning.partition("/")[0]]
    with stage.picture:
        ui.figures(
            ("digit", figures.digit(rows), "The digit, turned"),
            ("angles", figures.by_angle(rows, names), "Probability of its class by angle, of both networks"),
            film=film,
        )
    with stage.foot:
        film.bar(captions=words.angle_captions(rows), equations=words.angle_equations(rows))
    with stage.below:
        ui.notice(
            "Both learned from upright digits alone. Invariance to quarter turns is built in, not learned. "
            "It has its price: a 9 and a turned 6 must be told apart by other strokes. Between quarter "
            "turns nothing is promised."
        )
        ui.check(
            "How many angles does the network over p4 read exactly alike?",
            ["4", "all", "1"], "4", "The group p4 has four turns; by 45° pixels land between pixels.",
            wrong={"all": "Look between the quarter turns.", "1": "Compare 0°, 90°, 180° and 270°."},
            veils=(),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.ui.controls import drawing
            from pages.convolution.equivariance import rotation

            cnn, p4 = (weights.load(experiments.find(name).weights) for name in {names!r})
            result = rotation.by_angle(cnn, p4, drawing.pixels({now.digit!r}, 28)).p[..., {rows.label}]
            """,
            shows=rows.p[..., rows.label],
        )
        ui.source(group_convolution.P4CNN, rotation.by_angle, references=ROOM.references)
else:
    film = ui.film_of(now, FARTHEST + 1, names=range(FARTHEST + 1))
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
