"""Losses over sizes on logarithmic axes: isoFLOP curves, presets, power laws, a fit with what it predicts."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from lab.figures import theme
from lab.figures.basic import array, curves, rule
from lab.figures.moving import Tree, marking, per_frame
from pages.transformer.scaling_laws.lens import Budgets, Joint, halved, power
from pages.transformer.scaling_laws.own_runs import Ours
from pages.transformer.scaling_laws.room import BUDGETS, LAWS, TOKENS
from pages.transformer.scaling_laws.simulated import GRID_D, GRID_N, Fitted
from pages.transformer.scaling_laws.spoken import big, power_of_ten

SHOWN = (1e20, 1e21, 1e22, 1e23, 1e24, 1e25)  # budgets whose curves are always there
NAMED = (1e20, 1e21, 1e22, 1e25)  # those whose names stand free of the models
# where the name of each model stands beside its dot
SIDES = {"GPT-3": "top center", "Gopher": "top right", "Chinchilla": "bottom right",
         "LLaMA-65B": "top center", "yours": "middle left"}  # fmt: skip
PRESET_COLORS = {"as printed": theme.BLUE, "not rounded": theme.GREEN, "refit 2024": theme.PURPLE,
                 "own": theme.VERMILLION}  # fmt: skip


def dots(x: Any, y: Any, name: str, color: str, **how: Any) -> dict[str, Any]:
    """Marks without a line."""
    marker = {"size": 13, "color": color, "line": {"width": 1.5, "color": theme.paper()}}
    return {"type": "scatter", "x": x, "y": y, "name": name, "mode": "markers", "marker": marker} | how


def iso(found: Budgets) -> Tree:
    """isoFLOP curves of all budgets, the one of the frame in blue, minima in orange, models as dots."""
    fig = go.Figure()
    for i, C in enumerate(BUDGETS):
        if C in SHOWN:
            fig.add_scatter(x=found.sizes[i], y=found.losses[i], mode="lines", hoverinfo="skip",
                            line={"width": 2, "color": theme.HIDDEN}, showlegend=False)  # fmt: skip
    n = np.geomspace(1e6, 1e14, 161)
    fig.add_scatter(x=n, y=found.law.loss(n, 20 * n), mode="lines", name="20 tokens per parameter",
                    line={"width": 3, "dash": "dash", "color": theme.GREEN})  # fmt: skip
    names = [power_of_ten(C) if C in NAMED else "" for C in BUDGETS]
    fig.add_scatter(x=found.best[:, 0], y=found.best[:, 2], mode="lines+markers+text", name="optimum N*",
                    line={"width": 2, "color": theme.ORANGE}, marker={"size": 9}, text=names,
                    textposition="bottom left", textfont={"size": theme.FONT_SIZE - 3})  # fmt: skip
    tree = fig.to_plotly_json()
    data = list(tree["data"])
    curve = {"x": per_frame(found.sizes), "y": per_frame(found.losses), "mode": "lines"}
    data.append(
        curve | {"type": "scatter", "name": "this budget", "line": {"width": 5, "color": theme.INPUT}}
    )
    named = list(found.models)
    data.append(
        dots([found.models[name][0] for name in named], [found.models[name][2] for name in named], "models",
             theme.text(), text=named, textposition=[SIDES[name] for name in named], mode="markers+text",
             textfont={"size": theme.FONT_SIZE - 3},
             hovertext=[f"{name}: {big(N)}, {big(D)} tokens, {loss:.4f}"
                        for name, (N, D, loss) in found.models.items()], hoverinfo="text")
    )  # fmt: skip
    rows = [found.best] + ([found.served] if found.served is not None else [])
    for row, symbol, name in zip(rows, ("circle", "diamond"), ("its optimum", "with serving"), strict=False):
        data.append(
            dots(per_frame(row[:, :1]), per_frame(row[:, 2:]), name, theme.ORANGE,
                 marker={"size": 19, "symbol": symbol, "color": theme.ORANGE,
                         "line": {"width": 2, "color": theme.text()}})
        )  # fmt: skip
    low, high = float(found.best[-1, 2]), float(found.law.loss(*found.law.optimum(1e20)))
    span = high - low
    layout = tree["layout"] | {
        "height": 480, "showlegend": True,
        "xaxis": {"type": "log", "title": {"text": "parameters N"}, "exponentformat": "power",
                  "range": [8, 13], "dtick": 1},
        "yaxis": {"title": {"text": "loss, nats per token"},
                  "range": [low - 0.12 * span, high + 0.25 * span]},
    }  # fmt: skip
    return {"data": data, "layout": layout}


def presets(found: dict[str, Any], models: dict[str, tuple[float, float, float]]) -> Tree:
    """Tokens per parameter at the optimum over the budget, by each preset; models; the line of 20."""
    lines = {name: (np.array(BUDGETS), ratio) for name, ratio in found.items()}
    fig = curves(lines, colors=PRESET_COLORS, log_x=True, log_y=True, ends=True, height=480,
                 xlabel="compute C, FLOPs", ylabel="tokens per parameter D / N")  # fmt: skip
    rule(fig, x=BUDGETS[0], line={"color": theme.text(), "width": 2, "dash": "dot"})
    rule(fig, y=20, line={"color": theme.GREEN, "width": 3, "dash": "dash"})
    tree: dict[str, Any] = marking(fig, BUDGETS)
    sides = {"yours": "middle right", "LLaMA-65B": "top left", "Chinchilla": "bottom left"}
    marks = dots(
        [6 * N * D for N, D, _ in models.values()], [D / N for N, D, _ in models.values()], "models",
        theme.text(), text=list(models), mode="markers+text", showlegend=False,
        textposition=[sides.get(name, "middle left") for name in models],
        textfont={"size": theme.FONT_SIZE - 3},
    )  # fmt: skip
    tree["data"] = [*tree["data"], marks]
    tree["layout"]["xaxis"] |= {"exponentformat": "power", "dtick": 1, "range": [19, 26]}
    tree["layout"]["yaxis"] |= {"range": [-0.3, 3.4], "dtick": 1}
    return tree


def straight(law: str) -> go.Figure:
    """A power law on log-log axes, with the step that halves the loss."""
    one, x, y = power(law)
    (x0, y0), (x1, y1) = halved(law)
    fig = curves({f"law of the {LAWS[law]}": (x, y)}, log_x=True, log_y=True, height=480,
                 xlabel={"N": "parameters N", "D": "tokens D", "C": "compute C, PF-days"}[law],
                 ylabel="loss, nats per token")  # fmt: skip
    fig.add_scatter(x=[x0, x1, x1], y=[y0, y0, y1], mode="lines", showlegend=False, hoverinfo="skip",
                    line={"width": 3, "dash": "dot", "color": theme.ORANGE})  # fmt: skip
    fig.add_scatter(x=[x0, x1], y=[y0, y1], mode="markers", showlegend=False,
                    marker={"size": 15, "color": theme.ORANGE})  # fmt: skip
    middle = float(np.sqrt(x0 * x1))
    for place, height, text, anchor in (
        (middle, y0, f"× {one.to_halve:,.0f}", "bottom"),
        (x1, float(np.sqrt(y0 * y1)), "  half the loss", "middle"),
    ):
        fig.add_annotation(
            x=np.log10(place), y=np.log10(height), text=text, showarrow=False, yanchor=anchor,
            xanchor="center" if anchor == "bottom" else "left", font={"size": theme.FONT_SIZE + 2},
        )  # fmt: skip
    fig.update_xaxes(exponentformat="power", dtick=2)
    fig.update_yaxes(tickvals=[1, 1.5, 2, 3, 4, 5, 7, 10], range=[0, float(np.log10(y.max())) + 0.03])
    return fig


def both(found: Joint) -> Tree:
    """The joint law over D of two sizes; a bar at the loss of the small one reaches the larger one."""
    lines = {"100 M": (found.D, found.small), "1 B": (found.D, found.large)}
    fig = curves(lines, colors={"100 M": theme.SKY, "1 B": theme.BLUE}, log_x=True, log_y=True, ends=True,
                 xlabel="tokens D", ylabel="loss, nats per token", height=480)  # fmt: skip
    tree = fig.to_plotly_json()
    pair = np.column_stack([found.fewer, np.array(TOKENS)])
    tree["data"] = [
        *tree["data"],
        {"type": "scatter", "x": per_frame(pair), "y": per_frame(np.column_stack([found.loss, found.loss])),
         "mode": "lines+markers", "showlegend": False, "line": {"width": 4, "color": theme.ORANGE},
         "marker": {"size": 14, "color": theme.ORANGE}},
    ]  # fmt: skip
    tree["layout"]["xaxis"] |= {"exponentformat": "power", "dtick": 1}
    tree["layout"]["yaxis"] |= {"tickvals": [2, 3, 4], "range": [0.3, 0.65]}
    return tree


def fitted(found: Fitted) -> go.Figure:
    """Simulated runs over N for three sets of data, the law that was fitted, and what it says of those left
    out, with its interval."""
    fig = go.Figure()
    n = np.geomspace(GRID_N[0], GRID_N[-1], 61)
    for j, color in ((0, theme.SKY), (3, theme.BLUE), (6, theme.PURPLE)):
        name = f"D = {power_of_ten(float(f'{GRID_D[j]:.1e}'))}"
        fig.add_scatter(x=n, y=array(found.law.loss(n, GRID_D[j])), mode="lines", name=name,
                        line={"width": 3, "color": color})  # fmt: skip
        out = slice(found.kept, 7)
        for rows, symbol in ((slice(0, found.kept), "circle"), (out, "circle-open")):
            marker = {"size": 12, "color": color, "symbol": symbol, "line": {"width": 3}}
            fig.add_scatter(x=GRID_N[rows], y=found.losses[rows, j], mode="markers", showlegend=False,
                            marker=marker)  # fmt: skip
        middle = (found.high[out, j] + found.low[out, j]) / 2
        fig.add_scatter(x=GRID_N[out], y=middle, mode="markers", showlegend=False, hoverinfo="skip",
                        marker={"size": 1, "color": color},
                        error_y={"array": found.high[out, j] - middle, "width": 9})  # fmt: skip
    fig.update_xaxes(type="log", exponentformat="power", title="parameters N; open: left out", dtick=1)
    fig.update_yaxes(title="loss, nats per token")
    return fig.update_layout(height=480, showlegend=True)


def seeds(found: Fitted, seed: int) -> go.Figure:
    """E of the fits of all seeds, or what they say of the largest run; the bootstrap's interval of the one
    that is shown, and the truth."""
    fig, (low, high) = go.Figure(), found.interval
    others = [i for i in range(len(found.over_seeds)) if i != seed]
    fig.add_scatter(x=others, y=found.over_seeds[others], mode="markers", name="other seeds",
                    marker={"size": 11, "color": theme.HIDDEN})  # fmt: skip
    fig.add_scatter(
        x=[seed], y=[found.number], mode="markers", name="this seed, 90 %",
        marker={"size": 15, "color": theme.ORANGE},
        error_y={"array": [max(0.0, high - found.number)], "arrayminus": [max(0.0, found.number - low)],
                 "thickness": 4, "width": 10},
    )  # fmt: skip
    rule(fig, y=found.truth, line={"color": theme.GREEN, "width": 3, "dash": "dash"},
         annotation={"text": f"truth {found.truth:.3f}", "font": {"size": theme.FONT_SIZE}})  # fmt: skip
    fig.update_xaxes(title="seed of the noise", range=[-1, len(found.over_seeds)])
    fig.update_yaxes(title="E of the fit, nats" if found.law.E else "predicted loss of the largest, nats")
    return fig.update_layout(height=480, showlegend=True)


def own_sizes(found: Ours) -> go.Figure:
    """L − E of our runs over N, the line through the smaller ones, and its interval at those left out."""
    n = np.geomspace(found.N[found.first], found.N[-1], 61)
    said, low, high = found.line.predict(n)
    fig = go.Figure()
    fig.add_scatter(x=[*n, *n[::-1]], y=[*low, *high[::-1]], fill="toself", mode="lines", name="90 %",
                    line={"width": 0}, fillcolor=theme.fade(theme.BLUE, 0.2), hoverinfo="skip")  # fmt: skip
    fig.add_scatter(x=n, y=said, mode="lines", name="line", line={"width": 3, "color": theme.BLUE})
    for name, rows, symbol in (
        ("fitted", slice(found.first, found.kept), "circle"),
        ("predicted", slice(found.kept, None), "circle-open"),
        ("too narrow", slice(0, found.first), "diamond-open"),
    ):  # fmt: skip
        marker = {"size": 15, "color": theme.ORANGE, "symbol": symbol, "line": {"width": 3}}
        fig.add_scatter(x=found.N[rows], y=found.excess[rows], mode="markers", name=name, marker=marker)
    fig.update_xaxes(type="log", exponentformat="power", dtick=1, title="parameters N")
    fig.update_yaxes(type="log", title="L − E, nats per token")
    return fig.update_layout(height=480, showlegend=True)


def own_budgets(found: Ours) -> go.Figure:
    """L − E of our runs over N at each budget, their minima in orange."""
    lines = {power_of_ten(C): curve for C, curve in found.curves.items()}
    fig = curves(lines, markers=True, log_x=True, xlabel="parameters N", ylabel="L − E, nats per token",
                 height=480)  # fmt: skip
    best = [(n[y.argmin()], y.min()) for n, y in found.curves.values()]
    fig.add_scatter(x=[n for n, _ in best], y=[y for _, y in best], mode="markers", name="least",
                    marker={"size": 16, "color": theme.ORANGE})  # fmt: skip
    return fig.update_xaxes(exponentformat="power", dtick=1)
