"""Guidance: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Guidance",
    idea="Leaning towards a class trades spread for faith.",
    place=180,
    minutes=3,
    words=(
        "classifier-free guidance; CFG; classifier guidance; guidance scale; conditional diffusion; "
        "fidelity and diversity"
    ),
    references=(
        "Ho & Salimans 2022, arXiv:2207.12598 (their s is 1 + w)",
        "Dhariwal & Nichol 2021, arXiv:2105.05233",
        "Bradley & Nakkiran 2024, arXiv:2408.09000",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
)
