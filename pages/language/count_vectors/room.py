"""Count vectors: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Count vectors",
    idea="Count who stands near whom; keep the few directions that explain most.",
    place=70,
    minutes=5,
    words=(
        "co-occurrence matrix; SVD; singular value decomposition; PPMI; pointwise mutual information; "
        "latent semantic analysis; LSA; truncated SVD"
    ),
    references=(
        "Eckart and Young 1936, The approximation of one matrix by another of lower rank",
        "Deerwester et al. 1990, Indexing by latent semantic analysis",
        "Bullinaria and Levy 2007, Semantic representations from word co-occurrence statistics",
        "[GM] §1.6.1",
    ),
    lenses=("latent",),
)
