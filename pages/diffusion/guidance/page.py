"""Guidance: a denoiser guided to a class, where the exact answer is known, and on digits."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import guidance
from pages.diffusion.guidance import figures, lens
from pages.diffusion.guidance.room import DIGITS, GAUSSIANS, GUIDED, LEANS, ROOM, ROW_WEIGHTS, WEIGHTS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def draw_toy() -> None:
    """Two distributions of one dimension, weight by weight."""
    result, film = ui.compute(lens.distributions, now), ui.film_of(now, len(WEIGHTS))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            every = lens.bells(result.mean[:1] * 0, (result.sd[:1] * 0 + 1 + now.s**2).sqrt())[0]
            sampled = lens.bells(result.mean, result.sd.clamp(min=0.01))
            tilted = lens.bells(result.tilted_mean, result.tilted_sd)
            ui.figure(
                figures.toy(lens.grid(), sampled, tilted, every), key="toy", share=1.0, film=film,
                alt="Densities: all data, the tilted distribution, and what guided sampling reaches",
            )  # fmt: skip
        with right:
            pairs = {"mean": (result.mean, result.tilted_mean), "sd": (result.sd, result.tilted_sd)}
            for key, (mine, theirs) in pairs.items():
                ui.figure(
                    figures.against(WEIGHTS, mine, theirs, key), key=key, share=0.5, film=film,
                    alt=f"{key} of both distributions against the weight",
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(result), equations=lens.equations(now.led, WEIGHTS))
    at, w = film.at, WEIGHTS[film.at]
    gap = float(result.tilted_sd[at] - result.sd[at])
    stage.metrics(
        {
            "Sampled sd": f"{float(result.sd[at]):.4f}",
            "Tilted sd": f"{float(result.tilted_sd[at]):.4f}",
        }
    )
    answer = "the same" if abs(gap) < 0.02 else "narrower" if gap > 0 else "wider"
    with stage.below:
        ui.notice(f"{lens.notice(result, at, now.led)}{SAID}")
        ui.check(
            f"At w = {w:g}, how is the sampled bell against the tilted one?",
            ["narrower", "the same", "wider"],
            answer,
            f"Its sd is {float(result.sd[at]):.3f}, the tilted one's {float(result.tilted_sd[at]):.3f}.",
            wrong={
                "narrower": "Guidance narrows by pulling: where w is 0 there is no pull, and below 0 it "
                "pushes.",
                "the same": "The guided score is that of the tilted distribution without noise alone: under "
                "noise the two part.",
                "wider": "Under noise guidance pulls harder to the class than the tilted distribution, not "
                "less.",
            },
            veils=("picture", "equation", "numbers"),
        )
        ui.program(
            f"""
            from pages.diffusion.guidance import lens
            distributions = lens.distributions({now.m}, {now.s}, {now.steps}, {now.led!r})
            result = [float(distributions.mean[{at}]), float(distributions.sd[{at}]),
                float(distributions.tilted_sd[{at}])]
            """,
            shows=[float(result.mean[at]), float(result.sd[at]), float(result.tilted_sd[at])],
        )
        ui.source(
            guidance.classifier_free_guidance,
            guidance.classifier_guidance,
            lens.distributions,
            references=ROOM.references,
        )


def show_digits(result: dict[str, lens.Drawn], film: ui.Film | None = None) -> None:
    """The sheet of one weight and way, and both measures of all."""
    mine = result[now.way]
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.digits(mine.pictures), key="digits", share=1.0, film=film,
            alt="Forty digits, a column a class, at this weight",
        )  # fmt: skip
    with right:
        for key, label, top in (
            ("right", "of the class asked for", 1.05),
            ("spread", "sd within a class", 0.25),
        ):
            values = {way: getattr(each, key) for way, each in result.items()}
            fig = figures.by_weight(LEANS[: len(mine.right)], values, now.way, label, top)
            alt = f"{label} against the weight w, by both kinds of guidance"
            ui.figure(fig, alt=alt, key=key, share=0.5, film=film)


def draw_digits() -> None:
    """Digits of every class from the same noise, weight by weight, led either way."""
    with stage.picture:
        both = ui.compute(
            lens.drawing, now, label="Draw", show=show_digits,
            says="Forty digits for each weight, when they are drawn.",
        )  # fmt: skip
        film = ui.film_of(now, len(LEANS))
        show_digits(both, film)
    result, at = both[now.way], film.at
    names = (now.model, now.classifier, now.judge)
    with stage.foot:
        says = [{"said": f"w = {w:g}"} for w in LEANS]
        ui.machine(now.model, film=film, lit=[["net", "said"]] * film.count, says=says)
        film.bar(captions=lens.digit_captions(result), equations=lens.equations(now.way, LEANS))
    with stage.below:
        ui.notice(lens.digit_notice(both, now.way, names) + SAID)
        ui.check(
            f"At w = {LEANS[at]:g}, how many of the {lens.COUNT} are judged of the class asked for?",
            lens.RIGHT,
            lens.right(result, at),
            f"{round(lens.COUNT * float(result.right[at]))}.",
            wrong=(
                "At w = 0 a class is asked for already, and w only adds to it."
                if now.way == GUIDED
                else "The model is conditional: it makes the class asked for by itself, and w only adds to "
                "it.",
                "From a class forgotten to a class obeyed is a short way in w: it is not half done here.",
                "At so small a w the class is hardly asked for.",
            ),
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.guidance import lens
            model, classifier, judge = map(weights.load, {names})
            *_, (_, pictures) = lens.drawing(model, classifier, judge, {now.seed})
            result = [float(pictures[{now.way!r}].right[{at}]), float(pictures[{now.way!r}].spread[{at}])]
            """,
            shows=[float(result.right[at]), float(result.spread[at])],
        )
        ui.source(
            guidance.classifier_free_guidance,
            guidance.classifier_guidance,
            lens.led_by,
            lens.drawing,
            references=ROOM.references,
        )


def show_rows(rows: lens.Rows, film: ui.Film | None = None) -> None:
    """The rows at a time t, and how much the digits of each differ, along t."""
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.named_rows(rows.noisy, ROW_WEIGHTS), key="rows", share=1.0, film=film,
            alt="Digits of one class, a row for each weight w, a column for each start",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.narrowing(rows.times, lens.alike(rows), ROW_WEIGHTS), key="alike", share=1.0, film=film,
            alt="Standard deviation of a pixel among the digits of each row, along t",
        )  # fmt: skip


def draw_rows() -> None:
    """Digits of one class from the same noise, a row for each weight."""
    with stage.picture:
        result = ui.compute(lens.rows_of, now, says="Digits, when they are out of noise.", show=show_rows)
        film = ui.film_of(now, len(result.times), values=range(len(result.times)), names=result.times)
        show_rows(result, film)
    names = (now.mnist, now.referee)
    with stage.foot:
        lit = ["xt", *["net"] * (film.count - 1)]
        ui.machine(now.mnist, film=film, lit=lit, says=lens.row_numbers(result))
        film.bar(captions=lens.row_captions(result))
    with stage.below:
        ui.notice(lens.row_notice(result, now.digit, names) + SAID)
        ui.check(
            "In which row are the digits most alike at the end?",
            [f"w = {w:g}" for w in ROW_WEIGHTS],
            lens.most_alike(result),
            f"A pixel's sd is least at {lens.most_alike(result)}: {float(lens.alike(result)[-1].min()):.3f}.",
            wrong={
                f"w = {w:g}": (
                    "Without guidance the digits of a class differ most."
                    if w == 0
                    else f"Compare the ends of the lines: another row ends below w = {w:g}."
                )
                for w in ROW_WEIGHTS
            },
            veils=("alike", "equation"),
        )
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.guidance import lens
            *_, (_, rows) = lens.rows_of(*map(weights.load, {names}), {now.digit}, {now.seed})
            result = lens.alike(rows)[-1].tolist()
            """,
            shows=lens.alike(result)[-1].tolist(),
        )
        ui.source(guidance.classifier_free_guidance, lens.rows_of, references=ROOM.references)


if now.view == GAUSSIANS:
    draw_toy()
elif now.view == DIGITS:
    draw_digits()
else:
    draw_rows()
