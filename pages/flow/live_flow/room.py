"""Train live: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Train live",
    idea="Push a Gaussian onto the data while you watch; turn the knobs in mid-run.",
    place=60,
    minutes=6,
    words="normalizing flow training; maximum likelihood; RealNVP; gradient descent; learning rate",
    references=(
        "Dinh et al. 2017, Density estimation using Real NVP, arXiv:1605.08803",
        "Durkan et al. 2019, Neural spline flows, arXiv:1906.04032",
        "Ho et al. 2019, Flow++, arXiv:1902.00275 (logistics)",
        "Huang et al. 2018, Neural autoregressive flows, arXiv:1804.00779",
        "[UDL] §16.1.3, §16.3, §16.5.1",
    ),
    machine="flow",
)
