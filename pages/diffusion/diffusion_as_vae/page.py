"""Diffusion as a VAE: the same bound, with a ladder of codes and an encoder that never learns."""

from lab import ui
from lab.figures import basic
from lab.lenses.diffusion import SAID
from modules.diffusion import bound
from modules.latent.vae import VAE
from pages.diffusion.diffusion_as_vae import figures, lens
from pages.diffusion.diffusion_as_vae.room import DIGIT, MNIST, ROOM, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
film = ui.film_of(now, len(STEPS))


def draw_digit() -> None:
    """Both models on one picture."""
    result, vae = ui.compute(lens.digit, now), ui.load(now.vae)
    chain, other = result.diffusion[film.at], result.vae
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.ladder(result.ladders), alt="The digit and its codes at rising t", key="ladder",
                share=0.45, film=film,
            )  # fmt: skip
            code, again = ui.columns([3, 2])
            with code:
                ui.figure(
                    figures.code(other.mean, other.deviation),
                    key="code",
                    share=0.55,
                    alt="Means and deviations of the VAE's code",
                )
            with again:
                ui.figure(
                    basic.image(other.again, title="x from its mean", zmin=0, zmax=1),
                    key="again",
                    share=0.55,
                    alt="The digit decoded from the mean of z",
                )
        with right:
            ui.figure(
                figures.both(result.diffusion, other.parts), key="bars", share=1.0, film=film,
                alt="Parts of both bounds in bits",
            )  # fmt: skip
    with stage.foot:
        calls = [{"net": f"{T} calls"} for T in STEPS]
        ui.machine(now.model, film=film, lit=["net"] * film.count, says=calls)
        film.bar(captions=lens.captions(result), equations=lens.equations(result.diffusion))
    T = STEPS[film.at]
    stage.metrics(
        {
            "Numbers in the codes": f"{64 * T:,} / {vae.latent_dim}",
            "Bits": f"{chain.total:.1f} / {other.parts.total:.1f}",
        }
    )
    fewer = lens.fewer(result, film.at)
    with stage.below:
        ui.notice(
            "Both bounds are −log p of the picture given a code, and what the code costs. A VAE trains an "
            f"encoder of {sum(p.numel() for p in vae.encoder.parameters()):,} weights; the chain's has none "
            f"and only adds noise: L_T is {chain.last:.4f} bits, and "
            "nothing that is learned can change it. Both decoders are asked for masses of the 17 grey "
            "levels, so the bits are of the same thing; the nats of a density would not be. Each of the "
            f"chain's terms is one draw of noise; the best σ² is fitted on other digits. {SAID}"
        )
        ui.check(
            f"Whose bound of this picture is lower at T = {T}?",
            ["diffusion", "VAE"],
            fewer,
            f"{chain.total:.1f} bits against {other.parts.total:.1f} of the VAE.",
            wrong={
                "diffusion": "In so few steps the way back is far from Gaussian, and every term of the "
                "bound pays for it.",
                "VAE": "All it says must pass through one narrow layer: T layers of full size lose less.",
            },
            veils=("bars", "equation", "numbers"),
        )
        ui.program(
            f"""
            from lab import weights
            from lab.lenses.bound_terms import picture
            from pages.diffusion.diffusion_as_vae import lens

            x = picture({now.image!r})
            chain = lens.diffusion(weights.load({now.model!r}), {T}, {now.variance!r}, x)
            vae = lens.autoencoded(weights.load({now.vae!r}), x).parts
            result = [chain.picture, chain.codes, chain.last, vae.picture, vae.last]
            """,
            shows=[chain.picture, chain.codes, chain.last, other.parts.picture, other.parts.last],
        )
        ui.source(bound.bound, VAE.elbo_terms, lens.diffusion, lens.autoencoded, references=ROOM.references)


def draw_chains() -> None:
    """Encoder over decoder at 28 × 28, beside a VAE's one code."""
    result, T = ui.compute(lens.chains, now), STEPS[film.at]
    with stage.picture:
        left, right = ui.columns([3, 1])
        with left:
            ui.figure(
                figures.chains(result.codes, result.reconstructions, result.bits), key="chain", share=1.0,
                film=film,
                alt="The digit and its codes at rising t, what the decoder draws from the last of them, and "
                "the bits of each fifth of the chain",
            )  # fmt: skip
        with right:
            ui.figure(
                basic.image(result.again, title="VAE: x from z", zmin=0, zmax=1),
                key="again",
                share=0.5,
                alt="The digit decoded from the mean of the VAE's code",
            )
            ui.figure(
                figures.code(result.mean, result.deviation),
                key="code",
                share=0.5,
                alt="Means and deviations of the VAE's code",
            )
    with stage.foot:
        calls = [{"net": f"{T} calls"} for T in STEPS]
        ui.machine(now.model, film=film, lit=["net"] * film.count, says=calls)
        film.bar(captions=lens.chain_captions(result), equations=lens.equations(result.parts))
    fifths = result.bits[film.at].tolist()
    weights = sum(p.numel() for p in ui.load(now.vae28).encoder.parameters())
    with stage.below:
        ui.notice(
            "The encoder of the chain adds noise and has no weights; the decoder is the network. From x_T, "
            "which is nearly pure noise, it need not draw the same digit: what the picture is, the other "
            f"codes say. The VAE has an encoder of {weights:,} weights and one small code. It was trained on "
            "black and white, the chain on 256 greys: their bits are of other pictures, and not compared "
            f"here. {SAID}"
        )
        ui.check(
            f"Which fifth of the chain costs most at T = {T}?",
            lens.WHERE,
            lens.dearest(result, film.at),
            "In bits, from the least noise on: " + ", ".join(f"{b:.1f}" for b in fifths) + ".",
            wrong=(
                "There the noise is small, but here the network's σ² is far from what is needed.",
                "The terms grow or fall along the chain: none between is the largest here.",
                "Under much noise both Gaussians of a step are wide, and hardly differ.",
            ),
            veils=("chain", "equation"),
        )
        ui.program(
            f"""
            from lab import weights
            from pages.diffusion.diffusion_as_vae import lens

            models = weights.load({now.model!r}), weights.load({now.vae28!r})
            chains = lens.chains(*models, {now.image!r}, {now.variance!r})
            result = chains.bits[{film.at}].tolist()
            """,
            shows=fifths,
        )
        ui.source(bound.bound, VAE.elbo_terms, lens.chains, references=ROOM.references)


def draw_gaussian() -> None:
    """The bound where everything is known."""
    result, every = lens.gaussian(now.variance), lens.gaps()
    parts, T = result[film.at], STEPS[film.at]
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.gaps(every, now.variance), alt="Bound less entropy over T, for each σ²", key="gaps",
                share=1.0, film=film,
            )  # fmt: skip
        with right:
            ui.figure(
                figures.waterfall(result), key="terms", share=1.0, film=film,
                alt="The terms of the bound and their sum, with the entropy",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.gaussian_captions(result), equations=lens.gaussian_equations(result))
    gap, missed = parts.total - lens.ENTROPY, lens.missed(T)
    stage.metrics(
        {
            "Bound": f"{parts.total:.6f} nats",
            "Gap": f"{max(gap, 0.0):.2e}",
        }
    )
    with stage.below:
        ui.notice(
            "The data are N(1, ¼), the denoiser is the exact one, and the bound is its mean over the data, "
            "in nats of a density. It never falls below the entropy. With the best σ², β̃ and what is unknown "
            "of x₀, every reverse step is the true one: then the gap is KL(q(x_T) ‖ N(0, 1)) alone, "
            f"here {missed:.2e}, at any T. Less than a millionth is not drawn. {SAID}"
        )
        ui.check(
            f"Is the bound within {lens.NEAR} nats of the entropy at T = {T}?",
            ["yes", "no"],
            "yes" if gap < lens.NEAR else "no",
            f"The gap is {max(gap, 0.0):.2e} nats.",
            wrong={
                "yes": "Gaussian data have Gaussian steps back, but a wrong σ², or a start other than N(0, "
                "1), still costs.",
                "no": "Of Gaussian data each step back is Gaussian: with its right σ² the bound loses next "
                "to nothing.",
            },
            veils=("picture", "equation", "numbers"),
        )
        ui.program(
            f"""
            from pages.diffusion.diffusion_as_vae import lens

            expectation = lens.expected({T}, {now.variance!r})
            result = [expectation.picture, expectation.codes, expectation.last, lens.missed({T})]
            """,
            shows=[parts.picture, parts.codes, parts.last, missed],
        )
        ui.source(bound.step_kl, bound.best_variance, lens.expected, references=ROOM.references)


if now.of == DIGIT and now.model == MNIST:
    draw_chains()
elif now.of == DIGIT:
    draw_digit()
else:
    draw_gaussian()
