"""Exact match and smoother metrics of the same runs, over size and steps; and a sum of the reader's own."""

from typing import Any

from datamodules.addition import DIGITS
from lab import ui
from lab.bench import addition
from modules.transformer import answer
from pages.transformer.emergence import figures, lens
from pages.transformer.emergence.room import DIGITS as PLACES
from pages.transformer.emergence.room import LIKELIHOOD, ROOM, SIZE, STEPS, SUM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def kept(found: lens.Series) -> str:
    """What was trained, in words."""
    return (
        f"{len(found.sizes)} sizes from {found.sizes[0]:,} to {found.sizes[-1]:,} parameters, "
        f"each trained once with seed {now.seed}, {addition.STEPS:,} steps of {addition.BATCH} sums; two "
        "blocks, only the width differs. Scored on 2,000 validation sums: neither they nor the same sums "
        "with the numbers swapped were trained on."
    )


def by_size() -> None:
    found = ui.compute(lens.series, now)
    key = lens.KEYS[now.metric]
    film = ui.film_of(now, len(STEPS))
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.exact(found, now.k), key="exact", share=1.0, film=film,
                alt="Exact match over the number of parameters, measured and from the digits",
                data={"parameters": found.sizes, "exact": found.values["exact"][-1],
                      "product": found.product[-1]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.beside(found, now.metric, key), key="beside", share=1.0, film=film,
                alt=f"{now.metric} over the number of parameters, of the same runs",
                data={"parameters": found.sizes, key: found.values[key][-1]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found, now.metric),
                 equations=[lens.equation(found, look, now.k) for look in range(len(STEPS))])  # fmt: skip
    exact, p = found.values["exact"][-1], found.values["accuracy"][-1]
    with stage.below:
        ui.notice(
            f"{kept(found)} Exact match counts a sum only if all {DIGITS} digits are right, so three right "
            "digits and a guessed one give a tenth. p^k takes mistakes for independent and equally likely; "
            "the product Π pⱼ takes each digit's own share. Where the product meets the measured line, what "
            "p^k gets wrong is that digits differ. A jump in all metrics at once is no artefact of one: look "
            "how far each has come at the size before the jump."
        )
        leap = max(range(1, len(exact)), key=lambda n: exact[n] - exact[n - 1])
        options = [f"{a:,} to {b:,}" for a, b in zip(found.sizes, found.sizes[1:], strict=False)]
        ui.check(
            "Between which two sizes does exact match rise most, at the last step?",
            options, options[leap - 1],
            f"It goes from {exact[leap - 1]:.3f} to {exact[leap]:.3f}; the share of right digits goes from "
            f"{p[leap - 1]:.3f} to {p[leap]:.3f}.",
            wrong={each: f"From {each} parameters it goes from {exact[n]:.3f} to {exact[n + 1]:.3f}."
                   for n, each in enumerate(options)},
            veils=("picture", "equation"),
        )  # fmt: skip
        code(f"lens.series({now.order!r}, {now.seed}).values['exact'][-1]", exact)


def code(expression: str, shows: object) -> None:
    """The lines that give what is shown, and where they come from."""
    ui.program(
        f"""
        from pages.transformer.emergence import lens

        result = {expression}
        """,
        shows=shows,
    )
    ui.source(answer.scores, addition.train, references=ROOM.references)


def by_digit() -> None:
    found = ui.compute(lens.series, now)
    film = ui.film_of(now, len(STEPS))
    with stage.picture:
        ui.figure(
            figures.digits(found, lens.places(now.order)), key="digits", share=1.0, film=film,
            alt="Share of right digits, by size and by digit in the order of writing",
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.digit_captions(found),
                 equations=[lens.equation(found, look, DIGITS) for look in range(len(STEPS))])  # fmt: skip
    with stage.below:
        ui.notice(
            f"{kept(found)} A digit needs two digits of the question and the carry from the digit below it; "
            "in the reversed order what was just written tells that carry. The highest digit is 0 or 1, "
            "which the hundreds that were just written decide nearly always."
        )
        last = found.digits[-1]
        names = lens.places(now.order)
        worst = names[int(last.mean(0).argmin())]
        ui.check(
            "Which digit is right least often, over all sizes at the last step?", names, worst,
            f"Its mean share is {last.mean(0).min():.2f}.",
            wrong={n: f"That digit has {v:.2f}." for n, v in zip(names, last.mean(0), strict=True)},
            veils=("picture", "equation"),
        )  # fmt: skip
        code(f"lens.series({now.order!r}, {now.seed}).digits[-1]", last)


def along_training() -> None:
    found = ui.compute(lens.series, now)
    n = found.sizes.index(now.size)
    exact, other = (found.values[key][:, n] for key in ("exact", lens.KEYS[now.metric]))
    with stage.picture:
        left, right = ui.columns(2)
        pairs: list[tuple[Any, Any, str]] = [(left, exact, figures.EXACT), (right, other, now.metric)]
        for place, values, name in pairs:
            with place:
                ui.figure(
                    figures.over_steps(STEPS, values, name), key=name.split()[0], share=1.0,
                    alt=f"{name} over the steps of training, {now.size:,} parameters",
                    data={"step": STEPS, name: values},
                )  # fmt: skip
    leap = max(range(1, len(STEPS)), key=lambda f: exact[f] - exact[f - 1])
    stage.equation(
        rf"\text{{exact match}}\;{exact[leap - 1]:.3f}\to{exact[leap]:.3f}\;\;\text{{from step}}\;"
        rf"{STEPS[leap - 1]}\;\text{{to}}\;{STEPS[leap]}",
        f"{now.metric.capitalize()} goes from {other[leap - 1]:.2f} to {other[leap]:.2f} meanwhile.",
    )
    with stage.below:
        ui.notice(
            f"{kept(found)} Both curves are of the same weights. The log-likelihood of an answer starts near "
            f"{4 * 2.565:.1f} nats below 0, where all 13 tokens are equally likely."
        )
        ui.check(
            f"When {now.metric} has gone half of its way: how many sums are right?",
            ["fewer than half", "half or more"],
            "half or more" if lens.halfway(exact, other) else "fewer than half",
            wrong=["A sum needs all its digits at once, so exact match comes later.",
                   "Here the digits come together: exact match has risen as early."],
            veils=("picture", "equation"),
        )  # fmt: skip
        code(f"lens.series({now.order!r}, {now.seed}).values['exact'][:, {n}]", exact)


def own_sum() -> None:
    found = ui.compute(lens.answer, now)
    film = ui.film_of(now, DIGITS)
    with stage.picture:
        ui.figure(
            figures.chances(found), key="chances", share=1.0, film=film,
            alt="Probability of each digit at each place of the answer; frames mark the right digits",
            data={str(d): found.chances[:, d] for d in range(10)},
        )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.told(found), equations=lens.likelihoods(found))
    verdict = "right" if found.says == found.sum else "wrong"
    m = found.metrics
    with stage.below:
        ui.notice(
            f"The model writes {found.written}, which reads {found.says:,}: {verdict}, the sum is "
            f"{found.sum:,}. Exact match {m['exact']:.0f}, digits right {m['accuracy']:.2f}, {LIKELIHOOD} "
            f"{m['log_likelihood']:.3f} nats, Brier score {m['brier']:.3f}. Frames in green mark the right "
            "digits; each row is computed behind what the model itself has written."
        )
        ui.check(
            "Is this sum answered rightly?", ["right", "wrong"], verdict, f"It reads {found.says:,}.",
            wrong=["One wrong digit suffices to make the whole sum wrong.",
                   "All four digits that it writes are those of the sum."],
            veils=("picture", "equation"),
        )  # fmt: skip
        a, b = lens.summands(now.sum)
        code(f"lens.written({now.model!r}, {(a, b)})", found.written)


if now.view == SUM:
    own_sum()
elif now.view == SIZE:
    by_size()
elif now.view == PLACES:
    by_digit()
else:
    along_training()
