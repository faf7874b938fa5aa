"""Outlier gauge: a VAE's evidence and reconstruction error as alarms, and a plain picture that fools both."""

from lab import ui
from lab.lenses import latent, stock
from lab.ui.controls.drawing import ink_code
from lab.ui.models import shelves
from modules.latent.vae import VAE
from pages.latent.outliers import figures, lens
from pages.latent.outliers.room import ROOM

SHARES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
DRAWS = [1, 5, 50, 500]
SETS = ["other symbols", "noise", "shuffled", "inverted", "plain bars"]
SHORT = dict(zip(lens.SCORES, ("log p̂", "error"), strict=True))

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Other symbols": ui.scene("Most symbols lie beyond both thresholds; this plus is let pass."),
        "Noise": ui.scene("Noise is far from all digits, by either score.", set="noise"),
        "A box": ui.scene("Your picture, the triangle: a box is beyond both thresholds.", x="box"),
        "A plain bar": ui.scene("A bar of two columns looks less odd than nearly every digit.", x="bar",
                                set="plain bars"),
        "Few alarms": ui.scene("One digit in a hundred may be flagged: more symbols pass.", share=0.01),
        "One draw": ui.scene("One draw for each picture: a lower, noisier log p̂; the error needs no draws.",
                             draws=1),
    }
)  # fmt: skip


def judging(name: str, draws: int):
    """Settings that the scores of all sets depend on, and how they are begun."""

    def start():
        known, digits = (stock.bits(split)[0] for split in ("val", "test"))
        return lens.judging(ui.load(name), known, digits, draws)

    return (name, draws), start


def show_gauges(results: lens.Judged, at: int, film=None) -> None:
    """Both scores of the digits, of the other set and of the reader's picture."""
    if kind not in results.sets:  # not yet
        return
    for score, column, unit in zip(lens.SCORES, ui.columns(2), ("log p̂(x), nats", "‖x − x̂‖²"), strict=True):
        line = [results.threshold(score, share) for share in SHARES]
        low, high = results.ends(kind, score, own[score])
        shares = {n: lens.histogram(results.sets[n][score], low, high) for n in ("digits", kind)}
        with column:
            ui.figure(
                figures.gauge(shares, low, high, line[at], own[score], unit), key=score, share=1.0, film=film,
                frames={"layout.shapes.0.x0": line, "layout.shapes.0.x1": line} if film else None,
                data=shares, alt=f"{score} of test digits and another set, the threshold, and your picture",
            )  # fmt: skip


with stage.rail:
    kind = ui.choice("Digits against", SETS, key="set", as_list=True)
    draws = ui.choice("Draws N", DRAWS, key="draws", default=50)
    digits = latent.examples(*shelves.examples(shelves.DIGITS, lens.SIDE))
    shelf = [("plus", lens.symbol("plus")), ("bar", lens.bar()), ("box", lens.symbol("box")), *digits[:-1]]
    picture = ui.draw("Your picture", key="x", size=lens.SIDE, examples=shelf)
    name = ui.experiment("Model", family="latent", key="model", default=lens.START, only=lens.fits)
x = (picture > 0.5).float().reshape(1, -1)
soon = [judging(name, each) for each in DRAWS if each != draws]
soon += [judging(each, draws) for each in lens.SOON if each != name]
mine = lens.scores(ui.load(name), x, draws)
own = {score: float(value) for score, value in mine.items()}
of, start = judging(name, draws)
with stage.picture:
    result = ui.result(
        "Judge", start, key="judged", of=of, quick=True, soon=soon,
        show=lambda so_far: show_gauges(so_far, SHARES.index(0.05)),
        says="The film is there when all are judged.",
    )  # fmt: skip
film = ui.film(len(SHARES), key="share", values=SHARES, default=0.05, label="Flag of digits:", seconds=0.6)
lines = {score: [result.threshold(score, share) for share in SHARES] for score in lens.SCORES}

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    show_gauges(result, film.at, film)
with stage.foot:
    film.bar(
        captions=[
            "False alarms on test digits: "
            + ", ".join(f"{n} {result.flagged('digits', s, share):.1%}" for s, n in SHORT.items())
            + f". Misses among “{kind}”: "
            + ", ".join(f"{n} {1 - result.flagged(kind, s, share):.1%}" for s, n in SHORT.items())
            + "."
            for share in SHARES
        ]
    )
evidence, error = lens.SCORES
stage.metrics(
    {
        "Your log p̂": f"{own[evidence]:.2f}",
        "above": f"{result.beaten(evidence, own[evidence]):.1%} of digits",
        "Your error": f"{own[error]:.2f}",
        "below": f"{result.beaten(error, own[error]):.1%} of digits",
    }
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    areas = {s: result.auroc(kind, s) for s in lens.SCORES}
    ui.notice(
        "The dotted thresholds flag the share of validation digits under the film. "
        f"AUROC of “{kind}” against test digits: {areas[evidence]:.3f} by log p̂, {areas[error]:.3f} by the "
        "error (1 separates, ½ guesses). Both alarms are about what is hard to encode and decode, not about "
        "what is a digit: a plain bar is easy, so it is likely and well rebuilt. log p̂ from N draws is below "
        "log p on average, most where the encoder guesses badly, as it does for what it has not met. "
        "The page Out of distribution asks the same of a flow."
    )
    ui.table(
        {
            "set": SETS,
            "AUROC, log p̂": [f"{result.auroc(n, evidence):.3f}" for n in SETS],
            "AUROC, error": [f"{result.auroc(n, error):.3f}" for n in SETS],
            "mean log p̂": [f"{float(result.sets[n][evidence].mean()):.1f}" for n in SETS],
        },
        alt="How well each score tells each set from test digits",
    )
    odd = own[evidence] < lines[evidence][film.at]
    ui.check(
        "Is your picture flagged by log p̂ at this threshold?", ["yes", "no"], "yes" if odd else "no",
        f"It has {own[evidence]:.2f} nats, τ is {lines[evidence][film.at]:.2f}.",
        wrong={
            "yes": "It may look odd to us, but its strokes are likely enough: log p̂ is above the threshold.",
            "no": "It may look like a digit, but nearly all digits of the data are likelier.",
        },
        veils=("picture", "numbers"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.ui.controls import drawing
        from pages.latent.outliers import lens

        model = weights.load({ui.spelled(name)})
        x = ({ink_code(picture)} > 0.5).float().reshape(1, 64)
        result = [float(value) for value in lens.scores(model, x, {draws}).values()]
        """,
        shows=[own[evidence], own[error]],
    )
    ui.source(VAE.iwae, VAE.log_weights, lens.scores, lens.others, references=ROOM.references)
