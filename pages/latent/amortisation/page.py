"""Local or amortised: the family's loss, the encoder's, and what steps on each datum win back."""

from lab import ui
from lab.figures import sheets, stacks
from lab.lenses import typed
from lab.ui.controls.drawing import ink_code
from lab.ui.models import shelves
from modules.latent import variational
from pages.latent.amortisation import deep, figures, lens
from pages.latent.amortisation.room import ROOM

VIEWS = ("Linear", "Trained VAE")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Encoder": ui.scene("Orange is the encoder's loss on each datum, grey the family's on all."),
        "Local": ui.scene("A hundred steps on each datum: orange is gone, grey stays.", n=100),
        "Narrow": ui.scene("An encoder of rank 1 misses data along one direction most.", rank=1),
        "Blind": ui.scene("Rank 0 ignores x: data far from the mean pay most.", rank=0),
        "Right answer": ui.scene("Rank 2 and the best v: this encoder loses nothing.", v=0.2),
        "No family gap": ui.scene("Orthogonal columns: a diagonal q is enough, and grey is gone.",
                                  w="1 0; 0 1; 0 0"),
        "Trained VAE": ui.scene("Most of what is lost is the encoder's doing; a box costs it most of all.",
                                view=VIEWS[1]),
        "Refined": ui.scene("Fifty steps on each digit win it back; what stays is the diagonal Gaussian's.",
                            view=VIEWS[1], n=50),
        "Black box": ui.scene("From values of log p(x, z) alone, by the score: a noisy climb, the same end.",
                              by="score", n=100),
    }
)  # fmt: skip


@ui.cached
def story(
    loadings, variance: float, count: int, rank: int, spread: float, seed: int, way: variational.Estimator
) -> lens.Story:
    exact = lens.model(loadings, variance)
    return lens.story(exact, lens.draw(exact, count, seed), rank, spread, seed, way)


@ui.cached
def refined(name: str, x):
    return deep.story(ui.load(name), x)


@ui.cached
def shelf(name: str):
    pictures = [picture for _, picture in deep.latent.examples(*shelves.examples(shelves.DIGITS, 8))[:-1]]
    return refined(name, deep.latent.as_input(ui.load(name), deep.latent.stacked(pictures)))


@ui.cached
def first(name: str):
    """Part that the other view shows first: the shelf, and the box as the reader's digit."""
    box = deep.latent.examples(*shelves.examples(shelves.DIGITS, 8))[-1][1]
    return shelf(name), refined(name, deep.latent.as_input(ui.load(name), box))


def show(result: lens.Story, film, names=None) -> None:
    """The gaps of every datum, and under the bar what they are in the mean."""
    ui.figure(
        figures.gaps(result, film.at, names), key="gaps", share=1.0, film=film,
        frames=stacks.turning(figures.parts(result)),
        alt="The approximation gap and the amortisation gap of every datum",
        data={"datum": names or range(1, len(result.x) + 1), "approximation": result.approximation,
              "amortisation": result.amortisation[film.at]},
    )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.sentences(result), equations=lens.equations(result))


def climb(result: lens.Story, film, share: float) -> None:
    ui.figure(
        figures.climb(result, film.at), key="climb", share=share, film=film,
        frames={f"layout.shapes.0.x{end}": list(range(film.count)) for end in (0, 1)},
        alt="The mean bound over the steps of local inference",
        data={"steps": result.inner, "ELBO": result.bounds.mean(1)},
    )  # fmt: skip


def ask(result: lens.Story, at: int) -> None:
    family, answer = float(result.approximation.mean()), float(result.amortisation[at].mean())
    ui.check(
        "In the mean over the data, which gap is larger now?", lens.OPTIONS,
        lens.OPTIONS[answer > family], f"{family:.3f} is the family's, {answer:.3f} the encoder's.",
        wrong=(
            "That gap is what no member of the family closes: the encoder misses even the best one by more.",
            "The encoder comes near to the best member: what is left is that no member is the posterior.",
        ),
        veils=("picture", "equation"),
    )  # fmt: skip


def linear() -> None:
    """All terms exact."""
    with stage.rail:
        rank = ui.slider("Rank of the encoder", 0, 2, 2, key="rank")
        spread = ui.slider("v, its variance", 0.05, 1.0, 0.4, key="v", step=0.05)
        text = ui.text("W, three rows of two", "1 1; 0 1; 1 0", key="w", max_chars=60)
        loadings, texts = typed.named(text, lens.DATA * lens.LATENT, -5, 5)
        if texts:
            ui.warning(texts)
        variance = ui.slider("Noise σ²", 0.1, 2.0, 0.5, key="s2", step=0.1)
        count = ui.slider("Data N", 2, 16, 8, key="N")
        way = ui.choice(
            "Gradient by", ["pathwise", "score"], key="by", as_list=True,
            help="The score asks for values of log p(x, z) alone: black-box inference",
        )  # fmt: skip
        seed = ui.number("Seed", 0, 999, 0, key="seed")
    film = ui.film(len(lens.INNER), key="n", values=lens.INNER, label="Steps", seconds=0.8)
    result = story(loadings, variance, count, rank, spread, seed, way)
    ui.prefetch(first, ("vae-digits",))
    ui.prefetch(
        story,
        *((loadings, variance, count, each, spread, seed, way) for each in ui.near(rank, 0, 2, 1)),
        *((loadings, variance, count, rank, each, seed, way) for each in ui.near(spread, 0.05, 1.0, 0.05)),
        *((loadings, each, count, rank, spread, seed, way) for each in ui.near(variance, 0.1, 2.0, 0.1)),
        *((loadings, variance, each, rank, spread, seed, way) for each in ui.near(count, 2, 16, 1)),
        (loadings, variance, count, rank, spread, min(999, seed + 1), way),
        (loadings, variance, count, rank, spread, seed, "pathwise" if way == "score" else "score"),
    )
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            show(result, film)
        with right:
            climb(result, film, 1.0)
    with stage.below:
        ui.notice(
            f"Local inference keeps a mean and a variance for each latent of each datum, 2kN = "
            f"{2 * lens.LATENT * count} numbers here, and climbs anew for each x; the encoder keeps "
            f"{lens.LATENT * lens.DATA + 1} whatever N is, and answers at once. No steps win back what the "
            "family lacks: a diagonal q cannot turn."
            + (
                " The score weighs draws by log p(x, z) − log q(z), of which it asks no slope: inference "
                "for a model that is a black box."
                if way == "score"
                else ""
            )
        )
        ask(result, film.at)
        ui.program(
            f"""
            from pages.latent.amortisation import lens

            exact = lens.model({loadings}, {variance!r})
            x = lens.draw(exact, {count}, {seed})
            story = lens.story(exact, x, {rank}, {spread!r}, {seed}, {way!r})
            result = [float(story.log_p.mean()), float(story.best.mean()), *story.bounds.mean(1).tolist()]
            """,
            shows=[float(result.log_p.mean()), float(result.best.mean()), *result.bounds.mean(1).tolist()],
        )


def trained() -> None:
    """A VAE of digits: estimates."""
    with stage.rail:
        name = ui.experiment("Model", family="latent", key="model", default="vae-digits", only=deep.fits)
        examples = deep.latent.examples(*shelves.examples(shelves.DIGITS, 8))
        picture = ui.draw("Your digit", key="digit", size=8, examples=[examples[-1], *examples[:-1]])
    film = ui.film(len(deep.INNER), key="n", values=deep.INNER, label="Steps", seconds=0.8)
    x = deep.latent.as_input(ui.load(name), picture)
    (mine, own), (theirs, others) = refined(name, x), shelf(name)
    result, names = deep.together(mine, theirs), ["yours", *map(str, range(10))]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            show(result, film, names)
        with right:
            climb(result, film, 0.6)
            ui.figure(
                sheets.contact_sheet(deep.joined(own, others), ["x", "encoder", "refined"], names),
                key="digits", share=0.4,
                alt="Each digit, rebuilt from the encoder's mean and the refined",
            )  # fmt: skip
    with stage.below:
        ui.notice(
            f"Yours: log p̂ = {float(mine.log_p[0]):.2f}, the encoder's bound "
            f"{float(mine.bounds[0, 0]):.2f}, the best found {float(mine.best[0]):.2f}. log p is estimated "
            f"by {deep.IMPORTANCE:,} importance draws from the refined q, biased low, and the best q is the "
            "best that the steps have found: both gaps are estimates here."
        )
        ask(result, film.at)
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.ui.controls import drawing
            from pages.latent.amortisation import deep

            model = weights.load({ui.spelled(name)}).requires_grad_(False)
            x = deep.latent.as_input(model, {ink_code(picture)})
            story, _ = deep.story(model, x)
            result = [story.log_p.item(), story.best.item(), *story.bounds[:, 0].tolist()]
            """,
            shows=[float(mine.log_p[0]), float(mine.best[0]), *mine.bounds[:, 0].tolist()],
        )


with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
dict(zip(VIEWS, (linear, trained), strict=True))[view]()
with stage.below:
    ui.source(
        variational.amortisation_gaps,
        variational.local_vi,
        lens.story,
        deep.story,
        references=ROOM.references,
    )
