"""Say in words and equations what the page shows."""

from collections.abc import Mapping
from typing import Any

from lab.lenses import attention
from lab.lenses.translations import END
from pages.transformer.translator.lens import Look, Search
from pages.transformer.translator.room import CROSS, DECODER, ENCODER
from pages.transformer.translator.work import Aligned, Work


def quoted(name: str) -> str:
    return "the end" if name == END else f"“{name}”"


def captions(found: Search, seen: Look, maps: str, layer: int, head: int, cached: Work) -> list[str]:
    """Each row: what is written, where the head looks, what was computed for it."""
    weights, rows = seen.maps.weights[layer, head], []
    for t, (name, j) in enumerate(zip(seen.rows, weights.argmax(1).tolist(), strict=True)):
        looks = f"head {layer + 1}.{head + 1} attends most to {quoted(seen.columns[j])} ({j + 1})"
        if maps == ENCODER:
            rows.append(f"{quoted(name)} ({t + 1}): {looks}; all {len(seen.rows)} rows are computed at once.")
            continue
        how = " is forced" if t < len(found.prefix) else ""
        rows.append(
            f"Step {t + 1}: {quoted(name)}{how}, p = {float(found.log_p[t].exp()):.3f}; {looks}. Computed: "
            f"encoder {cached.encoded[t]} tokens, decoder {cached.decoded[t]}."
        )
    return rows


def equations(seen: Look, layer: int, head: int, kept: tuple[int, int] | None) -> list[str]:
    return attention.equations(
        seen.maps, layer, head, seen.rows, kept, columns=seen.columns
    ).latex  # the softmax of each row


def numbers(found: Search, seen: Look, maps: str, cached: Work) -> list[Mapping[str, str]]:
    """What the machine says of each row: weights computed at this step, and p of the token."""
    if maps == ENCODER:
        return [{"attention": f"{cached.cells[ENCODER][0]:,} weights"}] * len(seen.rows)
    return [
        {"attention": f"{cells:,} weights", "logits": f"p = {float(p.exp()):.2f}"}
        for cells, p in zip(cached.sums, found.log_p, strict=True)
    ]


def search_captions(found: Search) -> list[str]:
    """Each step of the search."""
    return [step.caption for step in found.trace.steps]


def search_equations(found: Search) -> list[str]:
    """Sums of log p, behind a forced beginning without what that has."""
    given = r"x, y_{\text{forced}}" if found.prefix else "x"
    return [rf"\log P(y \mid {given}) = {step.equation}" for step in found.trace.steps]


def compared(found: Search) -> str:
    """Greedy beside the beam."""
    best, greedy = float(found.log_p.sum()), float(found.greedy_log_p.sum())
    if found.tokens == found.greedy:
        return f"The beam ends in the sentence of greedy decoding, log p = {best:.3f}."
    return (
        f"The beam ends at log p = {best:.3f}, greedy decoding at {greedy:.3f}: “{found.read(found.tokens)}” "
        f"against “{found.read(found.greedy)}”."
    )


def error_equation(one: Aligned) -> str:
    """AER of the head that aligns best."""
    l, h = divmod(int(one.errors.argmin()), one.errors.shape[1])
    return (
        r"\mathrm{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|} = 1 - "
        rf"\frac{{{int(one.hits[l, h])}}}{{{int(one.links[l, h])}}} = {float(one.errors[l, h]):.3f}"
    )


def work_equation(cached: Work, anew: Work) -> str:
    """Weights of the last step, with caches and without."""
    parts = " + ".join(f"{cached.cells[part][-1]:,}" for part in (CROSS, DECODER))
    again = " + ".join(f"{anew.cells[part][-1]:,}" for part in (CROSS, DECODER, ENCODER))
    tex = (
        rf"L H n + L H t = {parts} = {cached.sums[-1]:,}, \quad \text{{anew: }} "
        rf"L H n t + L H t^2 + L_e H n^2 = {again} = {anew.sums[-1]:,}"
    )
    return tex.replace(",", "{,}").replace("{,} \\quad", ", \\quad")


def wrong(seen: Look, row: Any, options: Mapping[int, str]) -> dict[str, str]:
    """Say why columns do not get the largest weight."""
    return {text: f"The weight of {text} is {float(row[j]):.3f}." for j, text in options.items()}
