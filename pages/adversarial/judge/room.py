"""Judge: what the room is."""

from lab.room import Room

ROOM = Room(
    title="Judge",
    idea="Precision asks whether samples are digits, recall whether all digits are drawn.",
    place=130,
    minutes=3,
    words=(
        "FID; Fréchet inception distance; inception score; precision and recall; IS; sample quality; "
        "evaluation of GANs"
    ),
    references=(
        (
            "Salimans et al. 2016, arXiv:1606.03498; Heusel et al. 2017, arXiv:1706.08500; "
            "Kynkäänniemi et al. 2019, arXiv:1904.06991"
        ),
        "[UDL] §14.3 (the caption of fig. 14.5 swaps precision and recall)",
    ),
    machine="gan",
)
