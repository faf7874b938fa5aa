"""Noise schedules: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Noise schedules",
    idea="A schedule says how much of the data each step of noise leaves.",
    place=20,
    minutes=2,
    words=(
        "noise schedule; cosine schedule; linear schedule; SNR; signal-to-noise ratio; zero terminal SNR; "
        "beta schedule"
    ),
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239",
        "Nichol & Dhariwal 2021, arXiv:2102.09672",
        "Lin et al. 2023, arXiv:2305.08891",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
)
