"""Activation patching: what one activation of the clean run restores in the corrupted run, place by place."""

from typing import Any

from lab import ui
from pages.transformer.patching import figures, lens
from pages.transformer.patching.room import HEADS, PARTS, ROOM, STREAM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
one = ui.compute(lens.patch, now)
R, K = one.map.patched.shape
column, start = min(now.column, K) - 1, one.prompts.start
film = ui.film_of(now, R, names=one.rows)
answer, other = one.answers
with stage.rail:
    if now.view != HEADS and start:
        ui.caption(f"The first {start} tokens agree: nothing differs there, and r is 0.")


def press(x: int, y: int) -> dict[str, Any]:
    """Controls that a click on a cell sets."""
    return ui.moved(now, column=x + 1, layer=R - 1 - y)


maps = {
    "patched": (one.map.recovered, "Patched: share r restored", "Share of the lead that a patch restores"),
    "gradient": (
        one.map.approximation,
        "Gradient: r̂" if one.map.correlation is None
        else f"Gradient: r̂, correlation {one.map.correlation:.2f}",
        "Share of the lead that the gradient predicts",
    ),
}  # fmt: skip
with stage.picture:
    for place, (key, (values, title, alt)) in zip(ui.columns(2), maps.items(), strict=True):
        with place:
            ui.button_figure(
                figures.shares(values, one.rows, one.columns, column, title,
                               "head" if now.view == HEADS else "token, clean over corrupted"),
                key=key, share=1.0, film=film, on_press=press,
                alt=f"{alt}, {len(one.rows)} rows from {one.rows[0]} to {one.rows[-1]}, {K} columns",
                data={"row": [row for row in one.rows for _ in range(K)],
                      "column": [" / ".join(names) for names in one.columns] * R, "share": values.flatten()},
            )  # fmt: skip
parts = {
    STREAM: ["embedding", *(("attention", "mlp"),) * (R - 1)],
    PARTS: ["attention" if "attention" in row else "mlp" for row in one.rows],
    HEADS: ["attention"] * R,
}[now.view]
with stage.foot:
    ui.machine(
        now.model, film=film, lit=parts,
        says=[{"logits": f"d = {lens.decimals(d)}"} for d in one.map.patched[:, column].tolist()],
    )  # fmt: skip
    film.bar(captions=lens.captions(one, column, now.view), equations=lens.equations(one, column))

best = [int(row.argmax()) for row in one.map.recovered]
said = ["/".join(names) for names in one.columns]
with stage.below:
    ui.notice(
        f"d is the logit of “{answer}” minus that of “{other}”: {lens.decimals(one.map.clean)} behind the "
        f"clean prompt, {lens.decimals(one.map.corrupted)} behind the corrupted one. r = 0: the patch "
        "changes nothing; r = 1: it restores the clean lead; shares of several places need not add up to 1. "
        "A patch at a low layer works through all that reads it later. The gradient asks what a very small "
        "part of the patch would do, for all places in one backward pass; it is wrong where the model is far "
        "from linear between both activations."
    )
    ui.check(
        f"{lens.begun(one.rows[film.at])}: in which column does a patch restore most?",
        said if len(set(said)) == K else (said := [f"{name} ({k + 1})" for k, name in enumerate(said)]),
        said[best[film.at]],
        f"There r = {lens.decimals(float(one.map.recovered[film.at, best[film.at]]))}.",
        wrong=[f"Column {k + 1}: r = {lens.decimals(r)}."
               for k, r in enumerate(one.map.recovered[film.at].tolist())],
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from pages.transformer.patching import lens

        place = {ui.spelled(now.model)}
        model, card = weights.load(place), weights.read_card(place)
        found = lens.patch(model, card, {now.prompts!r}, {answer!r}, {other!r}, {now.view!r})
        result = found.map.recovered[:, {column}]
        """,
        shows=one.map.recovered[:, column],
    )
    ui.source(lens.patch, references=ROOM.references)
