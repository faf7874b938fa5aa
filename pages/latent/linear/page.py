"""Linear latents: factor analysis and PCA of one table, and what σ² does to a point's posterior."""

from lab import ui
from lab.ui.rooms import trained_rows
from modules.latent.factor_analysis import FactorAnalysis
from modules.latent.linear_gaussian import LinearGaussian
from modules.latent.ppca import PPCA
from pages.latent.linear import common, figures, lens, one_point
from pages.latent.linear.room import ROOM

POINT = {"view": "One point", "data": "Spectrum 4, 1, ¼", "column": 2}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Noisy gauge": ui.scene("x3 gets noise: PCA turns to follow it, factor analysis leaves it alone."),
        "Clean": ui.scene("Without added noise both find the same direction.", noise=0.0),
        "Other unit": ui.scene(
            "x3 in a finer unit takes PCA over (blue bars); factor analysis keeps its shares in any unit.",
            change="unit", unit=4.0,
        ),
        "Rotated": ui.scene(
            "Two axes rotated: PCA turns along exactly; factor analysis changes, and its likelihood with it.",
            change="rotation", angle=45.0, data="Irises",
        ),
        "Shrink": ui.scene("At the best σ² the answer stops short of PCA's line: it is drawn to the mean.",
                           **POINT),
        "σ² → 0": ui.scene("The posterior is a needle, the answer PCA's own.", variance=0.000625, **POINT),
        "Two factors": ui.scene(
            "Two factors: the posterior is an ellipse, much smaller than the prior's circle.", k=2, **POINT
        ),
        "Irises": ui.scene("Four measurements of flowers, one factor: noise on petal length.", data="Irises",
                           column=3),
    }
)  # fmt: skip


@ui.cached
def swept(x, change: lens.Change, column: int, factors: int) -> list[lens.Fits]:
    return lens.sweep(x, change, column, factors)


SAYS = {
    "noise": ("noise", "Noise of", 2.0, "{v:g} standard deviations of noise on {name}"),
    "unit": ("unit", "Unit ×", 1.0, "{name} times {v:g}"),
    "rotation": ("angle", "Turned by", 0.0, "{name} and {other} turned by {v:g}°"),
}


def models_view() -> None:
    names, x, source = common.table(stage)
    with stage.rail:
        change = ui.choice("What changes", list(SAYS), key="change")
        column, k = common.column_and_factors(names)
    other = column - 1 if column else 1
    key, label, default, words = SAYS[change]
    values = lens.VALUES[change]
    films = swept(x, change, column, k)
    ui.prefetch(
        swept,
        *((x, each, column, k) for each in SAYS if each != change),
        *((x, change, each, k) for each in range(len(names)) if each != column),
        *((x, change, column, each) for each in (k - 1, k + 1) if 1 <= each < len(names)),
        *((rows, change, rows.shape[1] - 1, 1) for rows in common.tables_of()),
    )
    film = ui.film(len(values), key=key, values=values, default=default, label=label, seconds=0.5)
    turns = lens.turns(films, change, column)
    pair, order = (other, column), ("PPCA", "FA")
    side = figures.reach([one.x for one in films], pair)
    ellipses = [[lens.ellipse(one.covariances[name], pair) for one in films] for name in order]
    lines = [[figures.through(one.directions[name][:, 0], pair, 2 * side) for one in films] for name in order]
    now = films[film.at]
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            fig = figures.planes(
                now.x[:, pair], {n: e[film.at] for n, e in zip(order, ellipses, strict=True)},
                {n: e[film.at] for n, e in zip(order, lines, strict=True)}, [names[i] for i in pair], side,
            )  # fmt: skip
            moves = figures.moves([one.x[:, pair] for one in films], ellipses, lines)
            ui.figure(fig, alt="Two columns of the table, with both models' ellipses and directions",
                      key="planes", share=1.0, film=film, frames=moves,
                      data={name: column for name, column in zip(names, now.x.T, strict=True)})  # fmt: skip
        with right:
            bars = {name: [one.shares[name] for one in films] for name in order}
            ui.figure(
                figures.shares(names, {n: b[film.at] for n, b in bars.items()}, column),
                alt="The share of each column's variance that the factors take, by model", key="shares",
                share=1.0, film=film, data={"column": names, **{n: now.shares[n] for n in order}},
                frames={f"data.{i}.y": b for i, b in enumerate(bars.values())},
            )  # fmt: skip
    shown = [words.format(v=v, name=names[column], other=names[other]) for v in values]
    with stage.foot:
        film.bar(
            captions=[
                f"{says}: PCA has turned by {p:.1f}°, factor analysis by {f:.1f}°."
                for says, p, f in zip(shown, turns["PPCA"], turns["FA"], strict=True)
            ],
            equations=[
                rf"\tfrac1N\sum\log p(x):\quad \text{{FA }} {one.log_probs['FA']:.3f},\quad \text{{PPCA }} "
                rf"{one.log_probs['PPCA']:.3f};\qquad \psi_{{{column + 1}}}="
                rf"{float(one.noise['FA'][column]):.3f},\quad \sigma^2={float(one.noise['PPCA'][0]):.3f}"
                for one in films
            ],
        )
    share = {name: float(now.shares[name][column]) for name in order}
    with stage.below:
        ui.notice(
            "Factor analysis gives every column a noise of its own, ψ, so a noisy column, or one in another "
            "unit, changes its own row and nothing else. PPCA has one σ² for all: it looks for variance, "
            "whoever makes it. Rotating the axes is the other way round: PCA turns along, and a diagonal Ψ "
            f"is no longer diagonal. Here the factors explain {share['FA']:.0%} of {names[column]} for "
            f"factor analysis, {share['PPCA']:.0%} for PCA. The turn is measured in the first units and axes."
            + (" Two columns do not determine ψ: of many equal fits EM has found one." * (len(names) == 2))
        )
        options = ["PCA", "factor analysis", "neither, within a tenth of a degree"]
        turned = turns["PPCA"][film.at] - turns["FA"][film.at]
        ui.check(
            f"Which direction is turned further by this: {shown[film.at]}?",
            options,
            options[2] if abs(turned) < 0.1 else options[0] if turned > 0 else options[1],
            f"PCA by {turns['PPCA'][film.at]:.1f}°, factor analysis by {turns['FA'][film.at]:.1f}°.",
            wrong=(
                "PCA follows variance whoever makes it, but this change turns factor analysis further.",
                "Factor analysis has a noise for each column, which takes this up: PCA has to turn.",
                "The two turns differ by more than a tenth of a degree.",
            ),
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            import torch
            from pages.latent.linear import lens

            x = lens.changed({source}, {change!r}, {column}, {film.value})
            models = lens.factor_analysis(x, {k}), lens.ppca(x, {k})
            result = [float(model.log_prob(x).mean()) for model in models]
            """,
            shows=[now.log_probs["FA"], now.log_probs["PPCA"]],
        )
        ui.source(
            FactorAnalysis, PPCA.m_step, LinearGaussian.m_step, lens.changed, references=ROOM.references
        )


VIEWS = {
    "FA or PCA": models_view,
    "One point": lambda: one_point.view(stage),
    "Trained": lambda: trained_rows.view(stage, "factor analysis"),
}
with stage.rail:
    view = ui.choice("View", list(VIEWS), key="view", as_list=True)
VIEWS[view]()
