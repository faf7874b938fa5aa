"""The page Two senses by layer: its line by another road, what its scenes say, real captions beside it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from opening import film, open_page, run_page
from sklearn.linear_model import LogisticRegression

from datamodules.multi30k import sentences as captions
from lab import experiments, weights
from lab.errors import UserError
from pages.transformer.two_senses import figures, lens
from pages.transformer.two_senses.room import EXAMPLES, TRAINED, UNTRAINED
from pages.transformer.two_senses.sentences import CUES, SENSES, VERBS, composed, split

PLACE = experiments.ZOO / "gpt-multi30k"
MODEL, CARD = weights.load(PLACE).eval(), weights.read_card(PLACE)
NAME = "transformer/two_senses"
COLORS = {
    *("black", "white", "blue", "red", "pink", "yellow", "green", "orange", "purple", "gray", "tan"),
    *("striped", "bikini", "tank"),
}


def x(text: str, fold: int = 0, way: str = TRAINED) -> list[float]:
    h = lens.vectors(MODEL, CARD, lens.cut(text), way)
    found: list[float] = lens.parted(MODEL, CARD, way, fold).place(h)[:, 0].tolist()
    return found


def test_a_split_shares_neither_verbs_nor_cues() -> None:
    every = composed()
    assert len({s.text for s in every}) == len(every) and {len(s.text.split()) for s in every} == {7}
    for seed in range(lens.SPLITS):
        seen, held = split(every, seed)
        for of in ("verb", "cue"):
            a, b = ({(every[i].sense, getattr(every[i], of)) for i in part} for part in (seen, held))
            assert not a & b and len({k for k, _ in a}) == len({k for k, _ in b}) == 2
    assert len(VERBS) == len(CUES) == len(SENSES)


@pytest.mark.parametrize("fold", range(3))
def test_one_point_becomes_two_clouds(fold: int) -> None:
    one = lens.parted(MODEL, CARD, TRAINED, fold)
    assert not one.points[0].any() and (one.right[:, 0] == 0.5).all()
    assert (one.right[:, 1] > 0.9).all() and (one.right[:, 2:] == 1).all()
    every = composed()
    seen, held = split(every, fold)
    h = lens.states(MODEL, CARD, [s.text for s in every])
    assert torch.allclose(h[0], h[0, :1])  # one embedding: same word, same position
    of = torch.tensor([s.sense for s in every])
    for l in (2, 4):
        a, b = h[l, seen][of[seen] == 0].mean(0), h[l, seen][of[seen] == 1].mean(0)
        nearer = (h[l, held] - b).norm(dim=1) < (h[l, held] - a).norm(dim=1)  # the nearest mean
        assert torch.equal(nearer, one.points[l, :, 0] > 0) and torch.equal(nearer.long(), of[held])
        # the second direction carries no sense of the first
        assert abs(float(one.planes[l, :, 0] @ one.planes[l, :, 1])) < 1e-9


def test_what_the_scenes_say() -> None:
    for fold in range(3):
        assert abs(x(EXAMPLES["Shiny"], fold)[1]) < 0.3 and x(EXAMPLES["Shiny"], fold)[2] < -0.5
        assert x(EXAMPLES["Worn"], fold)[2] < -0.5 and x(EXAMPLES["Bird"], fold)[2] > 0.5
        assert x(EXAMPLES["Bought"], fold)[4] > 0.5 and x(EXAMPLES["Said later"], fold)[4] > 0.5
    assert x(EXAMPLES["Said later"]) == x("A boy stands near the top")
    bare = lens.parted(MODEL, CARD, UNTRAINED, 0).right
    assert (bare[:, 0] == 0.5).all() and round(float(bare[:, 2].mean()), 2) == 0.91


def sense(before: list[str]) -> int | None:
    """By the words before: a colour or kind of garment, or where something is."""
    if before[-1:] and before[-1] in COLORS:
        return 0
    return (
        1 if before[-1:] == ["on"] or before[-2:] in (["on", "the"], ["at", "the"], ["to", "the"]) else None
    )


def test_real_captions_part_as_the_notice_says(real_data: Callable[[str], Path]) -> None:
    """A probe of real captions, judged on those with other words before."""
    real_data("multi30k")
    rows = []
    for line in (line for part in ("train", "val", "test") for line in captions(part)):
        if found := re.search(r"\btop\b", line):
            before = re.findall(r"[a-z']+", line[: found.start()].lower())
            if (kind := sense(before)) is not None:
                cue = " ".join(before[-2:]) if before[-1] == "the" else before[-1]
                rows.append((lens.states(MODEL, CARD, [line[: found.end()]])[:, 0], kind, cue))
    h, of = torch.stack([row[0] for row in rows], 1), torch.tensor([row[1] for row in rows])
    right = torch.zeros(5, len(h))
    for seed in range(5):
        generator = torch.Generator().manual_seed(seed)
        half = set[str]()
        for kind in range(2):
            cues = sorted({cue for _, k, cue in rows if k == kind})
            half |= {cues[i] for i in torch.randperm(len(cues), generator=generator)[: len(cues) // 2]}
        seen = torch.tensor([cue in half for *_, cue in rows])
        for l, layer in enumerate(h):
            probe = LogisticRegression(max_iter=2000, class_weight="balanced")
            probe.fit(layer[seen].numpy(), of[seen].numpy())
            said = torch.from_numpy(probe.predict(layer[~seen].numpy()))
            hits = said == of[~seen]
            right[seed, l] = torch.stack([hits[of[~seen] == k].double().mean() for k in range(2)]).mean()
    mean = right.mean(0)
    assert len(rows) == 360 and mean.tolist() == pytest.approx([0.60, 0.88, 0.99, 0.99, 1.0], abs=0.01)


def test_the_page_shows_its_numbers() -> None:
    page = open_page(NAME)
    bar = film(page, "layer")
    assert bar["count"] == 5 and "100.0 ± 0.0 %" in bar["captions"][2]
    assert "neither side" in bar["captions"][0] and "side of the garment" in bar["captions"][2]
    one = lens.parted(MODEL, CARD, TRAINED, 0)
    tree = figures.clouds(one, one.place(lens.vectors(MODEL, CARD, lens.cut(EXAMPLES["Worn"]), TRAINED)))
    assert sum(len(trace["x"].values[0]) for trace in tree["data"]) == len(one.sentences) + 1


@pytest.mark.parametrize(
    ("text", "words"),
    [("A man sits", "has no “top”"), ("top", "Nothing stands before"), ("é " * 40 + "top", "tokens")],
)
def test_bad_input_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        lens.vectors(MODEL, CARD, lens.cut(text), TRAINED)
    page = run_page(NAME, text=text)
    assert not page.exception
