"""Flow bench: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Flow bench",
    idea="A round cloud goes through the layers, one by one, until it is the data.",
    place=50,
    minutes=6,
    words="normalizing flow; RealNVP; neural spline flow; MAF; two moons; topology; base distribution",
    references=(
        "Papamakarios et al. 2021, arXiv:1912.02762",
        "[UDL] §16.2; [GM] §3.12.2 (eq. 3.82 has + Σ)",
    ),
    lenses=("latent",),
    machine="flow",
)
