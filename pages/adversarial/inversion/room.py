"""Inversion: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Toggle, late

INK, SLANT = "ink", "slant"
SIDE = 16  # pixels of a picture


@dataclass(frozen=True, kw_only=True)
class State:
    x: Annotated[str | None, Drawing("Your picture", SIDE, late("lens", "targets"))] = None
    space: Annotated[str, Choice("Look in", ("W", "W+", "Z"))] = "W"
    encoder: Annotated[bool, Toggle("Start at an encoder's guess")] = False
    tune: Annotated[bool, Toggle("Tune the generator after")] = False
    edit: Annotated[str, Choice("Edit", (INK, SLANT))] = INK
    seed: Annotated[int, Number("Seed of a start in Z", 0, 999)] = 0
    step: Annotated[int | None, Frame("Step", seconds=0.2)] = None
    model: Annotated[str, Model("Model", ("stylegan-mnist",), when=False)] = "stylegan-mnist"
    painter: Annotated[str, Model("Digits by", ("made-mnist",), when=False)] = "made-mnist"
    reader: Annotated[str, Model("Named by", ("cnn-mnist",), when=False)] = "cnn-mnist"


ROOM = Room(
    title="Inversion",
    idea="Search for the code whose picture is yours; then change the code.",
    place=220,
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
    state=State,
    scenes={
        "A made picture": Scene("The generator made it, so its code exists: W finds it, nearly.", State()),
        "Stuck in Z": Scene(
            "The same picture, looked for in z: the search ends elsewhere.", State(space="Z")
        ),
        "A drawn digit": Scene("A digit of another model: in W its outline, not all of it.", State(x="5")),
        "A style a layer": Scene(
            "The same digit in W+: six styles come nearer than one.", State(x="5", space="W+")
        ),
        "With an encoder": Scene(
            "A linear guess at the code is a better start than the mean style.",
            State(x="made too", encoder=True, step=0),
        ),
        "No digit": Scene("No style makes a cross: what is out of range stays out.", State(x="cross")),
        "Tune the generator": Scene(
            "At the code that was found the generator moves: the rest goes.",
            State(x="cross", space="W+", tune=True),
        ),
    },
)
