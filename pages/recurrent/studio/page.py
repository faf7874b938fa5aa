"""Character studio: an LSTM writes behind a prime, beside counts and a transformer; how far back it reads."""

from lab import ui
from lab.lenses import through_time
from modules.language import decoding
from modules.recurrent.language_model import RecurrentDecoder, RecurrentLM
from pages.recurrent.studio import figures, lens
from pages.recurrent.studio.room import PAST, ROOM, SAMPLE

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    model = now.model if now.view == SAMPLE else now.lstm
    if strange := lens.says(ui.card(model), now.text):
        ui.caption(strange)

# --- Pictures -----------------------------------------------------------------------------------

if now.view == PAST:
    found = ui.compute(lens.influence, now)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.by_lag(found), key="lags", share=1.0,
                alt="Mean change of log p when a character is replaced, over how far back it stands",
                data={"lag": list(range(1, 1 + len(found.by_lag["LSTM"]))), **found.by_lag},
            )  # fmt: skip
        with right:
            ui.figure(figures.grid(found), key="grid", share=1.0,
                      alt="Change of log p of each character by each one before it, of the LSTM")  # fmt: skip
    with stage.foot:
        ui.machine(model, lit=["cell"], says=[{"x": f"{len(found.names)} characters"}])
    lstm = found.by_lag["LSTM"]
    stage.equation(
        r"\Delta_k = \overline{\left|\log p(x_t \mid x_{<t}) - \log p(x_t \mid x_{<t}, x'_{t-k})\right|},"
        rf"\quad \Delta_1 = {float(lstm[0]):.3f},\ \Delta_{{{len(lstm)}}} = {float(lstm[-1]):.3f}",
        f"The LSTM's, in nats: means over the places of a text of {len(found.names)} characters, "
        f"{lens.ALTERED} other characters each.",
    )
else:
    results = {"LSTM": ui.compute(lens.one, now)} if now.view == SAMPLE else ui.compute(lens.three, now)
    main = results["LSTM"]
    film = ui.film_of(now, now.length, names=[str(i) for i in range(1, now.length + 1)])
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.texts(results), key="texts", share=1.0, film=film,
                alt="The prime, underlined, and what is written behind it, coloured by −log p",
                data={"model": [name for name, one in results.items() for _ in one.names],
                      "character": [c for one in results.values() for c in one.names],
                      "log p": [float(v) for one in results.values() for v in one.log_p]},
            )  # fmt: skip
        with right:
            if now.view == SAMPLE:
                ui.figure(figures.best(main), key="best", share=1.0, film=film,
                          alt="The five most probable characters at this place")  # fmt: skip
            else:
                ui.figure(
                    figures.means({name: lens.running(one) for name, one in results.items()}),
                    key="means", share=1.0, film=film,
                    alt="Mean −log p of the characters drawn so far, of each model's own text",
                )  # fmt: skip
    with stage.foot:
        drawn = main.log_p[main.begun :].exp().tolist()
        ui.machine(model, film=film, lit=[("cell", "logits")] * film.count,
                   says=[{"x": name, "logits": f"p = {p:.2f}"}
                         for name, p in zip(main.names[main.begun :], drawn, strict=True)])  # fmt: skip
        film.bar(captions=lens.captions(main), equations=lens.equations(main))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if now.view == PAST:
        order = ui.load(now.ngram).order
        ui.notice(
            f"Counts of {order} see {order - 1} characters: a change farther back changes nothing, and their "
            "line ends. The state of the LSTM has no such edge, and the transformer none within its "
            f"{len(found.names)} characters. A text and its replacements are one draw: the curves are rough "
            "where few places are left to average."
        )
        last = {name: float(values[-1]) for name, values in found.by_lag.items()}
        ui.check(
            f"Of which models does log p depend on the character {len(lstm)} back?",
            ["of all three", "of none", "of LSTM and transformer"], "of LSTM and transformer",
            "Mean changes: " + ", ".join(f"{name} {value:.4f}" for name, value in last.items()) + " nats.",
            wrong={
                "of all three": f"Counts of {order} do not hold a character so far back.",
                "of none": "A state and attention carry something of every character.",
                "of LSTM and transformer": "",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.recurrent.studio import lens

            places = [experiments.find(name).weights for name in {(now.lstm, now.gpt, now.ngram)!r}]
            models = [weights.load(place).eval() for place in places]
            card = weights.read_card(places[0])
            found = lens.influence(*models, card, {now.text!r}, {now.t!r}, {now.seed})
            result = found.by_lag["LSTM"]
            """,
            shows=lstm,
        )
        ui.source(
            lens.influence, lens.changes, through_time.replacing, lens.log_p, references=ROOM.references
        )
    else:
        ends = {name: float(lens.running(one)[-1]) for name, one in results.items()}
        told = ", ".join(f"{name} {value:.2f}" for name, value in ends.items())
        ui.notice(
            f"Mean −log p of what was drawn at T = {now.t:g}: {told} nats per character. The temperature "
            "changes this number: how good a model is, is measured on text that it has not written. "
            "Hover a character for the five most probable in its place."
        )
        at = main.begun + film.at
        same = main.best[at][0] == main.names[at]
        ui.check(
            "Was the character drawn here the most probable one?", ["yes", "no"], "yes" if same else "no",
            f"The most probable was {main.best[at][0]} with {float(main.best_p[at, 0]):.3f}; "
            f"drawn was {main.names[at]} with {float(main.log_p[at].exp()):.3f}.",
            wrong={
                "yes": "A draw takes the most probable character only as often as its probability says.",
                "no": "A draw may well be the most probable character.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.recurrent.studio import lens

            place = experiments.find({model!r}).weights
            model, card = weights.load(place).eval(), weights.read_card(place)
            written = lens.one(model, card, {now.text!r}, {now.length}, {now.t!r}, {now.seed})
            result = written.log_p
            """,
            shows=main.log_p,
        )
        ui.source(lens.write, decoding.stream, RecurrentDecoder.step, RecurrentLM.forward,
                  references=ROOM.references)  # fmt: skip
