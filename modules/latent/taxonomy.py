r"""Models of unsupervised learning: which is what, and which of six wishes each fulfils.

Three sets lie in each other, unsupervised ⊃ generative ⊃ probabilistic, and models with latent variables cut
across all three. No family of models has all six properties.

References: [UDL] §14.1–14.2 and notes; [GM] §3.12.5.
"""

from typing import NamedTuple


class Kind(NamedTuple):
    """Kind of a model: does it generate, has it probabilities (is its density normalised), has it latents?"""

    generative: bool
    probabilistic: bool
    latent: bool
    normalised: bool = True


KINDS: dict[str, Kind] = {
    "k-means": Kind(False, False, True),
    "PCA": Kind(False, False, True),
    "autoencoder": Kind(False, False, True),
    "GAN": Kind(True, False, True),
    "autoregressive": Kind(True, True, False),
    "factor analysis": Kind(True, True, True),
    "Gaussian mixture": Kind(True, True, True),
    "hidden Markov model": Kind(True, True, True),
    "VAE": Kind(True, True, True),
    "flow": Kind(True, True, True),
    "diffusion": Kind(True, True, True),
    "energy-based": Kind(True, True, False, normalised=False),
}

PROPERTIES = (
    "efficient sampling", "sample quality", "coverage", "well-behaved latent", "disentangled latent",
    "efficient likelihood",
)  # fmt: skip
YES, NO, UNSURE, NONE = "✓", "✗", "?", "n/a"
TABLE: dict[str, tuple[str, ...]] = {
    "GAN": (YES, YES, NO, YES, UNSURE, NONE),
    "VAE": (YES, NO, UNSURE, YES, UNSURE, NO),
    "flow": (YES, NO, UNSURE, YES, UNSURE, YES),
    "diffusion": (NO, YES, UNSURE, NO, NO, NO),
}

# What parts a variational autoencoder from a flow: (aspect, VAE, flow).
VAE_OR_FLOW: tuple[tuple[str, str, str], ...] = (
    ("likelihood", "bound", "exact"),
    ("decoder", "free", "invertible"),
    ("encoder", "learned", "none: the inverse"),
    ("sampling", "two steps", "one pass"),
    ("posterior access", "encoder", "inversion"),
    ("latent shaped by", "the KL", "geometry"),
    ("best use", "representation", "density"),
)


def with_properties(*wanted: str) -> list[str]:
    """The families of `TABLE` that surely have all of these."""
    places = [PROPERTIES.index(name) for name in wanted]
    return [family for family, row in TABLE.items() if all(row[place] == YES for place in places)]
