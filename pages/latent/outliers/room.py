"""Outlier gauge: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Outlier gauge",
    idea="A density says how odd a picture is; a simple one may pass.",
    place=390,
    minutes=4,
    words="anomaly detection; outlier detection; out-of-distribution; OOD; novelty detection",
    references=(
        "Nalisnick et al. 2019, Do deep generative models know what they don't know?, arXiv:1810.09136",
        "[UDL] §14.1; [GM] §3.4 (importance-weighted evidence)",
    ),
    lenses=("latent",),
    machine="vae",
)
