"""Attention arithmetic: every matrix of a head or of a block, each cell as a sum with its numbers."""

from typing import Any

from lab import ui
from modules.transformer import attention, block
from pages.transformer.arithmetic import figures, lens, sums
from pages.transformer.arithmetic.room import BLOCK, HEAD, ROOM, comparable

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
one = ui.compute(lens.run, now)
printed = now.printed and comparable(now)
film = ui.film_of(now, len(one.film), names=[lens.name_of(key) for key in one.film])


def press(x: float, y: float) -> dict[str, Any]:
    """The cell that is clicked; its step, where it is computed."""
    found = figures.hit(one, x, y)
    if found is None:
        return {}
    key, row, column = found
    cell = ui.moved(now, token=row + 1, entry=column + 1)
    return cell | ui.moved(now, step=one.film.index(key)) if key in one.film else cell


with stage.picture:
    ui.button_figure(
        figures.canvas(one, now.token, now.entry, printed), key="canvas", share=1.0, film=film, whole=False,
        on_press=press, alt="The matrices on the way, with their numbers; the chosen cell is framed, and "
        "what it is made of",
    )  # fmt: skip
with stage.foot:
    film.bar(
        captions=sums.captions(one, now.token, now.entry, printed),
        equations=sums.equations(one, now.token, now.entry),
    )

head = now.head if now.heads == 2 and now.view == HEAD else 1
compared = ""
if comparable(now):
    number, rounded, wrong = sums.counted(one)
    compared = (
        f"Of {number} numbers that the text prints here {wrong} differ by more than .02 from what its own "
        f"matrices give with these settings, and {rounded} in their last digit. "
    )
    if now.view == BLOCK:
        compared += "It never gives W₁ and W₂ of its feed-forward layer: its F and Z cannot be had again. "
with stage.below:
    ui.notice(
        f"{compared}Click a cell, or choose token and entry: the equation says which numbers it is made of. "
        "Every row of A sums to 1, whatever the scores. The mask adds −∞ before the softmax, so that its "
        "weights are exactly 0. A head never sees more of another token than its value."
    )
    n = len(one.parts["x"].values)
    if n > 1:
        ui.check(
            f"To which token does token {n} attend most in head {head}?",
            [f"token {i + 1}" for i in range(n)],
            f"token {lens.attended(one, head)}",
            "The largest score of a row has the largest weight.",
            wrong=[f"Its weight is {lens.rows_of_weights(one, head)[-1][i]:.3f}." for i in range(n)],
            veils=("picture", "equation"),
        )
    typed = ", ".join(f"lens.matrix({text!r})" for text in (now.inputs, now.W_Q, now.W_K, now.W_V))
    rest = (now.heads, head, now.mask, now.norm, now.scaled, now.columns)
    ui.program(
        f"""
        from pages.transformer.arithmetic import lens

        one = lens.run({now.view!r}, {typed}, *{rest!r})
        result = one.parts[{one.film[film.at]!r}].values.tolist()
        """,
        shows=one.parts[one.film[film.at]].values.tolist(),
    )
    ui.source(
        attention.attention_weights, attention.Attention.forward, block.Block.forward, lens.block_of,
        references=ROOM.references,
    )  # fmt: skip
