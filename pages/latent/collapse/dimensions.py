"""The KL of each dimension of a code, model by model, and which dimensions move with x at all."""

from typing import Any

from torch import Tensor

from lab import ui
from lab.lenses import latent
from pages.latent.collapse import figures, lens


@ui.cached
def measured(name: str, x: Tensor) -> lens.Dimensions:
    return lens.dimensions(ui.load(name), x)


def view(stage: Any, names: list[str], x: Tensor, data: str) -> None:
    """Bars of KL_j on test data x (N, D), a film over the models `names`."""
    short, result = lens.short(names), [measured(name, x) for name in names]
    film = ui.film(len(names), key="which", default=0, label="Model", seconds=1.5)
    now, name = result[film.at], names[film.at]
    digits = 3 if len(now.kl) < 5 else 2
    active = [int(one.active.sum()) for one in result]
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            fig, moves = figures.by_dimension(result, film.at)
            ui.figure(
                fig, key="dimensions", share=1.0, film=film, frames=moves,
                alt="Mean KL of every dimension of the code, the most costly first; inactive ones grey",
                data={"dimension": [j + 1 for j in now.order], "KL": now.kl,
                      "variance of the mean": now.moved},
            )  # fmt: skip
        with right:
            fig, moves = figures.movement(result, film.at)
            ui.figure(
                fig, key="movement", share=1.0, film=film, frames=moves,
                alt="KL of a dimension against the variance of its mean, over all models of these data",
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[
                f"{label}: {count} of {len(one.kl)} dimensions are active; the most costly holds "
                f"{float(one.kl[0]):.3f} of {one.paid:.3f} nats, {float(one.kl[0]) / one.paid:.0%}."
                for label, one, count in zip(short, result, active, strict=True)
            ],
            equations=[
                r"\textstyle\sum_j E\,\mathrm{KL}_j="
                + "+".join(f"{v:.{digits}f}" for v in one.kl.tolist())
                + f"={one.paid:.3f}"
                for one in result
            ],
        )
    least = lens.cheapest(result)
    with stage.below:
        ui.notice(
            f"Means over {len(x)} test examples, in closed form. A dimension is called active where its mean "
            f"moves with x, Var μⱼ > {latent.MOVES:g}; that it moves costs ½ Var μⱼ at least, the dotted "
            f"line, and what lies above pays for noise narrower than the prior's. {short[film.at]} has "
            f"{active[film.at]} active dimensions of {len(now.kl)} and pays {now.paid:.3f} nats. "
            + (
                "Active is not used: all of that is less than a tenth of a nat."
                if active[film.at] and now.paid < 0.1
                else "A collapsed dimension would stand on the floor at the left; "
                + ("none does here." if active[film.at] == len(now.kl) else "see the grey bars.")
            )
        )
        ui.check(
            "Whose most costly dimension costs least?", short, short[least],
            f"It costs {float(result[least].kl[0]):.3f} nats.",
            wrong={
                name: f"The dearest one of “{name}” costs {float(one.kl[0]):.3f} nats: it says something."
                for name, one in zip(short, result, strict=True)
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.lenses import stock
            from modules.latent.bounds import gaussian_kl
            from pages.latent.collapse import lens

            x, _ = {'lens.chains("test")' if data == "Two chains" else 'stock.bits("test")'}
            kl = gaussian_kl(*weights.load({ui.spelled(name)}).encode_parameters(x)).mean(0)
            result = kl.sort(descending=True).values.tolist()
            """,
            shows=now.kl.tolist(),
        )
