"""Cost calculator and KV cache: what the room is, what its controls hold, its scenes."""

from dataclasses import dataclass
from typing import Annotated, Any

from lab.room import Choice, Frame, Room, Scene, Slider

VIEWS = CACHE, CALCULATOR = "KV cache", "Calculator"
CHARTS = OPERATIONS, MEMORY, NEXT, PARTS, TRAINING = (
    "operations", "memory", "next token", "parameters", "training",
)  # fmt: skip
OWN = "own sizes"
MODELS = ("Small GPT", "GPT-2 small", "BERT-large", "LLaMA-65B", "GPT-3", OWN)
LENGTHS = tuple(2**n for n in range(4, 21))
SHARED = ALL, QUARTER, ONE = "H", "H/4", "1"
PRECISIONS = ("float32", "float16", "int8")


def cache(state: Any) -> bool:
    return bool(state.view == CACHE)


def calculator(state: Any) -> bool:
    return bool(state.view == CALCULATOR)


def own(state: Any) -> bool:
    return calculator(state) and bool(state.model == OWN)


def over_length(state: Any) -> bool:
    return calculator(state) and state.chart in (OPERATIONS, MEMORY, NEXT)


def in_bytes(state: Any) -> bool:
    return calculator(state) and bool(state.chart == MEMORY)


def training(state: Any) -> bool:
    return calculator(state) and bool(state.chart == TRAINING)


@dataclass(frozen=True, kw_only=True)
class State:
    view: Annotated[str, Choice("View", VIEWS)] = CACHE
    length: Annotated[int, Slider("Tokens to read", 2, 24, when=cache)] = 16
    context: Annotated[int, Slider("Context of the model", 2, 24, when=cache)] = 16
    keep: Annotated[
        int, Slider("Tokens kept when it is full", 1, 24, when=cache, help="At most the context.")
    ] = 8
    chart: Annotated[str, Choice("Count", CHARTS, when=calculator)] = OPERATIONS
    model: Annotated[str, Choice("Model", MODELS, when=calculator)] = "GPT-3"
    layers: Annotated[int, Slider("Layers L", 1, 128, when=own)] = 12
    heads: Annotated[int, Choice("Heads H", (4, 8, 16, 32, 64), when=own)] = 8
    width: Annotated[int, Choice("Width d", (64, 256, 512, 1024, 4096, 8192), when=own)] = 512
    tokens: Annotated[int, Choice("Tokens in view T", LENGTHS, when=over_length, as_list=True)] = 2048
    kv: Annotated[str, Choice("Heads of keys and values", SHARED, when=calculator)] = ALL
    precision: Annotated[str, Choice("Numbers are", PRECISIONS, when=in_bytes)] = "float16"
    data: Annotated[int, Slider("Training tokens D, billions", 10, 3500, step=10, when=training)] = 300
    used: Annotated[int, Slider("Share of the peak that is used, %", 5, 100, step=5, when=training)] = 40
    step: Annotated[int | None, Frame("Token", seconds=0.6, when=cache)] = None


ROOM = Room(
    title="Cost calculator and KV cache",
    idea="Weights cost the same at every length, attention grows with it, and a cache spares the past.",
    place=145,
    minutes=8,
    words="KV cache; key-value cache; FLOPs; compute; memory; complexity; quadratic; 6ND; parameters; GPT-3; "
    "BERT; LLaMA; multi-query; grouped-query; context limit; inference cost",
    references=(
        "Kaplan et al. 2020, Scaling laws for neural language models, arXiv:2001.08361, table 1",
        "Shazeer 2019, Fast transformer decoding, arXiv:1911.02150",
        "[UDL] §12.7, 12.9; [LLM] part 4 (says O(T²d) without a cache, which is O(T³d)), part 5 (says 2N "
        "multiply-adds a token, which are 2N FLOPs)",
    ),
    state=State,
    symbols={
        "t": "tokens read so far", "T": "tokens in view", "L": "layers", "d": "width", "V": "vocabulary",
        "N": "parameters", "D": "tokens of training", "C": "FLOPs of training", "d_k": "width of a head",
        "d_{kv}": "width of the keys of a token", "H": "heads", r"d_{\mathrm{ff}}": "feed-forward width",
    },
    scenes={
        "With and without a cache": Scene(
            "Violet is computed for token 9: one row of scores with a KV cache, all rows without one.",
            State(step=9),
        ),
        "The last token": Scene(
            "At token 16 the sums below are 136 and 816 scores: t²/2 against t³/6.", State(step=16)
        ),
        "Past the context": Scene(
            "Token 9 does not fit into 8: the window restarts at its newest 4, four rows are computed again.",
            State(context=8, keep=4, step=9),
        ),
        "Sliding by one": Scene(
            "With all 8 kept, each token past the context costs a full pass: the cache saves nothing there.",
            State(context=8, keep=8, step=12),
        ),
        "Operations of GPT-3": Scene(
            "At T = 2,048 scores and values are 2.8 % of the weights' FLOPs; the lines cross at 6d = 73,728.",
            State(view=CALCULATOR),
        ),
        "Cache in bytes": Scene(
            "The KV cache grows with T: at 131,072 tokens one text takes more memory than GPT-3's weights.",
            State(view=CALCULATOR, chart=MEMORY, tokens=131_072),
        ),
        "Shared keys": Scene(
            "A quarter of LLaMA's key and value heads: the cache is a quarter of the line of all heads.",
            State(view=CALCULATOR, chart=MEMORY, model="LLaMA-65B", kv=QUARTER, tokens=131_072),
        ),
        "Linear attention": Scene(
            "The next token costs softmax 2T d_k, linear attention 2d_k²: they cross at T = d_k = 128.",
            State(view=CALCULATOR, chart=NEXT, tokens=1024),
        ),
        "6ND": Scene(
            "GPT-3 on 300 billion tokens: 3.1 · 10²³ FLOPs, beside Gopher and Chinchilla at 5.0 and 5.9.",
            State(view=CALCULATOR, chart=TRAINING),
        ),
    },
)  # fmt: skip
