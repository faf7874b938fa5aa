"""One step back: what the room is."""

from lab.room import Room

ROOM = Room(
    title="One step back",
    idea="Given the data, the step before is a Gaussian: two bells multiplied.",
    place=30,
    minutes=6,
    words="forward posterior; Bayes; Gaussian conditioning; reverse process; product of Gaussians",
    references=(
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239, eq. 6-7",
        "[BB] 5: Gaussian conditioning",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
)
