"""Long-lag bench: a cell learns to recall a symbol, watched and wound back; what five seeds of each did."""

from lab import ui
from lab.lenses.rewind import Run, spell
from modules.recurrent.lstm import LSTMCell
from modules.recurrent.rnn import RNNCell
from pages.recurrent.recall import figures, lens
from pages.recurrent.recall.room import BENCH, MOST, ROOM, STRIDE, WITHIN

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    if now.view != BENCH:
        recipe = lens.RecallRecipe(now.cell, now.lag, now.seed)
        knobs = {name: getattr(now, name) for name in WITHIN}
        live = ui.rewind(recipe, knobs, within=WITHIN, most=MOST, label="Step", every=STRIDE)

if now.view == BENCH:
    found = lens.bench()
    starts = list(dict.fromkeys(name for name, _ in found))
    with stage.picture:
        ui.figure(
            figures.bench(found), key="bench", share=1.0,
            alt="Of five seeds, how many recall the symbol, by cell and start and by lag",
            data={"cell and start": [name for name, _ in found], "lag": [lag for _, lag in found],
                  "seeds": [kept.succeeded for kept in found.values()],
                  "median steps": [kept.steps for kept in found.values()]},
        )  # fmt: skip
    longest = max(lag for _, lag in found)
    with stage.below:
        ui.notice(
            f"Each number counts the trainings of {next(iter(found.values())).seeds} seeds that recall at "
            f"least 95 % of 1,000 test sequences within 3,000 steps. At lag {longest} all seeds recall from "
            f"{len(lens.always(longest))} of {len(starts)} starts: {'; '.join(lens.always(longest))}. The "
            "same cells from the other start recall in fewer seeds or in none: the gap is one of the start "
            "as much as of the cell."
        )
        never = [name for name in starts if not found[name, 20].succeeded]
        ui.check(
            "Which of these starts never recalls at lag 20?", starts, never[0],
            f"Its trainings end with {found[never[0], 20].right}.",
            wrong={name: f"{name} recalls in {found[name, 20].succeeded} of its seeds." for name in starts},
            veils=("picture",),
        )  # fmt: skip
        ui.program(
            """
            from pages.recurrent.recall import lens

            result = [kept.succeeded for kept in lens.bench().values()]
            """,
            shows=[kept.succeeded for kept in found.values()],
        )
        ui.source(lens.bench, LSTMCell, RNNCell, references=ROOM.references)
else:

    def draw(live: ui.Rewind) -> None:
        frames, film = live.frames, live.film
        steps = [number * STRIDE for number in range(len(frames))]
        turned = [part.start * STRIDE for part in live.run.history[1:]]
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.course(frames, steps, turned, (live.until or MOST) * STRIDE), key="course",
                share=1.0, film=film,
                alt="Share of new sequences that are right, and the loss, over the steps of training",
                data={"step": steps, "right": [float(f["right"]) for f in frames],
                      "loss": [float(f["loss"]) for f in frames]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.inside(frames, recipe.gates), key="inside", share=1.0, film=film,
                alt="Norm of the gradient at each step of the sequence, and the means of the gates",
            )  # fmt: skip
        film.bar(captions=lens.captions(frames, live.knobs), equations=lens.equations(frames))

    with stage.picture:
        live.show(draw)
    shown = live.run.frames()
    at = min(live.film.at, len(shown) - 1)
    ratio = lens.arrives(shown[at])
    with stage.below:
        ui.notice(
            "The loss is at the query alone: what a cell learns of the symbol passes through "
            f"{now.lag} steps. Where nothing of the gradient arrives, the cell first learns how often each "
            "symbol comes, which is guessing. A norm is taken over all sequences together; the state of an "
            "LSTM is h and its memory. A clipped gradient keeps its direction; Adam divides by the usual "
            "size of a gradient, so that clipping changes little unless some are far larger than others. "
            f"This history takes {live.run.size() / 2**20:.1f} MB."
        )
        ui.check(
            "At the frame shown: how much of the gradient at the query reaches the symbol?",
            lens.OPTIONS, lens.answer(ratio), f"Their ratio is {ratio:.2g}.",
            wrong={
                lens.OPTIONS[0]: "The factors of the steps are near 1, or above: the gradient arrives.",
                lens.OPTIONS[1]: f"The factor of a step would lie between {1e-3 ** (1 / now.lag):.2f} and 1.",
                lens.OPTIONS[2]: "For that the steps would have to lengthen the gradient.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab.lenses import rewind
            from pages.recurrent.recall import lens
            from pages.recurrent.recall.room import WITHIN

            recipe = lens.RecallRecipe({now.cell!r}, {now.lag}, {now.seed})
            course = rewind.parse({spell(live.run.history)!r}, WITHIN, {MOST})
            run = rewind.Store().run(recipe, course)
            run.advance({at}, seconds=600)
            result = [run.frames()[{at}]["right"], run.frames()[{at}]["loss"]]
            """,
            shows=[shown[at]["right"], shown[at]["loss"]],
        )
        ui.source(lens.RecallRecipe, lens.through_time, LSTMCell.pull_back, Run.train,
                  references=ROOM.references)  # fmt: skip
