"""Score field: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Score field",
    idea="Arrows point uphill on log p; particles follow them, and shake.",
    place=140,
    minutes=5,
    words=(
        "score matching; Langevin dynamics; denoising score matching; sliced score matching; annealed "
        "Langevin; NCSN; score-based model"
    ),
    references=(
        "Song & Ermon 2019, arXiv:1907.05600",
        "Hyvärinen 2005; Vincent 2011; Song et al. 2019, arXiv:1905.07088 (sliced)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
)
