"""Equations of noise: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Equations of noise",
    idea="Noise can replace the data or be heaped upon them: one walk in two units.",
    place=150,
    minutes=3,
    words=(
        "SDE; stochastic differential equation; VP-SDE; VE-SDE; variance exploding; variance preserving; "
        "probability flow ODE; Fokker-Planck"
    ),
    references=(
        "Song et al. 2021, arXiv:2011.13456 (VP, sub-VP, VE; the probability-flow ODE); Anderson 1982",
        "Song & Ermon 2019, arXiv:1907.05600 (noise that is added and nothing shrinks)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=("sampling",),
)
