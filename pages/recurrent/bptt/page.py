"""BPTT by hand: the terms of a gradient through time as a triangle, summed one after the other."""

from lab import ui
from modules.recurrent import bptt
from pages.recurrent.bptt import figures, lens
from pages.recurrent.bptt.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
    found = ui.compute(lens.summed, now)
film = ui.film_of(now, len(found.places), names=[f"t = {t + 1}, k = {k + 1}" for t, k in found.places])

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.triangle(found), key="triangle", share=1.0, film=film,
            alt="Tiles: the term of the loss of step t by the weights as step k used them, with its norm",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.sums(found), key="sums", share=1.0, film=film,
            alt="The sum of the terms so far, the gradient by autograd, and their difference",
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found, now.sums))

# --- Words --------------------------------------------------------------------------------------

T, N = len(found.terms), len(found.places)
wrong = {
    T * T: "No loss depends on a later step: half of the square is empty.",
    T: "That is the diagonal alone: a loss looks back further than its own step.",
    T * (T + 1) // 2: f"That is the whole triangle; K = {now.truncation} leaves out the longer paths.",
    N + T: "A step counts in its own loss once.",
}
t, k = found.places[film.at]
with stage.below:
    ui.equation(
        lens.partial_equation(found, now.sums, t, k),
        f"The derivative of each unit of h{k + 1} by Wₕ is a matrix.",
    )
    ui.notice(
        f"The number below a tile is the norm of its term. All {N} terms together differ from autograd by "
        f"{found.error:.2g} at most. A term of step k is 0 where the state before k is 0, as it is at k = 1. "
        "One sweep backwards gives the same sum without keeping the terms apart."
    )
    ui.check(
        f"How many terms has the sum over {T} steps, where a loss looks back K = {now.truncation}?",
        sorted({N, *wrong}),
        N,
        f"Step t has min(t, K) of them: {' + '.join(str(min(t, now.truncation)) for t in range(1, T + 1))}.",
        wrong=wrong,
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from pages.recurrent.bptt import lens

        w, x = lens.weights({now.w!r}), lens.inputs({now.x!r})
        found = lens.summed(w, x, {now.sums!r}, {now.truncation})
        result = found.so_far[-1].flatten().tolist()
        """,
        shows=found.so_far[-1].flatten().tolist(),
    )
    ui.source(lens.summed, bptt.triangle, bptt.backpropagate, references=ROOM.references)
