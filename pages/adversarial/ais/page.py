"""Likelihood of a GAN: chains annealed from the prior to a point, beside brute force."""

from lab import ui
from modules.adversarial import ais
from pages.adversarial.ais import figures, lens
from pages.adversarial.ais.room import ROOM

CENTRE = {"x": 0.0, "y": 0.0}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Between modes": ui.scene("The chains come near x; the draws they begin at miss by over 3 nats."),
        "No ladder": ui.scene("One temperature: draws alone, nothing moves. Off by more than 2 errors.",
                              count=1),
        "On a mode": ui.scene("Many draws lie near x anyway: both agree with brute force.",
                              x=2.0, y=0.0, chains=128, count=60),
        "Far out": ui.scene("Outside of all modes: p(x) is tiny, and the chains still find how tiny.",
                            x=3.0, y=3.0),
        "The centre": ui.scene("Rare draws between modes carry p(x). No chain finds one; no bar says so.",
                               **CENTRE, count=60),
    }
)  # fmt: skip


@ui.cached
def density(sd: float):
    return lens.density(ui.load(lens.NAME), sd)


@ui.cached
def crowd():
    return lens.crowd(ui.load(lens.NAME))


@ui.cached
def ran(x: float, y: float, sd: float, chains: int, count: int, seed: int):
    return lens.run(ui.load(lens.NAME), lens.point(x, y), sd, chains, count, seed, crowd())


with stage.rail:
    x = ui.slider("x₁", -4.0, 4.0, 1.8, step=0.1, key="x")
    y = ui.slider("x₂", -4.0, 4.0, 0.8, step=0.1, key="y")
    sd = ui.choice("Blur s", lens.BLURS, key="sd", default=0.2)
    chains = ui.choice("Chains", lens.CHAINS, key="chains", default=32)
    count = ui.choice("Temperatures", lens.COUNTS, key="count", default=20)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
found = ran(x, y, sd, chains, count, seed)
ui.ahead(ran, *((each, y, sd, chains, count, seed) for each in ui.near(x, -4.0, 4.0, 0.1)),
         *((x, each, sd, chains, count, seed) for each in ui.near(y, -4.0, 4.0, 0.1)),
         *((x, y, each, chains, count, seed) for each in lens.BLURS if each != sd),
         *((x, y, sd, each, count, seed) for each in lens.CHAINS if each != chains))  # fmt: skip
film = ui.film(len(found.betas), key="rung", default=len(found.betas) - 1, label="Temperature", seconds=0.2)

with stage.picture:
    left, right = ui.columns(2)
    with left:
        ui.figure(
            figures.plane(density(sd), found, (x, y), film.at), key="plane", share=1.0, film=film,
            frames=figures.places(found),
            alt="The blurred density, the point x, and what the generator makes of the chains",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.ladder(found, film.at), key="ladder", share=1.0, film=film, frames=figures.rests(found),
            alt="log Z along the temperatures, by the chains and by brute force",
            data={"beta": found.betas, "chains": found.log_z, "error": found.error, "brute": found.brute},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations(found))
stage.metrics(
    {
        "log p(x), the chains": f"{found.log_z[-1]:.2f} ± {found.error[-1]:.2f}",
        "their first draws": f"{found.plain:.2f} ± {found.plain_error:.2f}",
        "brute force": f"{found.brute[-1]:.2f} ± {found.brute_error[-1]:.2f}",
    }
)
with stage.below:
    ui.notice(lens.notice(found, chains, sd))
    ui.check(
        "Does the chains' answer lie within two standard errors of brute force?", ["yes", "no"],
        lens.verdict(found),
        f"{found.log_z[-1]:.2f} ± {found.error[-1]:.2f} beside {found.brute[-1]:.2f}.",
        wrong={
            "yes": "A standard error knows only the chains that ran, and none of a mode that they missed.",
            "no": "Two estimates are never equal: they agree if they differ by less than twice their joint "
            "error.",
        },
        veils=("ladder", "numbers", "equation"),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import weights
        from pages.adversarial.ais import lens

        model = weights.load({lens.NAME!r})
        found = lens.run(model, lens.point({x!r}, {y!r}), {sd!r}, {chains}, {count}, {seed})
        result = [found.log_z[-1], found.error[-1], found.brute[-1]]
        """,
        shows=[found.log_z[-1], found.error[-1], found.brute[-1]],
    )
    ui.source(ais.anneal, ais.move, ais.estimated, references=ROOM.references)
