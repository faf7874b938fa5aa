"""What the page of a live game says of its frames."""

import math
from collections.abc import Mapping, Sequence

from lab.lenses import rewind
from pages.adversarial.live_gan import lens


def moved(knobs: Mapping[str, float]) -> str:
    """Who has moved on the way to a frame."""
    d, g = int(knobs["d"]), int(knobs["g"])
    if not d or not g:
        return "D alone moves" if d else "G alone moves" if g else "both stand still"
    return f"D {d}, G {g} a round"


def captions(frames: Sequence[rewind.Frame], knobs: Sequence[Mapping[str, float]], stride: int) -> list[str]:
    """What each frame says."""
    said = []
    for number, (frame, turned) in enumerate(zip(frames, knobs, strict=True)):
        w1, (modes, quality) = float(frame["w1"]), lens.counts(frame)
        if math.isnan(w1):
            said.append(f"Round {number * stride:,}: the game has run away; wind back, turn the rates down.")
            continue
        said.append(
            f"Round {number * stride:,}, {moved(turned)}: W₁ {spelled(w1)}"
            + ("." if modes is None else f", modes reached {modes}, {quality:.0%} near one.")
        )
    return said


def spelled(value: float) -> str:
    """A number for a sentence, however large."""
    return f"{value:.3f}" if abs(value) < 1000 or math.isnan(value) else f"{value:,.0f}"


def equations(frames: Sequence[rewind.Frame], tells: bool) -> list[str]:
    """What D's loss tells of the distance at each frame, LaTeX."""
    said = []
    for frame, found in zip(frames, lens.told(frames), strict=True):
        d, g = (spelled(float(loss)) for loss in frame["losses"])
        tells_of = rf"\log\,2 - \tfrac12 L_D = {spelled(found)} \;\le\; D_{{JS}}"
        said.append(
            (tells_of if tells else rf"L_D = {d},\quad L_G = {g}")
            + rf",\qquad \text{{of histograms }} D_{{JS}} = {spelled(float(frame['js']))} \;\le\; \log\,2"
        )
    return said
