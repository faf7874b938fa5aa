r"""Glossary of symbols: what the letters of a family's equations stand for, in the specifications' notation.

    symbols(r"\sqrt{\bar\alpha_t}\, x_0", "diffusion", {})
    -> {r"\bar{\alpha}_t": "share of the data's variance left at time t", "x_0": "the data, without noise"}

A symbol is what the glossary names longest: `\bar\alpha_t` before `\bar\alpha` before `\alpha`. Layout,
arithmetic and words in \text are no symbols. A room's own symbols (`Room.symbols`) come before its family's.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

EVERYWHERE = {
    "e": "Euler's number", r"\log": "natural logarithm", r"\exp": "exponential function",
    r"\mathbb{E}": "expectation", r"\mathrm{E}": "expectation", r"\mathrm{Var}": "variance",
    r"\mathrm{sd}": "standard deviation", r"\nabla": "gradient", r"\partial": "partial derivative",
    r"\mathcal{N}": "normal density of this mean and variance", "I": "identity matrix", r"\infty": "infinity",
    r"\varnothing": "no condition", r"\propto": "equal up to a constant factor",
    r"\top": "transpose", r"\mathrm{tr}": "trace", r"\sin": "sine", r"\tanh": "hyperbolic tangent",
    r"\mathrm{FD}": "Fréchet distance of a classifier's features",
}  # fmt: skip

FAMILIES: Mapping[str, Mapping[str, str]] = {
    "transformer": {
        r"\alpha": "attention weight of a query for a key", r"\alpha_j": "attention weight for token j",
        "q": "query of the token that attends", "k": "key of the token attended to", "k_j": "key of token j",
        "v_j": "value of token j", "o": "output of the head: weighted sum of the values",
        "j": "a token attended to", "x": "residual stream of a token", "p": "probabilities of the next token",
        "E": "embedding matrix, also the output layer", "z": "logits of the next token",
        r"\mathrm{softmax}": "exponentials divided by their sum", r"\mathrm{LN}": "layer norm",
        r"\mathrm{MLP}": "what the MLP of the block adds", r"\mathrm{norm}": "Euclidean length",
    },
    "recurrent": {
        "x_t": "input at step t", "x": "the inputs", "t": "step: place in the sequence",
        "h_t": "state after step t", "h": "state", "h_{t-1}": "state before step t",
        r"\overrightarrow{h}": "state of the network that reads from the left",
        r"\overleftarrow{h}": "state of the network that reads from the right",
        r"\mathrm{cell}_t": "memory of the LSTM after step t",
        r"\mathrm{cell}_{t-1}": "memory before step t",
        "f": "forget gate", "i": "input gate", "o": "output gate", "g": "candidate: what may be written",
        "z": "update gate", "r": "reset gate", "n": "candidate: what may be written",
        r"\mathrm{AUC}": "area under the ROC curve",
        "W": "weights of the input", "U": "weights of the state before", "b": "bias",
        r"\sigma": "logistic function, 1 / (1 + exp(−x))", "P": "probability",
    },
    "convolution": {
        "n": "input positions", "n_{out}": "output positions", "p": "zero padding on each side",
        "d": "dilation", "K": "kernel size", "s": "stride", r"\beta": "bias",
        "r": "size of the receptive field", "j": "jump: input positions between neighbouring units",
        "o": "first input position of unit 0's field", "i": "the unit",
    },
    "graph": {
        "S": "weights of the edges", r"\Omega": "weight matrix of the layer", r"\beta": "bias",
        "h": "features of a node in a layer", "h'": "its features after the layer",
        "H": "features of all nodes", "x": "input features of a node", "m": "a node that sends",
        r"\mathrm{ne}": "neighbours of a node", r"\mathrm{ReLU}": "sets negative numbers to 0",
        r"\mathrm{hops}": "edges on the shortest path", r"\lambda": "an eigenvalue of S",
        "P": "projection onto the dominant eigenspace",
    },
    "adversarial": {
        "x": "an example of the data", "x^*": "a generated example", r"\hat{x}": "a generated picture",
        "z": "latent noise", "w": "style code", "y": "class", "g": "generator",
        "f": "logit of the discriminator; a critic's score", "f^*": "logit of the optimal discriminator",
        "D": "discriminator: probability that an example is real",
        "p": "density of the data", "q": "density of the model", r"\theta": "parameters of the generator",
        "L_D": "loss of the discriminator", "L_G": "loss of the generator", "L": "loss",
        r"\mathrm{sp}": "softplus, log(1 + exp)", r"\mathrm{KL}": "Kullback-Leibler divergence",
        r"D_{\mathrm{JS}}": "Jensen-Shannon divergence", "D_{JS}": "Jensen-Shannon divergence",
        "W_1": "Wasserstein-1 distance", "W_2": "Wasserstein-2 distance",
        r"\mathrm{IS}": "inception score", "H": "entropy",
        "n": "how many numbers are averaged",
    },
    "diffusion": {
        "x": "data under noise", "x_0": "the data, without noise",
        "x_t": "the data under the noise of time t",
        r"\epsilon": "noise, drawn from N(0, I)", r"\hat{\epsilon}": "predicted noise",
        r"\hat{x}": "predicted data", r"\hat{x}_0": "predicted data", r"\hat{v}": "predicted velocity",
        r"\tilde{\epsilon}": "noise prediction with guidance", "t": "time",
        r"\alpha": "1 − β", r"\beta": "variance that one step adds",
        r"\bar{\alpha}": "share of the data's variance that is left",
        r"\bar{\alpha}_t": "share of the data's variance left at time t",
        r"\tilde{\beta}": "variance of the posterior of the step before",
        "s": "score: gradient of log density",
        r"\mathrm{SNR}": "signal-to-noise ratio", "q": "density of the noising process", "p": "density",
        "L_T": "KL divergence of the last step from the prior", "L_0": "reconstruction term",
        "L": "KL divergence of one step of the bound", "L_{t-1}": "KL divergence of the step from t to t − 1",
        "v": "velocity", r"\eta": "step size", r"\sigma": "standard deviation of the noise",
        "z": "noise, drawn from N(0, I)", r"\theta": "weights of the network",
        r"\bar{\theta}": "moving average of the weights", "y": "class",
    },
}  # fmt: skip

# What differs between the frames of a film: the words are those of the same equation with an 8.
LONG = re.compile(r"\d*\.\d+|\d\d+")
TOKEN = re.compile(r"\\text\{[^{}]*\}|\\(?:begin|end)\{[^{}]*\}|\\[A-Za-z]+|\\.|\S", re.DOTALL)
# Layout and arithmetic, which stand for no quantity.
LAYOUT = frozenset(
    TOKEN.findall(
        r"""\frac \tfrac \dfrac \sqrt \sum \prod \int \max \min \left \right \big \Big \bigg \Bigg \quad
        \qquad \, \; \! \: \cdot \cdots \dots \ldots \times \pm \le \ge \ne \neq \approx \to \mid \in \cup
        \subseteq \leftarrow \lfloor \rfloor \lceil \rceil \lVert \rVert \| \{ \} \\ \% \underbrace \overline
        \textstyle
        \displaystyle \hat \bar \dot \tilde \Rightarrow \overrightarrow \overleftarrow \mathrm \mathbb
        \mathcal \operatorname"""
    )
) | {"\\ "}
MARKS = frozenset(
    {r"\hat", r"\bar", r"\tilde", r"\mathrm", r"\mathbb", r"\mathcal", r"\overline", "_", "^"}
    | {r"\overrightarrow", r"\overleftarrow"}
)


def shortened(tex: str) -> str:
    """An equation with its longer numbers as 8, which is alike for all frames of most films."""
    return LONG.sub("8", tex.strip())


def tokens(tex: str) -> list[str]:
    r"""Commands and characters, a single one behind a mark in braces: `\hat x_t` as `\hat{x}_{t}`."""
    raw, out = TOKEN.findall(tex.replace(r"\mathrm{arg\,max}", r"\max")), []
    for i, token in enumerate(raw):
        behind = i > 0 and raw[i - 1] in MARKS and token not in {"{", *MARKS}
        out += ["{", token, "}"] if behind else [token]
    return out


Table = Sequence[tuple[tuple[str, ...], str, str]]


@lru_cache
def table(family: str, own: tuple[tuple[str, str], ...] = ()) -> Table:
    """Tokens, symbol and words of what a room names, its own before its family's; the longest first."""
    named = {
        tuple(tokens(s)): (s, words)
        for s, words in (*EVERYWHERE.items(), *FAMILIES.get(family, {}).items(), *own)
    }
    return sorted(((key, s, words) for key, (s, words) in named.items()), key=lambda row: -len(row[0]))


@lru_cache(maxsize=4096)
def found(
    tex: str, family: str, own: tuple[tuple[str, str], ...] = ()
) -> tuple[Mapping[str, str], Sequence[str]]:
    """The symbols of an equation with their words, and those that have none."""
    row, known, strange, i = tokens(tex), {}, [], 0
    while i < len(row):
        match = next((e for e in table(family, own) if tuple(row[i : i + len(e[0])]) == e[0]), None)
        if match is not None:
            known[match[1]] = match[2]
            i += len(match[0])
            continue
        if row[i] == r"\mathrm" and row[i + 1 : i + 2] == ["{"]:
            end = row.index("}", i)
            strange.append(r"\mathrm{" + "".join(row[i + 2 : end]) + "}")
            i = end
        elif row[i] not in LAYOUT and re.fullmatch(r"\\[A-Za-z]+|[^\W\d_]", row[i]):
            strange.append(row[i])
        i += 1
    return known, list(dict.fromkeys(strange))


def symbols(tex: str, family: str, own: Mapping[str, str]) -> Mapping[str, str]:
    """Symbol -> words, in the order in which they stand, without those that have none; nothing of a family
    without a glossary."""
    return found(shortened(tex), family, tuple(own.items()))[0] if family in FAMILIES else {}
