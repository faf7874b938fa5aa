"""Judge: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, Toggle, late

REAL = "held-out digits"
SHELF = (  # which are judged where all are
    "made-digits", "pixelcnn-digits", "gatedpixelcnn-digits", "nade-digits", "chain-digits",
    "vae-digits", "vae-bits-digits", "vamp-digits", "gmm-digits", "fa-digits", "glow-digits",
    "dcgan-digits", "acgan-digits", "infogan-digits", "ddpm-digits",
)  # fmt: skip
CHANGES = NOTHING, MISSING, JUNK, COPIES = "nothing", "classes missing", "junk", "copies"
SHARES = tuple(round(0.1 * i, 1) for i in range(10))
MOST = 10  # neighbours that a ball reaches to


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str,
        Model("Generator", only=late("lens", "fits"), first=(REAL, *SHELF), also=(REAL,), as_list=True),
    ] = REAL
    change: Annotated[str, Choice("Spoil it by", CHANGES, as_list=True)] = NOTHING
    k: Annotated[int, Slider("k-th neighbour", 1, MOST)] = 3
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    all: Annotated[bool, Toggle("All generators")] = False
    share: Annotated[float, Frame("Share", SHARES, seconds=0.5)] = 0.0
    network: Annotated[str, Model("Judge", ("cnn-digits",), when=False)] = "cnn-digits"


ROOM = Room(
    title="Judge",
    idea="Precision asks whether samples are digits, recall whether all digits are drawn.",
    place=130,
    minutes=3,
    words="FID; Fréchet inception distance; inception score; precision and recall; IS; sample quality; "
    "evaluation of GANs",
    references=(
        (
            "Salimans et al. 2016, arXiv:1606.03498; Heusel et al. 2017, arXiv:1706.08500; "
            "Kynkäänniemi et al. 2019, arXiv:1904.06991"
        ),
        "[UDL] §14.3 (the caption of fig. 14.5 swaps precision and recall)",
    ),
    machine="gan",
    state=State,
    scenes={
        "The floor": Scene("Even held-out digits do not reach 1: no generator is asked for more.", State()),
        "Pixel by pixel": Scene(
            "PixelCNN draws as many kinds as there are; not all samples are digits.",
            State(model="pixelcnn-digits"),
        ),
        "A chain": Scene(
            "A Markov chain knows the pixel before and no digit: both numbers fall.",
            State(model="chain-digits"),
        ),
        "Missing classes": Scene(
            "Classes go, one after the other: see which of the two scores notices.",
            State(change=MISSING, share=0.5),
        ),
        "Junk": Scene("Half is noise: precision falls, recall stays.", State(change=JUNK, share=0.5)),
        "Copies": Scene(
            "Nine of ten are copies: inception score and recall hardly notice, FD does.",
            State(change=COPIES, share=0.9),
        ),
        "All": Scene("All generators of small digits, one after the other, in grey.", State(all=True)),
    },
)
