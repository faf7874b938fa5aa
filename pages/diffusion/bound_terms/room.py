"""Bound, term by term: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Bound, term by term",
    idea="A diffusion model is a code: so many bits at every step of noise.",
    place=60,
    minutes=3,
    words="variational lower bound; ELBO; bits per dimension; VLB; improved DDPM; learned variance",
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (the terms, the discretised decoder)",
        "Nichol & Dhariwal 2021, arXiv:2102.09672; Kingma et al. 2021, arXiv:2107.00630",
        "Bao et al. 2022, arXiv:2201.06503 (best σ²)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    machine="diffusion",
)
