"""Coupling microscope: a half that is copied decides what happens to the other; layer by layer."""

from lab import ui
from lab.lenses import typed
from modules.flow import coupling, hint, monotone
from pages.flow.coupling import distributions, figures, lens, picture, words
from pages.flow.coupling.room import ROOM

VIEWS = ["layers", "laws", "picture"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "By hand": ui.scene("1 is copied; 2 becomes 2·e^tanh 1 + 1² = 5.283. The upper right of ∂h′/∂h is 0.",
                            values="1 2", net=lens.NETS[0], depth=1),
        "Copied half": ui.scene("Numbers 1 and 2 come out as they went in; 3 and 4 are scaled and moved."),
        "In turn": ui.scene("Halves have taken turns twice: no entry of the whole Jacobian is 0.", layer=3),
        "Never in turn": ui.scene("However deep: numbers 1 and 2 are never changed; the zeros stay.",
                                  turns="never", layer=4),
        "Still the base's": ui.scene("Outputs 1 and 2 have the distribution of the base after every layer.",
                                     view="laws", turns="never", layer=4),
        "All in turn": ui.scene("Halves take turns: no output is left with the base's distribution.",
                                view="laws", layer=4),
        "On a picture": ui.scene("A checkerboard: copied pixels are crossed, and their neighbours move.",
                                 view="picture"),
        "By channels": ui.scene("Layer 3: squeezed, half of each 2×2 block is copied.", view="picture",
                                layer=3),
        "HINT": ui.scene("Either half is coupled within itself: the triangle is full, 1 alone is copied.",
                         turns=lens.HINT),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
if view == "picture":
    picture.view(stage)
    ui.wait("")
with stage.rail:
    values, text = typed.named(
        ui.text("Numbers h", "1 -0.5 0.3 2", key="values", max_chars=80), lens.MOST, -lens.REACH, lens.REACH
    )
    if text:
        ui.warning(text)
    if len(values) < lens.LEAST:
        ui.stop("Type at least two numbers from −4 to 4, such as 1 −0.5.")
    kind = ui.choice("g is", lens.KINDS, key="kind", default="affine")
    depth = ui.slider("Layers", 1, 8, 4, key="depth")
    turns = ui.choice("Who is copied", lens.TURNS, key="turns", as_list=True)
    net = lens.NETS[1]
    if kind != "spline" and turns != lens.HINT:
        net = ui.choice("Conditioner", lens.NETS, key="net", default=lens.NETS[1], as_list=True)
    seed = ui.number("Seed", 0, 99, 0, key="seed")

D = len(values)
h = lens.column(values)
stack = lens.layers(kind, net, turns, D, depth, seed)
result = list(lens.looks(h, stack))
first = 0 if view == "laws" else 1
film = ui.film(depth + 1 - first, key="layer", values=range(first, depth + 1), default=1, label="Layer",
               seconds=1.0)  # fmt: skip

# --- Picture ------------------------------------------------------------------------------------

if view == "layers":
    rows = lens.rows(result)
    maps, points = lens.maps(result, [layer for _, layer in stack])
    fig, moves = figures.table(rows, [look.copied for look in result], film.at)
    with stage.picture:
        left, right = ui.columns([1, 1])
        with left:
            ui.figure(fig, alt="Numbers before a layer, the conditioner's answers, and the numbers after it",
                      key="table", share=1.0, film=film, frames=moves)  # fmt: skip
        with right:
            fig, moves = figures.details(
                lens.places(), maps, points, [look.jacobian for look in result],
                [look.through for look in result], film.at,
            )  # fmt: skip
            ui.figure(fig, alt="Jacobians of this layer and of all so far; below, the maps g",
                      key="details", share=1.0, film=film, frames=moves)  # fmt: skip
    with stage.foot:
        film.bar(captions=words.captions(result), equations=words.equations(result, kind))
    now = result[film.at]
    stage.metrics(
        {
            "ladj, this layer": f"{now.ladj:.6f}",
            "by autograd": f"{now.log_det:.6f}",
            "Copied half moves": f"{now.copied_moves:g}",
            "Way back": f"{lens.round_trip(h, stack):.0e}",
        }
    )
else:
    spread = distributions.outputs(stack, D, seed)
    fig, moves = figures.distributions(
        spread.middles, spread.heights, spread.distance, spread.p, spread.same, film.at
    )
    with stage.picture:
        ui.figure(fig, alt="Histograms of every output after this layer, over the density of the base",
                  key="laws", share=1.0, film=film, frames=moves)  # fmt: skip
    with stage.foot:
        film.bar(captions=distributions.captions(spread))

# --- Words --------------------------------------------------------------------------------------

waiting = int((~result[-1].changed).sum())
with stage.below:
    ui.notice(
        words.why(turns)
        + (f"After {depth} layers {waiting} of {D} inputs have never been changed." if waiting else
           f"Within {depth} layers every input has been changed.")
    )  # fmt: skip
    ui.check(
        "How many outputs after all layers still have the base's distribution, whatever the conditioner?",
        list(range(D + 1)), waiting,
        "Those that no layer has changed.",
        wrong={
            n: f"Not {n}: an output keeps the distribution of the base only while no layer moves it."
            for n in range(D + 1)
        },
        veils=("picture", "equation", "numbers"),
    )  # fmt: skip
    ui.program(
        f"""
        import torch
        from pages.flow.coupling import lens

        h = torch.tensor({values}, dtype=torch.float64)
        ladjs = []
        for order, layer in lens.layers({kind!r}, {net!r}, {turns!r}, {D}, {depth}, {seed}):
            h, ladj = layer.generate(h if order is None else order.generate(h)[0])
            ladjs.append(float(ladj))
        result = ladjs + h.tolist()
        """,
        shows=[look.ladj for look in result] + result[-1].after.tolist(),
    )
    layer = hint.RecursiveCoupling if turns == lens.HINT else coupling.Coupling
    ui.source(layer, monotone.Affine, lens.looks, references=ROOM.references)
