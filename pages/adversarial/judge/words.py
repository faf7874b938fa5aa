"""Sentences on a story."""

from lab.lenses import verdicts
from pages.adversarial.judge.room import COPIES, JUNK, MISSING, NOTHING, SHARES

OPTIONS = ["precision", "recall", "neither: the two are within 0.1"]
WITHOUT_MNIST = (
    " The files of MNIST are not here: small digits drawn with 28 × 28 pixels stand for its training and "
    "held-out digits, so that generators trained on MNIST have a lower precision and recall."
)
LOWER = ["precision", "recall", "neither, within 0.05"]


def captions(verdicts: list[verdicts.Verdict], change: str, floor: verdicts.Verdict) -> list[str]:
    """A sentence for every share."""
    what = {MISSING: "of the classes are missing", JUNK: "of the samples are noise",
            COPIES: "of the samples are copies"}  # fmt: skip
    return [
        ("As sampled" if change == NOTHING else f"{share:.0%} {what[change]}")
        + f": precision {v.precision:.2f}, recall {v.recall:.2f} (held-out digits {floor.precision:.2f}, "
        f"{floor.recall:.2f}); {v.repeated:.0%} occur more than once."
        for share, v in zip(SHARES, verdicts, strict=True)
    ]


def equations(verdicts: list[verdicts.Verdict], floor: verdicts.Verdict) -> list[str]:
    """The two scores with the floor, LaTeX."""
    return [
        rf"\mathrm{{FD}}={v.frechet:.3f}\ (\text{{held-out }}{floor.frechet:.3f}),\qquad "
        rf"\mathrm{{IS}}=e^{{H(\bar p)-\overline{{H}}}}={v.score:.2f}\ (\text{{held-out }}{floor.score:.2f})"
        for v in verdicts
    ]


def fallen(first: verdicts.Verdict, now: verdicts.Verdict) -> str:
    """The one of OPTIONS that has fallen further."""
    a, b = first.precision - now.precision, first.recall - now.recall
    return OPTIONS[2] if abs(a - b) <= 0.1 else OPTIONS[0] if a > b else OPTIONS[1]


def lower(now: verdicts.Verdict) -> str:
    """The right one of LOWER."""
    gap = now.precision - now.recall
    return LOWER[2] if abs(gap) <= 0.05 else LOWER[0] if gap < 0 else LOWER[1]
