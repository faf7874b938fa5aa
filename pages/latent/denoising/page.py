"""Denoising: a plain, a denoising and a variational autoencoder of one shape, side by side."""

from lab import ui
from lab.figures import sheets
from lab.lenses import stock
from lab.ui.models import shelves
from modules.latent import denoising
from modules.latent.denoising import DenoisingAutoencoder
from pages.latent.denoising import figures, lens
from pages.latent.denoising.room import ROOM

VIEWS = ("Noise", "Prior")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Three in ten": ui.scene("Three pixels in ten are blacked out: the DAE leaves the fewest wrong."),
        "Undamaged": ui.scene("Nothing is damaged: now the plain autoencoder is nearest.", damage=0.0),
        "Flipped": ui.scene("Flips, which none was trained on: the VAE is ahead, whose codes were noisy.",
                            kind="flip", damage=0.2),
        "Grey noise": ui.scene("Grey noise, which none was trained on: the AE is as good as the DAE.",
                               kind="noise", damage=0.6),
        "Nearly all": ui.scene("Nine in ten are gone: little of your digit comes back, and mostly grey.",
                               damage=0.9),
        "A box": ui.scene("No box comes back: what is no digit counts as damage.", digit="box",
                          damage=0.1),
        "From the prior": ui.scene("Codes from N(0, I): clear digits from the VAE alone.", view=VIEWS[1]),
        "A prior after all": ui.scene("Codes from a Gaussian fitted to each: the AE can draw digits, too.",
                                      view=VIEWS[1], source="fitted"),
    }
)  # fmt: skip


@ui.cached
def tested(names: tuple[str, ...], kind: denoising.Kind) -> lens.Healed:
    return lens.heal(models(names), stock.bits()[0], kind, 0)


def samples(names: tuple[str, ...], source: str, count: int, seed: int):
    x = stock.bits("train")[0]
    return {role: lens.drawn(model, x, source, count, seed) for role, model in models(names).items()}


@ui.cached
def costs(names: tuple[str, ...], source: str):
    referee = ui.load(lens.REFEREE)
    return {r: lens.judged(referee, drawn) for r, drawn in samples(names, source, lens.JUDGED, 0).items()}


@ui.cached
def real() -> float:
    return float(lens.judged(ui.load(lens.REFEREE), stock.bits()[0][None]))


@ui.cached
def widths(names: tuple[str, ...]):
    x = stock.bits("train")[0]
    return {role: lens.spread_of_codes(model, x) for role, model in models(names).items()}


def models(names: tuple[str, ...]):
    return {role: ui.load(name) for role, name in zip(lens.MODELS, names, strict=True)}


def chosen() -> tuple[str, ...]:
    """The reader's choice of each of the three, where there is one."""
    names = {role: ui.trained("latent", lens.fits(role)) for role in lens.MODELS}

    def one(role: str, key: str) -> str:
        first = lens.MODELS[role]
        return (
            ui.choice(role, names[role], key=key, default=first, as_list=True) if names[role][1:] else first
        )

    with stage.rail:
        return one("AE", key="ae"), one("DAE", key="dae"), one("VAE", key="vae")


def pictured(film, pictures, rows, lines, labels: tuple[str, str], sheet_alt, lines_alt, level=None) -> None:
    """The sheet (F, R, C, 8, 8) with its rows' names, and the lines name -> (F,) over the film's values."""
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                sheets.contact_sheet(pictures[film.at], rows, [""] * lens.DRAWS), key="sheet", share=1.0,
                film=film, frames={"data.0.z": sheets.sheet(pictures)}, alt=sheet_alt,
            )  # fmt: skip
        with right:
            ui.figure(
                figures.curves(lines, film.values, film.value, *labels, level), key="curves", share=1.0,
                film=film, frames=figures.mark_moves(film.values), data={labels[0]: film.values, **lines},
                alt=lines_alt,
            )  # fmt: skip


def noise() -> None:
    """The reader's digit damaged and rebuilt, and what is left wrong of all test digits."""
    with stage.rail:
        kind = ui.choice("Damage", lens.KINDS, key="kind")
        seed = ui.number("Seed of the damage", 0, 999, 0, key="seed")
        own = shelves.small_digit("digit", first=3)
    names = chosen()
    film = ui.film(
        len(lens.LEVELS), key="damage", values=lens.LEVELS, default=0.3, label="Damage", seconds=0.3
    )
    ui.prefetch(tested, *((names, each) for each in lens.KINDS if each != kind))
    mine, all_of = lens.heal(models(names), own.x.expand(lens.DRAWS, -1), kind, seed), tested(names, kind)
    rows = list(mine.pictures)
    pictures = lens.sheet(mine.pictures, rows)
    pictured(film, pictures, rows, all_of.wrong, ("damage", "wrong pixels of 64"),
             "Your digit damaged five times, and what each autoencoder makes of it",
             "Mean wrong pixels over the test digits against the damage, given and rebuilt")  # fmt: skip
    with stage.foot:
        film.bar(
            captions=[lens.healing(mine, kind, level) for level in range(film.count)],
            equations=[
                r"-\log p(x|\hat x(\tilde x))="
                + r",\ ".join(rf"{float(mine.nats[name][f]):.2f}\ \text{{({name})}}" for name in lens.MODELS)
                for f in range(film.count)
            ],
        )
    ahead = lens.best(all_of.wrong, film.at)
    with stage.below:
        ui.notice(
            "All three have the same layers and ten numbers of code. The AE was trained to copy, the DAE to "
            "undo three pixels in ten blacked out, the VAE to copy through a noisy code. "
            f"Over the {len(stock.bits()[0])} test digits the fewest wrong pixels are the {ahead}'s: "
            f"{float(all_of.wrong[ahead][film.at]):.2f}, against {float(all_of.wrong['x̃'][film.at]):.2f} as "
            "given. A denoiser learns where digits lie; a copy machine need not."
        )
        ui.check(
            "Over the test digits, which leaves the fewest wrong pixels here?", list(lens.MODELS), ahead,
            f"It leaves {float(all_of.wrong[ahead][film.at]):.2f}.",
            wrong={
                "AE": "It was never shown spoiled digits: it gives back what it gets, spoiled pixels too.",
                "DAE": "It was taught to undo one strength of one noise, and this is another.",
                "VAE": "It learned to bear noise in its code, not in its pictures.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            import torch
            from lab import experiments, weights
            from lab.ui.controls import drawing
            from modules.latent.denoising import corrupt

            x = {own.program}.expand({lens.DRAWS}, -1)
            given = corrupt(x, {kind!r}, {film.value!r}, torch.Generator().manual_seed({seed}))
            model = weights.load({ui.spelled(names[1])})
            result = ((model.reconstruct(given) > 0.5) != (x > 0.5)).sum(1).float().mean().item()
            """,
            shows=float(mine.wrong["DAE"][film.at]),
        )


def prior() -> None:
    """Codes drawn and decoded, and what a referee says of the pictures."""
    with stage.rail:
        source = ui.choice(
            "Codes from", lens.SOURCES, key="source",
            help="The prior of the VAE, or a Gaussian with the moments of each model's own codes.",
        )  # fmt: skip
        seed = ui.number("Seed of the codes", 0, 999, 0, key="seed")
    names = chosen()
    film = ui.film(
        len(lens.SPREADS), key="s", values=lens.SPREADS, default=1.0, label="Spread s", seconds=0.6
    )
    pictures, cost = lens.two_rows(samples(names, source, 2 * lens.DRAWS, seed)), costs(names, source)
    words = [word for name in lens.MODELS for word in (name, "")]
    pictured(film, pictures, words, cost, ("spread s", "referee's cost, nats"),
             "Ten codes decoded by the plain, the denoising and the variational autoencoder",
             "What a density of digits pays for each one's pictures, and for test digits",
             real())  # fmt: skip
    wide = widths(names)
    formula = (
        r"z=s\,\varepsilon"
        if source == lens.SOURCES[0]
        else r"z=\bar z+s\,L\varepsilon,\ LL^\top=\mathrm{Cov}(z)"
    )
    with stage.foot:
        film.bar(
            captions=[
                f"s = {s:g}: the referee pays "
                + ", ".join(f"{float(c[f]):.1f} for {n}" for n, c in cost.items())
                + f" nats per picture; {real():.1f} for test digits."
                for f, s in enumerate(lens.SPREADS)
            ],
            equations=[
                formula + r",\qquad \text{codes spread by }"
                + r",\ ".join(rf"{w:.2f}\ \text{{({name})}}" for name, w in wide.items())
                for _ in lens.SPREADS
            ],
        )  # fmt: skip
    least = lens.best(cost, film.at)
    with stage.below:
        ui.notice(
            f"The referee is {lens.REFEREE}, a density of digits trained alone; pictures are made black and "
            f"white at a half, and its cost is a mean over {lens.JUDGED} each. It judges each picture, not "
            "their variety: smooth ones may cost less than digits. Nothing ties the codes of AE and DAE "
            f"to N(0, I): theirs spread by {wide['AE']:.1f} and {wide['DAE']:.1f}. A Gaussian fitted to them "
            "afterwards mends much of it; the VAE was trained with its own."
        )
        ui.check(
            "Whose pictures cost the referee least here?", list(lens.MODELS), least,
            f"{float(cost[least][film.at]):.2f} nats per picture.",
            wrong={
                "AE": "Nothing has shaped its codes: draws fall between those of digits.",
                "DAE": "It learned to undo noise on pictures, and nothing about where codes lie.",
                "VAE": "Its codes were made for N(0, I): draws from elsewhere, or of another width, gain "
                "nothing by that.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import experiments, weights
            from lab.lenses import stock
            from pages.latent.denoising import lens

            x, referee = stock.bits("train")[0], weights.load(lens.REFEREE)
            pictures = lens.drawn(weights.load({ui.spelled(names[0])}), x, {source!r}, lens.JUDGED, 0)
            result = lens.judged(referee, pictures)[{film.at}].item()
            """,
            shows=float(cost["AE"][film.at]),
        )


with stage.rail:
    view = ui.choice("View", VIEWS, key="view")
dict(zip(VIEWS, (noise, prior), strict=True))[view]()
with stage.below:
    ui.source(denoising.corrupt, DenoisingAutoencoder.step, lens.drawn, references=ROOM.references)
