"""Codebook: a picture as numbers of a book, the book's cells, and a prior over the numbers."""

from lab import ui
from lab.figures import basic
from lab.lenses import latent, stock
from lab.ui.models import shelves
from modules.latent.vq_vae import VQVAE, nearest_code, vq_losses
from pages.latent.codebook import figures, lens
from pages.latent.codebook.room import ROOM

VIEWS = ("Own digit", "Cells", "Use", "Priors")
COUNT, COLUMNS = 25, 5

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Sixteen numbers": ui.scene("Your digit, its codes on a 4 × 4 grid, and what they decode to."),
        "Another word": ui.scene("Play: every code of the book in turn at the framed place, 2 by 2 pixels.",
                                 code=5, place=(1, 1)),
        "Cells": ui.scene("Each colour is one code's cell: what falls into it becomes that code.",
                          view=VIEWS[1]),
        "Use": ui.scene("Few codes do much of the work; the dotted box is an even use of the perplexity.",
                        view=VIEWS[2]),
        "Two priors": ui.scene("Left: codes drawn without a look at each other. Right: one by one.",
                               view=VIEWS[3]),
        "No digit": ui.scene("A box is spelled in the same codes, and spelled well.", digit="box"),
    }
)  # fmt: skip


@ui.cached
def used(name: str):
    return lens.usage(ui.load(name), stock.bits()[0])


@ui.cached
def plane_of(name: str) -> lens.Slice:
    return lens.cut(ui.load(name), stock.bits()[0])


@ui.cached
def drawn(name: str, seed: int):
    model = ui.load(name)
    codes = lens.draws(model, COUNT, seed)
    return {prior: (k, latent.pictures_of(model, model.decode(k))) for prior, k in codes.items()}


@ui.cached
def price_of(name: str) -> tuple[float, float]:
    model = ui.load(name)
    return lens.prices(model, model.encode(stock.bits()[0]))


with stage.rail:
    view = ui.choice("View", VIEWS, key="view", as_list=True)
    name = ui.experiment("Model", family="latent", key="model", default="vqvae-digits", only=lens.fits)
model: VQVAE = ui.load(name)
rows, columns = model.grid


def own_digit() -> None:
    """The codes of the reader's digit, and a film over all codes at one of its places."""
    with stage.rail:
        own = shelves.small_digit("digit", first=3)
    cell = ui.selected_cell("place", rows, columns) or (1, 1)
    place = cell[0] * columns + cell[1]
    reading = lens.read(model, own.x)
    codes = reading.codes.tolist()
    film = ui.film(model.codes, key="code", default=codes[place], label="Code", seconds=0.3)
    pictures = lens.swapped(model, reading.codes, place)
    far = reading.distances[place]
    with stage.picture:
        left, middle, right = ui.columns([1, 1, 1])
        with left:
            fig = basic.image(own.x.reshape(8, 8), title="x")
            ui.figure(fig, key="x", share=0.55, alt="Your digit, as bits")
        with middle:
            ui.clickable(
                figures.code_grid(reading.codes, rows, place), key="place", share=0.55, mark=False,
                alt=f"The codes of your digit on their grid: {', '.join(map(str, codes))}",
                data={"place": range(model.places), "code": codes},
            )  # fmt: skip
        with right:
            ui.figure(
                basic.image(pictures[film.at], title="decoded"), key="decoded", share=0.55, film=film,
                frames={"data.0.z": pictures}, alt="The codes decoded, with this code at the framed place",
            )  # fmt: skip
        ui.figure(
            figures.distances(far, codes[place]), key="distances", share=0.45,
            alt=f"Squared distance of the framed place to all {model.codes} codes; {codes[place]} is the "
                "nearest",
            data={"code": range(model.codes), "distance": far},
        )  # fmt: skip
    moved = (pictures - reading.rebuilt).abs().flatten(1).sum(1).tolist()
    near = far.sort().values.tolist()
    with stage.foot:
        film.bar(
            captions=[
                f"Code {k} at the framed place: its squared distance is {d:.3f}"
                + (", the smallest of all." if k == codes[place] else f"; the ink moves by {m:.2f} pixels.")
                for k, (d, m) in enumerate(zip(far.tolist(), moved, strict=True))
            ]
        )
    stage.equation(
        rf"k^*=\arg\min_k\|z_e-e_k\|^2={codes[place]},\qquad \|z_e-e_{{{codes[place]}}}\|^2={near[0]:.3f}"
        rf"<{near[1]:.3f}",
        "The next code is the second number away.",
    )
    cost = -float(model.log_likelihood(own.x, reading.codes[None])[0])
    with stage.below:
        ui.notice(
            f"{model.places} places with one of {model.codes} codes each: the whole picture in "
            f"{model.places} numbers, and −log p(x|z_q) is {cost:.3f} nats for yours. Click a place, and "
            "play the film to write every other code there."
        )
        ui.check(
            "Which code stands at the framed place?", sorted({codes[place], *far.argsort()[1:4].tolist()}),
            codes[place],
            f"It is nearest to what the encoder says there: {near[0]:.3f} against {near[1]:.3f} of the next.",
            wrong=lens.farther(far), veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.ui.controls import drawing

            model = weights.load({ui.spelled(name)})
            x = {own.program}
            features = model.features(x)[0, {place}]
            result = (features - model.codebook).square().sum(1).sort().values[:2].tolist()
            """,
            shows=near[:2],
        )


def cells() -> None:
    """Draw which code is nearest, on a plane through the codes."""
    plane = plane_of(name)
    shown = len(plane.owner.unique())
    with stage.picture:
        ui.figure(figures.cells(plane), key="cells", share=1.0,
                  alt=f"A plane through the codes, coloured by the nearest of {model.codes} codes",
                  data={"u": plane.book[:, 0], "v": plane.book[:, 1]})  # fmt: skip
    stage.equation(
        rf"\text{{cell of }}k=\{{z:\|z-e_k\|\le\|z-e_j\|\ \text{{for all }}j\}},\qquad "
        rf"\text{{share of the variance on this plane: }}{plane.share:.3f}",
    )
    with stage.below:
        ui.notice(
            f"Codes live in {model.code_dim} dimensions; this is a slice through them. Its cells are exact, "
            f"each point's nearest code in all {model.code_dim} dimensions: {shown} of {model.codes} codes "
            "own a part of the slice. Diamonds and dots are shadows of what may lie off it, so a diamond may "
            "stand outside its own cell."
        )
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.lenses import stock
            from pages.latent.codebook import lens

            plane = lens.cut(weights.load({ui.spelled(name)}), stock.bits()[0])
            result = [plane.share, len(plane.owner.unique())]
            """,
            shows=[plane.share, shown],
        )


def use() -> None:
    """Usage bars."""
    counts, even = used(name)
    dead = int((counts == 0).sum())
    with stage.picture:
        ui.figure(figures.usage(counts, even), key="usage", share=1.0,
                  alt=f"How often each of {model.codes} codes is used; perplexity {even:.1f}",
                  data={"code": range(model.codes), "count": counts})  # fmt: skip
    stage.equation(
        rf"\exp H=\exp\Big(-\sum_k u_k\log u_k\Big)={even:.2f}\quad\text{{of }}K={model.codes}",
        f"Over {int(counts.sum()):,} places of test digits; {dead} codes are never used.",
    )
    with stage.below:
        ui.notice(
            f"{model.codes - dead} of {model.codes} codes are in use. The perplexity says how many codes, "
            f"evenly used, would be as hard to guess: {even:.1f}. A code that is never chosen is never "
            "moved either: dead codes stay dead."
        )
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.lenses import stock
            from pages.latent.codebook import lens

            model = weights.load({ui.spelled(name)})
            counts, perplexity = lens.usage(model, stock.bits()[0])
            result = [perplexity, int((counts == 0).sum())]
            """,
            shows=[even, dead],
        )


def priors() -> None:
    """Samples of codes from both priors, decoded."""
    with stage.rail:
        seed = ui.number("Seed of the samples", 0, 999, 0, key="seed")
    uniform, learned = price_of(name)
    with stage.picture:
        for place, (prior, (_, pictures)) in zip(ui.columns(2), drawn(name, seed).items(), strict=True):
            with place:
                ui.figure(
                    basic.images(pictures, columns=COLUMNS, title=f"{prior} prior"), key=prior, share=1.0,
                    alt=f"{COUNT} pictures decoded from codes of the {prior} prior",
                )  # fmt: skip
    stage.equation(
        rf"-\log p(k)={model.places}\log{model.codes}={uniform:.2f}\ \text{{(uniform)}},\qquad "
        rf"-\sum_i\log p(k_i|k_{{<i}})={learned:.2f}\ \text{{(learned)}}",
        "Nats, mean over the codes of test digits.",
    )
    with stage.below:
        ui.notice(
            f"Trained with the uniform prior, every picture pays {uniform:.2f} nats for its codes. The "
            f"learned prior asks {learned:.2f} for the same codes, {uniform - learned:.2f} less, and its "
            f"draws stand together as codes of digits do. A uniform draw is {model.places} patches that "
            "never met."
        )
        ui.check(
            "How much of the uniform prior's price does the learned one save?", lens.SAVINGS,
            lens.saving(uniform, learned), f"It asks {learned:.2f} nats instead of {uniform:.2f}.",
            wrong=lens.SAVED, veils=("equation",),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.lenses import stock
            from pages.latent.codebook import lens

            model = weights.load({ui.spelled(name)})
            result = list(lens.prices(model, model.encode(stock.bits()[0])))
            """,
            shows=[uniform, learned],
        )


dict(zip(VIEWS, (own_digit, cells, use, priors), strict=True))[view]()
with stage.below:
    ui.source(VQVAE.quantize, VQVAE.step, nearest_code, vq_losses, references=ROOM.references)
