"""Prior or posterior: codes that were trained on, and codes that are drawn."""

from lab import ui
from lab.figures import basic, sheets
from lab.lenses import latent, stock
from modules.latent.aggregated import AggregatedPosterior
from modules.latent.scores import frechet_distance
from pages.latent.prior_posterior import figures, lens
from pages.latent.prior_posterior.room import ROOM

SPREADS = [0.25 * i for i in range(7)]
SHOWN, COLUMNS, DOTS = 25, 5, 400

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two sheets": ui.scene("Left: codes from the prior. Right: a training digit's code, and its noise."),
        "No spread": ui.scene("At spread 0 every draw of the prior is one picture: its middle.", spread=0.0),
        "Too wide": ui.scene("At spread 1.5 the orange cloud reaches beyond the codes of digits.",
                             view="Clouds", spread=1.5),
        "As clouds": ui.scene("Both clouds on the plane of the codes' two main axes.", view="Clouds"),
        "A learned prior": ui.scene("A VampPrior's own draws come nearer to q(z) than N(0, I)'s do.",
                                    model="vamp-digits"),
        "Cheap code": ui.scene("At β = ¼ codes keep apart, and the prior misses them more.",
                               model="betaquarter-digits"),
    }
)  # fmt: skip


@ui.cached
def posterior_of(name: str) -> AggregatedPosterior:
    return lens.aggregated(ui.load(name), stock.bits("train")[0])


@ui.cached
def missed(name: str) -> tuple[float, float]:
    return lens.distance(ui.load(name), posterior_of(name))


@ui.cached
def judged(name: str, seed: int) -> dict[str, lens.Judged]:
    """Both sources, and test digits themselves against training digits."""
    model, reader = ui.load(name), ui.load("cnn-digits")
    train, test, other = (stock.bits(part)[0] for part in ("train", "test", "val"))
    codes = lens.codes(model, posterior_of(name), lens.JUDGED, seed)
    pictures = {source: lens.bits(model, z, seed) for source, z in codes.items()}
    return {n: lens.judged(reader, x, test, train) for n, x in {**pictures, "digits held out": other}.items()}


@ui.cached
def sure_of(name: str, seed: int) -> list[float]:
    model = ui.load(name)
    return lens.sureness(ui.load("cnn-digits"), model, lens.spread(model, SPREADS, DOTS, seed), seed)


@ui.cached
def shown(name: str, seed: int) -> tuple:
    """All that the page asks of a model."""
    return missed(name), judged(name, seed), sure_of(name, seed)


with stage.rail:
    view = ui.choice("View", ["Sheets", "Clouds"], key="view")
    name = ui.experiment("Model", family="latent", key="model", default="vae-bits-digits", only=lens.fits)
    seed = ui.number("Seed of the draws", 0, 999, 0, key="seed")
model, q = ui.load(name), posterior_of(name)
film = ui.film(len(SPREADS), key="spread", values=SPREADS, default=1.0, label="Spread", seconds=0.5)

# --- Pictures -----------------------------------------------------------------------------------

count = SHOWN if view == "Sheets" else DOTS
drawn = lens.spread(model, SPREADS, count, seed)  # (7, count, K)
own = lens.codes(model, q, count, seed)["aggregated posterior"]
with stage.picture:
    if view == "Sheets":
        pictures = latent.decoded(model, drawn)
        left, right = ui.columns(2)
        with left:
            ui.figure(
                basic.images(pictures[film.at], columns=COLUMNS, title="z from the prior"), key="prior",
                share=1.0,
                film=film, frames={"data.0.z": sheets.frames(pictures, COLUMNS, 1)},
                alt=f"{SHOWN} codes of the prior, decoded",
            )  # fmt: skip
        with right:
            ui.figure(
                basic.images(latent.decoded(model, own), columns=COLUMNS, title="z from q(z)"),
                key="aggregated",
                share=1.0,
                alt=f"{SHOWN} codes of the aggregated posterior, decoded",
            )
    else:
        plane = lens.plane(q)
        places = plane.place(drawn)
        ui.figure(
            figures.clouds(places[film.at], plane.place(own), plane.names), key="clouds", share=1.0,
            film=film,
            frames={"data.0.x": places[..., 0], "data.0.y": places[..., 1]},
            alt="Draws of the prior and of the aggregated posterior on the plane of the codes' two main axes",
        )  # fmt: skip
sure = sure_of(name, seed)
with stage.foot:
    film.bar(
        captions=[
            f"Spread {s:g} times the prior's: cnn-digits is sure of {share:.0%} of {DOTS} such draws."
            for s, share in zip(SPREADS, sure, strict=True)
        ]
    )
scores, (gap, error) = judged(name, seed), missed(name)
ui.prefetch(shown, (name, min(999, seed + 1)), *((each, seed) for each in ui.trained("latent", lens.fits)))
prior, posterior, real = (scores[n] for n in (*lens.SOURCES, "digits held out"))
stage.equation(
    rf"\mathrm{{KL}}(q(z)\,\|\,p(z))={gap:.3f}\pm{error:.3f},\qquad "
    rf"\mathrm{{FD}}={prior.frechet:.2f}\ \text{{(prior)}},\ {posterior.frechet:.2f}\ (q(z))",
    f"{lens.JUDGED} draws each, against test digits; as many others have {real.frechet:.2f}.",
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.table(
        {
            "pictures": list(scores),
            "Fréchet distance": [round(s.frechet, 3) for s in scores.values()],
            f"surer than {lens.SURE}": [f"{s.sure:.0%}" for s in scores.values()],
            "pixels from the nearest training digit": [round(s.nearest, 2) for s in scores.values()],
        },
        alt="What the classifier makes of draws of both sources, and of held-out digits",
    )
    ui.notice(
        f"The classifier is sure of {prior.sure:.0%} of the prior's draws and of {posterior.sure:.0%} of "
        "those "
        f"of q(z), of {real.sure:.0%} of digits held out. But a draw of q(z) is a noisy copy of a training "
        f"digit: it lies {posterior.nearest:.2f} pixels from the nearest one, the prior's "
        f"{prior.nearest:.2f}, "
        f"a digit held out {real.nearest:.2f}. No prior could raise the mean bound on the training digits by "
        f"more than KL(q(z) ‖ p(z)) = {gap:.2f} nats while the encoder stays."
    )
    better = "prior" if prior.frechet < posterior.frechet else "aggregated posterior"
    ui.check(
        "Whose draws have features nearer to those of test digits?", lens.SOURCES, better,
        f"{prior.frechet:.2f} for the prior, {posterior.frechet:.2f} for the aggregated posterior.",
        wrong=(
            "Draws of the prior also fall where no digit was encoded, and the decoder never learned what "
            "to do there.",
            "It deals codes of digits, but where the prior is as well covered that wins nothing.",
        ),
        veils=("equation",),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import stock
        from pages.latent.prior_posterior import lens

        model = weights.load({ui.spelled(name)})
        q = lens.aggregated(model, stock.bits("train")[0])
        result = list(lens.distance(model, q))
        """,
        shows=[gap, error],
    )
    ui.source(
        AggregatedPosterior.sample,
        AggregatedPosterior.log_prob,
        lens.distance,
        frechet_distance,
        references=ROOM.references,
    )
