"""Train live: a flow of the plane in training, its knobs turned in mid-run, wound back and gone on with."""

import math

from lab import ui
from lab.figures import live as figures
from lab.lenses import ink, plane
from lab.lenses.rewind import Run, stacked
from modules.flow.flow import Flow
from pages.flow.live_flow import lens
from pages.flow.live_flow.room import ROOM

MOST = 100
PAD = 20
RATES = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05]
BATCHES = [32, 64, 128, 256, 512]
EIGHT = {"law": "eight_gaussians"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Untrained": ui.scene("At first the flow is the identity: one round hill. Press Train."),
        "Linear": ui.scene("Linear layers turn and stretch the hill, no more: it stays an ellipse.",
                           kind="linear", layers=3, rate=0.02, until=20),
        "Additive": ui.scene("Additive couplings shift and keep areas: the moons bend, and stay too wide.",
                             kind="additive", until=60),
        "Affine": ui.scene("Affine couplings stretch too; bridges of density join the eight hills.",
                           until=60, **EIGHT),
        "Spline": ui.scene("Half as many spline layers come nearer to the entropy's line.",
                           kind="spline", layers=4, until=60),
        "Flow++": ui.scene("Four couplings by mixtures of logistics: nearer than eight affine ones.",
                           kind="logistics", layers=4, until=60),
        "Too fast": ui.scene("At a rate of 0.05 the curve shakes and never comes to rest.",
                             rate=0.05, until=40),
        "Then slow": ui.scene("Where the line stands the rate falls to a tenth: the shaking ends.",
                              rate=0.005, until=60,
                              course="0:batch=256,rate=0.05;40:batch=256,rate=0.005"),
        "Own drawing": ui.scene("The density of your own ink: draw, then press Train.",
                                law=lens.OWN, ink="ring", until=40),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("Data", lens.SHAPES, key="law", as_list=True)
    picture = None
    if name == lens.OWN:
        picture = ui.draw("Draw where the points lie", key="ink", size=PAD, examples=ink.examples(PAD))
        if not picture.sum() > 0:
            ui.stop("There is nothing on the pad: draw where the points should lie.")
    kind = ui.choice("Layers are", list(lens.KINDS), key="kind", default="affine", as_list=True)
    layers = ui.slider("Layers, L", 1, 10, 8, key="layers")
    width = ui.slider("Width", 8, 64, 32, key="width", step=8, disabled=kind == "linear")
    rate = ui.choice("Rate", RATES, key="rate", default=0.01, as_list=True)
    batch = ui.choice("Batch", BATCHES, key="batch", default=256, as_list=True)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
    distribution = lens.Distribution(name, () if picture is None else tuple(map(tuple, picture.tolist())))
    recipe = lens.FlowRecipe(distribution, kind, layers, width, seed)
    within = {"rate": (RATES[0], RATES[-1]), "batch": (BATCHES[0], BATCHES[-1])}
    live = ui.rewind(recipe, {"rate": rate, "batch": batch}, within=within, most=MOST)

# --- Picture ------------------------------------------------------------------------------------

gaussian, points = lens.gaussian_nll(distribution), lens.split(distribution, 3)[: lens.DRAWN]
entropy = distribution.entropy
levels = {"best Gaussian": gaussian} | ({} if entropy is None else {"entropy": entropy})


def draw(now: ui.Rewind) -> None:
    frames, film = now.frames, now.film
    nll = [float(frame["nll"]) for frame in frames]
    steps = [number * recipe.stride for number in range(len(frames))]
    turned = [part.start * recipe.stride for part in now.run.history[1:]]
    samples = stacked(now.new(frames), "samples")
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.density(frames[film.at]["map"], lens.REACH, plane.LOWEST, points,
                            frames[film.at]["samples"]),
            alt="Log-density of the flow over the plane, data and samples, by training step", key="density",
            share=1.0, film=film,
            frames={"data.0.z": [frame["map"] for frame in now.new(frames)],
                    "data.2.x": samples[..., 0], "data.2.y": samples[..., 1]},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.course({"−log p of new points": nll}, steps, levels, turned, steps[film.at],
                           lens.span(distribution), MOST * recipe.stride),
            alt="Cost of new points by training step, against the entropy and the best Gaussian",
            key="course", data={"step": steps, "nll": nll}, share=1.0, film=film,
            frames={f"layout.shapes.0.x{end}": now.new(steps) for end in (0, 1)},
        )  # fmt: skip
    film.bar(captions=lens.captions(frames, now.knobs, recipe))


with stage.picture:
    live.show(draw)

# --- Words --------------------------------------------------------------------------------------

shown = live.run.frames()
at = min(live.film.at, len(shown) - 1)
nll = float(shown[at]["nll"])
if entropy is not None and math.isfinite(nll) and not live.training:
    stage.equation(
        rf"\mathrm{{KL}}(\text{{data}}\,\|\,\text{{model}}) = {nll:.3f} - {entropy:.3f} "
        rf"= {nll - entropy:.3f}",
        "−log p of 2,000 new points less the entropy of the distribution they come from.",
    )
with stage.below:
    ui.notice(
        "Train sends a chunk of frames at a time; scrub back at any moment. A knob that is turned while it "
        "trains counts from there on; turned while it pauses, it counts from the frame that you look at, and "
        "what had come after is forgotten. The link holds the seed and the whole course of the knobs: "
        f"whoever opens it sees the same bits. This history takes {live.run.size() / 2**20:.1f} MB."
    )
    if kind == "linear":
        below = nll < gaussian - 0.02
        ui.check(
            "However long it trains: can a stack of linear layers end below the best Gaussian?",
            ["yes", "no"], "yes" if below else "no",
            "Linear maps of a Gaussian are Gaussian, however many there are.",
            wrong={
                "yes": "Depth adds nothing here: a product of matrices is one matrix.",
                "no": "The bound is for the distribution: on one draw of points a fit may come out below.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
    else:
        ui.check(
            "At the frame shown, do new points cost less than under the best Gaussian?",
            ["yes", "no"], "yes" if nll < gaussian else "no", f"{nll:.3f} against {gaussian:.3f} nats.",
            wrong={
                "yes": "A flow is no better than its training: so far it fits less well than a mean and a "
                "covariance.",
                "no": "It bends, and has learned enough by now to follow the data where an ellipse cannot.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
    ui.program(
        f"""
        from pages.flow.live_flow import lens

        distribution = lens.Distribution({name!r})
        result = [lens.gaussian_nll(distribution), distribution.entropy]
        """
        if picture is None
        else f"""
        from lab.lenses import ink

        result = ink.entropy(dict(ink.examples({PAD}))["ring"])
        """,
        shows=[gaussian, entropy] if picture is None else ink.entropy(dict(ink.examples(PAD))["ring"]),
    )
    ui.source(lens.FlowRecipe, Flow.log_prob, Run.train, Run.restore, references=ROOM.references)
