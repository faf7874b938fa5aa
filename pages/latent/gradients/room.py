"""Gradient noise: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Gradient noise",
    idea="Estimators of one gradient agree in the mean and differ in width.",
    place=350,
    minutes=3,
    words=(
        "reparameterization; reparameterisation trick; REINFORCE; score function estimator; pathwise "
        "gradient; control variate; variance reduction; log-derivative trick; baseline; Gumbel-softmax"
    ),
    references=(
        "Williams 1992, Simple statistical gradient-following algorithms (REINFORCE)",
        "Mohamed, Rosca, Figurnov and Mnih 2020, Monte Carlo gradient estimation, arXiv:1906.10652",
        "Roeder, Wu and Duvenaud 2017, Sticking the landing, arXiv:1703.09194",
        "Mnih and Gregor 2014, Neural variational inference and learning, arXiv:1402.0030",
        "[GM] §3.5–3.6; [UDL] §17.7; [BB] §6; [DGM] hard attention",
    ),
    machine="vae",
)
