"""Inside the U-Net: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, late

DIGITS, MNIST = "ddpm-digits", "ddpm-mnist"
VIEWS = U, MAPS, SKIPS, ATTENTION, READS = "The U", "Maps", "Skips", "Attention", "Reads"
LAYERS = "first", "down 1", "down 2", "middle 1", "middle 2", "up 1", "up 2"
JOINS = "first", "fine", "coarse"
NUMBERS = {"first": "skip 0", "fine": "skip 1", "coarse": "skip 2"}  # by the levels that they join
TIMES = 1, *range(100, 1001, 100)


def mapped(state: Any) -> bool:
    return bool(state.view == MAPS)


def cut(state: Any) -> bool:
    return bool(state.view == SKIPS)


def attends(state: Any) -> bool:
    return bool(state.view == ATTENTION)


def reads(state: Any) -> bool:
    return bool(state.view == READS)


def whole(state: Any) -> bool:
    return bool(state.view == U)


def large(state: Any) -> bool:
    return bool(state.view == U and state.model == MNIST)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("Show", VIEWS, as_list=True)] = MAPS
    model: Annotated[str, Model("Model", (DIGITS, MNIST), when=whole)] = DIGITS
    layer: Annotated[str, Choice("Layer", LAYERS, as_list=True, when=mapped)] = "down 1"
    off: Annotated[str, Choice("Skips set to zero", (*JOINS, "all"), as_list=True, when=cut)] = "first"
    head: Annotated[int, Choice("Head", (1, 2, 3, 4), when=attends)] = 1
    r4: Annotated[int, Slider("Row", 1, 4, when=attends)] = 2
    c4: Annotated[int, Slider("Column", 1, 4, when=attends)] = 2
    row: Annotated[int, Slider("Row", 1, 8, when=reads)] = 4
    column: Annotated[int, Slider("Column", 1, 8, when=reads)] = 4
    zero: Annotated[str, Choice("Skips set to zero", ("none", *JOINS, "all"), as_list=True, when=whole)] = (
        "none"
    )
    digit: Annotated[
        str | None,
        Drawing("Your digit", 8, late("lab.lenses.diffusion", "digits"), when=lambda s: not large(s)),
    ] = None
    digit28: Annotated[
        str | None, Drawing("Your digit", 28, late("lab.lenses.drawing", "examples", (28,)), when=large)
    ] = None
    seed: Annotated[int, Number("Seed", 0, 9999)] = 0
    t: Annotated[int, Frame("t =", TIMES, seconds=0.5)] = 500

    @property
    def shown(self) -> str:
        """The layer whose maps are kept."""
        return self.layer if self.view == MAPS else "first"

    @property
    def without(self) -> tuple[str, ...]:
        """The skips that are set to zero."""
        return JOINS if self.off == "all" else (self.off,)

    @property
    def zeroed(self) -> tuple[str, ...]:
        """The skips of the U that are set to zero, by their numbers."""
        return tuple(number for join, number in NUMBERS.items() if self.zero in (join, "all"))

    @property
    def ink(self) -> str | None:
        """The reader's digit."""
        return self.digit28 if large(self) else self.digit


ROOM = Room(
    title="Inside the U-Net",
    idea="One network denoises at every noise level: its feature maps, skip connections and attention.",
    place=90,
    minutes=6,
    words="U-Net; skip connections; time embedding; UNet; feature maps; receptive field",
    references=(
        "Ronneberger, Fischer, Brox 2015, arXiv:1505.04597; [UDL] §11.5.3 (U-Net)",
        "Ho, Jain, Abbeel 2020, arXiv:2006.11239 (with time and attention)",
        "Luo et al. 2016, arXiv:1701.04128 (the effective receptive field)",
        "Beyond the texts, which only name this family: title of [BB]; [GM] §3.12; [UDL] §14.3, fig. 14.3",
    ),
    lenses=(
        "attention",
        "receptive_field",
    ),
    machine="diffusion",
    state=State,
    scenes={
        "The U": Scene(
            "Down the left arm the grid is halved, up the right it is doubled; skips carry detail across.",
            State(view=U, model=MNIST, t=500),
        ),
        "All skips off": Scene(
            "With all skips at zero only the 7×7 bottleneck feeds the way up: x̂₀ is far worse.",
            State(view=U, model=MNIST, zero="all", t=500),
        ),
        "Feature maps": Scene(
            "Play: sixteen feature maps of the first block, from the clean digit at t = 1 to pure noise.",
            State(),
        ),
        "Bottleneck": Scene(
            "At the bottleneck of the U-Net 64 feature maps of 4×4 are left.", State(layer="middle 1")
        ),
        "First skip off": Scene(
            "Without the first skip connection the prediction x̂₀ is far worse at t = 700.",
            State(view=SKIPS, off="first", t=700),
        ),
        "Skip at t = 100": Scene(
            "At t = 100 removing the same skip connection hardly changes the prediction.",
            State(view=SKIPS, off="first", t=100),
        ),
        "Self-attention": Scene(
            "The framed place of the 4×4 grid attends to all sixteen; each head has weights of its own.",
            State(view=ATTENTION, t=500),
        ),
        "Narrow field": Scene(
            "Under little noise a pixel of the prediction depends mainly on its nearest neighbours.",
            State(view=READS, t=1),
        ),
        "Wide field": Scene(
            "Under heavy noise the same pixel of the prediction depends on the whole picture.",
            State(view=READS, t=900),
        ),
    },
    was={
        1: "Feature maps",
        2: "Bottleneck",
        3: "First skip off",
        4: "Skip at t = 100",
        5: "All skips off",
        6: "Self-attention",
        7: "Narrow field",
        8: "Wide field",
        "Receptive field": "Narrow field",
        "Wide receptive field": "Wide field",
        "The middle": "Bottleneck",
        "Little noise": "Skip at t = 100",
        "Attention": "Self-attention",
        "Late: local": "Narrow field",
        "Early: global": "Wide field",
    },
)
