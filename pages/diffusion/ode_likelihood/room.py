"""Likelihood by ODE: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Likelihood by ODE",
    idea="Noising without noise: a smooth way to N(0, I), and back to log p.",
    place=160,
    minutes=6,
    words="probability flow ODE; Hutchinson; exact likelihood; neural ODE; ODE solver",
    references=(
        "Song et al. 2021, arXiv:2011.13456",
        "Grathwohl et al. 2019, arXiv:1810.01367 (one probe a solve)",
        "[UDL] fig. 14.3 and §16.5.1 grant diffusion a lower bound only",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    machine="diffusion",
)
