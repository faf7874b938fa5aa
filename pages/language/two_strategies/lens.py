"""Effects of a strategy on a text: repetition, entropy, surprisal.

`T` tokens, `V` vocabulary.

Reference: Holtzman et al. 2019, arXiv:1904.09751.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.tokenizer import Tokenizer
from lab.errors import UserError
from lab.lenses.strategies import GRAM
from modules.base import NextToken
from modules.language import decoding
from modules.language.beam import beam_search
from modules.language.truncation import SamplingParams

# Strategies by name: parameters of `decoding.sample`, or the width of a beam.
STRATEGIES: dict[str, SamplingParams | int] = {
    "greedy": SamplingParams(0.0),
    "beam of 4": 4,
    "ancestral": SamplingParams(),
    "temperature 0.5": SamplingParams(0.5),
    "temperature 1.5": SamplingParams(1.5),
    "top-k 10": SamplingParams(top_k=10),
    "nucleus 0.9": SamplingParams(top_p=0.9),
    "min-p 0.1": SamplingParams(min_p=0.1),
}


@dataclass(frozen=True)
class Result:
    """A continuation and its measures.

    Attributes:
        tokens: (T,), the continuation alone.
        nats: (T,), −log P of each under the unfiltered model. entropy: (T,), of what it was drawn among.
        repeated: (T,) bool, part of a sequence of 8 tokens that has come before.
        distinct: share of different sequences of 8 tokens.
        state: of the generator of the draws behind them, so that a longer text can go on; None of a beam.
    """

    tokens: Tensor
    nats: Tensor
    entropy: Tensor
    repeated: Tensor
    distinct: float
    state: Tensor | None = None


def grows(strategy: str) -> bool:
    """Check whether a longer text begins with the shorter one of the same seed: a beam's need not."""
    return isinstance(STRATEGIES[strategy], SamplingParams)


def run(
    model: NextToken, prompt: Tensor, strategy: str, length: int, seed: int = 0, before: Result | None = None
) -> Result:
    """Continue `prompt` (T,) by one of STRATEGIES.

    Args:
        before: a shorter result with the same arguments, of a strategy that `grows`: it is written on.

    Raises:
        UserError: the model has no distribution after some context.
    """
    params = STRATEGIES[strategy]
    try:
        if isinstance(params, int):
            best = beam_search(model, prompt, length, params)[0]
            return measured(model, prompt, torch.tensor(best.tokens))
        generator = torch.Generator().manual_seed(seed)
        empty = torch.zeros(0)
        tokens, nats, entropy = prompt[:0], empty, empty
        if before is not None and before.state is not None:
            generator.set_state(before.state)
            tokens, nats, entropy = before.tokens, before.nats, before.entropy
        text = torch.cat([prompt, tokens])[None]
        steps = [*decoding.stream(model, text, length - len(tokens), params, generator=generator)]
    except ValueError as error:
        raise UserError(str(error)) from None
    log_p, drawn = (torch.cat(each) for each in zip(*steps, strict=True))  # (T, V), (T,)
    tokens = torch.cat([tokens, drawn])
    nats = torch.cat([nats, -log_p.gather(1, drawn[:, None])[:, 0].float()])
    entropy = torch.cat([entropy, torch.special.entr(log_p.exp()).sum(1).float()])
    distinct = decoding.distinct(tokens, GRAM)
    return Result(tokens, nats, entropy, repeats(tokens), distinct, generator.get_state())


@torch.no_grad()
def measured(model: NextToken, prompt: Tensor, tokens: Tensor) -> Result:
    """The measures of a given continuation (T,)."""
    nats, entropy = [], []
    decoder = decoding.incremental(model)
    log_p, state = decoder.start(prompt[None])
    for t, token in enumerate(tokens, start=1):
        nats.append(float(-log_p[0, token]))
        entropy.append(float(torch.special.entr(log_p[0].exp()).sum()))
        if t < len(tokens):
            log_p, state = decoder.step(state, token[None])
    return Result(
        tokens, torch.tensor(nats), torch.tensor(entropy), repeats(tokens), decoding.distinct(tokens, GRAM)
    )


def repeats(tokens: Tensor, n: int = GRAM) -> Tensor:
    """Mark the tokens that lie in a sequence of n that has come before: (T,) -> (T,) bool."""
    marked, result = torch.zeros(len(tokens), dtype=torch.bool), set()
    for t in range(len(tokens) - n + 1):
        gram = tuple(tokens[t : t + n].tolist())
        if gram in result:
            marked[t : t + n] = True
        result.add(gram)
    return marked


def against(nats: Tensor, human: float) -> str:
    """Say whether a text (T,) surprises the model less or more than text by people does, or it cannot be
    told: within two standard errors of its mean, as if tokens were independent."""
    mean, error = float(nats.mean()), float(nats.std() / len(nats) ** 0.5)
    verdict = "less" if mean < human - 2 * error else "more" if mean > human + 2 * error else ""
    numbers = f"{mean:.2f} ± {error:.2f} nats per token against {human:.2f}"
    return (
        f"{verdict} than text by people ({numbers})"
        if verdict
        else f"neither less nor more than text by people, as far as {len(nats)} tokens tell ({numbers})"
    )


def running(values: Tensor) -> Tensor:
    """Mean of the first 1, 2, … T values: (T,) -> (T,)."""
    return values.double().cumsum(0) / torch.arange(1, len(values) + 1)


def most_tokens(coder: Tokenizer) -> int:
    """Number of new tokens that can be shown: about 400 characters, 20 to 200 tokens."""
    each = sum(map(len, coder.tokens)) / len(coder.tokens)
    return max(40, min(200, 20 * int(400 / each / 20)))


def sweep(
    model: NextToken,
    prompt: Tensor,
    temperatures: Sequence[float],
    length: int,
    texts: int = 3,
    seed: int = 0,
) -> Iterator[tuple[float, Mapping[str, list[float]]]]:
    """Repetition, entropy and surprisal of `texts` continuations at each temperature: the share done, and
    what is found so far."""
    results: dict[str, list[float]] = {"distinct": [], "entropy": [], "nats": []}
    for done, temperature in enumerate(temperatures, start=1):
        rows, tokens = [], []
        params, generator = SamplingParams(temperature), torch.Generator().manual_seed(seed)
        for log_p, token in decoding.stream(
            model, prompt.expand(texts, -1), length, params, generator=generator
        ):
            rows.append(log_p)
            tokens.append(token)
        log_p, drawn = torch.stack(rows, 1), torch.stack(tokens, 1)  # (texts, T, V), (texts, T)
        results["distinct"].append(sum(decoding.distinct(row, GRAM) for row in drawn) / texts)
        results["entropy"].append(float(torch.special.entr(log_p.exp()).sum(-1).mean()))
        nats = -log_p.gather(-1, drawn[..., None])
        results["nats"].append(float(nats.mean()))
        yield done / len(temperatures), results
