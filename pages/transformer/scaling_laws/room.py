"""Scaling laws: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Number, Room, Scene, Text, late

VIEWS = ISO, RATIO, POWER, JOINT, FIT, OURS = (
    "isoFLOP", "Tokens per parameter", "Power laws", "N and D", "A fit", "Our runs",
)  # fmt: skip
PRINTED, UNROUNDED, REFIT, OWN = "as printed", "not rounded", "refit 2024", "own"
LAWS = {"N": "size N", "D": "data D", "C": "compute C"}
BUDGETS = (1e19, 1e20, 1e21, 1e22, 1e23, 3.15e23, 5.88e23, 1e24, 1e25, 1e26)
TOKENS = tuple(float(f"{m}e{e}") for e in range(8, 13) for m in (1, 3))
SERVED = {"none": 0.0, "10¹²": 1e12, "10¹³": 1e13, "10¹⁴": 1e14}
NOISES = (0.0, 0.5, 1.0, 2.0)
FREE, NO_FLOOR = "E + A/N^α + B/D^β", "A/N^α + B/D^β"


def shows(*views: str) -> Any:
    return lambda state: state.view in views


OWN_LAW = "own"  # beside the presets


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", late("own_runs", "views"), as_list=True)] = ISO
    preset: Annotated[
        str, Choice("Constants", (PRINTED, UNROUNDED, REFIT, OWN), as_list=True, when=shows(ISO, RATIO))
    ] = PRINTED
    own: Annotated[
        str,
        Text("E, A, B, α, β", 80, reads=late("lens", "law_of"), when=lambda s: s.preset == OWN),
    ] = "1.8, 480, 2000, 0.35, 0.36"
    model: Annotated[
        str, Text("Own model: N, D", 40, reads=late("lens", "model_of"), when=shows(ISO, RATIO))
    ] = "8e9, 15e12"
    served: Annotated[str, Choice("Tokens to serve", tuple(SERVED), when=shows(ISO))] = "none"
    law: Annotated[str, Choice("Law of", tuple(LAWS), label_of=LAWS.__getitem__, when=shows(POWER))] = "N"
    form: Annotated[str, Choice("Law", (FREE, NO_FLOOR), as_list=True, when=shows(FIT))] = FREE
    noise: Annotated[
        float, Choice("Noise of the loss, %", NOISES, label_of="{:g}".format, when=shows(FIT))
    ] = 1.0
    without: Annotated[int, Choice("Largest sizes left out", (1, 2, 3), when=shows(FIT, OURS))] = 2
    seed: Annotated[int, Number("Seed", 0, 19, when=shows(FIT))] = 0
    budget: Annotated[float, Frame("C =", BUDGETS, seconds=0.6, when=shows(ISO, RATIO))] = 5.88e23
    tokens: Annotated[float, Frame("D =", TOKENS, seconds=0.6, when=shows(JOINT))] = 1e10


ROOM = Room(
    title="Scaling laws and isoFLOP",
    idea="A budget of compute has one best split between size and data, if the law holds.",
    place=150,
    minutes=12,
    words="scaling laws; Kaplan; Chinchilla; compute-optimal; isoFLOP; power law; irreducible loss; "
    "tokens per parameter; 20:1; extrapolation; inference-aware; over-training; Huber loss; bootstrap",
    references=(
        "Kaplan et al. 2020, arXiv:2001.08361",
        "Hoffmann et al. 2022, arXiv:2203.15556 (constants as printed and not rounded)",
        "Besiroglu et al. 2024, arXiv:2404.10102 (the refit)",
        "Sardana et al. 2024, arXiv:2401.00448 (what serving changes)",
        "[LLM] 1.32-1.35 (prints 8,000 for 9,139; 10 days for 11.4; C^0.50 for C^0.45; one budget for "
        "Gopher and Chinchilla, whose budgets differ by 17 %)",
    ),
    state=State,
    symbols={
        "L": "loss in nats per token", "N": "parameters without embeddings", "D": "tokens of training",
        "C": "compute of training in FLOPs", "R^2": "share of the variance that the line explains",
        "E": "loss that no model goes below, by this fit",
        "A": "height of the term of the size", "B": "height of the term of the data",
        r"\alpha": "exponent of the size", r"\beta": "exponent of the data",
        "N^*": "best size of the budget", "D^*": "best number of tokens of the budget",
        r"\alpha_N": "exponent of the size", r"\alpha_D": "exponent of the data",
        r"\alpha_C": "exponent of the compute that is well spent",
        "N_c": "size at which the law of the size gives a loss of 1",
        "D_c": "tokens at which the law of the data gives a loss of 1",
        "C_c": "compute at which the law gives a loss of 1",
        r"\hat{E}": "E of the fit", r"\hat{L}": "loss of the largest run by the fit",
    },
    scenes={
        "U-shaped curves": Scene(
            "At one budget a small model sees more tokens: each isoFLOP curve has one minimum, in orange.",
            State(),
        ),
        "Twenty to one": Scene(
            "At Chinchilla's budget three fits of one law ask for 93, 59 and 18 tokens per parameter.",
            State(view=RATIO),
        ),
        "Refit": Scene(
            "The refit of 2024 puts the minimum beside Chinchilla: 73 B parameters, 18 tokens for each.",
            State(preset=REFIT),
        ),
        "Serving": Scene(
            "With 10¹³ tokens to serve, a smaller model, trained past its optimum, is the cheaper one.",
            State(served="10¹³"),
        ),
        "Halve the loss": Scene(
            "The line is straight on log-log axes, and flat: half the loss takes 9,139 times the parameters.",
            State(view=POWER),
        ),
        "Ten times larger": Scene(
            "At equal loss a tenfold model needs 9.9 times fewer tokens here, 1.9 or 90 at other D.",
            State(view=JOINT),
        ),
        "An interval that misses": Scene(
            "With 1 % noise, this fit's bootstrap interval for E misses the true 1.69: count over seeds.",
            State(view=FIT),
        ),
        "Without E": Scene(
            "Without E the curves cannot flatten: the law promises far less loss than the large models have.",
            State(view=FIT, form=NO_FLOOR),
        ),
        "Our own runs": Scene(
            "Six sizes that we trained lie on a line; two larger ones come out below what it predicts.",
            State(view=OURS),
        ),
    },
)  # fmt: skip
