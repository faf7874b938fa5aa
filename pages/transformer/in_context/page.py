"""In-context learning: regression and maps of letters that are learned from the prompt alone."""

from typing import Any

from lab import ui
from modules.transformer.gpt import GPT
from modules.transformer.in_context import InContextRegression, gradient_step, least_squares, ridge
from pages.transformer.in_context import figures, lens, maps
from pages.transformer.in_context.room import FRESH, LINEAR, MAP, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

pair: tuple[tuple[str, Any, str], ...]
model, code = now.maps, ""
shows: Any
sources: tuple[Any, ...]
if now.view == LINEAR:
    found, one = ui.compute(lens.errors, now), ui.compute(lens.answered, now)
    mine = found[lens.OURS]
    film = ui.film_of(now, len(mine), names=range(len(mine)))
    captions, equations = lens.captions(found), lens.equations(found, one)
    pair = (
        ("errors", figures.errors(found), "Mean squared error over shots, with three exact baselines"),
        ("answers", figures.answers(one), "Answer to one question over shots, with its target"),
    )
    model, code = now.linear, f"lens.errors(model, {now.scale_x}, {now.scale_w})['transformer'].tolist()"
    shows, sources = mine.tolist(), (InContextRegression.forward, least_squares, ridge, gradient_step)
    k, best = film.at, float(found["ridge"][film.at])
    words = (
        f"After {k} shots its error is {float(mine[k]):.2f}, {float(mine[k]) / best:.2f} times that of "
        "ridge, the posterior mean of w: no predictor has less on average. The dashed line is "
        f"σ² = {lens.NOISE**2:g}, the "
        "variance of the noise. Least squares fits the noise when there are as many pairs as weights: there "
        "its expected error is infinite. One step has the rate that is best for x of scale 1. The weights "
        "of the network are the same at all points; trained on scales 1 alone, it has learned a regression "
        "for these inputs and no rule for all."
    )
    question: tuple[Any, ...] = (
        "Inputs x are four times as large as in training, noise as before. The error of least squares …",
        ["falls with more shots as before", "grows with the number of shots"],
        "falls with more shots as before",
        "It does not know any scale: with 15 pairs its excess over σ² is the same at all of them. The "
        "transformer's is not.",
        ["", "More pairs never hurt it once there are more than weights."],
    )
elif now.view == MAP:
    asked = ui.compute(maps.answered, now)
    film = ui.film_of(now, len(asked.keys), names=[f"{key}>" for key in asked.keys])
    captions, equations = maps.captions(asked), maps.equations(asked)
    pair = (
        ("looks", figures.looks(asked), "Attention of the question in each head over the prompt"),
        ("candidates", figures.candidates(asked), "The likeliest answers, beside those by Bayes"),
    )
    code = f"maps.answered(model, {now.text!r}, {now.flip}).p[-1].tolist()"
    shows, sources = asked.p[-1].tolist(), (GPT.forward, maps.answered, type(maps.DATA).best)
    last = asked.keys[-1]
    words = (
        "Half of the prompts in training had a substitution of their own, half one of three rules: the same "
        "letter, the next, the one before. A pair that was shown is found by attention and copied: an "
        "induction head looks for what stood before and says what came after. A pair that is missing can "
        "come from the weights alone, where the prompt follows a rule; of a substitution it is a guess."
    )
    if now.flip:
        words += f" Here {maps.flip_said(asked)}."
    p = asked.p[-1].max()
    question = (
        f"Is the answer to the last question, {last}, in the prompt?",
        ["yes", "no"], "yes" if asked.matches(len(asked.keys) - 1) else "no",
        f"The likeliest answer has {float(p):.3f}.",
        [f"{last} was never shown.", f"{last} was shown, its answer behind it."],
    )  # fmt: skip
else:
    rows = ui.compute(maps.shares, now)
    count = len(next(iter(rows.values())))
    film = ui.film_of(now, count, names=range(count))
    captions, equations = maps.share_captions(rows), maps.share_equations(rows)
    pair = (("shares", figures.shares(rows), "Share of right answers over shots"),)
    name = next(iter(rows))
    code = f"maps.shares(model, {now.task!r}, {now.flip})[{name!r}][1:].tolist()"
    shows, sources = rows[name][1:].tolist(), (maps.shares, type(maps.DATA).pairs)
    words = f"{maps.COUNT:,} prompts that were not trained on. " + (
        "Two letters of each have exchanged their answers; asked are those that were shown."
        if now.flip
        else "Letters that were shown need a copy; missing ones need a rule. A substitution has none: "
        "by Bayes a missing letter has one of the answers that were not given yet, all alike."
        if now.task == FRESH
        else "The rule is one of three that the weights know: one pair tells which, if a substitution "
        "did not happen to give it, and missing letters are answered too."
    )
    question = (
        "Which needs the weights and not the prompt alone?",
        ["a letter that was shown", "a letter that is missing"], "a letter that is missing",
        "Its answer stands nowhere in the prompt: a rule must be known.",
        ["Its answer stands in the prompt and is copied.", ""],
    )  # fmt: skip

with stage.picture:
    if len(pair) == 1:
        ((key, figure, alt),) = pair
        ui.figure(figure, key=key, film=film, share=1.0, alt=alt)
    else:
        left, right = ui.columns([2, 1])
        for column, (key, figure, alt) in zip((left, right), pair, strict=True):
            with column:
                ui.figure(figure, key=key, film=film, share=1.0, alt=alt)
with stage.foot:
    film.bar(captions=captions, equations=equations)

with stage.below:
    ui.notice(words)
    asks, options, right_one, why, wrong = question
    ui.check(asks, options, right_one, why, wrong=wrong, veils=(pair[0][0], "equation"))
    place = "lens" if now.view == LINEAR else "maps"
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.transformer.in_context import {place}

        model = weights.load(experiments.find({model!r}).weights).eval()
        result = {code}
        """,
        shows=shows,
    )
    ui.source(*sources, references=ROOM.references)
