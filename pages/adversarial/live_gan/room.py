"""GAN live: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Frame, Number, Room, Scene, Text, Toggle, late

OWN = "own drawing"
TURNS = {  # of D and of G in a round
    "1 and 1": (1, 1),
    "2 and 1": (2, 1),
    "5 and 1": (5, 1),
    "1 and 2": (1, 2),
    "1 and 5": (1, 5),
    "D alone": (1, 0),
    "G alone": (0, 1),
}
RATES = (0.0001, 0.0003, 0.001, 0.003, 0.01)
BATCHES = (16, 64, 256)
WITHIN = {  # what the knobs of a course may be
    "d": (0, 5),
    "g": (0, 5),
    "d_rate": (RATES[0], RATES[-1]),
    "g_rate": (RATES[0], RATES[-1]),
    "batch": (BATCHES[0], BATCHES[-1]),
}
MOST = 60  # frames
# knobs as a course spells them
FIRST = "batch=256,d=1,d_rate=0.001,g=1,g_rate=0.001"
D_ALONE = "batch=256,d=1,d_rate=0.001,g=0,g_rate=0.001"
G_ALONE = "batch=256,d=0,d_rate=0.001,g=1,g_rate=0.001"
G_FAST = "batch=256,d=1,d_rate=0.001,g=1,g_rate=0.01"


@dataclass(frozen=True, kw_only=True)
class State:
    law: Annotated[str, Choice("Data", ("ring8", "grid25", "moons", "spirals", OWN), as_list=True)] = "ring8"
    ink: Annotated[
        str | None,
        Drawing(
            "Draw where the points lie",
            20,
            late("lab.lenses.ink", "examples", (20,)),
            when=lambda s: s.law == OWN,
        ),
    ] = None
    loss: Annotated[str, Choice("Loss", late("lab.lenses.games", "losses"), as_list=True)] = "non-saturating"
    turns: Annotated[str, Choice("Steps of D and G a round", tuple(TURNS), as_list=True)] = "1 and 1"
    batch: Annotated[int, Choice("Batch size", BATCHES)] = 256
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    d_rate: Annotated[float, Choice("Learning rate of D", RATES, as_list=True, at="left")] = 0.001
    g_rate: Annotated[float, Choice("Learning rate of G", RATES, as_list=True, at="right")] = 0.001
    # what `ui.rewind` keeps in the link by itself
    course: Annotated[str, Text("Course", when=False)] = ""
    until: Annotated[int, Number("Until", 0, MOST, when=False)] = 0
    recorded: Annotated[bool, Toggle("Recorded", when=False)] = False
    step: Annotated[int | None, Frame("Round", seconds=0.07)] = None


ROOM = Room(
    title="GAN live",
    idea="Change the learning rates and steps of G and D while they train; stop one, and see the other.",
    place=80,
    minutes=6,
    words="GAN training; mode collapse; two time-scale update rule; TTUR; learning rate; training "
    "instability; Adam",
    references=(
        "Goodfellow et al. 2014, Generative adversarial nets, arXiv:1406.2661",
        "Heusel et al. 2017, GANs trained by a two time-scale update rule, arXiv:1706.08500",
        "Mescheder et al. 2018, Which training methods for GANs do actually converge?, arXiv:1801.04406",
        "[UDL] §15.1–15.2.1",
    ),
    machine="gan",
    state=State,
    was={
        1: "Untrained",
        2: "Trained",
        3: "G alone",
        4: "D alone",
        5: "G too fast",
        6: "Rate lowered",
        7: "Rate raised",
        8: "Rewound",
        "Too fast": "G too fast",
        "Then slow": "Rate lowered",
        "Spoilt": "Rate raised",
        "Wound back": "Rewound",
    },
    scenes={
        "Trained": Scene(
            "Over a thousand rounds the generated points spread from one cluster over the eight modes.",
            State(until=50, recorded=True),
        ),
        "Live training": Scene(
            "The same game, trained here while you watch: press Pause, change a setting, press Train.",
            State(until=50),
        ),
        "Untrained": Scene(
            "All made points lie in one cluster, and D is nearly the same everywhere. Press Train.", State()
        ),
        "G alone": Scene(
            "From the solid line on D does not learn: all points move to where D is largest.",
            State(turns="G alone", until=50, course=f"0:{FIRST};20:{G_ALONE}"),
        ),
        "D alone": Scene(
            "From the solid line on G does not learn: D's bound on the divergence comes nearer to it.",
            State(turns="D alone", until=50, course=f"0:{FIRST};20:{D_ALONE}"),
        ),
        "G too fast": Scene(
            "G's learning rate is ten times that of D from the start: modes are found and lost again.",
            State(until=60, g_rate=0.01, course=f"0:{G_FAST}"),
        ),
        "Rate lowered": Scene(
            "At the solid line G's learning rate falls to that of D: the modes are found and kept.",
            State(until=60, course=f"0:{G_FAST};30:{FIRST}"),
        ),
        "Rate raised": Scene(
            "Between the solid lines G learns ten times as fast for 40 rounds: modes are lost for long.",
            State(until=60, course=f"0:{FIRST};45:{G_FAST};47:{FIRST}"),
        ),
        "Rewound": Scene(
            "The same training, back at round 400: a setting that you change counts from here.",
            State(until=50, step=20),
        ),
    },
)
