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
    found, film = ui.compute(lens.distributions, now), ui.film_of(now, len(WEIGHTS))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            every = lens.bells(found.mean[:1] * 0, (found.sd[:1] * 0 + 1 + now.s**2).sqrt())[0]
            sampled = lens.bells(found.mean, found.sd.clamp(min=0.01))
            tilted = lens.bells(found.tilted_mean, found.tilted_sd)
            ui.figure(
                figures.toy(lens.grid(), sampled, tilted, every), key="toy", share=1.0, film=film,
                alt="Densities: all data, the tilted distribution, and what guided sampling reaches",
            )  # fmt: skip
        with right:
            pairs = {"mean": (found.mean, found.tilted_mean), "sd": (found.sd, found.tilted_sd)}
            for key, (mine, theirs) in pairs.items():
                ui.figure(
                    figures.against(WEIGHTS, mine, theirs, key), key=key, share=0.5, film=film,
                    alt=f"{key} of both distributions against the weight",
                )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found), equations=lens.equations(now.led, WEIGHTS))
    at, w = film.at, WEIGHTS[film.at]
    gap = float(found.tilted_sd[at] - found.sd[at])
    stage.metrics(
        {
            "Sampled sd": f"{float(found.sd[at]):.4f}",
            "Tilted sd": f"{float(found.tilted_sd[at]):.4f}",
        }
    )
    answer = "the same" if abs(gap) < 0.02 else "narrower" if gap > 0 else "wider"
    with stage.below:
        ui.notice(f"{lens.notice(found, at, now.led)}{SAID}")
        ui.check(
            f"At w = {w:g}, how is the sampled bell against the tilted one?",
            ["narrower", "the same", "wider"],
            answer,
            f"Its sd is {float(found.sd[at]):.3f}, the tilted one's {float(found.tilted_sd[at]):.3f}.",
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
            found = lens.distributions({now.m}, {now.s}, {now.steps}, {now.led!r})
            result = [float(found.mean[{at}]), float(found.sd[{at}]), float(found.tilted_sd[{at}])]
            """,
            shows=[float(found.mean[at]), float(found.sd[at]), float(found.tilted_sd[at])],
        )
        ui.source(
            guidance.classifier_free_guidance,
            guidance.classifier_guidance,
            lens.distributions,
            references=ROOM.references,
        )


def show_digits(found: dict[str, lens.Drawn], film: ui.Film | None = None) -> None:
    """The sheet of one weight and way, and both measures of all."""
    mine = found[now.way]
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
            values = {way: getattr(each, key) for way, each in found.items()}
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
    found, at = both[now.way], film.at
    names = (now.model, now.classifier, now.judge)
    with stage.foot:
        says = [{"said": f"w = {w:g}"} for w in LEANS]
        ui.machine(now.model, film=film, lit=[["net", "said"]] * film.count, says=says)
        film.bar(captions=lens.digit_captions(found), equations=lens.equations(now.way, LEANS))
    with stage.below:
        ui.notice(lens.digit_notice(both, now.way, names) + SAID)
        ui.check(
            f"At w = {LEANS[at]:g}, how many of the {lens.COUNT} are judged of the class asked for?",
            lens.RIGHT,
            lens.right(found, at),
            f"{round(lens.COUNT * float(found.right[at]))}.",
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
            *_, (_, found) = lens.drawing(model, classifier, judge, {now.seed})
            result = [float(found[{now.way!r}].right[{at}]), float(found[{now.way!r}].spread[{at}])]
            """,
            shows=[float(found.right[at]), float(found.spread[at])],
        )
        ui.source(
            guidance.classifier_free_guidance,
            guidance.classifier_guidance,
            lens.led_by,
            lens.drawing,
            references=ROOM.references,
        )


def show_rows(found: lens.Rows, film: ui.Film | None = None) -> None:
    """The rows at a time t, and how much the digits of each differ, along t."""
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.named_rows(found.noisy, ROW_WEIGHTS), key="rows", share=1.0, film=film,
            alt="Digits of one class, a row for each weight w, a column for each start",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.narrowing(found.times, lens.alike(found), ROW_WEIGHTS), key="alike", share=1.0, film=film,
            alt="Standard deviation of a pixel among the digits of each row, along t",
        )  # fmt: skip


def draw_rows() -> None:
    """Digits of one class from the same noise, a row for each weight."""
    with stage.picture:
        found = ui.compute(lens.rows_of, now, says="Digits, when they are out of noise.", show=show_rows)
        film = ui.film_of(now, len(found.times), values=range(len(found.times)), names=found.times)
        show_rows(found, film)
    names = (now.mnist, now.referee)
    with stage.foot:
        lit = ["xt", *["net"] * (film.count - 1)]
        ui.machine(now.mnist, film=film, lit=lit, says=lens.row_numbers(found))
        film.bar(captions=lens.row_captions(found))
    with stage.below:
        ui.notice(lens.row_notice(found, now.digit, names) + SAID)
        ui.check(
            "In which row are the digits most alike at the end?",
            [f"w = {w:g}" for w in ROW_WEIGHTS],
            lens.most_alike(found),
            f"A pixel's sd is least at {lens.most_alike(found)}: {float(lens.alike(found)[-1].min()):.3f}.",
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
            *_, (_, found) = lens.rows_of(*map(weights.load, {names}), {now.digit}, {now.seed})
            result = lens.alike(found)[-1].tolist()
            """,
            shows=lens.alike(found)[-1].tolist(),
        )
        ui.source(guidance.classifier_free_guidance, lens.rows_of, references=ROOM.references)


if now.view == GAUSSIANS:
    draw_toy()
elif now.view == DIGITS:
    draw_digits()
else:
    draw_rows()
