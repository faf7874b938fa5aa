"""Say in words and equations what the page Translation shows."""

from lab.lenses.translations import END, differing
from pages.recurrent.translation.lens import Decoded, Pair, Parts, column


def written(result: Decoded, t: int) -> str:
    """The word that step t writes, in quotes."""
    return "the end" if result.names[t] == END else f"“{result.names[t]}”"


def captions(pair: Pair) -> list[str]:
    """Each word that attention writes, and where its context comes from."""
    result, rows = pair.attention, []
    for t, p in enumerate(result.p.tolist()):
        j = column(result, t, 0)
        rows.append(
            f"Step {t + 1} writes {written(result, t)}, p = {p:.3f}; the largest weight is that of "
            f"“{pair.source.names[j]}” ({j + 1})."
        )
    return rows


def equations(pair: Pair, word: int) -> list[str]:
    """Weight of a source word and the context of each step, with their operands; m is the largest score."""
    result, rows = pair.attention, []
    for t in range(len(result.names)):
        j = column(result, t, word)
        gamma, scores = result.gamma[t], result.scores[t].double()
        e = (scores - scores.max()).exp()
        top = gamma.topk(min(2, len(gamma)))
        sum_ = " + ".join(
            rf"{g:.3f}\,z_{{{k + 1}}}" for g, k in zip(top.values.tolist(), top.indices.tolist(), strict=True)
        )
        rows.append(
            r"\gamma_{tj} = \frac{\exp(e_{tj} - m)}{\sum_k \exp(e_{tk} - m)} = "
            rf"\frac{{{float(e[j]):.3f}}}{{{float(e.sum()):.3f}}} = {float(gamma[j]):.3f}, \quad "
            rf"c_t = {sum_}" + (r" + \dots" if len(gamma) > 2 else "")
        )
    return rows


def score_equations(pair: Pair, found: Parts) -> list[str]:
    """The score of a source word at each step: what is positive in its sum, and what is negative."""
    rows = []
    for t, (j, terms) in enumerate(zip(found.columns, found.terms, strict=True)):
        rows.append(
            r"e_{tj} = v \cdot \tanh(W s_{t-1} + U z_j) = "
            rf"{float(terms.clamp(min=0).sum()):.3f} - {float(-terms.clamp(max=0).sum()):.3f} = "
            rf"{float(terms.sum()):.3f}, \quad \gamma_{{tj}} = {float(pair.attention.gamma[t, j]):.3f}"
        )
    return rows


def score_captions(pair: Pair, found: Parts) -> list[str]:
    """The two words that each score is of."""
    rows = []
    for t, j in enumerate(found.columns):
        a = int(found.terms[t].abs().argmax())
        term = f"{float(found.terms[t, a]):.3f}".replace("-", "−")
        rows.append(
            f"Before {written(pair.attention, t)} is written, source word “{pair.source.names[j]}” "
            f"({j + 1}): the largest term is that of unit {a + 1}, {term}."
        )
    return rows


def notice(pair: Pair) -> str:
    """What to notice of a sentence that both decoders have translated."""
    counts = [sum(differing(each.names, pair.reference)) for each in (pair.attention, pair.fixed)]
    if pair.source.gold is None:
        judged = f"The fixed context differs from attention in {counts[1]} of {len(pair.fixed.names)} words."
    else:
        judged = (
            f"Words that are not in the gold translation: {counts[0]} with attention, {counts[1]} with a "
            "fixed context."
        )
    framed = (
        ""
        if pair.source.gold is None
        else "; green frames are the gold ones, dotted where an article or adjective agrees with its "
        "noun: an article often looks at the noun, whose gender it needs"
    )
    return (
        f"{judged} Attention was trained on pairs of sentences alone and has never seen a link{framed}. Its "
        "weights are where it looks, not an alignment. The fixed context is the same "
        f"{len(pair.fixed.memory)} numbers at every step, however long the sentence is."
    )
