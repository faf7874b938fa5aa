"""Judge: any trained generator of digits under the same measures, and what each does not detect."""

from dataclasses import replace

from lab import ui
from lab.figures import sheets
from lab.lenses import generated, stock, verdicts
from lab.lenses.machine import sample_of
from modules.adversarial import metrics
from pages.adversarial.judge import figures, lens, words
from pages.adversarial.judge.room import LARGE, NOTHING, REAL, REAL_MNIST, ROOM, SHARES, SHELF, SHELF_MNIST


def as_drawn(name: str) -> list[verdicts.Verdict]:
    """Verdicts on another generator, by k."""
    return ui.compute(lens.verdicts_by_k, replace(now, model=name))


stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
large = now.network == LARGE
real, side = (REAL_MNIST, 28) if large else (REAL, 8)
with stage.picture:
    says = "Thirty of five hundred samples, when they are drawn."
    quick = not ui.compute(generated.slow, now)
    drawn = ui.compute(lens.drawing, now, says=says, label="Draw", quick=quick)
k = now.k - 1
result, plain = (lens.kept_story(drawn, change, now.seed) for change in (now.change, NOTHING))
floor, text = as_drawn(real)[k], result.verdicts[k]
everyone = {real: floor, now.model: plain.verdicts[k][0]}
if now.all:
    names = (real, *(SHELF_MNIST if large else SHELF))
    with stage.rail:
        everyone |= ui.job(
            "Evaluate all", lambda: lens.judging(names, now.k, as_drawn), key="judging",
            of=(names, now.k, now.seed), at_once=True,
        ) or {}  # fmt: skip
film = ui.film_of(now, len(SHARES))
one = text[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(sheets.film(result.sheets, 6), key="sheet", share=1.0, film=film,
                  alt="Thirty samples of the generator")  # fmt: skip
    with right:
        ui.figure(figures.plane(everyone, now.model, text, real), key="plane", share=0.62, film=film,
                  alt="Precision against recall of the generators")  # fmt: skip
        ui.figure(figures.classes(text), key="classes", share=0.38, film=film,
                  alt="Share of each class among the samples")  # fmt: skip
with stage.foot:
    if sample := ui.compute(sample_of, now):
        parts = [{sample: f"recall {v.recall:.2f}"} for v in text]
        ui.machine(now.model, film=film, lit=[sample] * film.count, says=parts)
    film.bar(captions=words.captions(text, now.change, floor), equations=words.equations(text, floor))

# --- Words --------------------------------------------------------------------------------------

accuracy = ui.compute(lens.accuracy, now)
spoiled = now.change != NOTHING and film.at > 0
source = repr(real) if now.model == real else ui.spelled(now.model)
with stage.below:
    ui.table(
        {
            "generator": list(everyone),
            **{label: [f"{getattr(v, measure):.3f}" for v in everyone.values()]
               for label, measure in (("FD", "frechet"), ("precision", "precision"), ("recall", "recall"),
                                      ("inception score", "score"), ("repeated", "repeated"))},
        },
        alt="All measures of all generators", key="table",
    )  # fmt: skip
    ui.notice(
        f"{verdicts.DRAWN} samples of each generator, in black and white, are compared with {verdicts.DRAWN} "
        f"training digits. The features are the 64 means of the last maps of {now.network}, which classifies "
        f"{accuracy:.1%} of held-out digits correctly; Inception is not used. The inception score does not "
        "measure the variety within a class; precision misses missing classes, recall misses junk, and also "
        "copies where a few samples with large balls cover them. The Fréchet distance reacts to all of these "
        "and does not say to which; between equal distributions it is above 0, by about 1/n."
        + ("" if not large or stock.has_mnist() else words.WITHOUT_MNIST)
    )
    ui.check(
        "Which has fallen further?" if spoiled else "Which of the two is lower here?",
        words.OPTIONS if spoiled else words.LOWER,
        words.fallen(text[0], one) if spoiled else words.lower(one),
        f"Precision is {one.precision:.3f}, recall {one.recall:.3f}; at share 0 they are "
        f"{text[0].precision:.3f} and {text[0].recall:.3f}.",
        wrong={
            "precision": "Precision asks whether samples lie among real digits: missing variety does not "
            "lower it.",
            "recall": "Recall asks whether real digits lie among the samples: junk does not lower it.",
            words.OPTIONS[2]: "They do not fall together: each misses the failure that the other detects.",
            words.LOWER[2]: "The two need not be equal: each misses the failure that the other detects.",
        },
        veils=("picture", "equation", "table"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import verdicts
        from pages.adversarial.judge import lens

        network = weights.load({now.network!r})
        pictures = verdicts.drawn_by({source}, {now.seed})
        pictures = lens.changed(network, pictures, {now.change!r}, {film.value!r}, {now.seed})
        said = verdicts.evaluate(network, verdicts.digits("train", {side}), pictures, {now.k})
        result = [said.precision, said.recall, said.frechet, said.score]
        """,
        shows=[one.precision, one.recall, one.frechet, one.score],
    )
    ui.source(metrics.precision_recall, metrics.frechet, metrics.inception_score, references=ROOM.references)
