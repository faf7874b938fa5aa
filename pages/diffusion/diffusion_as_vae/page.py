"""Diffusion as a VAE: the same bound, with a ladder of codes and an encoder that never learns."""

from lab import ui
from lab.figures import basic, stacks
from lab.lenses.bound_terms import PICTURES
from lab.lenses.diffusion import SAID
from modules.diffusion import bound
from modules.latent.vae import VAE
from pages.diffusion.diffusion_as_vae import figures, lens
from pages.diffusion.diffusion_as_vae.room import ROOM

MODEL, OTHER = "ddpm-digits", "vae-digits"
DIGIT, GAUSSIAN = VIEWS = ("a digit", "a Gaussian")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two ladders": ui.scene("One digit, two ways to code it: 50 codes of 64 numbers, or one of ten."),
        "Ten rungs": ui.scene("With ten rungs each step must undo much noise: more bits than the VAE.", T=10),
        "250 rungs": ui.scene("With 250 rungs the codes say nearly all; the VAE says most after its code.",
                              T=250),
        "Blank paper": ui.scene("On blank paper, which neither has learned, the VAE's bound is far worse.",
                                image="blank"),
        "σ² = β̃": ui.scene("The smallest σ² of the three is the dearest: no room for the network's error.",
                           variance=lens.POSTERIOR),
        "No gap": ui.scene("All Gaussian, best σ²: the bound is the entropy and what N(0, 1) misses at T.",
                           of=GAUSSIAN, T=100),
        "σ² = β, Gaussian": ui.scene("With σ² = β a gap is left; ten times the steps leave a tenth of it.",
                                     of=GAUSSIAN, variance=lens.BETA, T=100),
        "σ² = β̃, Gaussian": ui.scene("With β̃ the gap is over half a nat at every T here.", of=GAUSSIAN,
                                     variance=lens.POSTERIOR, T=250),
    }
)  # fmt: skip


@ui.cached
def compared(name: str, variance: str) -> lens.Digit:
    return lens.digit(ui.load(MODEL), ui.load(OTHER), name, variance)


def draw_digit() -> None:
    """Both models on one picture."""
    with stage.rail:
        name = ui.choice("Picture", PICTURES, key="image", default="3", as_list=True)
    found, vae = compared(name, variance), ui.load(OTHER)
    now, other = found.diffusion[film.at], found.vae
    bars, reach = figures.both(found.diffusion, other.parts)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            fig, moves = figures.ladder(found.ladders, film.at)
            ui.figure(fig, alt="The digit and its codes up the chain", key="ladder", share=0.45, film=film,
                      frames=moves)  # fmt: skip
            code, again = ui.columns([3, 2])
            with code:
                ui.figure(figures.code(other.mean, other.deviation), key="code", share=0.55,
                          alt="Means and deviations of the VAE's code",
                          data={"mean": other.mean, "deviation": other.deviation})  # fmt: skip
            with again:
                ui.figure(basic.image(other.again, title="x from its mean", zmin=0, zmax=1), key="again",
                          alt="The digit decoded from the mean of z", share=0.55)  # fmt: skip
        with right:
            ui.figure(
                stacks.stacks(("diffusion", "VAE"), bars, at=film.at, reach=reach, ylabel="bits"), key="bars",
                alt="Parts of both bounds in bits", share=1.0, film=film,
                frames=stacks.turning(bars, reach=reach),
                data={"model": ["diffusion", "VAE"], "picture": [now.picture, other.parts.picture],
                      "codes": [now.codes, other.parts.codes], "last": [now.last, other.parts.last]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.captions(found), equations=lens.equations(found))
    T = lens.STEPS[film.at]
    stage.metrics(
        {
            "Numbers in the codes": f"{64 * T:,} / {vae.latent_dim}",
            "Weights of the encoder": f"0 / {sum(p.numel() for p in vae.encoder.parameters()):,}",
            "Bits": f"{now.total:.1f} / {other.parts.total:.1f}",
        }
    )
    fewer = lens.fewer(found, film.at)
    with stage.below:
        ui.notice(
            "Both bounds are −log p of the picture given a code, and what the code costs. A VAE learns where "
            f"to put its ten numbers; the chain's encoder only adds noise: L_T is {now.last:.4f} bits, and "
            "nothing that is learned can change it. Both decoders are asked for masses of the 17 grey "
            "levels, so the bits are of the same thing; the nats of a density would not be. Each of the "
            f"chain's terms is one draw of noise; the best σ² is fitted on other digits. {SAID}"
        )
        ui.check(
            f"Whose bound of this picture is lower at T = {T}?", ["diffusion", "VAE"], fewer,
            f"{now.total:.1f} bits against {other.parts.total:.1f} of the VAE.",
            wrong={
                "diffusion": "In so few steps the way back is far from Gaussian, and every term of the "
                "bound pays for it.",
                "VAE": "All it says must pass through one narrow layer: T layers of full size lose less.",
            },
            veils=("bars", "equation", "numbers"),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import weights
            from lab.lenses.bound_terms import picture
            from pages.diffusion.diffusion_as_vae import lens

            x = picture({name!r})
            chain = lens.diffusion(weights.load({MODEL!r}), {T}, {variance!r}, x)
            vae = lens.autoencoded(weights.load({OTHER!r}), x).parts
            result = [chain.picture, chain.codes, chain.last, vae.picture, vae.last]
            """,
            shows=[now.picture, now.codes, now.last, other.parts.picture, other.parts.last],
        )
        ui.source(bound.bound, VAE.elbo_parts, lens.diffusion, lens.autoencoded, references=ROOM.references)


def draw_gaussian() -> None:
    """The bound where everything is known."""
    found, every = lens.gaussian(variance), lens.gaps()
    now, T = found[film.at], lens.STEPS[film.at]
    lines, moves = figures.gaps(every, variance, film.at)
    parts, levels, reach = figures.waterfall(found)
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(lines, alt="Bound less entropy over T, for each σ²", key="gaps", share=1.0, film=film,
                      frames=moves, data={"T": lens.STEPS, **every})  # fmt: skip
        with right:
            ui.figure(
                stacks.stacks(("L₀", "steps", "L_T", "sum"), parts, levels, at=film.at, reach=reach),
                alt="The terms of the bound and their sum, with the entropy", key="terms", share=1.0,
                film=film, frames=stacks.turning(parts, levels, reach),
                data={"T": lens.STEPS, "L0": [p.picture for p in found], "steps": [p.codes for p in found],
                      "LT": [p.last for p in found]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.gaussian_captions(found), equations=lens.gaussian_equations(found))
    gap, missed = now.total - lens.ENTROPY, lens.missed(T)
    stage.metrics(
        {
            "Bound": f"{now.total:.6f} nats",
            "Entropy": f"{lens.ENTROPY:.6f}",
            "Gap": f"{max(gap, 0.0):.2e}",
            "KL(q(x_T) ‖ N(0, 1))": f"{missed:.2e}",
        }
    )
    with stage.below:
        ui.notice(
            "The data are N(1, ¼), the denoiser is the exact one, and the bound is its mean over the data, "
            "in nats of a density. It never falls below the entropy. With the best σ², β̃ and what is unknown "
            "of x₀, every reverse step is the true one: then the gap is KL(q(x_T) ‖ N(0, 1)) alone, at any "
            f"T. Less than a millionth is not drawn. {SAID}"
        )
        ui.check(
            f"Is the bound within {lens.NEAR} nats of the entropy at T = {T}?", ["yes", "no"],
            "yes" if gap < lens.NEAR else "no", f"The gap is {max(gap, 0.0):.2e} nats.",
            wrong={
                "yes": "Gaussian data have Gaussian steps back, but a wrong σ², or a start other than N(0, "
                "1), still costs.",
                "no": "Of Gaussian data each step back is Gaussian: with its right σ² the bound loses next "
                "to nothing.",
            },
            veils=("picture", "equation", "numbers"),
        )  # fmt: skip
        ui.program(
            f"""
            from pages.diffusion.diffusion_as_vae import lens

            found = lens.expected({T}, {variance!r})
            result = [found.picture, found.codes, found.last, lens.missed({T})]
            """,
            shows=[now.picture, now.codes, now.last, missed],
        )
        ui.source(bound.step_kl, bound.best_variance, lens.expected, references=ROOM.references)


with stage.rail:
    of = ui.choice("Data", VIEWS, key="of")
    variance = ui.choice("σ²", lens.VARIANCES, key="variance")
film = ui.film(len(lens.STEPS), key="T", values=lens.STEPS, default=50, label="T =", seconds=1.0)
if of == DIGIT:
    draw_digit()
else:
    draw_gaussian()
