"""LaTeX as MathML, which browsers draw without a script."""

import itertools
import re
from functools import lru_cache

NUMBER = re.compile(r"(?<![A-Za-z_^#\d.])\d+(?:\.\d+)?")  # not the 2 of x_2 or \frac12: it is no number alone
PLACE = "<mn>%d</mn>"
HELD = 700_000  # the first of the numbers that hold places


def mathml(latex: str) -> str:
    """LaTeX as MathML, which browsers draw without a script.

    The equations of a film differ in their numbers alone, so their pattern is read once and the numbers are
    put in; where a number does not stand alone in what comes out (x^12 is x^1 2), the whole is read.
    """
    numbers = NUMBER.findall(latex)
    parts = pattern(NUMBER.sub("0", latex), len(numbers))
    if parts is None:
        return convert_latex(latex)
    return "".join(itertools.chain(*zip(parts, (f"<mn>{n}</mn>" for n in numbers), strict=False), parts[-1:]))


@lru_cache(maxsize=512)
def pattern(latex: str, count: int) -> list[str] | None:
    """The parts between the `count` numbers of an equation that reads "0" for each; None where they do not
    come out as they went in, each alone and in order."""
    places = itertools.count(HELD)
    held = convert_latex(NUMBER.sub(lambda _: f"{next(places)}", latex))
    parts = re.split("|".join(PLACE % (HELD + i) for i in range(count)), held) if count else [held]
    results = [int(number) - HELD for number in re.findall(r"<mn>(\d{6})</mn>", held)]
    return parts if results == list(range(count)) else None


@lru_cache(maxsize=512)
def convert_latex(latex: str) -> str:
    from latex2mathml.converter import convert

    return str(convert(latex, display="block"))
