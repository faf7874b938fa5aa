"""Inversion: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Fixed, Frame, Number, Room, Scene, Toggle, late

INK, SLANT = "ink", "slant"
SIDE = 16  # pixels of a picture


@dataclass(frozen=True, kw_only=True)
class State:
    x: Annotated[str | None, Drawing("Your picture", SIDE, late("lens", "targets"))] = None
    space: Annotated[str, Choice("Search space", ("W", "W+", "Z"))] = "W"
    encoder: Annotated[bool, Toggle("Start from an encoder")] = False
    tune: Annotated[bool, Toggle("Fine-tune G afterwards")] = False
    edit: Annotated[str, Choice("Edit direction", (INK, SLANT))] = INK
    seed: Annotated[int, Number("Seed of the start in Z", 0, 999)] = 0
    step: Annotated[int | None, Frame("Iteration", seconds=0.2)] = None
    model: Fixed = "stylegan-mnist"
    painter: Fixed = "made-mnist"
    reader: Fixed = "cnn-mnist"


ROOM = Room(
    title="Inversion",
    idea="Find the code w whose picture G(w) is nearest to yours, then edit the picture by its code.",
    place=150,
    minutes=5,
    words="GAN inversion; latent optimization; image editing; pivotal tuning; W+",
    references=(
        (
            "Zhu et al. 2016, arXiv:1609.03552; Abdal et al. 2019 (W+), arXiv:1904.03189; "
            "Roich et al. 2021 (pivotal tuning), arXiv:2106.05744"
        ),
        "[UDL] §15 notes",
    ),
    machine="gan",
    symbols={
        "x": "the picture that is searched for",
        "D": "number of pixels",
        "L": "number of levels",
        r"g_{\theta'}": "generator after tuning",
        "w_1": "style code of the first level",
        "w_L": "style code of the last level",
    },
    state=State,
    scenes={
        "Target outside the range of G": Scene(
            "A digit of another model: W recovers its outline, and the difference shows what remains.",
            State(x="5"),
        ),
        "W+: a style per layer": Scene(
            "Six styles w₁ … w₆, one for each layer, reach less than half the error of a single w.",
            State(x="5", space="W+"),
        ),
        "Target made by G": Scene(
            "Here the target is a sample of G, so that its code exists: the search in W nearly finds it.",
            State(),
        ),
        "Search in Z": Scene(
            "The same sample, searched for in Z: gradient descent ends at more than three times the error.",
            State(space="Z"),
        ),
        "Encoder start": Scene(
            "At iteration 0 a linear encoder's guess has a smaller error than the mean style.",
            State(x="made too", encoder=True, step=0),
        ),
        "Cross: no digit": Scene(
            "G makes digits alone: no style w reproduces a cross, and the error stays high.",
            State(x="cross"),
        ),
        "Pivotal tuning": Scene(
            "After the search the weights of G are fine-tuned at the code found: the error almost vanishes.",
            State(x="cross", space="W+", tune=True),
        ),
    },
    was={
        1: "Target made by G",
        2: "Search in Z",
        3: "Target outside the range of G",
        4: "W+: a style per layer",
        6: "Cross: no digit",
        "A made picture": "Target made by G",
        "Stuck in Z": "Search in Z",
        "A drawn digit": "Target outside the range of G",
        "A style a layer": "W+: a style per layer",
        "With an encoder": "Encoder start",
        "No digit": "Cross: no digit",
        "Tune the generator": "Pivotal tuning",
    },
)
