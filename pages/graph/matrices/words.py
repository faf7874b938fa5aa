"""What is said of each frame: of walks, of edges and their columns, of other numbers."""

from torch import Tensor

from pages.graph.matrices.lens import D_E, D, Lists, Renumbered, Walked
from pages.graph.matrices.room import COUNTS, FROM, LENGTHS

MOST = 12  # numbers of a column that are written


def column(values: Tensor) -> str:
    texts = [str(int(v)) if v >= 0 else r"\infty" for v in values[:MOST]]
    return "(" + ",\\ ".join(texts) + (r",\ \ldots" if len(values) > MOST else "") + ")"


def spell(count: int) -> str:
    """A count in at most four characters: 7, 352, 1.2k, 35k, 1.2M."""
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count >= 0.9995 * unit:
            return f"{count / unit:.1f}{name}" if count < 9.95 * unit else f"{round(count / unit)}{name}"
    return str(count)


def shown(one: Walked, cells: str) -> tuple[Tensor, Tensor]:
    """What stands in the cells, (F, N, N), −1 for nothing, and how strong its colour is, from 0 to 1."""
    if cells == COUNTS:
        most = one.powers.amax((1, 2), keepdim=True).clamp(min=1)
        return one.powers, one.powers / most
    return one.first, (1 - one.first / len(LENGTHS)).where(one.first >= 0, 0)


def ended(values: Tensor, ends: str, n: int) -> Tensor:
    """Column n of each matrix (F, N, N), or row n for walks that begin there: (F, N)."""
    return values[:, n] if ends == FROM else values[:, :, n]


def way(ends: str, n: int) -> str:
    """A^L e_n without its length, "%s", or its transpose."""
    return rf"(A^\top)^{{%d}} e_{{{n}}}" if ends == FROM else rf"A^{{%d}} e_{{{n}}}"


def walk_captions(one: Walked, cells: str, ends: str, n: int) -> list[str]:
    which = f"from node {n}" if ends == FROM else f"to node {n}"
    near = ended(one.powers, ends, n)[1] > 0
    texts = []
    for L, (counts, first) in enumerate(
        zip(ended(one.powers, ends, n), ended(one.first, ends, n), strict=True)
    ):
        if cells == COUNTS:
            many = int(counts.sum())
            lost = int((counts[near] == 0).sum())
            text = f"{many:,} walk{'s' * (many != 1)} of length {L} lead{'s' * (many == 1)} {which}, "
            text += f"{int(counts[n]):,} of them there and back"
            side = "to" if ends == FROM else "from"
            text += f"; {side} {lost} of its {int(near.sum())} neighbours there is none." if lost else "."
        else:
            new = (first == L).nonzero()[:, 0].tolist()
            shown = ", ".join(map(str, new[:6])) + (" …" if len(new) > 6 else "")
            text = f"{int((first >= 0).sum())} of {len(first)} nodes have a walk {which} of {L} edges or less"
            text += f"; at distance {L}: {shown}." if new else f"; none is at distance {L}."
        texts.append(text)
    return texts


def walk_equations(one: Walked, cells: str, ends: str, n: int) -> list[str]:
    texts = []
    for L in LENGTHS:
        if cells == COUNTS:
            counts = ended(one.powers, ends, n)[L]
            text = rf"{way(ends, n) % L} = {column(counts)}^\top"
            text += rf",\qquad (A^{{{L}}})_{{{n},{n}}} = {int(counts[n])}"
        else:
            first = ended(one.first, ends, n)[L]
            pair = rf"{n}, m" if ends == FROM else rf"m, {n}"
            entry = rf"{n} m" if ends == FROM else rf"m {n}"
            text = rf"\mathrm{{dist}}({pair}) = \min\{{L : (A^L)_{{{entry}}} \neq 0\}} = {column(first)}"
        texts.append(text)
    return texts


def edge_captions(one: Lists, directed: bool) -> list[str]:
    texts = []
    for k, (m, n) in enumerate(one.edges.tolist()):
        ones = f"row {m}, column {n}" if directed else f"row {m}, column {n}, and row {n}, column {m}"
        joins = f"leads from node {m} to {n}" if directed else f"joins nodes {m} and {n}"
        texts.append(f"Edge {k} {joins}: A has 1 in {ones}.")
    return texts or ["The graph has no edge: A is 0, and E has no column."]


def edge_equations(one: Lists) -> list[str]:
    N, E = len(one.a), len(one.edges)
    sizes = rf"A:\ {N} \times {N},\quad X:\ {D} \times {N},\quad E:\ {D_E} \times {E}"
    return [rf"{sizes},\qquad A_{{{m},{n}}} = 1" for m, n in one.edges.tolist()] or [sizes]


def number(value: Tensor) -> str:
    """With three decimals and a minus sign."""
    return f"{float(value):.3f}".replace("-", "−")


def gap(one: Renumbered, f: int) -> float:
    """Largest difference of F[XP, PᵀAP] and F[X, A]P."""
    return float(one.gaps[f].abs().max())


def swap_captions(one: Renumbered) -> list[str]:
    texts = [f"No number is exchanged: P is the identity. The pooled number is {number(one.pooled[0])}."]
    for f, (m, n) in enumerate(one.swaps, 1):
        alike = "only reordered" if not gap(one, f) else f"different, by up to {gap(one, f):.3f}"
        stays = abs(float(one.pooled[f] - one.pooled[0])) < 1e-9
        texts.append(
            f"Nodes {m} and {n} exchange numbers. The outputs are {alike}; the pooled number "
            f"{'stays at' if stays else 'moves to'} {number(one.pooled[f])}."
        )
    return texts


def swap_equations(one: Renumbered) -> list[str]:
    return [
        rf"\max|F[XP, P^\top A P] - F[X, A]\,P| = {gap(one, f):.3f},\qquad "
        rf"\tfrac{{1}}{{N}} \sum_n \omega h_n = {float(pooled):.3f}"
        for f, pooled in enumerate(one.pooled)
    ]
