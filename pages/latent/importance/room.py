"""Importance weights: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Importance weights",
    idea="Average the weights of S draws before the logarithm: the bound tightens.",
    place=180,
    minutes=5,
    words=(
        "importance sampling; importance weights; log-sum-exp; marginal likelihood estimate; effective "
        "sample size"
    ),
    references=(
        "Kingma and Welling 2014, Auto-Encoding Variational Bayes, arXiv:1312.6114",
        "[GM] §3.4, §3.7-3.11; [UDL] §17.3-17.8",
        "Burda, Grosse and Salakhutdinov 2016, Importance Weighted Autoencoders, arXiv:1509.00519",
        "Hesterberg 1995, Weighted average importance sampling and defensive mixture distributions",
    ),
    lenses=("latent",),
    machine="vae",
)
