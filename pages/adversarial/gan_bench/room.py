"""GAN bench: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated

from lab.room import Choice, Drawing, Frame, Number, Room, Scene, late

OWN = "your drawing"
QUICK = 150  # batches that take about a second


@dataclass(frozen=True, kw_only=True)
class State:
    target: Annotated[str, Choice("Data", ("ring8", "grid25", "moons", "spirals", OWN), as_list=True)] = (
        "ring8"
    )
    ink: Annotated[
        str | None,
        Drawing("Your ink", 20, late("lab.lenses.ink", "examples", (20,)), when=lambda s: s.target == OWN),
    ] = None
    loss: Annotated[str, Choice("Loss", late("lab.lenses.games", "losses"), as_list=True)] = "non-saturating"
    failure: Annotated[str, Choice("Spoil it by", late("lens", "failures"), as_list=True)] = "nothing"
    cure: Annotated[str, Choice("Cure", ("none", "minibatch std", "packs of 4"), as_list=True)] = "none"
    batches: Annotated[int, Choice("Batches", (QUICK, 1000, 3000))] = QUICK
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Batch", seconds=0.2)] = None


ROOM = Room(
    title="GAN bench",
    idea="Two networks play: one makes points, the other tells them from the data.",
    place=50,
    minutes=4,
    words="generative adversarial network; GAN; WGAN-GP; non-saturating loss; hinge loss; mode collapse; "
    "least squares GAN; LSGAN; eight Gaussians",
    references=(
        "Goodfellow et al. 2014, arXiv:1406.2661; Gulrajani et al. 2017, arXiv:1704.00028",
        "Lin et al. 2018, PacGAN, arXiv:1712.04086; Karras et al. 2018, arXiv:1710.10196 (minibatch std)",
        "[UDL] §15.1–15.3",
    ),
    machine="gan",
    state=State,
    scenes={
        "First moves": Scene("150 batches: arrows show where the slope of D sends each point.", State()),
        "A thousand": Scene(
            "After a thousand most games have found most modes; few points lie on them.", State(batches=1000)
        ),
        "Saturating": Scene(
            "The loss as the text prints it: in this game it serves as well.",
            State(loss="saturating", batches=1000),
        ),
        "A critic": Scene(
            "Wasserstein with penalty: D slopes everywhere; most seeds take longer.",
            State(loss="Wasserstein, penalty", batches=1000),
        ),
        "Too greedy": Scene(
            "Five turns of G for one of D: all points lie in one heap, and it wanders.",
            State(failure="5 turns of G", look=10, batches=1000),
        ),
        "Packs": Scene(
            "The cure: D sees four points at a time; modes are back, and come and go.",
            State(failure="5 turns of G", cure="packs of 4", batches=1000),
        ),
        "A weak judge": Scene(
            "D of one layer of eight units: at most one or two modes are touched.",
            State(failure="D of 8 units", batches=1000),
        ),
        "Moons": Scene("No modes, two arms: W₁ falls.", State(target="moons", batches=1000)),
        "Your drawing": Scene("The data are your ink.", State(target=OWN, batches=1000)),
    },
)
