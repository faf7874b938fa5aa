"""Norms, pre and post: what statistics depend on, and what their place does to gradients."""

from typing import Any

from lab import ui
from lab.bench import norms as bench
from modules.transformer import block
from pages.transformer.norms import depths, figures, lens
from pages.transformer.norms.room import ADDED, BATCH, DEPTH, DEPTHS, FACTORS, ROOM, VECTOR

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

pair: tuple[tuple[str, Any, str], tuple[str, Any, str]]
film: Any = None
captions: list[str] = []
equations: list[str] = []
arguments = f"{now.gain}, {now.shift}, {now.power}"
if now.view == VECTOR:
    one = ui.compute(lens.vector, now)
    pair = (
        ("given", figures.given(one), "The vector, one bar a feature"),
        ("normed", figures.normed(one), "Its LayerNorm and its RMSNorm"),
    )
    code = (
        f"result = lens.vector(lens.read_vector({now.x!r}), lens.read_claim({now.claimed!r}), {arguments})"
        ".layer.tolist()"
    )
    shows: Any = one.layer.tolist()
    words = (
        f"{one.verdict()} With γ = 1, β = 0 and a small ε a LayerNorm has mean 0 and variance 1: by that "
        "any printed example can be checked. RMSNorm does not centre: of x − μ it gives the LayerNorm."
    )
elif now.view == BATCH:
    changed = ui.compute(lens.change, now)
    film = ui.film_of(now, len(ADDED))
    captions, equations = lens.change_captions(changed), lens.change_equations(changed)
    pair = (
        ("outputs", figures.outputs(changed), "Outputs of the norm, row by row"),
        ("apart", figures.apart(changed), "How far each output is from what it was"),
    )
    code = (
        f"one = lens.change(lens.read_rows({now.rows!r}), {now.kind!r}, {arguments})\n"
        f"result = lens.reached(one, {film.at})"
    )
    shows = lens.reached(changed, film.at)
    words = (
        "LayerNorm and RMSNorm take their statistics from one token's features; [UDL] speaks of the tokens "
        "of the sequence, which would mix them. BatchNorm takes them from all rows of one feature, and in "
        "evaluation from running averages, here of 64 rows drawn before: then rows are independent, and a "
        "batch of one is as good as any."
    )
elif now.view == DEPTH:
    film = ui.film_of(now, len(DEPTHS))
    captions, equations = depths.gradient_captions(now.part), depths.gradient_equations(now.part)
    pair = (
        ("by-layer", figures.by_layer(now.part), "Norm of the gradient by layer"),
        ("by-depth", figures.by_depth(now.part), "Norm of the gradient in the first layer over the depth"),
    )
    code = f"result = depths.gradients({now.part!r})['post'][{film.at}].tolist()"
    shows = depths.gradients(now.part)["post"][film.at].tolist()
    words = (
        f"GPTs of width {bench.WIDTH} at their start, Xavier matrices, one batch, geometric mean of "
        f"{len(bench.SEEDS)} seeds; `lab bench norms` computes them again. With ReZero every sublayer is "
        "multiplied by α = 0: the stream passes as it came, sublayers get no gradient, and α moves first."
    )
else:
    paths = ui.compute(depths.jacobian, now)
    film = ui.film_of(now, len(FACTORS))
    captions, equations = depths.jacobian_captions(paths), depths.jacobian_equations(paths)
    pair = (
        ("slope", figures.slope(paths), "The Jacobian over the slope of the sublayers"),
        ("paths", figures.paths(paths), "What paths through so many sublayers give"),
    )
    code = f"result = depths.jacobian({now.layers}).slopes[{film.at}]"
    shows = float(paths.slopes[film.at])
    words = (
        "Of two residual layers the Jacobian is I + J₁ + J₂(I + J₁). It is often said that the I in it keeps "
        "gradients from vanishing: F(x) = −x is a sublayer for which it does not. What holds is that it "
        "cannot vanish while ‖J‖ < 1."
    )

with stage.picture:
    ui.figures(*pair, film=film)
with stage.foot:
    if film is None:
        ui.equation(lens.vector_equation(one, now.power))
    else:
        film.bar(captions=captions, equations=equations)

with stage.below:
    ui.notice(words)
    ui.check(
        "Another token of the text changes. The LayerNorm of this token is …",
        lens.OPTIONS, lens.OPTIONS[0], "Its mean and variance are over its own features.",
        wrong=("", "That would be a norm over the tokens, as BatchNorm's is over examples."), veils=(),
    )  # fmt: skip
    place = "lens" if now.view in (VECTOR, BATCH) else "depths"
    ui.program(f"from pages.transformer.norms import {place}\n\n{code}", shows=shows)
    ui.source(block.norm_layer, block.Block.add, bench.network, bench.start, references=ROOM.references)
