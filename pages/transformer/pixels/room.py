"""ImageGPT: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Drawing, Frame, Model, Number, Room, Scene, Slider, late

VIEWS = PIXELS, COMPLETIONS, POSITIONS, PROBE = (
    "Pixel by pixel", "Completions", "Positions", "Probe by layer",
)  # fmt: skip


def draws(state: Any) -> bool:
    return state.view in (PIXELS, COMPLETIONS)


@dataclass(frozen=True, kw_only=True)
class State:
    model: Annotated[
        str, Model("Model", family="transformer", only=late("lens", "fits"), first=("imagegpt-digits",),
                   as_list=True)
    ] = "imagegpt-digits"  # fmt: skip
    view: Annotated[str, Choice("View", late("lens", "views"), as_list=True)] = PIXELS
    rows: Annotated[
        int,
        Slider("Rows given", 0, late("lens", "last_row"), when=draws, help="Of your picture, from the top."),
    ] = 4
    t: Annotated[float, Slider("Temperature", 0.0, 2.0, step=0.1, when=draws)] = 1.0
    seed: Annotated[int, Number("Seed", 0, 9999, when=draws)] = 0
    head: Annotated[
        str, Choice("Layer.head", late("lens", "heads"), as_list=True, when=lambda now: now.view == PIXELS)
    ] = "1.2"
    digit: Annotated[
        str | None,
        Drawing("Draw a digit, or pick one", late("lens", "side"), late("lens", "examples"), when=draws),
    ] = None
    pixel: Annotated[
        int | None, Frame("Pixel", seconds=0.15, when=lambda now: now.view in (PIXELS, POSITIONS))
    ] = None


ROOM = Room(
    title="ImageGPT",
    idea="A GPT reads pixels in raster order; that they lie in a plane it has to learn.",
    place=92,
    minutes=7,
    words="image GPT; iGPT; generative pretraining from pixels; autoregressive image model; image "
    "completion; raster order; position embedding; linear probe; temperature",
    references=(
        "Chen et al. 2020, Generative pretraining from pixels",
        "[UDL] 12.10.1, figure 12.16: one story of two models; 6.8 billion parameters are those for 64×64",
    ),
    machine="transformer",
    state=State,
    symbols={
        "p": "probability", r"\Pr": "probability", "x_t": "level of pixel t",
        "x_{<t}": "pixels before t, in raster order",
        r"\cos": "cosine: 1 for parallel vectors", "p_i": "position embedding of pixel i, mean subtracted",
        "p_j": "that of pixel j", "y": "class", "W": "weights of the probe", "b": "its biases",
        "z_t": "embedding of pixel t after this layer", "n": "pixels", "t": "pixel",
    },
    scenes={
        "Lower half": Scene(
            "Half of a 5 is given; the conditional of the framed pixel is nearly flat: any level may follow.",
            State(pixel=11),
        ),
        "Pixel above": Scene(
            "Head 1.2 attends to the pixel above the one that comes next: nobody told it of rows.",
            State(pixel=27, rows=3),
        ),
        "From nothing": Scene(
            "No row is given: the first pixel has its empirical distribution, the rest follow row by row.",
            State(rows=0, seed=2, pixel=36),
        ),
        "Several ends": Scene(
            "One upper half, several lower ones, each a draw: a 5 may end as a 3 or a 9.",
            State(view=COMPLETIONS),
        ),
        "Greedy": Scene(
            "Temperature 0 takes the likeliest level of each pixel: all completions are the same.",
            State(view=COMPLETIONS, t=0.0),
        ),
        "Two rows": Scene(
            "Two rows tell little: the completions are digits of several classes.",
            State(view=COMPLETIONS, rows=2),
        ),
        "Neighbours": Scene(
            "Positions above and below are most similar, then those left and right: a learned plane.",
            State(view=POSITIONS, pixel=36),
        ),
        "Probe": Scene(
            "Every layer classifies far better than the input embedding, none as well as the raw pixels.",
            State(view=PROBE),
        ),
    },
)  # fmt: skip
