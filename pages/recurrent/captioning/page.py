"""Captioning: γ over a picture while its caption is written; soft beside hard; errors, counted by kind."""

from lab import ui
from modules.recurrent.caption_decoder import AttentiveLSTM
from modules.recurrent.captioning import Captioner
from modules.recurrent.grid_features import GridEncoder, pointing
from modules.recurrent.hard_attention import HardContext
from pages.recurrent.captioning import figures, gallery, lens, spoken
from pages.recurrent.captioning.room import BOTH, DRAWN, ERRORS, ROOM, WORDS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
kind = now.hard.partition("-")[0]  # hard, or collapsed


def load(**names: str) -> str:
    """Beginning of a program: captioners by their names there, and the card of one of soft attention."""
    loaded = "".join(
        f"""
            {kind} = weights.load({ui.spelled(name)}).eval()"""
        for kind, name in names.items()
    )
    return f"""
            from lab import experiments, weights
            from pages.recurrent.captioning import {"lens" if now.view != ERRORS else "gallery"}
            {loaded}
            card = weights.read_card({ui.spelled(now.soft)})"""


# --- Pictures -----------------------------------------------------------------------------------

if now.view == WORDS:
    shown, result = ui.compute(lens.read, now)
    film = ui.film_of(now, len(result.words), names=result.words)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.over(shown, result, film.count), key="over", share=1.0, film=film,
                alt="The scene with squares around the centres of all locations, of area γ; the object that "
                "the word speaks of is framed",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.measures(result), key="measures", share=1.0, film=film,
                alt="Each word: γ in the box of its object beside the box's area; entropy of γ",
                data={"word": result.words, "in box": result.mass.tolist(), "area": result.area.tolist(),
                      "entropy": result.entropy.tolist()},
            )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=[("context", "cell", "logits")] * film.count,
                   says=spoken.readings(result))  # fmt: skip
        film.bar(captions=spoken.captions(shown, result), equations=spoken.equations(result))
elif now.view == BOTH:
    found = ui.compute(lens.compare, now)
    shown, longer = found.picture, max(found.soft.words, found.hard.words, key=len)
    film = ui.film_of(now, len(longer), names=longer)
    with stage.picture:
        names = {"soft": "soft", "hard": kind}
        for column, key, one in zip(ui.columns(2), names, (found.soft, found.hard), strict=True):
            with column:
                ui.figure(
                    figures.over(shown, one, film.count, names[key]), key=key, share=1.0, film=film,
                    alt=f"The scene by attention, {names[key]}, its caption above; squares of area γ",
                )  # fmt: skip
    with stage.foot:
        ui.machine(now.soft, film=film, lit=[("context", "cell", "logits")] * film.count,
                   says=spoken.readings(found.soft, film.count))  # fmt: skip
        film.bar(
            captions=spoken.both_captions(found, film.count),
            equations=spoken.both_equations(found, film.count),
        )
else:
    shown = None

    def draw(counted: gallery.Counted) -> None:
        """The first cases of the chosen captioner, and the counts of both, as far as they are known."""
        cases = counted.soft if now.model == now.soft else counted.hard
        chosen = cases.chosen(now.case)
        left, right = ui.columns([2, 1])
        with left:
            if not chosen:
                ui.caption("No test scene is of this kind: choose another kind, or other test scenes.")
            else:
                pictures = gallery.pictures(ui.card(now.soft), now.test, chosen)
                ui.button_figure(
                    figures.sheet(pictures, cases, chosen), key="sheet", share=1.0, whole=False,
                    on_press=lambda x, y: opened(cases, chosen, pictures.shape[-1], x, y),
                    alt="Test scenes with the gold word and the one that was written; the object framed, a "
                    "square where γ is largest",
                )  # fmt: skip
        with right:
            ui.figure(figures.counts(counted, kind), key="counts", share=1.0,
                      alt=f"First wrong words by kind, soft attention and {kind}")  # fmt: skip

    def opened(cases: gallery.Cases, chosen: list[int], side: int, x: float, y: float) -> dict[str, object]:
        """The scene that is clicked, word by word."""
        number = figures.pressed(x, y, side, chosen)
        if number is None:
            return {}
        return ui.moved(now, view=WORDS, source=now.test, number=number, step=int(cases.step[number]))

    with stage.picture:
        counted = ui.compute(gallery.errors, now, says="Errors by kind.", show=draw)
        draw(counted)
    errors = counted.soft if now.model == now.soft else counted.hard
    with stage.foot:
        ui.machine(now.model, lit=["context"], says=[{"x": f"{len(errors.case):,} scenes"}])
    stage.equation(spoken.errors_equation(errors), "wrong place, wrong name, relation or end; click a scene")

with stage.rail:
    if shown is not None and shown.says:
        ui.caption(shown.says)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if now.view == WORDS:
        ui.notice(spoken.notice(shown, result))
        steps = spoken.candidates(result)
        best = max(steps, key=lambda t: float(result.entropy[t]))
        options = {t: f"{result.words[t]} ({t + 1})" for t in steps}
        ui.check(
            "At which of these words is γ most spread?", list(options.values()), options[best],
            f"Its entropy is {float(result.entropy[best]):.2f} nats.",
            wrong={text: f"The entropy at {text} is {float(result.entropy[t]):.2f} nats."
                   for t, text in options.items()},
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            load(model=now.model)
            + f"""
            shown, written = lens.read(model, card, {now.asked!r})
            result = written.gamma[{film.at}].tolist()
            """,
            shows=result.gamma[film.at].tolist(),
        )
        ui.source(GridEncoder.centres, pointing, AttentiveLSTM.attend, lens.write, references=ROOM.references)
    elif now.view == BOTH:
        ui.notice(spoken.both_notice(found))
        answer = spoken.share(found.right)
        ui.check(
            f"Of {len(lens.DRAWS)} captions by hard attention, each of new draws, how many are right?",
            spoken.SHARES, answer, f"It is {found.right} of {len(lens.DRAWS)}.",
            wrong=spoken.NOT_SO, veils=("picture", "equation"),
        )  # fmt: skip
        sample = ", 'sample', " + str(now.seed) if now.location == DRAWN else ""
        ui.program(
            load(soft=now.soft, hard=now.hard)
            + f"""
            shown = lens.picture(card, {now.asked!r})
            written = lens.write(soft, shown), lens.write(hard, shown{sample})
            result = [each.entropy.mean().item() for each in written]
            """,
            shows=[float(one.entropy.mean()) for one in (found.soft, found.hard)],
        )
        ui.source(HardContext.forward, Captioner.hard_step, lens.write, references=ROOM.references)
    else:
        ui.notice(spoken.errors_notice(errors, counted, now.test))
        ui.check(
            "Of the first wrong words of size, colour or shape, where was most often looked?",
            spoken.ANSWERS, spoken.more_often(errors), "",
            wrong=spoken.not_so(errors), veils=("picture", "equation"),
        )  # fmt: skip
        name = "soft" if now.model == now.soft else "hard"
        ui.program(
            load(soft=now.soft, hard=now.hard)
            + f"""
            *_, (_, found) = gallery.errors(soft, hard, card, {now.test!r})
            result = found.{name}.wrong
            """,
            shows=errors.wrong,
        )
        ui.source(gallery.cases, GridEncoder.inside, pointing, references=ROOM.references)
