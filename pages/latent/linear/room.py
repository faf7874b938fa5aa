"""Linear latents: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Linear latents",
    idea="A few hidden causes times a matrix, plus noise: whose noise decides what is found.",
    place=10,
    minutes=3,
    words=(
        "factor analysis; PCA; principal component analysis; probabilistic PCA; pPCA; dimensionality "
        "reduction"
    ),
    references=(
        "Tipping, Bishop 1999, Probabilistic principal component analysis",
        "Rubin, Thayer 1982, EM algorithms for ML factor analysis",
        (
            "[GM] §3.2.1 (W's columns tend to principal components only up to rotation and the lengths √(λ − "
            "σ²))"
        ),
    ),
    lenses=("latent",),
)
