"""Memorise or generalise: the best denoiser of n points draws those points; the network draws others."""

from lab import ui
from lab.figures import basic, sheets
from lab.lenses.diffusion import SAID
from modules.diffusion import exact, samplers
from pages.diffusion.memorise import figures, lens
from pages.diffusion.memorise.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Copies": ui.scene("With the exact score of 50 points nearly every sample is one of the 50."),
        "A network": ui.scene("The network has learned from 200,000: its samples fall between the 50.",
                              source=lens.NETWORK),
        "Ten points": ui.scene("Two of the eight modes have none of the ten points, and get no sample.",
                               n=10),
        "Many points": ui.scene("1,297 lie close: fewer strict copies, each within 0.1 of a point.",
                                n=1297),
        "Half-way": ui.scene("At t = 491 no sample has settled for a point: each guess is a mean of many.",
                             step=12),
        "Digits": ui.scene("The exact score of all 1,297 digits draws digits that are there already.",
                           data=lens.DIGITS, n=1297),
        "Digits, network": ui.scene("The network learned from the same 1,297, and draws none of them.",
                                    data=lens.DIGITS, n=1297, source=lens.NETWORK),
        "Ten digits": ui.scene("Ten training digits: the same ten again and again.", data=lens.DIGITS, n=10),
    }
)  # fmt: skip


@ui.cached
def drawn(data: str, n: int | None, seed: int) -> lens.Walk:
    return lens.walk(ui.load(lens.MODELS[data]), data, n, seed)


with stage.rail:
    data = ui.choice("Data", lens.DATA, key="data")
    n = ui.choice("Training points n", lens.SIZES, key="n", default=50)
    source = ui.choice("Samples by", [lens.EXACT, lens.NETWORK], key="source")
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
walks = {lens.EXACT: drawn(data, n, seed), lens.NETWORK: drawn(data, None, seed)}
ui.ahead(drawn, *((data, each, seed) for each in lens.SIZES if each != n),
         *((other, each, seed) for other in lens.DATA if other != data for each in (n, None)),
         (data, n, seed + 1), (data, None, seed + 1))  # fmt: skip
training, run = lens.points(data, n), walks[source]
found = lens.compared(walks[lens.EXACT], walks[lens.NETWORK], data, n)
edges, shares = lens.histogram(found)
count = len(run.times)
film = ui.film(count, key="step", values=range(count), default=count - 1, label="Step", seconds=0.15)

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        if data == lens.PLANE:
            fig, moves = figures.cloud(run.x, training, lens.TRAILS, figures.COLORS[source], 4.5, film.at)
            ui.figure(fig, alt="Samples on their way among the training points", key="cloud", share=1.0,
                      film=film, frames=moves)  # fmt: skip
        else:
            parts = (run.guess, "guess x̂₀", "guess"), (lens.beside(run, training), "nearest of the n", "near")
            for column, (pictures, title, key) in zip(ui.columns(2), parts, strict=True):
                frames = sheets.frames(pictures.clamp(0, 1).unflatten(-1, (8, 8)), 3, between=0)
                with column:
                    ui.figure(
                        basic.image(frames[film.at], title=title, zmin=0, zmax=1), key=key, share=1.0,
                        alt=f"Twelve digits: {title}", film=film, frames={"data.0.z": frames},
                    )  # fmt: skip
    with right:
        ui.figure(
            figures.distances(edges, shares), key="distances", share=1.0,
            alt="Distances from the nearest training point: of samples by the exact score, by the network, "
            "and of held-out data",
            data={"from": edges[:-1], "to": edges[1:], **shares},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(run, training))
stage.equation(
    r"\hat x_0 = \sum_{k=1}^{n} r_k\, x_k, \quad "
    r"r_k \propto \exp\left(-\|x_t - \sqrt{\bar\alpha_t}\, x_k\|^2 / 2(1 - \bar\alpha_t)\right)"
)
stage.metrics(
    {f"Copies, {name}": f"{share:.3f}" for name, share in found.copies.items()}
    | {"Half lie within": " / ".join(f"{found.middle(name):.2g}" for name in lens.NAMES)}
)
share = found.copies[source]
with stage.below:
    known = "200,000 points" if data == lens.PLANE else "all 1,297 digits"
    ui.notice(
        "The denoiser of the equation minimises the training loss of n points, and leads to the points "
        f"themselves: {found.copies[lens.EXACT]:.3f} of its samples are copies, less than a third as far "
        f"from one point as from the second nearest. The network has learned from {known}, and does not "
        f"reach that minimum: {found.copies[lens.NETWORK]:.3f} of its samples are copies of the n, of data "
        f"that it has not seen {found.copies[lens.HELD]:.3f}. What is new is the network's doing: the loss "
        f"alone asks for copies. {SAID}"
    )
    ui.check(
        f"Are most of the samples here copies ({source})?",
        ["yes", "no"],
        "yes" if share > 0.5 else "no",
        f"{share:.3f} of them are.",
        wrong={
            "yes": "Near is not yet copied: few come within a third of the distance to the second nearest.",
            "no": "The loss alone asks for copies: its exact minimiser leads back to the n points.",
        },
        veils=("distances", "numbers"),
    )
    ui.program(
        f"""
        from lab import weights
        from pages.diffusion.memorise import lens

        model = weights.load({lens.MODELS[data]!r})
        walks = [lens.walk(model, {data!r}, n, {seed}) for n in ({n}, None)]
        found = lens.compared(*walks, {data!r}, {n})
        result = list(found.copies.values()) + [found.middle(name) for name in lens.NAMES]
        """,
        shows=[*found.copies.values(), *(found.middle(name) for name in lens.NAMES)],
    )
    ui.source(lens.best, exact.Mixture.clean, samplers.ddim, lens.walk, references=ROOM.references)
