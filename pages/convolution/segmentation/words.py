"""What the page says of classes, of votes, of regions and of sides."""

from modules.convolution.regions import UNLABELLED
from pages.convolution.segmentation.lens import Assembly, Compared, Moment, iou
from pages.convolution.segmentation.pyramid import Grid, Pyramid
from pages.convolution.segmentation.room import BRIGHTNESS, VOTES
from pages.convolution.segmentation.voting import Vote


def short(model: str) -> str:
    """Name of a network above a tile."""
    if model == BRIGHTNESS:
        return "brightness"
    return "no skips" if "noskips" in model else "U-Net"


def names(model: str, other: str) -> tuple[str, str]:
    """Two names that differ, unless the networks are the same."""
    a, b = short(model), short(other)
    return (a, b) if a != b else (model.partition("/")[0], other.partition("/")[0])


# --- Pixels ---------------------------------------------------------------------------------------------


def share(both: int, either: int) -> str:
    return f"{both / either:.2f}" if either else "–"


def class_captions(one: Compared, classes: tuple[str, ...], called: tuple[str, str]) -> list[str]:
    """Of each class: how much of it is found."""
    texts = []
    for c, name in enumerate(classes):
        pairs = one.counts(c)
        if one.of.truth is None:
            counts = [int((one.told[k] == c).sum()) for k in (0, 1)]
            texts.append(f"{name}: {called[0]} calls {counts[0]:,} pixels so, {called[1]} {counts[1]:,}.")
        else:
            both = [share(*pair) for pair in pairs]
            texts.append(
                f"{name}, {int((one.of.truth == c).sum()):,} pixels: IoU {both[0]} by {called[0]}, {both[1]} "
                f"by {called[1]}."
            )
    return texts


def fraction(both: int, either: int) -> str:
    value = f"{both / either:.3f}" if either else r"\tfrac{0}{0}"
    return rf"\frac{{{both}}}{{{either}}} = {value}"


def class_equations(one: Compared, classes: tuple[str, ...], called: tuple[str, str]) -> list[str]:
    """Of each class: IoU with its counts; of a drawing, of one network's pixels with the other's."""
    texts = []
    for c in range(len(classes)):
        pairs = one.counts(c)
        if len(pairs) == 1:
            texts.append(
                rf"\mathrm{{IoU}}(\text{{{called[0]}}}, \text{{{called[1]}}}) = {fraction(*pairs[0])}"
            )
        else:
            texts.append(r", \qquad ".join(
                rf"\mathrm{{IoU}}(\text{{{name}}}) = {fraction(*pair)}"
                for name, pair in zip(called, pairs, strict=True)
            ))  # fmt: skip
    return texts


# --- Votes ----------------------------------------------------------------------------------------------


def vote_captions(one: Vote, target: str) -> list[str]:
    """Of each number of answers: how much of the class is left, and how much of that is true."""
    texts = []
    for count, size, (precision, recall) in zip(VOTES, one.sizes, one.shares, strict=True):
        who = "One answer calls" if count == 1 else f"All {count} answers call"
        if one.truth is None:
            texts.append(f"{who} {size:,} pixels {target}, of {one.sizes[0]:,} that the first one does.")
        else:
            true = "" if size == 0 else f"; {100 * precision:.0f} % of them are true"
            texts.append(f"{who} {size:,} pixels {target}{true}. {100 * recall:.0f} % of the class is found.")
    return texts


def vote_equations(one: Vote) -> list[str]:
    """Of each number of answers: precision and recall with their counts."""
    truth = one.masks[0] if one.truth is None else one.truth
    wanted = int(truth.sum())
    texts = []
    for count, size in zip(VOTES, one.sizes, strict=True):
        both = int((one.all(count) & truth).sum())
        recall = rf"\mathrm{{recall}} = {fraction(both, wanted)}"
        precision = rf"\mathrm{{precision}} = {fraction(both, size)}, \qquad "
        texts.append(recall if one.truth is None else precision + recall)
    return texts


def vote_notice(one: Vote) -> str:
    """What a vote is of, and what it does."""
    text = (
        "A class is given where all answers give it: each more can only take pixels away. Wrong ones go "
        "sooner than true ones, so precision rises and recall falls. Here one network answers to the picture "
        "turned by quarters and mirrored, each answer turned back; the text's vote is of five networks. "
    )
    agreed = one.sizes[-1] / one.sizes[0] if one.sizes[0] else 1.0
    return text + f"All eight keep {100 * agreed:.0f} % of what the first one says."


# --- Regions --------------------------------------------------------------------------------------------


def assembled(one: Assembly, classes: tuple[str, ...]) -> str:
    """The order of the classes, what is left, and how good it is where that is known."""
    order = ", ".join(classes[step.label].lower() for step in one.steps if step.accepted) or "none"
    left = int((one.labels == UNLABELLED).sum())
    text = f"Order of the classes: {order}. {left:,} pixels have no label at the end. "
    if one.of.truth is None:
        return text + "With β = 0 and a = 0 every pixel is set by its own P alone."
    count = len(classes)
    alone = iou(one.p.argmax(0), one.of.truth, count)
    return text + (
        f"Mean IoU with the true classes: {iou(one.labels, one.of.truth, count):.3f}, and {alone:.3f} of the "
        "likeliest class of every pixel."
    )


def step_names(one: Assembly, classes: tuple[str, ...]) -> list[str]:
    """Of each frame: the class, and the sweep."""
    texts = ["start"]
    for moment in one.moments[1:]:
        name = classes[one.steps[moment.step].label].lower()
        texts.append(f"{name}, sweep {moment.sweep}" if moment.sweep >= 0 else f"{name}, done")
    return texts


def step_captions(one: Assembly, classes: tuple[str, ...]) -> list[str]:
    """Of each frame: what has happened to the region."""
    first = classes[one.steps[0].label].lower()
    texts = [f"Nothing is labelled yet; the class with the largest sum of P is {first}."]
    for moment in one.moments[1:]:
        region = one.steps[moment.step]
        name = classes[region.label]
        size = int(moment.state.sum())
        if moment.sweep == 0:
            texts.append(f"{name}: the region starts with the {size:,} unlabelled pixels of P > ½.")
        elif moment.sweep > 0:
            changed = int((region.states[moment.sweep] ^ region.states[moment.sweep - 1]).sum())
            texts.append(f"{name}, sweep {moment.sweep}: {changed:,} pixels change; {size:,} are in.")
        elif region.accepted:
            gone = f"{region.dropped} small components are dropped; " if region.dropped != 1 else (
                "one small component is dropped; ")  # fmt: skip
            texts.append(f"{name}: {gone}{size:,} pixels are labelled.")
        else:
            texts.append(f"{name}: not enough evidence. The assembly ends; what is left has no label.")
    return texts


def step_equations(one: Assembly, beta: float) -> list[str]:
    """Of each frame: the sums, the energy, or the evidence."""
    return [step_equation(one, moment, beta) for moment in one.moments]


def step_equation(one: Assembly, moment: Moment, beta: float) -> str:
    if moment.step < 0:
        sums = ", ".join(rf"{value:,.0f}" for value in moment.sums).replace(",", "{,}")
        return rf"c^* = \mathrm{{argmax}}_c \sum P_c, \qquad \sum P_c = {sums.replace('{,} ', ', ')}"
    region = one.steps[moment.step]
    if moment.sweep >= 0:
        total = region.energies[moment.sweep]
        return (
            rf"E = \sum -\log P + \beta \cdot {moment.pairs} = {total - beta * moment.pairs:.1f} + {beta:g} "
            rf"\cdot {moment.pairs} = {total:.1f}"
        )
    sign = r"\ge" if region.accepted else "<"
    return rf"\sum P = {region.evidence:.1f} {sign} \tau \cdot {one.of.x.numel()} = {one.needed:.1f}"


# --- Sizes ----------------------------------------------------------------------------------------------


def grid_captions(one: Pyramid) -> list[str]:
    """Of each grid: what becomes of it."""
    return [grid_caption(one, grid) for grid in one.grids]


def grid_caption(one: Pyramid, grid: Grid) -> str:
    where = f"Level {grid.level}: "
    if grid.fails and not grid.after:
        return f"{where}nothing is left of {grid.before} pixels."
    if grid.fails:
        return f"{where}{grid.after} is odd and cannot be halved. Pad the picture to {one.next} and crop."
    kept = f"{grid.before} pixels a side become {grid.after}" if one.lost else f"{grid.before} pixels stay"
    if grid.up:
        crop = f"{grid.crop} are cropped from each side of what was kept; " if grid.crop else ""
        return f"{where}{crop}it is joined, then {kept}."
    if grid.level == one.levels:
        return f"{where}the bottom, {kept}."
    return f"{where}{kept}, which are kept; pooling leaves {grid.after // 2}."


def grid_equations(one: Pyramid) -> list[str]:
    """Of each grid: its sides."""
    return [grid_equation(one, grid) for grid in one.grids]


def grid_equation(one: Pyramid, grid: Grid) -> str:
    after = rf"{grid.before} - {one.lost} = {grid.before - one.lost}"
    rule = rf"n \equiv {one.least % one.step} \ (\mathrm{{mod}}\ {one.step}),\quad n \ge {one.least}"
    if grid.fails:
        return rf"{after}, \qquad {rule}"
    if grid.up:
        kept = one.grids[grid.level].after
        text = rf"\tfrac{{1}}{{2}}({kept} - {grid.before}) = {grid.crop}, \qquad {after}"
        if not grid.level:
            text += rf", \qquad n - {one.n - grid.after} = {grid.after}"
        return text
    if grid.level == one.levels:
        return rf"{after}, \qquad 2 \cdot {grid.after} = {2 * grid.after}"
    return rf"{after}, \qquad {grid.after} / 2 = {grid.after // 2}"


def sided(one: Pyramid) -> str:
    """Which sides are legal, and what to do with others."""
    sides = ", ".join(str(n) for n, _ in one.legal(one.least + 2 * one.step))
    text = f"Legal sides are {sides} and so on, {one.step} apart. "
    if one.output is None:
        return text + (
            f"A picture of {one.n} is padded to {one.next}, for instance by reflection at its border, and "
            "its output is cropped."
        )
    if one.padded:
        return text + "Zero padding keeps the side, and the pixels at the border see zeros."
    return text + (
        f"Of {one.n}² pixels {one.output}² are classified, {100 * one.output**2 / one.n**2:.0f} %: a large "
        "picture is classified in tiles that overlap, each with its surroundings."
    )
