"""Likelihood of a GAN: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Likelihood of a GAN",
    idea="Blur what it makes; chains from the prior to x then weigh p(x).",
    place=150,
    minutes=4,
    words=(
        "annealed importance sampling; AIS; likelihood of a decoder; Hamiltonian Monte Carlo; HMC; "
        "log-likelihood of a GAN"
    ),
    references=(
        "Neal 2001, arXiv:physics/9803008; Wu et al. 2017, arXiv:1611.04273 (of GANs and decoders)",
        "[UDL] §15 notes name the method",
    ),
    machine="gan",
)
