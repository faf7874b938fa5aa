"""Molecules in words: SMILES without hydrogen, or a list of atoms and bonds.

Bonds are of one kind, as in MUTAG: a double bond is read as a bond, an aromatic atom as an atom.
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from lab.errors import UserError
from pages.graph.molecule.room import ELEMENTS

MOST = 40  # atoms
TOKEN = re.compile(r"\[[0-9]*(Cl|Br|[A-Za-z])[^\]]*\]|Cl|Br|[A-Za-z]|%\d\d|\d|[-=#:.()/\\]")
ATOM = re.compile(r"(Cl|Br|[A-Z])(\d+)")
BOND = re.compile(r"(\d+)[-–](\d+)")


@dataclass(frozen=True)
class Molecule:
    """symbols of the atoms, (N,), and bonds, each once, smaller end first."""

    symbols: tuple[str, ...]
    bonds: tuple[tuple[int, int], ...]

    @property
    def edge_index(self) -> Tensor:
        """(2, 2B), each bond both ways."""
        once = torch.tensor(self.bonds, dtype=torch.long).reshape(-1, 2).T
        return torch.cat([once, once.flip(0)], 1)

    def without(self, bond: int) -> "Molecule":
        return Molecule(self.symbols, self.bonds[:bond] + self.bonds[bond + 1 :])


def molecule(symbols: list[str], bonds: set[tuple[int, int]]) -> Molecule:
    if not symbols:
        raise UserError("There is no atom: write one, such as C, or a molecule, such as CCO.")
    if len(symbols) > MOST:
        raise UserError(f"These are {len(symbols)} atoms: take {MOST} at most.")
    return Molecule(tuple(symbols), tuple(sorted(bonds)))


def parse(text: str) -> Molecule:
    """A molecule in words.

    Raises:
        UserError: a sign or an element is unknown, a ring stays open, a bond names no atom, or there are
            too many atoms or none.
    """
    return listed(text) if BOND.search(text) else smiles(text)


def known(symbol: str) -> str:
    """The element of a symbol; an aromatic one is written small."""
    element = symbol if symbol in ELEMENTS else symbol.upper() if symbol in ("c", "n", "o") else ""
    if not element:
        raise UserError(
            f"“{symbol}” is no element of MUTAG: take {', '.join(ELEMENTS)}; hydrogen is left out."
        )
    return element


def listed(text: str) -> Molecule:
    """“C0 C1 O2 0-1 1-2”; atoms are numbered from 0 without a gap."""
    atoms, bonds = dict[int, str](), set[tuple[int, int]]()
    for word in text.replace(",", " ").split():
        if match := ATOM.fullmatch(word):
            atoms[int(match[2][:4])] = known(match[1])
        elif match := BOND.fullmatch(word):
            a, b = sorted(int(end[:4]) for end in match.groups())
            if a == b:
                raise UserError(f"{word} joins an atom to itself: choose two atoms.")
            bonds.add((a, b))
        else:
            raise UserError(f"“{word[:20]}” is neither an atom such as C0 nor a bond such as 0-1.")
    for number in (*range(len(atoms)), *(end for bond in bonds for end in bond)):
        if number not in atoms:
            raise UserError(f"There is no atom {number}: write its element, such as C{number}.")
    return molecule([atoms[n] for n in range(len(atoms))], bonds)


def smiles(text: str) -> Molecule:
    """SMILES: atoms in a row are bonded, ( ) is a branch, equal digits close a ring, a dot parts."""
    symbols, bonds, open_rings = list[str](), set[tuple[int, int]](), dict[str, int]()
    last: int | None = None
    branches, at, text = list[int | None](), 0, "".join(text.split())
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            raise UserError(
                f"“{text[at : at + 1]}” is no sign of a molecule: write CCO, c1ccccc1 or C0 O1 0-1."
            )
        token, at = match[0], match.end()
        if token[0].isalpha() or token[0] == "[":
            symbols.append(known(match[1] or token))
            if last is not None:
                bonds.add((last, len(symbols) - 1))
            last = len(symbols) - 1
        elif token == "(":
            branches.append(last)
        elif token == ")":
            if not branches:
                raise UserError("A branch ends, “)”, that did not begin: write “(” before it.")
            last = branches.pop()
        elif token == ".":
            last = None
        elif token[0].isdigit() or token[0] == "%":
            if last is None:
                raise UserError(f"The ring {token} begins before any atom: write C{token}.")
            if token in open_rings:
                a, b = sorted((open_rings.pop(token), last))
                if a != b:
                    bonds.add((a, b))
            else:
                open_rings[token] = last
    if branches:
        raise UserError("A branch, “(”, does not end: write “)”.")
    if open_rings:
        raise UserError(
            f"The ring {next(iter(open_rings))} does not close: write the digit at its other atom."
        )
    return molecule(symbols, bonds)


def says(text: str) -> str:
    """What was decided in reading it."""
    if re.search(r"[=#:cno]", text.replace("Cl", "").replace("Br", "")):
        return "All bonds are of one kind, as in MUTAG; hydrogen is left out."
    return ""


def written(one: Molecule) -> str:
    """A text that `parse` reads as this molecule."""
    if not one.bonds:
        return ".".join(one.symbols)
    atoms = [f"{symbol}{n}" for n, symbol in enumerate(one.symbols)]
    return " ".join([*atoms, *(f"{a}-{b}" for a, b in one.bonds)])


def grown(one: Molecule, n: int, element: str) -> Molecule:
    """With another atom, bonded to atom n."""
    if len(one.symbols) == MOST:
        return one
    return Molecule((*one.symbols, element), tuple(sorted((*one.bonds, (n, len(one.symbols))))))


def changed(one: Molecule, n: int, element: str) -> Molecule:
    return Molecule((*one.symbols[:n], element, *one.symbols[n + 1 :]), one.bonds)


def removed(one: Molecule, n: int) -> Molecule:
    """Without atom n and its bonds; the last atom stays."""
    if len(one.symbols) == 1:
        return one
    bonds = [(a - (a > n), b - (b > n)) for a, b in one.bonds if n not in (a, b)]
    return Molecule((*one.symbols[:n], *one.symbols[n + 1 :]), tuple(bonds))
