"""Place of each model in the sets, and who has what is asked for.

References: [UDL] §14.1–14.2; [GM] §3.12.5.
"""

from collections.abc import Mapping, Sequence

from modules.latent.taxonomy import KINDS, PROPERTIES, TABLE, YES, Kind

CENTRES = {"outside": 1.35, "generative": 3.75, "probabilistic": 7.2}  # of the free part of each box


def ring(kind: Kind) -> str:
    """The innermost box that holds a model."""
    return "probabilistic" if kind.probabilistic else "generative" if kind.generative else "outside"


def places(kinds: Mapping[str, Kind] = KINDS) -> dict[str, tuple[float, float]]:
    """A place in its box for every model: latent ones in the upper rows, the others below."""
    results = {}
    for box, centre in CENTRES.items():
        mine = sorted((n for n in kinds if ring(kinds[n]) == box), key=lambda n: not kinds[n].latent)
        wide = 2 if box == "probabilistic" else 1
        for i, name in enumerate(mine):
            row, column = divmod(i, wide)
            results[name] = centre + 2.4 * (column - (wide - 1) / 2), 2.65 - 0.66 * row - 0.3 * column
    return results


def asked(generative: bool, probabilistic: bool, latent: bool, normalised: bool) -> list[str]:
    """The models that have all that is asked for; what is not asked for does not count."""
    wanted = (generative, probabilistic, latent, normalised)
    return [
        name
        for name, kind in KINDS.items()
        if all(has for has, want in zip(kind, wanted, strict=True) if want)
    ]


def most_wishes(table: Mapping[str, Sequence[str]] = TABLE) -> tuple[int, list[str]]:
    """The most wishes that a family surely fulfils, and who does."""
    sure = {family: sum(mark == YES for mark in row) for family, row in table.items()}
    best = max(sure.values())
    return best, [family for family, count in sure.items() if count == best]


def lacking(family: str) -> list[str]:
    """The wishes that a family does not surely fulfil."""
    return [wish for wish, mark in zip(PROPERTIES, TABLE[family], strict=True) if mark != YES]
