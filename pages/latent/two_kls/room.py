"""Two KLs: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Two KLs",
    idea="Over a data set the bound is a KL of joints and the data's entropy.",
    place=340,
    minutes=6,
    words="data entropy; maximum likelihood; joint KL; mutual information",
    references=(
        "[GM] §3.4.6: 3.40–3.41 leave H(q_D) out; problem 3.1(a) leaves I out",
        "Hoffman and Johnson 2016, ELBO surgery",
    ),
)
