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
        Drawing(
            "Your drawing", 20, late("lab.lenses.ink", "examples", (20,)), when=lambda s: s.target == OWN
        ),
    ] = None
    loss: Annotated[str, Choice("Loss", late("lab.lenses.games", "losses"), as_list=True)] = "non-saturating"
    failure: Annotated[str, Choice("Failure", late("lens", "failures"), as_list=True)] = "nothing"
    cure: Annotated[str, Choice("Cure", ("none", "minibatch std", "packs of 4"), as_list=True)] = "none"
    batches: Annotated[int, Choice("Batches", (QUICK, 1000, 3000))] = QUICK
    seed: Annotated[int, Number("Seed", 0, 999)] = 0
    look: Annotated[int | None, Frame("Batch", seconds=0.2)] = None


ROOM = Room(
    title="GAN bench",
    idea="A generator and a discriminator learn on points of the plane, with any loss, failure and cure.",
    place=70,
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
    was={
        1: "150 batches",
        2: "8 Gaussians",
        "First moves": "150 batches",
        "A thousand": "8 Gaussians",
        "A critic": "WGAN-GP",
        "Too greedy": "Mode collapse",
        "Packs": "PacGAN",
        "A weak judge": "Weak D",
        "Moons": "Two moons",
        "Your drawing": "Own drawing",
    },
    scenes={
        "8 Gaussians": Scene(
            "Each arrow shows where G's loss falls: along the slope of D, which the colours show.",
            State(batches=1000, look=26),
        ),
        "150 batches": Scene(
            "After 30 batches all made points are one cluster; the arrows show the slope of D there.",
            State(look=6),
        ),
        "Saturating": Scene(
            "The saturating loss of the first paper trains this small game as well: it reaches most modes.",
            State(loss="saturating", batches=1000),
        ),
        "WGAN-GP": Scene(
            "The critic has a slope everywhere; after as many batches most seeds reach fewer modes.",
            State(loss="Wasserstein, penalty", batches=1000),
        ),
        "Mode collapse": Scene(
            "With five steps of G for one of D all samples collapse to one or two clusters that move about.",
            State(failure="5 turns of G", look=10, batches=1000),
        ),
        "PacGAN": Scene(
            "D sees four samples at once and detects the collapse: most modes are reached again.",
            State(failure="5 turns of G", cure="packs of 4", batches=1000),
        ),
        "Weak D": Scene(
            "D has one layer of eight units: the samples reach at most two of the eight modes.",
            State(failure="D of 8 units", batches=1000),
        ),
        "Two moons": Scene(
            "Two moons have no separate modes to count; W₁, on the right, falls.",
            State(target="moons", batches=1000),
        ),
        "Own drawing": Scene(
            "The data are points that are scattered over your drawing.", State(target=OWN, batches=1000)
        ),
    },
)
