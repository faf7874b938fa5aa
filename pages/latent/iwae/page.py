"""IWAE: K weighted draws tighten the bound, stand for a better posterior, and weaken the encoder's signal."""

from lab import ui
from lab.lenses import typed
from modules.importance import log_mean_exp
from modules.latent import importance
from pages.latent.iwae import figures, lens
from pages.latent.iwae.room import ROOM

TWO, SIGNAL = {"model": "two modes"}, {"right": "signal"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "One draw": ui.scene("K = 1: the implied posterior is q, and the bound is the ELBO.", K=1),
        "Ten draws": ui.scene("K = 10: orange leans from q towards the posterior; the gap is nearly gone."),
        "A hundred": ui.scene("K = 100: orange lies on the posterior.", K=100),
        "Signal": ui.scene(
            "The plain ratio falls like 1/√K; doubly reparametrised it rises.", K=100, **SIGNAL
        ),
        "Prior as q": ui.scene(
            "q is the prior: 0.716 nats are missing at K = 1, nothing to speak of at 100.",
            mu=0.0,
            sigma=1.0,
            K=1,
        ),
        "One mode": ui.scene(
            "q never visits the left mode: a hundred draws do not find it.", mu=0.9, sigma=0.15, K=100, **TWO
        ),
        "Wide q": ui.scene(
            "A wide q is a poor posterior alone; its hundred draws make both modes.",
            mu=0.0,
            sigma=1.0,
            K=100,
            **TWO,
        ),
    }
)


@ui.cached
def story(*settings) -> lens.Story:
    return lens.story(*settings)


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    model = ui.choice("Model", [*lens.MODELS, "own"], key="model", as_list=True)
    coefficients, x, noise = lens.MODELS.get(model, ([0.0, 0.0, 1.0], 1.0, 0.3))
    if model == "own":
        text = ui.text("g(z): coefficients of 1, z, z², …", "0 -2 0 1", key="g", max_chars=60)
        coefficients, texts = typed.named(text, 5, -5, 5)
        if texts:
            ui.warning(texts)
        coefficients = coefficients or [0.0]
    x = ui.slider("Observation x", -3.0, 3.0, x, key="x", step=0.1)
    mean = ui.slider("μ of q", -3.0, 3.0, 0.3, key="mu", step=0.1)
    deviation = ui.slider("σ of q", 0.05, 2.0, 0.9, key="sigma", step=0.05)
    right_shows = ui.choice("Right picture", ["bounds", "signal"], key="right")
    seed = ui.number("Seed", 0, 999, 0, key="seed")
film = ui.film(len(lens.SIZES), key="K", values=lens.SIZES, default=10, label="K =", seconds=0.8)
result = story(coefficients, x, noise, mean, deviation, seed)
ui.prefetch(
    story,
    *((coefficients, each, noise, mean, deviation, seed) for each in ui.near(x, -3.0, 3.0, 0.1)),
    *((coefficients, x, noise, each, deviation, seed) for each in ui.near(mean, -3.0, 3.0, 0.1)),
    *((coefficients, x, noise, mean, each, seed) for each in ui.near(deviation, 0.05, 2.0, 0.05)),
    (coefficients, x, noise, mean, deviation, min(999, seed + 1)),
    *((*each, mean, deviation, seed) for name, each in lens.MODELS.items() if name != model),
)

# --- Picture ------------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.densities(result, film.at),
            key="densities",
            share=1.0,
            film=film,
            frames={"data.2.y": result.implied},
            alt="Exact posterior, q, and what K weighted draws stand for",
            data={
                "z": result.z,
                "posterior": result.posterior,
                "q": result.q,
                "implied": result.implied[film.at],
            },
        )
    with right:
        if right_shows == "bounds":
            ui.figure(
                figures.gaps(result, film.at),
                key="right",
                share=1.0,
                film=film,
                frames={"data.0.marker.opacity": [figures.opacities(i) for i in range(film.count)]},
                alt="How far the bound of K draws is below log p(x)",
                data={"K": lens.SIZES, "L_K": result.bounds, "error": result.errors},
            )
        else:
            ui.figure(
                figures.signal(result, film.at),
                key="right",
                share=1.0,
                film=film,
                frames={f"layout.shapes.0.x{end}": lens.SIZES for end in (0, 1)},
                alt="Signal over noise of the encoder's gradient by K",
                data={"K": lens.SIZES, "plain": result.plain, "doubly": result.doubly},
            )
with stage.foot:
    film.bar(captions=lens.captions(result), equations=lens.equations(result))

# --- Words --------------------------------------------------------------------------------------

first = lens.first_within(result, 0.05)
options = ["at most 5", "10 to 50", "100 or more"]
answer = options[2 if first is None or first > 50 else 0 if first <= 5 else 1]
with stage.below:
    ui.notice(
        f"The ELBO is {result.elbo:.3f}, log p(x) {result.log_p:.3f}. From K = 1 to 100 the noise of the "
        f"plain "
        f"gradient goes from {float(result.noise[0]):.3f} to {float(result.noise[-1]):.3f}, its mean from "
        f"{float(result.signal[0]):.3f} to {float(result.signal[-1]):.4f}: it is not a higher variance that "
        "weakens the encoder's signal ([GM] §3.11.3), the mean falls faster. A mode that q never visits "
        "leaves no trace in the weights."
    )
    ui.check(
        "How many draws bring the bound within 0.05 nats of log p(x)?",
        options,
        answer,
        "No K shown does." if first is None else f"The first of those shown is {first}.",
        wrong=(
            "The bias falls as 1/K at best: few draws rarely hit where the posterior lies.",
            "How many it takes depends on how well q covers the posterior: here it is better, or worse.",
            "This q lies near the posterior: its weights scatter little, and few draws are enough.",
        ),
        veils=("picture", "equation"),
    )
    ui.program(
        f"""
        from pages.latent.iwae import lens

        story = lens.story({coefficients}, {x!r}, {noise!r}, {mean!r}, {deviation!r}, {seed})
        result = [story.log_p, story.elbo, *story.bounds.tolist()]
        """,
        shows=[result.log_p, result.elbo, *result.bounds.tolist()],
    )
    ui.source(
        log_mean_exp,
        importance.encoder_gradients,
        lens.implied,
        lens.story,
        references=ROOM.references,
    )
