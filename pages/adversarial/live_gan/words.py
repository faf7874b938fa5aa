"""Words of the page of a live game on its frames."""

import math
from collections.abc import Mapping, Sequence

from lab.lenses import rewind
from lab.lenses.plane_games import modes_of
from pages.adversarial.live_gan import lens


def moved(knobs: Mapping[str, float]) -> str:
    """Player that has moved on the way to a frame."""
    d, g = int(knobs["d"]), int(knobs["g"])
    if not d or not g:
        return "D alone moves" if d else "G alone moves" if g else "both stand still"
    return f"D {d}, G {g} a round"


def moving(knobs: Sequence[Mapping[str, float]]) -> list[list[str]]:
    """The parts of the machine that have learned on the way to each frame; what is made, of the first."""
    players = [[name for name, steps in (("D", each["d"]), ("G", each["g"])) if steps] for each in knobs]
    return [["made"], *players[1:]]


def numbers(frames: Sequence[rewind.Frame], data: str) -> list[dict[str, str]]:
    """Numbers of the machine at each frame: both losses, and modes that are reached, or W₁."""
    results = []
    for frame in frames:
        modes, _ = lens.counts(frame)
        w1 = spelled(float(frame["w1"]))
        result = f"W₁ = {w1}" if modes is None else f"{modes} of {modes_of(data)} modes"
        d, g = (f"L = {loss:.2f}" for loss in frame["losses"].tolist())
        results.append({"made": result, "D": d, "G": g})
    return results


def captions(frames: Sequence[rewind.Frame], knobs: Sequence[Mapping[str, float]], stride: int) -> list[str]:
    """Caption of each frame."""
    texts = []
    for number, (frame, turned) in enumerate(zip(frames, knobs, strict=True)):
        w1, (modes, quality) = float(frame["w1"]), lens.counts(frame)
        if math.isnan(w1):
            texts.append(f"Round {number * stride:,}: the game has run away; wind back, turn the rates down.")
            continue
        texts.append(
            f"Round {number * stride:,}, {moved(turned)}: W₁ {spelled(w1)}"
            + ("." if modes is None else f", modes reached {modes}, {quality:.0%} near one.")
        )
    return texts


def spelled(value: float) -> str:
    """A number for a sentence, however large."""
    return f"{value:.3f}" if abs(value) < 1000 or math.isnan(value) else f"{value:,.0f}"


def equations(frames: Sequence[rewind.Frame], tells: bool) -> list[str]:
    """Equation of what D's loss tells of the distance at each frame, LaTeX."""
    texts = []
    for frame, result in zip(frames, lens.js_estimates(frames), strict=True):
        d, g = (spelled(float(loss)) for loss in frame["losses"])
        tells_of = rf"\log\,2 - \tfrac12 L_D = {spelled(result)} \;\le\; D_{{JS}}"
        texts.append(
            (tells_of if tells else rf"L_D = {d},\quad L_G = {g}")
            + rf",\qquad \text{{of histograms }} D_{{JS}} = {spelled(float(frame['js']))} \;\le\; \log\,2"
        )
    return texts
