"""Recurrence: one cell over a text, its gates and units; units that tell marked characters from
others."""

from lab import ui
from lab.lenses import text as texts
from modules.recurrent.lstm import LSTMCell
from modules.recurrent.stack import Recurrent
from pages.recurrent.recurrence import figures, finding, lens
from pages.recurrent.recurrence.room import FIND, NAMES, NOTHING, OWN, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    card, H = ui.card(now.model), lens.last_unit(ui.load(now.model)) + 1
    if now.view != FIND and (strange := lens.says(card, now.text)):
        ui.caption(strange)

# --- Pictures -----------------------------------------------------------------------------------

if now.view == FIND:
    found = ui.compute(finding.find, now)
    unit, area, again = found.units[now.rank - 1], found.chosen[now.rank - 1], found.again[now.rank - 1]
    marked = repr(now.own) if now.kind == OWN else now.kind
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.fired(found, now.rank), key="fired", share=1.0,
                alt=f"Held-out text coloured by the state of unit {unit}; {marked} underlined",
                data={"character": list(found.text), "h": found.h[:, now.rank - 1], "marked": found.marked},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.areas(found.units, found.chosen, found.again, now.rank), key="areas", share=1.0,
                alt="Area under the ROC curve of the best units, here and where they were chosen",
            )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, lit=["cell"], says=[{"cell": f"unit {unit}"}])
    stage.equation(
        rf"\mathrm{{AUC}}_{{{unit}}} = P(h_{{\text{{marked}}}} > h_{{\text{{other}}}}) = {float(area):.3f}"
        rf"\ \text{{before}},\quad {float(again):.3f}\ \text{{here}}",
        f"Marked: {marked}, {found.counts[1]} of {len(found.text)} characters. The unit, one of {H}, is "
        f"chosen on the {finding.CHOSEN_ON} characters before, of which {found.counts[0]} are marked.",
    )
else:
    before = ui.compute(lens.plain, now)
    is_changed = now.clamp or now.freeze != NOTHING
    result = ui.compute(lens.changed, now) if is_changed else before
    was = before if is_changed else None
    known = texts.shown(texts.tokenizer(card).tokens)
    film = ui.film_of(now, len(result.names), names=result.names)
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.unrolled(result, was, now.show, now.unit), key="unrolled", share=1.0, film=film,
                alt=f"{now.show} of unit {now.unit} over the characters, and of the liveliest",
                data={"character": result.names, "value": result.inside[NAMES[now.show]][1:, now.unit]},
            )  # fmt: skip
        with right:
            ui.figure(figures.following(result, was, known), key="next", share=1.0, film=film,
                      alt="Probabilities of the most probable next characters")  # fmt: skip
    with stage.foot:
        numbers = [{"x": name, "cell": f"t = {t}"} for t, name in enumerate(result.names, 1)]
        ui.machine(now.model, film=film, lit=[("cell", "logits")] * film.count, says=numbers)
        film.bar(captions=lens.captions(result, card), equations=lens.equations(result, now.unit, now.clamp))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if now.view == FIND:
        ui.notice(
            "An AUC of 1 or of 0 tells the marked characters from all others by one threshold: the unit is "
            "high there, or low. Nobody asked for such a unit: it came of predicting the next character. Of "
            f"{H} units the best is far from ½ by chance too: it is measured again on text that had no say."
        )
        ui.check(
            f"At the marked characters of this text, is unit {unit} higher or lower than at the others?",
            ["higher", "lower"], "higher" if again > 0.5 else "lower", f"Its AUC is {float(again):.3f}.",
            wrong={
                "higher": "An AUC below ½: a marked character has the smaller state in most pairs.",
                "lower": "An AUC above ½ means that the marked character has the larger state in most.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.recurrent.recurrence import finding
            place = experiments.find({now.model.partition("/")[0]!r}).weights
            piece = finding.piece(weights.load(place).eval(), weights.read_card(place))
            result = finding.find(piece, {now.kind!r}, {now.own!r}).again[{now.rank - 1}]
            """,
            shows=again,
        )
        ui.source(finding.auc, finding.find, finding.marks, references=ROOM.references)
    else:
        moved = lens.distance(result.p, before.p)
        effect = (
            f"The change moves the distributions of the next character by {float(moved.mean()):.3f} in total "
            f"variation on average, and by {float(moved.max()):.3f} at most."
            if is_changed
            else "Freeze a gate or clamp a unit to see what hangs on it."
        )
        ui.notice(
            f"The same {sum(p.numel() for p in lens.top(ui.load(now.model)).parameters()):,} numbers work at "
            "every character: only the state differs. Units are drawn that move most on this text. "
            f"{effect}"
        )
        final = before.p[-1].topk(4).indices.tolist()
        options = [known[k] for k in final]
        ui.check(
            f"As trained, what does the model expect after {''.join(before.names)}?",
            sorted(options), options[0],
            f"It has probability {float(before.p[-1, final[0]]):.3f}.",
            wrong={
                known[k]: f"Its probability is {float(before.p[-1, k]):.3f}: another is likelier here."
                for k in final
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.recurrent.recurrence import lens
            place = experiments.find({now.model.partition("/")[0]!r}).weights
            model, card = weights.load(place).eval(), weights.read_card(place)
            run = lens.changed(
                model, card, {now.text!r}, {now.freeze!r}, {now.frozen}, {now.unit}, {now.clamp}, {now.value}
            )
            result = run.inside["h"][1:, {now.unit}]
            """,
            shows=result.inside["h"][1:, now.unit],
        )
        ui.source(LSTMCell.advance, Recurrent.unroll, lens.run, references=ROOM.references)
