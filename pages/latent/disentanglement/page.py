"""Disentanglement: what each number of a code holds, in pictures and in nats, and what that has cost."""

from lab import ui
from lab.lenses import sprites, vaes
from modules.latent import scores
from modules.latent.aggregated import AggregatedPosterior
from modules.latent.factor_vae import FactorVAE
from modules.latent.tcvae import TCVAE
from pages.latent.disentanglement import figures, lens
from pages.latent.disentanglement.room import ROOM

VIEWS = ("Traversals", "Four models")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "A plain VAE": ui.scene("Nearly every row changes place, size and shape at once."),
        "β = 4": ui.scene("Column, row and scale get a row each; the rest says nothing, and shapes blur.",
                          model="beta4-sprites"),
        "FactorVAE": ui.scene("Its first two rows are row and column, nearly alone, and shapes stay sharp.",
                              model="factorvae-sprites"),
        "TC-VAE": ui.scene("Place and scale get rows of their own; three rows are given up.",
                           model="tcvae-sprites"),
        "Means flatter": ui.scene("Read from means, rows without a nat seem to tell the scale.",
                                  model="beta4-sprites", read="means", row=6),
        "No sprite": ui.scene("A ring is no sprite: less than half of its ink comes back, as arcs.",
                              x="ring", model="factorvae-sprites"),
        "The price": ui.scene("β = 4 has the highest MIG and the worst pictures; FactorVAE comes near.",
                              view=VIEWS[1], which=4),
        "Not the MIG alone": ui.scene("FactorVAE's codes still depend on each other: TC is two nats.",
                                      view=VIEWS[1], which=2),
    }
)  # fmt: skip


@ui.cached
def price(name: str) -> lens.Price:
    return lens.price(ui.load(name))


@ui.cached
def measured(name: str, reading: str) -> lens.Scores:
    return lens.scores(ui.load(name), reading, price(name))


with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
    if view == VIEWS[0]:
        name = ui.experiment("Model", family="latent", key="model", default="vae-sprites", only=sprites.fits)
    reading = ui.choice(
        "Read from", lens.READINGS, key="read",
        help="z as it is drawn from q(z|x), which is what the decoder sees, or the mean of q(z|x): "
        "ranks make even tiny moves of a mean look like news.",
    )  # fmt: skip
    if view == VIEWS[0]:
        sprite = ui.draw("Your sprite", key="x", size=sprites.SIDE, examples=sprites.examples())


def traversals() -> None:
    """A row a dimension, turned from −2 to 2, beside what it tells of each factor."""
    model, result = ui.load(name), measured(name, reading)
    rows = len(result.order)
    film = ui.film(rows, key="row", values=range(1, rows + 1), default=1, label="Rank by KL", seconds=1.0)
    words = [vaes.dimension(j) for j in result.order]
    code = lens.latent.codes(model, (sprite > 0.5).float()[None])[0]
    pictures = lens.turned(model, code, result.order)
    with stage.picture:
        left, right = ui.columns([4, 3])
        with left:
            ui.figure(
                figures.turned(pictures, words, film.at), key="sheet", share=1.0, film=film,
                frames=figures.sheet_moves(rows),
                alt="Your sprite decoded with one dimension at a time turned from −2 to 2, one a row",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.table(result.shares, words, film.at), key="table", share=1.0, film=film,
                frames=figures.table_moves(rows),
                alt="Share of each factor's entropy that each dimension tells",
                data={"dimension": words, "KL": result.kl,
                      **{v: result.shares[:, i] for i, v in enumerate(lens.NAMES)}},
            )  # fmt: skip
    moves = sprites.motions(pictures).tolist()
    with stage.foot:
        film.bar(
            captions=[lens.sentence(result, r, words[r], moves[r]) for r in range(rows)],
            equations=[lens.gap_equation(result, r) for r in range(rows)],
        )
    stage.metrics(
        {"MIG": f"{result.mig:.3f}", "TC": f"{result.tc:.2f} nats",
         "−E log p(x|z)": f"{result.distortion:.2f} nats", "KL": f"{float(result.kl.sum()):.2f} nats"}
    )  # fmt: skip
    hardest = int(result.shares.amax(0).argmin())
    with stage.below:
        ui.notice(
            f"A cell is I(z; v)/H(v) over all {lens.everything()[0].shape[0]:,} pictures, each code cut into "
            f"{lens.BINS} bins; even a code that knows nothing is counted {float(result.floor.min()):.2f} to "
            f"{float(result.floor.max()):.2f}. Of the {lens.NAMES[hardest]} no code tells more than "
            f"{float(result.shares[:, hardest].max()):.0%}. An angle runs in a circle, which one number "
            "cannot hold without a cut; the score can only count factors that are named, and single codes."
        )
        ui.check(
            "Of which factor does no single code tell much?", lens.NAMES, lens.NAMES[hardest],
            "Its column has the smallest maximum.",
            wrong={
                name: f"Some code tells more of the {name}: the question is for the weakest column."
                for name in lens.NAMES
            },
            veils=("table", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from datamodules.sprites import everything
            from lab import experiments, weights
            from modules.latent.scores import mutual_information_gap
            from pages.latent.disentanglement import lens

            x, factors = everything()
            model = weights.load({ui.spelled(name)})
            z = lens.read(model, x, {reading!r})
            result = mutual_information_gap(z, factors, {lens.BINS}).item()
            """,
            shows=result.mig,
        )


def comparison() -> None:
    """MIG and TC against the price in pictures, and the table of the model that the film is at."""
    by_price = lambda one: measured(one, "draws").distortion  # noqa: E731
    names = sorted(ui.trained("latent", sprites.fits), key=by_price)
    results = [measured(one, reading) for one in names]
    words = [lens.title(one) for one in names]
    costs = [[one.distortion] for one in results]
    film = ui.film(
        len(names), key="which", values=range(1, len(names) + 1), default=1, label="Model", seconds=1.5
    )
    ranks = [f"{r + 1}." for r in range(max(len(one.order) for one in results))]
    with stage.picture:
        left, right = ui.columns([4, 3])
        with left:
            ui.figure(
                figures.price(results, words, film.at), key="price", share=1.0, film=film,
                frames={"data.2.x": costs, "data.2.y": [[one.mig] for one in results],
                        "data.3.x": costs, "data.3.y": [[one.tc] for one in results]},
                alt="MIG and total correlation of each model against what it loses in its pictures",
                data={"model": words, "distortion": [one.distortion for one in results],
                      "MIG": [one.mig for one in results], "TC": [one.tc for one in results]},
            )  # fmt: skip
        with right:
            ui.figure(
                figures.table(results[film.at].shares, ranks), key="tables", share=1.0, film=film,
                frames={"data.0.z": [one.shares.float() for one in results]},
                alt="Share of each factor that each dimension of this model tells, those with most KL first",
            )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[
                f"{word}: MIG {one.mig:.3f}, TC {one.tc:.2f} nats; the KL of its code is "
                f"{float(one.kl.sum()):.2f} nats, "
                f"{float(one.kl[:3].sum() / one.kl.sum()):.0%} of it in three dimensions."
                for word, one in zip(words, results, strict=True)
            ],
            equations=[
                r"\mathrm{MIG}=\tfrac15("
                + "+".join(f"{g:.3f}" for g in one.gaps.tolist())
                + rf")={one.mig:.3f},\qquad -E\,\log p(x|z)={one.distortion:.2f}"
                for one in results
            ],
        )
    best = max(range(len(names)), key=lambda i: results[i].mig)
    now = results[film.at]
    own = ui.card(names[film.at]).get("metrics", {}).get("test/tc")
    with stage.below:
        ui.notice(
            "β weighs the whole KL, so it also taxes what the code tells of x; TC-VAE weighs the total "
            "correlation alone, and FactorVAE has a discriminator estimate it. With weight 1 on I(x; z) "
            "that is a penalty too ([UDL] §17.8.4 says that it is maximised). "
            + (f"The discriminator of {words[film.at]} says TC = {own:.2f}; over all pictures it is "
               f"{now.tc:.2f}. "
               if own is not None else "")
            + "Each model was trained once: another seed may well change places with it (Locatello "
            "et al. 2019)."
        )  # fmt: skip
        ui.check(
            "Which model has the highest MIG?", words, words[best],
            f"{results[best].mig:.3f}, at {results[best].distortion:.2f} nats per picture.",
            wrong={
                word: f"{word} has {one.mig:.3f}: pressing on the code alone gives no factor one of its own."
                for word, one in zip(words, results, strict=True)
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from pages.latent.disentanglement import lens

            scores = lens.scores(weights.load({ui.spelled(names[film.at])}), {reading!r})
            result = [scores.mig, scores.tc, scores.distortion]
            """,
            shows=[now.mig, now.tc, now.distortion],
        )


others = ui.trained("latent", sprites.fits)
ui.prefetch(measured, *((one, each) for each in sorted(lens.READINGS, key=reading.__ne__) for one in others))
dict(zip(VIEWS, (traversals, comparison), strict=True))[view]()
with stage.below:
    ui.source(
        scores.information_table, scores.mutual_information_gap, AggregatedPosterior.decomposition,
        TCVAE.objective, FactorVAE.objective, references=ROOM.references,
    )  # fmt: skip
