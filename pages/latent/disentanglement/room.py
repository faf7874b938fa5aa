"""Disentanglement: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Disentanglement",
    idea="Turn one number of a code: does one thing change in the sprite, or several?",
    place=270,
    minutes=6,
    words=(
        "disentangled representation; beta-VAE; FactorVAE; TC-VAE; total correlation; MIG; mutual "
        "information gap; dSprites"
    ),
    references=(
        "Higgins et al. 2017, β-VAE",
        "Chen, Li, Grosse and Duvenaud 2018, Isolating Sources of Disentanglement, arXiv:1802.04942",
        "Kim and Mnih 2018, Disentangling by Factorising, arXiv:1802.05983",
        "Locatello et al. 2019, Challenging Common Assumptions, arXiv:1811.12359",
        "[UDL] §17.8.4",
    ),
    machine="vae",
)
