"""Flow bench: a grid and a cloud through every layer of a trained flow, and log p taken apart."""

from functools import partial

from lab import ui
from lab.errors import UserError
from lab.figures import basic
from lab.lenses import flow_paths
from lab.lenses import trained_rows as trained
from lab.lenses.precision import double
from lab.ui.rooms import trained_rows
from modules.flow.flow import Flow
from pages.flow.flow_bench import figures, lens
from pages.flow.flow_bench.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Data": ui.scene("After the last layer the cloud lies on two moons; no line crosses itself."),
        "Base": ui.scene("Before the first layer: a round cloud on a straight grid.", layer=0),
        "Halfway": ui.scene("Each layer moves one coordinate; halfway the cloud is bent but not yet apart.",
                            layer=4),
        "Linear": ui.scene("Linear layers keep the lines straight and the cloud an ellipse.",
                           model="linear-moons"),
        "Additive": ui.scene("Additive layers shear: their bars are 0, only the scaling at the end is not.",
                             model="nice-moons"),
        "Spline": ui.scene("Four spline layers serve as well as eight affine ones.", model="spline-moons"),
        "Neural": ui.scene("Three masked layers of neural maps do what takes five of affine ones.",
                           model="naf-moons"),
        "Eight hills": ui.scene("One cloud becomes eight; thin bridges stay between them.",
                                model="realnvp-eight", points="3 0"),
        "Off the data": ui.scene("Between the moons' arms log p is far below that of the point on an arm.",
                                 points="0 0.25\n-1 1.5"),
    }
)  # fmt: skip


@ui.cached
def account(name: str, x) -> lens.Account:
    return lens.account(double(ui.load(name)), x)


@ui.cached
def paths(name: str, z):
    return flow_paths.path(double(ui.load(name)), z)


def ground(name: str):
    return lens.ground(double(ui.load(name)))


with stage.rail:
    name = ui.experiment(
        "Model", family="flow", key="model", default="realnvp-moons", only=trained.fits("flow")
    )
if lens.width(ui.load(name)) != 2:
    trained_rows.view(stage, "flow", name)
    ui.wait("A grid and a cloud go through the layers where a row has two numbers.")
with stage.rail:
    way = ui.choice("Direction", ["generate", "normalize"], key="way")
    text = ui.text("Points, x₁ x₂ a line", "-1 1.5", key="points", max_chars=1500, area=True)
    ui.upload("CSV", into="points")
    try:
        x, wrong = lens.read_points(text)
    except UserError as error:
        ui.stop(str(error))
    if wrong:
        ui.warning(wrong)
results = account(name, x)
ui.prefetch(account, *((each, x) for each in lens.SOON))


def so_far(outcome: lens.Ground) -> None:
    ui.figure(figures.warp([outcome.grid[-1], outcome.cloud[-1], x], lens.REACH), key="so-far", share=0.8,
              alt="Where the cloud and the grid go, as far as they are computed")  # fmt: skip


with stage.picture:
    result = ui.result(
        "Follow", partial(ground, name), show=so_far, key="ground", of=name, quick=lens.quick(ui.load(name)),
        soon=[(each, partial(ground, each)) for each in lens.SOON],
        says="Where the grid and the cloud go, and the density, when they are computed.",
    )  # fmt: skip
states = [result.grid, result.cloud, paths(name, results.z)]
count = len(states[0])
order = list(range(count)) if way == "generate" else list(range(count))[::-1]
film = ui.film(
    count,
    key="layer",
    default=count - 1,
    label="Layer" if way == "generate" else "Layers undone",
    seconds=0.6,
    values=range(count),
)
now = order[film.at]
layer_names = [ui.load(name).layer_name(i) for i in range(count - 1)]

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.warp([path[now] for path in states], lens.REACH),
            alt="A grid, a cloud and your points after each layer of the flow", key="warp", share=1.0,
            film=film, frames={f"data.{i}.{axis}": path[order][..., j]
                    for i, path in enumerate(states) for j, axis in enumerate("xy")},
        )  # fmt: skip
    with right:
        ui.button_figure(
            figures.heat(result.log_p, x, lens.REACH), key="heat", share=0.6, whole=False,
            alt="Log-density of the flow; a click puts the point there",
            on_press=lambda a, b: {"points": f"{a:g} {b:g}"},
        )  # fmt: skip
        ui.figure(
            basic.bars([str(i + 1) for i in range(count - 1)], results.ladj[:, 0], xlabel="layer",
                       ylabel="log |det J|"),
            alt="Log-determinant of each layer at the first point", key="bars", share=0.4,
            data={"layer": layer_names, "ladj": results.ladj[:, 0]},
        )  # fmt: skip
total = results.partial[:, 0]
stretch = float(results.ladj[:, 0].sum())
with stage.foot:
    film.bar(
        captions=["The base." if i == 0 else f"After layer {i}, {layer_names[i - 1]}." for i in order],
        equations=[
            rf"\log p_Z(z_0) - \textstyle\sum_{{l \le {i}}} \log|\det J_l| "
            rf"= {float(results.base[0]):.3f} - ({float(results.base[0] - total[i]):.3f}) = "
            rf"{float(total[i]):.3f}"
            for i in order
        ],
    )
stage.metrics(
    {
        f"log p({x[0, 0]:g}, {x[0, 1]:g})": f"{float(results.log_prob[0]):.4f}",
        "Round trip": f"{results.round_trip:.1e}",
        "ladj − autograd": f"{results.autograd:.1e}",
        "Mass in the window": f"{result.mass:.4f}",
    }
)
with stage.below:
    ui.notice(
        "The bars and the base's log-density make log p: what a layer stretches (a bar above 0) it thins "
        f"out. The sum over the {count - 1} layers is {stretch:.3f}. Lines of the grid "
        "bend but never cross: every layer is a bijection. "
        + lens.doubt(ui.load(name), x, results)
        + "What is missing from a mass of 1 lies outside of the window."
    )
    ui.table({"x₁": x[:, 0], "x₂": x[:, 1], "log p": results.log_prob}, alt="Exact log p of your points")
    ui.check(
        "At the first point, do all layers together stretch the plane or compress it?",
        ["stretch", "compress"], "stretch" if stretch > 0 else "compress",
        f"The sum of the bars is {stretch:.3f}.",
        wrong={
            "stretch": "One bar above 0 is one layer that stretches: all layers together are the sum of "
            "the bars.",
            "compress": "One bar below 0 is one layer that compresses: all layers together are the sum of "
            "the bars.",
        },
        veils=("picture", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        import torch
        from lab import experiments, weights

        model = weights.load({ui.spelled(name)}).double()
        x = torch.tensor({x.tolist()[:3]}, dtype=torch.float64)
        result = model.log_prob(x).detach()
        """,
        shows=results.log_prob[:3],
    )
    ui.source(Flow.log_prob, lens.account, flow_paths.path, references=ROOM.references)
