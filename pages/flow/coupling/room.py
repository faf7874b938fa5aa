"""Coupling microscope: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Coupling microscope",
    idea="One half is copied; it decides how the other half is changed.",
    place=40,
    minutes=6,
    words="RealNVP; NICE; coupling layer; affine coupling; triangular Jacobian",
    references=(
        "Dinh et al. 2015, NICE, arXiv:1410.8516",
        "Dinh et al. 2017, Density estimation using Real NVP, arXiv:1605.08803",
        "Durkan et al. 2019, Neural spline flows, arXiv:1906.04032",
        "Kruse et al. 2021, HINT, arXiv:1905.10687",
        "[UDL] §16.3.3 (its Jacobian is called diagonal: it is block-triangular); [GM] §3.12.3",
    ),
    machine="flow",
)
