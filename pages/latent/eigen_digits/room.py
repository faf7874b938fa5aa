"""Eigen-digits: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Eigen-digits",
    idea="A digit is the mean plus weighted pictures; what a plane leaves out is blur.",
    place=20,
    minutes=6,
    words="PCA; principal components; eigenfaces; eigenvectors; reconstruction",
    references=(
        "Turk, Pentland 1991, Eigenfaces for recognition",
        "Tipping, Bishop 1999, Probabilistic principal component analysis",
        "[GM] §3.2.1; [UDL] notes",
    ),
)
