"""Judge: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Frame, Model, Number, Room, Scene, Slider, Toggle, late

REAL, REAL_MNIST = "held-out digits", "held-out MNIST digits"
SMALL, LARGE = "cnn-digits", "cnn-mnist"  # classifiers
SHELF_MNIST = ("dcgan-mnist", "infogan-mnist", "vae-mnist", "fa-mnist", "chain-mnist")
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
        Model(
            "Generator",
            only=late("lens", "fits"),
            first=(REAL, REAL_MNIST, *SHELF, *SHELF_MNIST),
            also=(REAL, REAL_MNIST),
            as_list=True,
        ),
    ] = REAL
    change: Annotated[str, Choice("Degrade by", CHANGES, as_list=True)] = NOTHING
    k: Annotated[int, Slider("Nearest neighbours k", 1, MOST)] = 3
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    all: Annotated[bool, Toggle("All generators")] = False
    share: Annotated[float, Frame("share", SHARES, seconds=0.5)] = 0.0

    @property
    def network(self) -> Annotated[str, Model("Classifier")]:
        """Name of the network on the generator's data, with which its name ends."""
        named = self.model.partition("/")[0].endswith("-mnist")
        return LARGE if named or self.model == REAL_MNIST else SMALL


ROOM = Room(
    title="Judge",
    idea="Precision asks whether samples are digits, recall whether all kinds of digits are sampled.",
    place=200,
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
    symbols={
        r"\bar{p}": "mean of the classifier's probabilities",
        r"\overline{H}": "mean entropy of a picture's probabilities",
    },
    state=State,
    scenes={
        "Missing classes": Scene(
            "Half of the classes are missing: recall falls, and precision stays.",
            State(model=REAL_MNIST, change=MISSING, share=0.5),
        ),
        "Held-out digits": Scene(
            "Even real digits that were held out do not reach 1: no generator can be asked for more.", State()
        ),
        "Junk samples": Scene(
            "Half of the samples are noise: precision falls, and recall stays.",
            State(model=REAL_MNIST, change=JUNK, share=0.5),
        ),
        "Copies": Scene(
            "Nine of ten samples are copies: IS and precision stay, but the Fréchet distance rises.",
            State(model=REAL_MNIST, change=COPIES, share=0.9),
        ),
        "DCGAN": Scene(
            "DCGAN reaches the recall of held-out digits, at a lower precision.", State(model="dcgan-mnist")
        ),
        "PixelCNN": Scene(
            "PixelCNN reaches the recall of held-out digits, at a lower precision.",
            State(model="pixelcnn-digits"),
        ),
        "Markov chain": Scene(
            "A Markov chain sees the pixel before alone: precision and recall are both low.",
            State(model="chain-digits"),
        ),
        "All generators": Scene(
            "All generators of 8 × 8 digits in the plane of recall and precision, one after the other.",
            State(all=True),
        ),
    },
    was={
        1: "Held-out digits",
        2: "PixelCNN",
        3: "Markov chain",
        4: "Missing classes",
        5: "Junk samples",
        6: "Copies",
        7: "All generators",
        "The floor": "Held-out digits",
        "Pixel by pixel": "PixelCNN",
        "A chain": "Markov chain",
        "Junk": "Junk samples",
        "All": "All generators",
    },
)
