"""What is said of atoms, of cut bonds, of two molecules and of epochs."""

from collections import Counter

from pages.graph.molecule.lens import Atoms, Cuts, Pair
from pages.graph.molecule.reading import Molecule
from pages.graph.molecule.room import BAG, GCN, GIN
from pages.graph.molecule.training import Epochs

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


def epoch_captions(one: Epochs) -> list[str]:
    """Of each epoch: both answers, and how many test molecules are right."""
    when = ["Before the first epoch", *(f"Epoch {k}" for k in range(1, len(one.accuracy)))]
    return [
        f"{name}: p of ether is {p:.3f} for the first, {q:.3f} for the second; {100 * right:.0f} % of the "
        "test molecules are right."
        for name, p, q, right in zip(when, *one.p.tolist(), one.accuracy, strict=True)
    ]


def epoch_equations(one: Epochs) -> list[str]:
    """Of each epoch: the sum that is the first molecule's logit, and both probabilities."""
    texts = []
    for first, second in zip(*one.answers, strict=True):
        atoms = float(first.parts.sum())
        texts.append(
            rf"z = \beta + \textstyle\sum_n c_n = {first.bias:.3f} {'+' if atoms >= 0 else '-'} "
            rf"{abs(atoms):.3f} = {first.logit:.3f},\qquad p = \sigma(z) = {first.p:.3f},\qquad "
            rf"p - p' = {first.p - second.p:.3f}"
        )
    return texts


def epoch_notice(one: Epochs) -> str:
    """What was learned from, and of whom nothing is known."""
    return (
        "Trained now on 200 drawn molecules of 7 to 12 atoms, an ether and an alcohol of each skeleton: "
        "isomers, so that counts of atoms tell nothing and atoms alone stay at one half. "
        f"At the end {100 * one.accuracy[-1]:.0f} % of 200 other ones are right. C and O are all it has seen."
    )
