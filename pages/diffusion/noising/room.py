"""Noising: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Noising",
    idea="Each step shrinks the drawing a little and adds a little noise, until only noise is left.",
    place=10,
    minutes=5,
    words="forward process; diffusion; DDPM; noise schedule; Markov chain; signal-to-noise ratio",
    references=(
        "Sohl-Dickstein et al. 2015, arXiv:1503.03585; Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "[BB] §5, thm 5.3 and ex. 5.6: images and sums of Gaussians",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
)
