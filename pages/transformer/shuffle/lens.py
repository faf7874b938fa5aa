"""Lens of the page: a stack of blocks on words in one order and in another, swap by swap.

Shapes: `T` tokens, `C` channels, `F` frames: the orders after each swap of neighbours.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from lab.seeding import seeded
from modules.transformer.attention import Attention
from modules.transformer.recorder import record_attention
from modules.transformer.stack import Positions, Stack
from pages.transformer.shuffle.room import KEYS, NONE, SELF

WIDTH, HEADS, LEAST, MOST = 8, 2, 3, 10


def read_words(text: str) -> list[str]:
    """Words of a text.

    Raises:
        UserError: too few, or too many.
    """
    words = text.split()
    if not LEAST <= len(words) <= MOST:
        raise UserError(f"There are {len(words)} words: give {LEAST} to {MOST}.")
    return words


def read_order(text: str) -> list[int]:
    """Rows of the new sequence, counted from 0.

    Raises:
        UserError: not each of 1 … T once.
    """
    try:
        order = [int(part) - 1 for part in text.replace(",", " ").split()]
    except ValueError:
        raise UserError(f"{text!r} is no order: give whole numbers such as 2 1 3.") from None
    if sorted(order) != list(range(len(order))) or not order:
        raise UserError(f"{text!r} is no order: each number from 1 on must be there once.")
    return order


@dataclass(frozen=True)
class Shuffled:
    """Outputs after each swap.

    Attributes:
        words: T. orders: (F, T), which token stands in each row, from 0; the first is as it was typed.
        outputs: (F, T, C), f(PX): rows in the new order. Of keys: (F, T, T), the weights of all queries.
        change: (F, T, C), P⁻¹f(PX) − f(X): rows in the first order. Of keys: f of moved keys − f.
        most: (F,), the largest change.
    """

    words: list[str]
    orders: Tensor
    outputs: Tensor
    change: Tensor
    most: Tensor


def swaps(order: list[int]) -> list[list[int]]:
    """Orders from 0 … T − 1 to this one, each a swap of neighbours away from the one before."""
    now, results = list(range(len(order))), [list(range(len(order)))]
    for row, token in enumerate(order):
        for place in range(now.index(token), row, -1):
            now[place - 1], now[place] = now[place], now[place - 1]
            results.append(list(now))
    return results


def embedded(words: list[str], seed: int) -> Tensor:
    """A vector for each word, drawn once for equal ones: (T, C) float64."""
    table = torch.randn(MOST, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    kinds = list(dict.fromkeys(words))
    return table[[kinds.index(word) for word in words]]


@torch.no_grad()
def stack_of(scheme: Positions, layers: int, seed: int) -> Stack:
    """Stack with weights drawn by the seed, positions and biases too, in float64."""
    stack = seeded(lambda: Stack(layers, HEADS, WIDTH, MOST, scheme), seed).double().eval()
    generator = torch.Generator().manual_seed(seed)
    for p in stack.parameters():  # matrices anew, gains and biases beside 1 and 0
        noise = torch.randn(p.shape, generator=generator, dtype=p.dtype)
        p.copy_(0.5 * noise if p.ndim > 1 else p + 0.1 * noise)
    return stack


@torch.no_grad()
def shuffled(
    view: str, text: list[str], order: list[int], scheme: Positions, causal: bool, layers: int, seed: int
) -> Shuffled:
    """The test on these words.

    Raises:
        UserError: the order is of another number of words.
    """
    if len(order) != len(text):
        raise UserError(f"The new order has {len(order)} numbers for {len(text)} words: give one for each.")
    orders = torch.tensor(swaps(order))  # (F, T)
    x = embedded(text, seed)  # (T, C)
    moved = x[orders]  # (F, T, C)
    if view == KEYS:
        attention = seeded(lambda: Attention(WIDTH, HEADS), seed).double().eval()
        queries = x.expand(len(orders), -1, -1)
        with record_attention() as seen:
            y = attention(queries, moved)  # (F, T, C)
        (call,) = seen.calls[attention]
        change = y - y[:1]
        return Shuffled(text, orders, call.weights[:, 0], change, change.abs().amax((1, 2)))
    y = stack_of(scheme, layers, seed)(moved, causal)  # (F, T, C)
    back = y.gather(1, orders.argsort(1)[..., None].expand_as(y))  # rows as they were typed
    change = back - back[:1]
    return Shuffled(text, orders, y, change, change.abs().amax((1, 2)))


def named(one: Shuffled) -> list[list[str]]:
    """Words in the order of each frame."""
    return [[one.words[i] for i in row] for row in one.orders.tolist()]


def captions(one: Shuffled, view: str, scheme: str, causal: bool) -> list[str]:
    """A sentence for each frame."""
    results = []
    for k, most in enumerate(one.most.tolist()):
        start = f"After {k} swap{'s' * (k != 1)}: "
        if most < 1e-9:
            same = "the outputs are the same" if view == KEYS else "rows have only moved"
            results.append(f"{start}{same}.")
        else:
            why = " and ".join(["a causal mask"] * causal + ["positions"] * (scheme != NONE))
            results.append(f"{start}with {why} the model tells the orders apart.")
    return results


def equations(one: Shuffled, view: str) -> list[str]:
    """The largest change of each frame."""
    inner = r"f(PX) - P f(X)" if view == SELF else r"f(Q, PK, PV) - f(Q, K, V)"
    return [
        rf"\max \left| {inner} \right| = {0.0 if most < 1e-9 else most:.3f}" for most in one.most.tolist()
    ]
