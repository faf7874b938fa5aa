"""Flow matching: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Flow matching",
    idea="Learn the velocity of straight lines from noise to data, and follow it.",
    place=190,
    minutes=3,
    words=(
        "rectified flow; flow matching; reflow; optimal transport; conditional flow matching; straight "
        "paths; stochastic interpolants"
    ),
    references=(
        "Lipman et al. 2023, arXiv:2210.02747; Albergo and Vanden-Eijnden 2023, arXiv:2209.15571",
        "Liu et al. 2023, Rectified flow, arXiv:2209.03003",
        "Tong et al. 2023, arXiv:2302.00482 (pairs by assignment within a batch)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
    machine="diffusion",
)
