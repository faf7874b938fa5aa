"""Latent diffusion: the distribution of a VAE's codes, learned, beside N(0, I) and diffusion of pixels."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion.latent import LatentDDPM
from pages.diffusion.latent_diffusion import figures, lens
from pages.diffusion.latent_diffusion.room import CODES, DIGITS, JUDGED, ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)


def draw_digits() -> None:
    """Three ways to a digit."""
    result, cost = ui.compute(lens.draws, now), ui.compute(lens.costs, now)
    film = ui.film_of(now, len(result.times), values=range(len(result.times)), names=result.times)
    with stage.picture:
        for k, (column, name) in enumerate(zip(ui.columns(3), lens.WAYS, strict=True)):
            fig = figures.digits(result.pictures[:, k], name)
            with column:
                ui.figure(fig, key=f"way{k}", share=1.0, film=film, alt=f"Twelve digits by the {name}")
    with stage.foot:
        lit = ["xt", *["net"] * (film.count - 2), ["net", "decoder"]]
        ui.machine(now.latent, film=film, lit=lit, says=lens.numbers(result))
        film.bar(captions=lens.captions(result))
    counts = lens.sure(ui.load(now.referee), result)
    with stage.below:
        ui.notice(
            f"Of twelve digits cnn-digits is more than 90 % sure of {counts[0]} by the prior, {counts[1]} by "
            f"latent diffusion and {counts[2]} by diffusion of pixels. A digit takes {lens.priced(cost)} "
            f"multiplications: a pixel digit {cost[2] / cost[1]:.0f} times as many as "
            f"a latent one. What the autoencoder has lost no diffusion brings back: latent digits are "
            f"smoother. {SAID}"
        )
        ui.check(
            "Of which is cnn-digits sure more often?",
            lens.MORE,
            lens.more(counts),
            f"{counts[1]} of latent diffusion, {counts[0]} of the prior.",
            wrong=(
                "It draws codes as digits have them, but a decoder makes sure digits of other codes too.",
                "Codes of digits do not fill N(0, I): many of its draws lie where no digit was.",
                "One decoder serves both, but the codes that it is given are not alike.",
            ),
            veils=("picture",),
        )
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.latent_diffusion import lens

            latent, pixels = weights.load({now.latent!r}), weights.load({now.pixels!r})
            result = lens.costs(latent, pixels, {now.w}, {now.S})
            """,
            shows=cost,
        )
        ui.source(LatentDDPM.sample, LatentDDPM.step, lens.work, references=ROOM.references)


def draw_codes() -> None:
    """Draw where codes lie."""
    apart = ui.compute(lens.apart, now)
    result, off, prior = apart.clouds, apart.trajectory, apart.prior
    film = ui.film_of(now, len(result.times), values=range(len(result.times)), names=result.times)
    with stage.picture:
        ui.figure(
            figures.clouds(result.data, result.prior, result.trajectory, now.i - 1, now.j - 1, 4.0),
            key="clouds", share=1.0, film=film, alt="Codes of digits, of N(0, I) and of diffusion",
        )  # fmt: skip
    with stage.foot:
        says = [{"xt": f"t = {t}", "x0": f"Δ {o:.2f}"} for t, o in zip(result.times, off, strict=True)]
        ui.machine(now.latent, film=film, lit=["xt", *["net"] * (film.count - 1)], says=says)
        film.bar(
            captions=[
                f"t = {t}: energy distance to the digits' codes {o:.3f}; of N(0, I) {prior:.3f}."
                for t, o in zip(result.times, off, strict=True)
            ]
        )
    with stage.below:
        ui.notice(
            "The distance is taken in all eight dimensions; of draws of one distribution it scatters about "
            "0. The VAE's KL has a weight of 0.1 alone, so its "
            f"codes need not fill N(0, I): this is {prior:.3f} from them, the codes that diffusion draws "
            f"{off[-1]:.3f}. " + SAID
        )
        ui.check(
            "Which cloud is nearer to the digits' codes now?",
            ["diffusion", "N(0, I)"],
            "diffusion" if off[film.at] < prior else "N(0, I)",
            f"Energy distance {off[film.at]:.3f} against {prior:.3f}.",
            wrong={
                "diffusion": "It starts from noise: so far its cloud is no nearer than N(0, I) is.",
                "N(0, I)": "The KL had a small weight: codes of digits need not fill N(0, I), and diffusion "
                "knows them.",
            },
            veils=("picture", "equation"),
        )
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.latent_diffusion import lens

            clouds = lens.clouds(weights.load({now.latent!r}), {now.S}, {now.seed})
            result = lens.distance(clouds.data, clouds.trajectory[{film.at}])
            """,
            shows=off[film.at],
        )
        ui.source(LatentDDPM.step, lens.clouds, references=ROOM.references)


def draw_judged() -> None:
    """Draw what judges say, by steps, noise or guidance."""
    label = now.vary
    with stage.picture:
        result = ui.compute(
            lens.measured, now, label="Judge", quick=False,
            says="Means of three seeds with their standard errors.",
        )  # fmt: skip
        left, right = ui.columns(2)
        with left:
            ui.figure(
                figures.judged(result, lens.MEASURES[:1], label, "Fréchet distance"),
                key="fd",
                share=1.0,
                alt="Fréchet distance by the knob's value",
            )
        with right:
            ui.figure(
                figures.judged(result, lens.MEASURES[1:], label, "share"),
                key="shares",
                share=1.0,
                alt="Precision, recall and accuracy by the value",
            )
    at = result.values.index(lens.best(result))
    with stage.foot:
        ui.machine(now.model)
    stage.equation(
        rf"\mathrm{{FD}}={float(result.mean[at, 0]):.3f}\pm{float(result.error[at, 0]):.3f}",
        f"at {label} = {result.values[at]:g}, the least of these; {lens.DRAWN} digits, {lens.SEEDS} seeds",
    )
    with stage.below:
        ui.table(
            {label: [f"{v:g}" for v in result.values], **lens.columns(result)}, alt="The judges' numbers"
        )
        ui.notice(
            "Fréchet distance, precision and recall are of cnn-digits' features, of digits made black and "
            f"white; errors are standard errors over {lens.SEEDS} seeds. The other knobs stand at S = 20, "
            "η = 0 and w = 0. " + SAID
        )
        ui.check(
            f"At which {label} is the Fréchet distance least?",
            [f"{v:g}" for v in result.values],
            f"{result.values[at]:g}",
            f"{float(result.mean[at, 0]):.3f}.",
            wrong={
                f"{v:g}": f"At {v:g} it is {float(m):.3f}: more of it is not better by itself."
                for v, m in zip(result.values, result.mean[:, 0], strict=True)
            },
            veils=("picture", "equation"),
        )
        ui.source(lens.measured, references=ROOM.references)


{DIGITS: draw_digits, CODES: draw_codes, JUDGED: draw_judged}[now.view]()
