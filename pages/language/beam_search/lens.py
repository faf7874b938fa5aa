"""A model typed by the reader, and the way in the tree of a beam to its best text.

`T` tokens, `V` vocabulary, `N` nodes.

Reference: [UDL] §12.7.3.
"""

import re

import torch
from torch import Tensor

from datamodules import cells
from lab.errors import UserError
from lab.lenses.beam_tree import Tree, spread
from modules.base import NextToken
from modules.language.table import TableLM

TOKENS = "abcd"  # of a typed table


def read(text: str) -> tuple[list[tuple[str, list[str]]], str]:
    """The lines of a typed table, each with the words behind its colon, and what was decided about commas."""
    lines = [line for line in map(str.strip, text.lower().splitlines()) if line]
    behind = [line.partition(":")[2].strip() or "?" for line in lines]
    words, texts = cells.rows("\n".join(part.replace(";", " ") for part in behind))
    return list(zip(lines, words, strict=True)), texts


def commas(text: str) -> str:
    return read(text)[1]


def table(text: str, length: int) -> tuple[TableLM, list[str], int | None]:
    """A toy model from lines `prefix: p p …`, the empty prefix first; prefixes left out are uniform.

    A line "ends: a" says that token a ends a text.

    Returns: the model of texts up to `length`, its tokens, and the number of the token that ends.

    Raises:
        UserError: a line that cannot be read, a row that is no distribution; one sentence each.
    """
    rows: dict[tuple[int, ...], list[float]] = {}
    lines, eos = read(text)[0], None
    for line, words in lines:
        if ending := re.fullmatch(r"ends?\s*:\s*([a-d])", line):
            eos = TOKENS.index(ending[1])
            continue
        prefix, colon, _ = line.partition(":")
        prefix = prefix.strip()
        try:
            row = [float(v) for v in words]
        except ValueError:
            row = []
        if not colon or not row or any(c not in TOKENS for c in prefix):
            raise UserError(
                f"I cannot read {line!r}: write a prefix, a colon and probabilities, as in 'ab: .5 .5'."
            )
        if abs(sum(row) - 1) > 0.005 or min(row) < 0:
            raise UserError(
                f"The probabilities after {prefix or 'the start'!r} sum to {sum(row):g}: make it 1."
            )
        rows[tuple(TOKENS.index(c) for c in prefix)] = [p / sum(row) for p in row]
    sizes = {len(row) for row in rows.values()}
    if len(sizes) != 1 or not 2 <= max(sizes) <= len(TOKENS):
        raise UserError("Give every prefix the same number of probabilities, 2 to 4: one for a, one for b, …")
    V = sizes.pop()
    if () not in rows or any(i >= V for prefix in rows for i in prefix):
        raise UserError(
            f"Begin with ': ' and {V} probabilities; prefixes are made of {', '.join(TOKENS[:V])}."
        )
    rows = {prefix: row for prefix, row in rows.items() if len(prefix) < length}
    return TableLM.from_rows(V, length, rows), list(TOKENS[:V]), eos if eos is None or eos < V else None


def start() -> Tensor:
    """The empty beginning, (0,)."""
    return torch.zeros(0, dtype=torch.int64)


def lead(result: Tree, model: NextToken, text: tuple[int, ...]) -> None:
    """Grow what is missing on the way to a text: nodes that the search has not seen, behind the last that it
    has."""
    results = max((n for n, t in enumerate(result.text) if t == text[: len(t)]), key=result.depth.__getitem__)
    for t in range(result.depth[results], len(text)):
        row = model.next_log_probs(torch.tensor(text[:t], dtype=torch.int64)[None])[0]
        result.depth.append(t + 1)
        result.place.append(0.0)
        result.parent.append(results if t == result.depth[results] else len(result.parent) - 1)
        result.tokens.append(text[t])
        result.text.append(text[: t + 1])
        result.log_prob.append(result.log_prob[result.parent[-1]] + float(row[text[t]]))
        result.state.append("unseen")
        result.group.append(result.group[results])
    spread(result)
