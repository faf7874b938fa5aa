"""What is said of atoms, of cut bonds and of two molecules."""

from collections import Counter

from pages.graph.molecule.lens import Atoms, Cuts, Pair
from pages.graph.molecule.reading import Molecule
from pages.graph.molecule.room import BAG, GCN, GIN

LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
WHO = {GCN: "GCN", GIN: "GIN", BAG: "atoms alone"}


def formula(one: Molecule) -> str:
    """Atoms without hydrogen: C₂O."""
    counts = Counter(one.symbols)
    return "".join(symbol + (str(n).translate(LOW) if n > 1 else "") for symbol, n in sorted(counts.items()))


def signed(value: float) -> str:
    return f"{value:+.3f}"


def atom_captions(one: Atoms) -> list[str]:
    """Of each atom: its contribution, and the sum so far."""
    total = one.answer.bias
    truth = f"; it is {one.label}" if one.label else ""
    texts = [f"{formula(one.molecule)}, {len(one.molecule.symbols)} atoms{truth}. The sum begins with β."]
    for n, (symbol, part) in enumerate(zip(one.molecule.symbols, one.answer.parts.tolist(), strict=True)):
        total += part
        texts.append(
            f"Atom {n}, {symbol}, adds {signed(part)}: {signed(total)} so far.".replace("-", "−")
        )  # fmt: skip
    end = f" p of mutagenic is {one.answer.p:.3f}{truth}."
    return [*texts[:-1], texts[-1].replace("so far.", "is the logit.") + end]


def atom_equations(one: Atoms) -> list[str]:
    """The sum up to each atom, and the answer."""
    N, total = len(one.molecule.symbols), one.answer.bias
    share = r"\tfrac{\omega h_n}{N}" if one.answer.mean else r"\omega h_n"
    whole = rf"z = \beta + \textstyle\sum_n {share} = {one.answer.logit:.3f},\qquad "
    whole += rf"p = \sigma(z) = {one.answer.p:.3f}"
    texts = [rf"\beta = {total:.3f},\qquad {whole}"]
    for n, part in enumerate(one.answer.parts.tolist()):
        before, total = total, total + part
        here = rf"\tfrac{{1}}{{{N}}} \omega h_{{{n}}}" if one.answer.mean else rf"\omega h_{{{n}}}"
        value = f"({part:.3f})" if part < 0 else f"{part:.3f}"
        texts.append(rf"{before:.3f} + \underbrace{{{value}}}_{{{here}}} = {total:.3f},\qquad {whole}")
    return texts


def cut_captions(one: Cuts) -> list[str]:
    symbols = one.molecule.symbols
    names = [
        "The whole molecule",
        *(f"Without bond {symbols[a]}{a}–{symbols[b]}{b}" for a, b in one.molecule.bonds),
    ]
    return [
        f"{name}: " + ", ".join(f"{WHO[net]} {values[k]:.3f}" for net, values in one.p.items()) + "."
        for k, name in enumerate(names)
    ]


def cut_equations(one: Cuts) -> list[str]:
    values = one.p[GCN]
    return [
        rf"p_\text{{GCN}} = {p:.3f},\qquad p_\text{{GCN}} - p_\text{{GCN, whole}} = {p - values[0]:.3f}"
        for p in values
    ]


def pair_caption(one: Pair) -> str:
    """Whether they have the same atoms, and who tells them apart."""
    atoms = f"both {formula(one.first)}" if one.isomers else f"{formula(one.first)} and {formula(one.second)}"
    apart = [WHO[net] for net, (first, second) in one.p.items() if abs(first - second) > 1e-9]
    said = ", ".join(apart) if apart else "nobody"
    return f"Without hydrogen {atoms}. Told apart by: {said}."


def pair_equation(one: Pair) -> str:
    gaps = (rf"\quad \text{{{WHO[net]}}}\ {first - second:.4f}" for net, (first, second) in one.p.items())
    return "p - p':" + ",".join(gaps)
