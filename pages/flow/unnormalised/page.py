"""Unnormalised target: a flow fitted to a density that is known up to a factor, live."""

import math

from lab import ui
from lab.figures import live as curves
from lab.lenses import ink
from lab.lenses.rewind import Run, stacked
from modules.flow import reverse_kl
from pages.flow.unnormalised import figures, lens
from pages.flow.unnormalised.room import ROOM

MOST = 100
RATES = [0.001, 0.002, 0.005, 0.01, 0.02]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Untrained": ui.scene("At first a round hill; the weights of its samples differ much. Press Train."),
        "Ring": ui.scene("400 steps: the flow bends round; the samples' weights even out.", until=40),
        "κ = 1,000": ui.scene("The same training: every curve is 6.9 nats higher, nothing else moves.",
                              until=40, kappa=3.0),
        "One lobe": ui.scene("Reverse KL, few planar layers: one lobe is dropped, and the weights look well.",
                             kind="planar", until=40),
        "Forward": ui.scene("Forward KL has samples of the target: both lobes are covered.",
                            direction="forward", until=40),
        "Banana": ui.scene("A bent Gaussian: within reach of the flow.", target="banana", until=40),
        "Double well": ui.scene("Two states with a barrier between.", target="double well", until=40),
        "Own drawing": ui.scene("Your own ink as a density: draw, then press Train.", target=lens.OWN,
                                until=40),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("Target q", [*lens.TARGETS, lens.OWN], key="target", as_list=True)
    picture = None
    if name == lens.OWN:
        picture = ui.draw("Draw the density", key="ink", size=lens.PAD, examples=ink.examples(lens.PAD))
        if not picture.sum() > 0:
            ui.stop("There is nothing on the pad: draw where the density should be.")
    direction = ui.choice("KL", ["reverse", "forward"], key="direction")
    kinds = list(lens.KINDS) if direction == "reverse" else list(lens.FORWARD)
    kind = ui.choice("Layers are", kinds, key="kind", default="IAF", as_list=True)
    layers = ui.slider("Layers, L", 1, 16, 4, key="layers")
    kappa = ui.slider("log₁₀ κ, a factor on q", -3.0, 3.0, 0.0, key="kappa", step=0.5)
    rate = ui.choice("Rate", RATES, key="rate", default=0.005, as_list=True)
    seed = ui.number("Seed", 0, 99, 0, key="seed")
    target = lens.Target(name, () if picture is None else tuple(map(tuple, picture.tolist())))
    recipe = lens.TargetRecipe(target, kind, layers, direction == "forward", seed)
    within = {"rate": (RATES[0], RATES[-1]), "batch": (256, 256)}
    live = ui.rewind(recipe, {"rate": rate, "batch": 256}, within=within, most=MOST)

# --- Picture ------------------------------------------------------------------------------------

shift = kappa * math.log(10)
exact = lens.cells(target)[1] + shift
ui.prefetch(lens.cells, *((lens.Target(each),) for each in lens.TARGETS if each != name))
known = lens.target_map(target)


def draw(now: ui.Rewind) -> None:
    frames, film = now.frames, now.film
    numbers = stacked(frames, "numbers")
    lines = {"log mean w": numbers[:, 1] + shift, "E log w = −loss": numbers[:, 0] + shift}
    steps = [number * recipe.stride for number in range(len(frames))]
    turned = [part.start * recipe.stride for part in now.run.history[1:]]
    fresh = now.new(frames)
    samples = stacked(fresh, "samples")
    left, right = ui.columns([2, 1])
    with left:
        at = frames[film.at]
        ui.figure(
            figures.pair(known, at["map"], at["samples"], at["weights"], lens.REACH),
            alt="The target with weighed samples of the flow, and the flow's density", key="pair", share=1.0,
            film=film, frames={"data.1.z": [frame["map"] for frame in fresh], "data.2.x": samples[..., 0],
                               "data.2.y": samples[..., 1], "data.2.marker.color": stacked(fresh, "weights")},
        )  # fmt: skip
    with right:
        ui.figure(
            curves.course(lines, steps, {"log Z": exact}, turned, steps[film.at], (exact - 3, exact + 0.8),
                          MOST * recipe.stride),
            alt="The loss and the estimate of log Z by training step, against log Z", key="course", share=1.0,
            film=film, frames={f"layout.shapes.0.x{end}": now.new(steps) for end in (0, 1)},
            data={"step": steps, **lines},
        )  # fmt: skip
    film.bar(captions=lens.captions(frames, recipe))


with stage.picture:
    live.show(draw)

# --- Words --------------------------------------------------------------------------------------

shown = live.run.frames()
bound, log_z, ess, there, back, right_share = shown[min(live.film.at, len(shown) - 1)]["numbers"].tolist()
if not live.training and math.isfinite(there):
    stage.equation(
        rf"\log Z \approx \log \bar w = {log_z + shift:.3f}, \quad \log Z = {exact:.3f}, \quad "
        rf"\mathrm{{KL}} = {exact:.3f} - ({bound + shift:.3f}) = {there:.3f}",
        f"{lens.DRAWS:,} samples of the flow, effective {ess:.0%}; log Z from a grid.",
    )
with stage.below:
    ui.notice(
        f"q has a factor κ = {10**kappa:g}: the loss and log Z move by {shift:.2f} nats, and no gradient. "
        "Reverse KL asks that the flow stays where q is; forward KL that it reaches all of q, for which "
        "samples of the target are needed (here from a grid). The weights and the estimate of log Z know "
        "nothing of a part that the flow never visits."
    )
    ui.check(
        "At the frame shown, which divergence is larger?", ["KL(flow ‖ target)", "KL(target ‖ flow)"],
        "KL(flow ‖ target)" if there > back else "KL(target ‖ flow)", f"{there:.3f} against {back:.3f} nats.",
        wrong=(
            "It punishes samples where the target has nothing: what the flow has missed costs it nothing.",
            "It punishes mass that the flow has missed: stray samples cost it little.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from pages.flow.unnormalised import lens

        result = lens.cells(lens.Target({name!r}))[1]
        """
        if picture is None
        else f"""
        from lab.lenses import ink
        from pages.flow.unnormalised import lens

        drawing = dict(ink.examples({lens.PAD}))["ring"]
        result = lens.cells(lens.Target(lens.OWN, tuple(map(tuple, drawing.tolist()))))[1]
        """,
        shows=exact - shift
        if picture is None
        else lens.cells(
            lens.Target(lens.OWN, tuple(map(tuple, dict(ink.examples(lens.PAD))["ring"].tolist())))
        )[1],
    )
    ui.source(
        reverse_kl.reverse_kl,
        reverse_kl.importance_estimates,
        lens.TargetRecipe,
        Run.train,
        references=ROOM.references,
    )
