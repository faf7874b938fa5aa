"""Better posterior: a diagonal Gaussian, a full one and a flow against a posterior known on a grid."""

from collections.abc import Iterator

from lab import ui
from lab.lenses import typed
from modules.flow import posterior, reverse_kl
from pages.latent.flow_posterior import figures, lens
from pages.latent.flow_posterior.room import ROOM

TWO = {"target": "two modes"}
OPTIONS = ["less than 0.1", "0.1 to 0.6", "more than 0.6"]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Diagonal": ui.scene("However long it trains, a diagonal q lacks 0.92 nats."),
        "Full": ui.scene("One triangular layer turns with the posterior: no gap.", kind="full"),
        "Banana": ui.scene("A bent posterior: no diagonal Gaussian follows its arms.",
                           target="banana"),
        "Flow": ui.scene("Work: a flow follows the bend, and the gap nearly closes.", target="banana",
                         kind="flow"),
        "Layer by layer": ui.scene("Turn the film: each layer bends the noise further.", target="banana",
                                   kind="flow", show="layers"),
        "One of two": ui.scene("Two modes: the Gaussian keeps one, about ln 2 below log p(x).", **TWO),
    }
)  # fmt: skip


@ui.cached
def exact(form, x: float, sigma: float):
    toy = lens.target(form, x, sigma)
    return lens.exact(toy), lens.correlation(toy)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.choice("Posterior", [*lens.FORMS, "own"], key="target", as_list=True)
    if name == "own":
        text = ui.text("g: 1, z₁, z₂, z₁², z₂², z₁z₂", "-1 0 0 1 1 0", key="g", max_chars=60)
        form, texts = typed.named(text, 6, -3, 3)
        if texts:
            ui.warning(texts)
        form, start = form or [0.0], 0.5
    else:
        form, start = lens.FORMS[name], lens.observation(name)
    x = ui.slider("Observation x", -1.0, 3.0, start, key="x", step=0.1)
    sigma = ui.slider("Noise σ of x", 0.2, 1.0, 0.3, key="sigma", step=0.1)
    kind = ui.choice("q", list(lens.FAMILIES), key="kind")
    layers = ui.slider("Layers of the flow", 1, 4, 2, key="layers", disabled=kind != "flow")
    anneal = ui.toggle("Annealed", False, key="anneal")
    show = ui.choice("Film", ["training", "layers"], key="show")
    seed = ui.number("Seed", 0, 99, 0, key="seed")
density, rho = exact(form, x, sigma)


def settings(form=form, x=x, sigma=sigma, kind=kind, anneal=anneal, seed=seed):
    """Settings that a training depends on, and how it starts."""

    def start() -> Iterator[tuple[float, lens.Found]]:
        return lens.training(lens.target(form, x, sigma), kind, layers, anneal, seed)

    return (form, x, sigma, kind, layers if kind == "flow" else 1, anneal, seed), start


soon = []
if kind != "flow":  # a flow trains longer, and only when it is asked for
    soon += [settings(x=each) for each in ui.near(x, -1.0, 3.0, 0.1)]
    soon += [settings(sigma=each) for each in ui.near(sigma, 0.2, 1.0, 0.1)]
    soon += [settings(each, lens.observation(key)) for key, each in lens.FORMS.items() if key != name]
    soon += [settings(anneal=not anneal), settings(seed=min(99, seed + 1))]
soon += [settings(kind=each) for each in ("diagonal", "full") if each != kind]
of, start_training = settings()


def so_far(results: lens.Found) -> None:
    left, right = ui.columns(2)
    with left:
        ui.figure(figures.plane(density, results.draws[-1]), key="plane", share=1.0,
                  alt="The posterior and the draws of q so far")  # fmt: skip
    with right:
        ui.figure(figures.climb(results, None), key="climb", share=1.0, alt="The ELBO so far, under log p(x)")


with stage.picture:
    result = ui.result(
        "Train", start_training, key="train", of=of, quick=kind != "flow", show=so_far, soon=soon,
        says="The climb of the bound and the draws of q, when the flow has trained.",
    )  # fmt: skip
layered = show == "layers"
frames = result.layers if layered else result.draws
film = ui.film(
    len(frames), key="layer" if layered else "step", default=len(frames) - 1,
    label="Layer" if layered else "Snapshot", seconds=0.8 if layered else 0.3,
)  # fmt: skip
draws = frames[film.at]

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.plane(density, draws), key="plane", share=1.0, film=film,
            frames={"data.1.x": frames[..., 0], "data.1.y": frames[..., 1]},
            alt="The exact posterior, and draws of q as dots", data={"z1": draws[:, 0], "z2": draws[:, 1]},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.climb(result, None if layered else result.steps[film.at]), key="climb", share=1.0,
            film=None if layered else film,
            frames=None if layered else {f"layout.shapes.0.x{end}": result.steps for end in (0, 1)},
            alt="The ELBO over the training, under log p(x)",
            data={"step": result.steps, "ELBO": result.elbos},
        )  # fmt: skip
with stage.foot:
    elbos = [result.elbos[-1]] * film.count if layered else result.elbos
    film.bar(
        captions=lens.sentences(result, layered),
        equations=[
            rf"\log q=\log N(z_0)-\sum_l\log|\det J_l|,\qquad\mathrm{{ELBO}}={elbo:.3f}\le"
            rf"\log p(x)={result.log_p:.3f}"
            for elbo in elbos
        ],
    )

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        f"The gap is {result.gap:.3f} ± {result.error:.3f} nats; the posterior's correlation is {rho:.3f}. "
        "A diagonal q lacks −½ ln(1 − ρ²) on a Gaussian posterior; a triangular layer takes that away, "
        "layers whose scale and shift depend on what came before bend. With two equal modes whoever "
        "keeps one lacks ln 2, and importance weights do not notice."
    )
    ui.check(
        "How far does the bound end below log p(x), in nats?",
        OPTIONS,
        OPTIONS[(result.gap >= 0.1) + (result.gap > 0.6)],
        f"It is {result.gap:.3f}.",
        wrong=(
            "The gap is the KL from q to the posterior, and this q does not bend that far.",
            "The gap is set by how far the family bends: this one is nearer, or further off.",
            "A q that bends, or a posterior that hardly does, leaves less than that.",
        ),
        veils=("climb", "equation"),
    )
    ui.program(
        f"""
        from pages.latent.flow_posterior import lens

        toy = lens.target({form}, {x!r}, {sigma!r})
        result = [toy.log_evidence(7.0, 701), lens.correlation(toy)]
        """,
        shows=[result.log_p, rho],
    )
    ui.source(posterior.flow_posterior, reverse_kl.reverse_kl, lens.training, references=ROOM.references)
