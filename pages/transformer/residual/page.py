"""Residual stream: the logit lens over all layers and tokens, and a logit as the sum of what was added."""

from lab import ui
from modules.transformer import tuned_lens
from pages.transformer.residual import figures, lens, spoken
from pages.transformer.residual.room import DIFFERENCE, GRID, LOGIT, RANK, ROOM, TUNED, WHOLE

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    text = ui.compute(lens.read, now)
    if text.strange:
        ui.warning(text.strange)
    if len(text.tokens) > len(text.pieces):
        ui.caption(f"The last {len(text.pieces)} of {len(text.tokens)} tokens are drawn.")
card, T = ui.card(now.model), len(text.pieces)
film = ui.film_of(now, T, names=text.pieces)


def logit_lens() -> None:
    one = ui.compute(lens.grid, now)
    names, L = spoken.named(one, card), len(one.ids) - 1
    reader = now.reader if now.reader in one.kls else LOGIT
    captions, latex = spoken.of_grid(one, text, names, reader)
    label = "1 / rank of the final token" if now.colour == RANK else "probability"
    with stage.picture:
        left, right = ui.columns([3, 1])
        with left:
            ui.figure(
                figures.lens(lens.cell_values(one, now.colour), names, text.pieces, label), key="grid",
                film=film, share=1.0,
                alt=f"The likeliest next token read after each of {L} layers behind each of {T} tokens",
                data={"layer": [l for l in range(L + 1) for _ in range(T)],
                      "token": text.pieces * (L + 1), "next": [n for row in names for n in row],
                      "p": one.p.flatten(), "rank of the final token": one.rank.flatten(),
                      "KL": one.kl.flatten()},
            )  # fmt: skip
        with right:
            if reader == TUNED:
                ui.figure(
                    figures.divergences(one.kls), key="divergences", film=film, share=1.0,
                    alt="KL of the prediction to what both lenses read after each layer",
                    data={"layer": range(L + 1), **{k: v[:, film.at] for k, v in one.kls.items()}},
                )  # fmt: skip
            else:
                ui.figure(
                    figures.through_layers(one.final_p), key="course", film=film, share=1.0,
                    alt="Probability of the finally likeliest token after each layer",
                    data={"layer": range(L + 1), "p": one.final_p[:, film.at]},
                )  # fmt: skip
    with stage.foot:
        says = [{"tokens": f"{t + 1} of {T}", "logits": f"p = {float(one.p[L, t]):.2f}"} for t in range(T)]
        ui.machine(now.model, film=film, lit=["logits"] * T, says=says)
        film.bar(captions=captions, equations=latex)
    with stage.below:
        off = f" Switched off here: {now.without}." if now.without != WHOLE else ""
        ui.notice(spoken.about_lens(one, T) + off)
        settled = next(l for l in range(L + 1) if bool((one.ids[l:, film.at] == one.ids[-1, film.at]).all()))
        options = figures.layer_names(L + 1)
        ui.check(
            f"Behind {text.pieces[film.at]} ({film.at + 1}): from where on is the final token the likeliest?",
            options, options[settled],
            f"There its probability is {float(one.final_p[settled, film.at]):.3f}.",
            wrong={
                name: f"{name.capitalize()}: its rank is {int(one.rank[l, film.at])} there."
                if l < settled
                else f"{name.capitalize()}: it has been first before."
                for l, name in enumerate(options)
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        given = f"model, card, {text.readable!r}, {now.without!r}, {reader!r}"
        program(f"lens.grid({given}).final_p[:, {film.at}]", one.final_p[:, film.at])  # fmt: skip


def parts() -> None:
    one = ui.compute(lens.contributions, now)
    captions, latex = spoken.of_parts(one, text, card, now.target)
    L, H = one.heads.shape[1:]
    label = "lead in logits" if now.target == DIFFERENCE else "logit"
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.terms(one.heads, one.mlp), key="terms", film=film, share=1.0,
                alt=f"What each of {L} × {H} heads and {L} MLPs adds to the {label}",
                data={"layer": [l + 1 for l in range(L) for _ in range(H + 1)],
                      "part": [*(str(h + 1) for h in range(H)), "MLP"] * L,
                      "adds": [v for l in range(L)
                               for v in (*one.heads[film.at, l].tolist(), float(one.mlp[film.at, l]))]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.running(one.running, label), key="running", film=film, share=1.0,
                alt=f"The {label} as the sum of all terms up to each layer",
                data={"layer": range(L + 1), "sum": one.running[film.at]},
            )  # fmt: skip
    with stage.foot:
        says = [
            {"attention": f"{float(one.heads[t].sum()):+.1f}", "mlp": f"{float(one.mlp[t].sum()):+.1f}",
             "logits": f"{float(one.total[t]):.1f}"}
            for t in range(T)
        ]  # fmt: skip
        ui.machine(now.model, film=film, lit=[("attention", "mlp")] * T, says=says)
        film.bar(captions=captions, equations=latex)
    heads, mlp = float(one.heads[film.at].sum()), float(one.mlp[film.at].sum())
    with stage.below:
        ui.notice(
            "Embedding, heads, MLPs and biases sum to the logit, because all of them were added to one "
            "stream and the head is linear. Only the last LayerNorm is not: its divisor is taken as it is in "
            "this pass. A term is a direct effect: what a head does for later layers is not in it."
        )
        ui.check(
            f"Behind {text.pieces[film.at]} ({film.at + 1}): which add more to the {label}, all heads or all "
            "MLPs?",
            ["heads", "MLPs"], "heads" if heads > mlp else "MLPs",
            f"Heads add {heads:+.2f}, MLPs {mlp:+.2f}.",
            wrong=[f"All heads add {heads:+.2f}.", f"All MLPs add {mlp:+.2f}."],
            veils=("picture", "equation"),
        )  # fmt: skip
        program(f"lens.contributions(model, card, {text.readable!r}, {now.target!r}).running[{film.at}]",
                one.running[film.at])  # fmt: skip


def program(expression: str, shows: object) -> None:
    """The lines that give what is shown."""
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.transformer.residual import lens

        place = {ui.spelled(now.model)}
        model, card = weights.load(place), weights.read_card(place)
        result = {expression}
        """,
        shows=shows,
    )


if now.view == GRID:
    logit_lens()
else:
    parts()
with stage.below:
    ui.source(lens.grid, tuned_lens.fit, lens.contributions, references=ROOM.references)
