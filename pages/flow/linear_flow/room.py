"""Linear and LU: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Linear and LU",
    idea="Permute, shear, scale, shear: a matrix whose determinant is read off.",
    place=30,
    minutes=4,
    words="LU decomposition; PLU; 1x1 convolution; determinant; linear flow; permutation",
    references=(
        "Kingma, Dhariwal 2018, Glow, arXiv:1807.03039",
        "[UDL] §16.3.1 (sums over both diagonals: right only with ones on that of L); [GM] §3.12.3; [BB] §5",
    ),
)
