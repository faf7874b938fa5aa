"""i-ResNet log-det: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Slider, Text, late

SERIES, INVERSE, KERNEL = "Series", "Inverse", "Kernel"
SAYS = late("lab.lenses.typed", "square_commas")


def series(state: Any) -> bool:
    return bool(state.view == SERIES)


def inverse(state: Any) -> bool:
    return bool(state.view == INVERSE)


def kernel(state: Any) -> bool:
    return bool(state.view == KERNEL)


def scaled(state: Any) -> bool:
    return bool(state.view != SERIES)


def unscaled(state: Any) -> bool:
    return inverse(state) and bool(state.rule == "none")


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", (SERIES, INVERSE, KERNEL))] = SERIES
    J: Annotated[
        str,
        Text("J, rows between semicolons", 120, reads=late("lens", "jacobian"), says=SAYS, when=series),
    ] = "0.3 0.2; -0.1 0.4"
    noise: Annotated[str, Choice("Probes", ("rademacher", "gaussian"), as_list=True, when=series)] = (
        "rademacher"
    )
    p: Annotated[float, Slider("Roulette stops with p", 0.1, 0.9, step=0.05, when=series)] = 0.5
    seed: Annotated[int, Number("Seed of the probes", 0, 999, when=series)] = 0
    M: Annotated[
        str, Text("M, rows between semicolons", 80, reads=late("lens", "plane_map"), says=SAYS, when=inverse)
    ] = "0.5 10; 0 0.5"
    rule: Annotated[
        str,
        Choice("Rule for the weights", ("singular value", "eigenvalue", "none"), as_list=True, when=inverse),
    ] = "singular value"
    K: Annotated[
        str,
        Text("Kernel, rows between semicolons", 80, reads=late("conv", "kernel"), says=SAYS, when=kernel),
    ] = "1 1 1; 1 1 1; 1 1 1"
    c: Annotated[
        float, Slider("Scaled to at most c", 0.1, 0.99, step=0.01, disabled=unscaled, when=scaled)
    ] = 0.9
    n: Annotated[int, Frame("Terms", range(1, 13), seconds=0.8, when=series)] = 3
    side: Annotated[int, Frame("Side", (1, 2, 3, 4, 6, 8, 12, 16), seconds=0.8, when=kernel)] = 8


ROOM = Room(
    title="i-ResNet log-det",
    idea="A series of traces stands for the determinant of I + J.",
    place=130,
    minutes=5,
    words="Hutchinson trace estimator; residual flow; power series; log determinant; Russian roulette; "
    "trace estimator; i-ResNet",
    references=(
        "Behrmann et al. 2019, Invertible residual networks, arXiv:1811.00995",
        "Chen et al. 2019, Residual flows, arXiv:1906.02735",
    ),
    state=State,
    scenes={
        "One term": Scene("One term is the trace, 0.7: too much by 0.09. More terms, less bias.", State(n=1)),
        "Five terms": Scene(
            "Five terms lie on the dotted line; random probes scatter around it.", State(n=5)
        ),
        "As printed": Scene(
            "Without 1/k, or with powers of the trace, the sum settles elsewhere.", State(n=12)
        ),
        "Gaussian probes": Scene(
            "Gaussian noise scatters 7 times as wide as ±1 here.", State(noise="gaussian", n=5)
        ),
        "Nearly 1": Scene(
            "Eigenvalues near 1: a slow series, and a roulette without a finite variance.",
            State(J="0.9 0.2; 0 0.85", n=5),
        ),
        "Singular values": Scene(
            "Largest singular value below 1: one zero, so the block can be inverted.", State(view=INVERSE)
        ),
        "Eigenvalues": Scene(
            "Eigenvalues are below 1 already, and three points go to 0.",
            State(view=INVERSE, rule="eigenvalue"),
        ),
        "Flat kernel": Scene(
            "Laid flat its norm is 0.9, as a map of pictures 2.49: the way back is lost.", State(view=KERNEL)
        ),
        "One pixel": Scene(
            "A kernel of one number: both norms agree, and each step brings x nearer.",
            State(view=KERNEL, K="0 0 0; 0 1 0; 0 0 0"),
        ),
    },
)
