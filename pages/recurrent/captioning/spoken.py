"""Say in words and equations what the page Captioning shows."""

from collections.abc import Mapping
from typing import Any

from pages.recurrent.captioning.gallery import Cases, Counted
from pages.recurrent.captioning.lens import COUNT, DRAWS, END, Compared, Picture, Written
from pages.recurrent.captioning.room import ELSEWHERE, NAME, PLACE, RELATION


def word(result: Written, t: int) -> str:
    """The word that step t writes, in quotes."""
    return "the end" if result.words[t] == END else f"“{result.words[t]}”"


def captions(shown: Picture, result: Written) -> list[str]:
    """Each word that is written, and where its largest weight lies."""
    rows = []
    for t, p in enumerate(result.p.tolist()):
        peak = int(result.gamma[t].argmax())
        where = f"the largest weight, {float(result.gamma[t, peak]):.2f}, is at place {peak + 1}"
        k = result.of[t]
        if 0 <= k < len(shown.objects):
            where += (
                f", {'inside' if result.inside[t, peak] else 'outside'} the box of the {shown.objects[k]}"
            )
        rows.append(f"Step {t + 1} writes {word(result, t)}, p = {p:.3f}; {where}.")
    return rows


def readings(result: Written, count: int = 0) -> list[dict[str, str]]:
    """What the parts of the machine hold at each step; the last stays, where a film has more steps."""
    rows = [
        {"context": f"γ ≤ {float(gamma.max()):.2f}", "logits": f"p = {float(p):.2f}"}
        for gamma, p in zip(result.gamma, result.p, strict=True)
    ]
    return rows + rows[-1:] * (count - len(rows))


def equations(result: Written) -> list[str]:
    """γ in the box beside the share of its locations, and the entropy of γ, at each step."""
    rows, L = [], result.gamma.shape[1]
    for t, (mass, entropy) in enumerate(zip(result.mass.tolist(), result.entropy.tolist(), strict=True)):
        text = rf"H(\gamma_t) = -\sum_i \gamma_{{ti}}\,\log\,\gamma_{{ti}} = {entropy:.3f}"
        if mass == mass:
            size = int(result.inside[t].sum())
            text = (
                rf"\sum_{{i \in \mathrm{{box}}}} \gamma_{{ti}} = {mass:.3f}, \quad "
                rf"\frac{{|\mathrm{{box}}|}}{{L}} = \frac{{{size}}}{{{L}}} = {size / L:.3f}, \quad " + text
            )
        rows.append(text)
    return rows


def notice(shown: Picture, result: Written) -> str:
    """What to notice of one caption."""
    boxed = [t for t, mass in enumerate(result.mass.tolist()) if mass == mass]
    others = [t for t in range(len(result.words)) if t not in boxed]
    judged = (
        "The caption is right." if result.right else f"The right caption is “{' '.join(shown.gold[:-1])}”."
    )
    mean = (
        f"{float(result.mass[boxed].mean()):.2f} of γ lies in the box on average, whose area is "
        f"{float(result.area[boxed].mean()):.3f} of the picture: a map that looks everywhere would have that."
        if boxed
        else "No word speaks of an object that is there."
    )
    return (
        f"{judged} At words of size, colour and shape {mean} Entropy of γ: "
        f"{float(result.entropy[boxed].mean()) if boxed else 0.0:.2f} nats there, "
        f"{float(result.entropy[others].mean()):.2f} at all other words, of which no place says much. A "
        f"location sees {result.field} pixels in a row and is drawn at the centre of what it sees, "
        f"{result.jump} pixels from the next: a weight beside an object may still read it."
    )


def candidates(result: Written) -> list[int]:
    """Words to choose from, four at most, in their order: that of the largest entropy, and others apart."""
    T = len(result.words)
    best = int(result.entropy.argmax())
    return sorted({best, *((best + step) % T for step in (1, T // 3 + 1, 2 * T // 3 + 1))})


# --- Soft and hard -----------------------------------------------------------------------------------


def both_captions(found: Compared, count: int) -> list[str]:
    """What both write at each step, and how spread their weights are."""
    rows = []
    for t in range(count):
        said = []
        for name, one in (("soft", found.soft), ("hard", found.hard)):
            if t < len(one.words):
                at = "" if one.places is None else f", looks at place {one.places[t] + 1}"
                said.append(f"{name} writes {word(one, t)}{at}")
        rows.append(f"Step {t + 1}: {'; '.join(said)}.")
    return rows


def both_equations(found: Compared, count: int) -> list[str]:
    """The contexts of both, and the entropies of their weights."""
    rows = []
    for frame in range(count):
        s, h = (min(frame, len(one.words) - 1) for one in (found.soft, found.hard))
        top = found.soft.gamma[s].topk(2)
        sum_ = " + ".join(
            rf"{g:.3f}\,z_{{{i + 1}}}" for g, i in zip(top.values.tolist(), top.indices.tolist(), strict=True)
        )
        assert found.hard.places is not None
        rows.append(
            rf"\varphi = {sum_} + \dots\ \text{{soft}}, \quad \varphi = z_{{{found.hard.places[h] + 1}}}\ "
            rf"\text{{hard}}, \qquad H(\gamma_t) = {float(found.soft.entropy[s]):.3f}, \ "
            rf"{float(found.hard.entropy[h]):.3f}"
        )
    return rows


def both_notice(found: Compared) -> str:
    same = found.soft.words == found.hard.words
    return (
        f"The captions {'agree' if same else 'differ'}. On average γ has "
        f"{float(found.soft.entropy.mean()):.2f} nats of entropy with soft attention, "
        f"{float(found.hard.entropy.mean()):.2f} with hard. Soft attention reads the mean of all places by "
        "γ and is trained by backpropagation; hard attention reads one place, drawn by γ, and is trained by "
        f"the score function. Of {len(DRAWS)} captions whose places are drawn, {found.right} are right. All "
        "else is the same: both are conditional models of the caption."
    )


SHARES = ["nearly all", "some", "nearly none"]
MANY, FEW = round(0.8 * len(DRAWS)), round(0.2 * len(DRAWS))
NOT_SO = (
    f"That is {MANY} at least: here the place that is drawn decides what is read, and often misleads.",
    f"That is {FEW + 1} to {MANY - 1}: here the draws agree more, one way or the other.",
    f"That is {FEW} at most: here most draws fall where the object can be read.",
)


def share(right: int) -> str:
    """How many of DRAWS are right, one of SHARES."""
    return SHARES[0 if right >= MANY else 1 if right > FEW else 2]


# --- Errors ------------------------------------------------------------------------------------------


def errors_equation(found: Cases) -> str:
    """Share of wrong captions by their kinds."""
    parts = [found.count(kind) for kind in (PLACE, NAME, RELATION)]
    sum_ = " + ".join(map(str, parts))
    return rf"1 - \mathrm{{exact}} = \frac{{{sum_}}}{{{COUNT}}} = {found.wrong / COUNT:.3f}"


def errors_notice(found: Cases, both: Counted, test: str) -> str:
    right = COUNT - found.wrong
    return (
        f"Of {COUNT} test scenes ({test}) {both.soft.wrong} captions are wrong with soft attention, "
        f"{both.hard.wrong} with hard. At the first wrong word the map says why: of the {found.wrong} here, "
        f"{found.count(PLACE)} looked at another place than the object, {found.count(NAME)} at the object "
        "and named it otherwise. The reverse does not hold: of the "
        f"{right} right captions {found.count(ELSEWHERE)} have a word whose largest weight lies outside its "
        "box. A good caption does not prove a good map."
    )


def more_often(found: Cases) -> str:
    """The more frequent kind of error."""
    place, name = found.count(PLACE), found.count(NAME)
    return ANSWERS[0 if place > name else 1 if name > place else 2]


ANSWERS = ["wrong place", "right place, wrong name", "equally often"]


def not_so(found: Cases) -> Mapping[str, Any]:
    """Why an answer is wrong."""
    place, name = found.count(PLACE), found.count(NAME)
    return {
        ANSWERS[0]: f"{place} were looked for elsewhere, {name} at the object.",
        ANSWERS[1]: f"{name} were looked at, {place} were looked for elsewhere.",
        ANSWERS[2]: f"There are {place} and {name}.",
    }
