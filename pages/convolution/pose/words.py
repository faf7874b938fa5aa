"""What the page says of joints, of blocks and of stacks."""

from datamodules.stick_figures import JOINTS, SWAPPED
from pages.convolution.pose.lens import Judged, Look
from pages.convolution.pose.room import ROWS, SHARES


def pixels(value: float) -> str:
    return f"{value:.1f} px"


def joint_captions(look: Look) -> list[str]:
    """Of each joint: where the maxima lie."""
    return [joint_caption(look, joint) for joint in range(len(JOINTS))]


def joint_caption(look: Look, joint: int) -> str:
    name = JOINTS[joint].capitalize()
    tops = look.heatmaps[0, :, joint].amax((-2, -1)).tolist()
    if look.away is None or look.right is None or look.swapped is None:
        parts = [f"{top:.2f} after stack {s}" for s, top in enumerate(tops, 1)]
        return f"{name}: the maximum is {', '.join(parts)}."
    parts = []
    for s, top in enumerate(tops):
        where = f"{pixels(float(look.away[0, s, joint]))} off"
        if look.swapped[0, s, joint]:
            where += f", at the {JOINTS[SWAPPED[joint]]}"
        parts.append(f"{top:.2f} after stack {s + 1}, {where}")
    covered = " It lies under the block." if look.hidden[0, joint] else ""
    return f"{name}: maximum {'; '.join(parts)}.{covered}"


def mean_of(values: list[float], name: str) -> str:
    r"""L = \frac{1}{2}(e_1 + e_2) with its numbers, in thousandths."""
    terms = " + ".join(rf"\underbrace{{{v:.5f}}}_{{e_{s}}}" for s, v in enumerate(values, 1))
    if len(values) == 1:
        return f"{name} = {terms}"
    return rf"{name} = \tfrac{{1}}{{{len(values)}}} \left({terms}\right) = {sum(values) / len(values):.5f}"


def joint_equations(look: Look) -> list[str]:
    """Of each joint: its loss over the stacks, and where its last heatmap is largest."""
    texts = []
    for joint in range(len(JOINTS)):
        row, column = look.places[0, -1, joint].tolist()
        top = float(look.heatmaps[0, -1, joint].max())
        text = rf"\hat{{p}} = \mathrm{{argmax}}\, H = ({row:g}, {column:g}), \quad \max H = {top:.2f}"
        if look.errors is not None:
            text = mean_of(look.errors[0, :, joint].tolist(), "L") + rf", \qquad {text}"
        texts.append(text)
    return texts


def counts(look: Look, frame: int) -> list[int]:
    """Correct joints of each stack."""
    assert look.right is not None
    return [int(n) for n in look.right[frame].sum(-1).tolist()]


def row_names() -> list[str]:
    return ["none" if row == 0 else str(row) for row in ROWS]


def block_captions(look: Look) -> list[str]:
    """Of each place of the block: what it covers and what is found."""
    return [block_caption(look, frame) for frame in range(len(ROWS))]


def block_caption(look: Look, frame: int) -> str:
    if look.right is None or look.swapped is None:
        where = f"A block at row {ROWS[frame]}." if ROWS[frame] else "No block."
        return f"{where} Nobody says where the joints of a drawing are."
    hidden = [JOINTS[joint] for joint in look.hidden[frame].nonzero()[:, 0].tolist()]
    start = f"Block over {listed(hidden)}" if hidden else "Block beside all joints"
    found = ", ".join(f"{n} after stack {s}" for s, n in enumerate(counts(look, frame), 1))
    other = int(look.swapped[frame, -1].sum())
    side = f"; {other} {'lies' if other == 1 else 'lie'} on the other side" if other else ""
    return f"{start if ROWS[frame] else 'No block'}: of {len(JOINTS)} joints {found} are right{side}."


def listed(names: list[str]) -> str:
    if len(names) > 3:
        return f"{len(names)} joints"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def block_equations(look: Look) -> list[str]:
    """Of each place of the block: the loss over the stacks, or the largest maximum of a drawing."""
    texts = []
    for frame in range(len(look.x)):
        if look.errors is None:
            tops = look.heatmaps[frame, -1].amax((-2, -1))
            texts.append(rf"\max H = {float(tops.min()):.2f} \ldots {float(tops.max()):.2f}")
            continue
        found = ", ".join(rf"\tfrac{{{n}}}{{{len(JOINTS)}}}" for n in counts(look, frame))
        loss = mean_of(look.errors[frame].mean(-1).tolist(), "L")
        texts.append(rf"{loss}, \qquad \mathrm{{PCK}} = {found}")
    return texts


def share_captions(one: Judged) -> list[str]:
    """Of each α: what is found, and what lies on the other side."""
    texts, total = [], one.joints[..., 0].numel()
    for share in SHARES:
        right = one.right(share).double().mean((0, 2)).tolist()
        swapped = one.swapped(share).sum((0, 2)).tolist()
        found = ", ".join(f"{value:.3f} after stack {s}" for s, value in enumerate(right, 1))
        side = ", ".join(str(n) for n in swapped)
        texts.append(f"α = {share:.2f}: {found}. On the other side's joint: {side} of {total:,}.")
    return texts


def share_equations(one: Judged) -> list[str]:
    """Of each α: the counts behind both shares."""
    texts = []
    total = one.joints[..., 0].numel()
    for share in SHARES:
        found = one.right(share).sum((0, 2)).tolist()
        parts = [rf"\frac{{{n}}}{{{total}}} = {n / total:.3f}" for n in found]
        texts.append(rf"\mathrm{{PCK}}({share:.2f}) = " + r",\quad ".join(parts))
    return texts
