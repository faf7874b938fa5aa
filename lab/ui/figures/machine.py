"""The machine: a strip that draws the model with its parts, lit by the film; each part is a way to its page.

    with stage.foot:
        ui.machine(name, film=film, lit=["net"] * len(times), says=[{"xt": f"t = {t}"} for t in times])

What the parts are is declared in `lab.machines`, how large they are is read from the model
(`lab.lenses.machine`). The strip is plain SVG in a row: shares of the width for the boxes, rem for the type,
so that it fills its column and grows on the stage. `js/machine.js` lights the parts; where the row is too
narrow for its type, on a phone, it shows the working part alone.
"""

import html
from collections.abc import Mapping, Sequence
from typing import Any

from lab import room
from lab.figures import theme
from lab.lenses import machine as lens
from lab.lenses.machine import Readings
from lab.machines import MACHINES, Machine
from lab.ui.browser import wire
from lab.ui.browser.components import component
from lab.ui.figures.films import Film
from lab.ui.models.loading import cached, load
from modules.base import Module

Lit = str | Sequence[str]
Says = Mapping[str, str]

HTML = """
<div class="lectern-machine" role="group">
  <div class="strip"></div><div class="words" role="status" hidden></div>
</div>
"""
mount = component("machine", HTML)

REM = 16.0  # the root's font size, in which the strip is measured
WIDE = 860.0  # px: the picture's column at 1280 px, with something to spare
LARGEST, SMALLEST = 16.0, 12.0  # px of type
GAP, PAD = 26.0, 9.0  # px between two boxes, and inside of one at either side
COLORS = {"input": theme.INPUT, "hidden": theme.HIDDEN, "output": theme.OUTPUT, "attention": theme.ATTENTION}
ON = {"input": "#FFFFFF", "hidden": "#000000", "output": "#000000", "attention": "#000000"}  # type on these


def machine(
    model: str | Module,
    *,
    lit: Sequence[Lit] = (),
    says: Sequence[Says] = (),
    film: Film | None = None,
    key: str = "machine",
) -> None:
    """Draw the machine of a model.

    Args:
        model: the name of a trained one, or a model itself.
        lit: the part that works at each frame of the film, or several; without a film of one frame.
        says: at each frame the number that a part shows beside its name, by the part's key; few letters.

    Raises:
        ValueError: the model is none of the machines, a part is not one of its, or frames are missing.
    """
    which, readings = cached_measure(model) if isinstance(model, str) else measure_parts(model)
    result = header(MACHINES[which], readings, lit, says, film.count if film else 1, film.at if film else 0)
    mount(key=key, data=wire.pack({**result, "film": film.channel if film else None}))


def header(
    result: Machine, readings: Readings, lit: Sequence[Lit], says: Sequence[Says], frames: int, at: int
) -> dict[str, Any]:
    """The header that the browser gets of a machine that stands at frame `at`.

    Raises:
        ValueError: a part is not one of its, or frames are missing.
    """
    working = [[part] if isinstance(part, str) else list(part) for part in lit] or [[]] * frames
    numbers = [dict(text) for text in says] or [{}] * frames
    for name, given in (("lit", working), ("says", numbers)):
        if len(given) != frames:
            raise ValueError(f"{name} has {len(given)} frames, the film {frames}.")
    named = {part for parts in working for part in parts} | {part for text in numbers for part in text}
    if strange := sorted(named - set(result.parts)):
        raise ValueError(f"{result.title} has no part {strange[0]!r}: {', '.join(result.parts)}.")
    svg, need = strip(result, readings, numbers, at, working[at])
    shown = {part: of for part, of in result.parts.items() if part in readings}
    return {
        "title": result.title,
        "svg": svg,
        "need": need,
        "alone": next(
            part for role in ("hidden", "attention") for part, of in shown.items() if of.role == role
        ),
        "parts": {
            part: {
                "name": readings[part].name or of.name,
                "says": of.says,
                "more": readings[part].more or readings[part].shape,
                "page": of.page,
                "title": results.title if (results := room.load(of.page)) else of.page,
            }
            for part, of in shown.items()
        },
        "lit": working,
        "numbers": numbers,
        "at": at,
    }


@cached
def cached_measure(name: str) -> tuple[str, Readings]:
    """`measure_parts` of a trained model."""
    return measure_parts(load(name))


def measure_parts(model: Module) -> tuple[str, Readings]:
    """Find which machine the model is, and the sizes of its parts."""
    return lens.machine_of(model) or "", lens.read(model)


def strip(
    machine: Machine,
    readings: Readings,
    numbers: Sequence[Says] = ({},),
    at: int = 0,
    lit: Sequence[str] = (),
) -> tuple[str, float]:
    """The strip as SVG at frame `at`, and the width that its type needs, px at a root of 16 px.

    A box has its name and the frame's number in the first line, its sizes in the second; it is as wide as the
    longest of what it will say, and what is left of the row is shared out evenly.
    """
    shown = [part for part in machine.parts if part in readings]
    names = {part: readings[part].name or machine.parts[part].name for part in shown}
    longest = {part: max((frame.get(part, "") for frame in numbers), key=text_width) for part in shown}
    ems = {
        part: max(
            text_width(names[part], bold=True) + (0.4 + text_width(longest[part]) if longest[part] else 0),
            text_width(readings[part].shape),
        )
        for part in shown
    }
    free = WIDE - GAP * (len(shown) - 1) - 2 * PAD * len(shown)
    size = max(SMALLEST, min(LARGEST, int(2 * free / sum(ems.values())) / 2))
    needs = {part: em * size + 2 * PAD for part, em in ems.items()}
    need = sum(needs.values()) + GAP * (len(shown) - 1)
    total = max(need, WIDE)
    spare = (total - need) / len(shown)
    x, places = 0.0, {}
    for part in shown:
        places[part] = (x, needs[part] + spare)
        x += needs[part] + spare + GAP

    def share(px: float) -> str:
        return f"{100 * px / total:.3f}%"

    boxes = [
        box(part, names[part], readings[part].shape, numbers[at].get(part, ""), part in lit,
            machine.parts[part].role, share(places[part][0]), share(places[part][1]))
        for part in shown
    ]  # fmt: skip
    arrows = []
    for a, b in machine.arrows(shown):
        left, right = (a, b) if places[a][0] < places[b][0] else (b, a)
        ends = places[left][0] + places[left][1] + 1, places[right][0] - 2
        start, end = ends if left == a else (ends[1] + 1, ends[0] + 1)
        arrows.append(arrow(share(start), share(end), f'data-from="{a}" data-to="{b}"'))
    stubs = [arrow("0", "7%", 'data-stub="before"'), arrow("93%", "99.5%", 'data-stub="after"')]
    style = f"--size:{size / REM:.4g}rem;--ink:{theme.text()};--soft:{theme.soft()};--paper:{theme.paper()}"
    drawn = "".join([TIP, *arrows, *stubs, *boxes])
    return f'<svg style="{style}" width="100%" height="100%">{drawn}</svg>', need


TIP = (
    '<defs><marker id="lectern-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="4.5" markerHeight="4.5" '
    'orient="auto"><path d="M0 0 8 4 0 8z"/></marker></defs>'
)


def arrow(x1: str, x2: str, data: str) -> str:
    ends = f'x1="{x1}" x2="{x2}" y1="50%" y2="50%"'
    return f'<line class="arrow" {data} {ends} marker-end="url(#lectern-tip)"/>'


def box(part: str, name: str, shape: str, number: str, lit: bool, role: str, x: str, width: str) -> str:
    """One part: a link around a frame and two lines of type."""
    marks = f'class="part{" lit" if lit else ""}" data-part="{part}" data-x="{x}" data-width="{width}"'
    first = f'<tspan class="name">{html.escape(name)}</tspan>'
    first += f'<tspan class="number" dx="{".4em" if number else 0}">{html.escape(number)}</tspan>'
    return (
        f'<a {marks} tabindex="0" role="link" style="--role:{COLORS[role]};--on:{ON[role]}">'
        f'<svg x="{x}" width="{width}" y="0" height="100%" overflow="visible">'
        '<rect x="0" y="3%" width="100%" height="94%" rx="6"/>'
        f'<text x="50%" y="43%" text-anchor="middle">{first}</text>'
        f'<text class="shape" x="50%" y="85%" text-anchor="middle">{html.escape(shape)}</text></svg></a>'
    )


# Widths in em of DejaVu Sans, the widest face of the dashboard's list: what fits in it fits in all.
NARROW, WIDER, WIDEST = set("ijl.,:;'|! ₁₀ₜ₋₊()[]"), set("mMwWΩ×+=−≤→~%√∇ABCDGHKNOQRU"), set("mMW")
COMBINING = set("\u0302\u0304")


def text_width(text: str, bold: bool = False) -> float:
    """At most so many em."""
    total = 0.0
    for letter in text:
        if letter in COMBINING:
            continue
        total += 0.42 if letter in NARROW else 1.0 if letter in WIDEST else 0.85 if letter in WIDER else 0.65
    return total * (1.12 if bold else 1.0)
