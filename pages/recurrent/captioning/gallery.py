"""Errors of two captioners on test scenes, counted by what the map at the first wrong word shows.

    wrong place    the peak of γ lies outside the box of the object that the gold word speaks of
    wrong name     it lies inside: the object was looked at, and named otherwise

Up to its first wrong word a caption is the gold one, so that the gold word's box is that of the step; words
that speak of no object (the relation, the end) have none. A right caption may have looked elsewhere too.

Reference: Xu et al. 2015, arXiv:1502.03044, figure 5.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from datamodules import scenes
from modules.recurrent.caption_decoder import IGNORED
from modules.recurrent.captioning import Captioner
from modules.recurrent.grid_features import pointing
from pages.recurrent.captioning.lens import COUNT, END, known_scenes
from pages.recurrent.captioning.room import CASES, ELSEWHERE, NAME, PLACE, RELATION, WRONG

CHUNK, SHOWN, FINE = 250, 9, -1  # scenes at once; pictures of the gallery; a caption without fault


@dataclass(frozen=True)
class Cases:
    """N test scenes as one captioner saw them.

    Attributes:
        case: number in CASES, or FINE, (N,).
        step: the first wrong word, else the first that looked elsewhere, else 0, (N,).
        written, gold: the words there, (N,).
        box: of the object, zeros for none; cell: of the location with the largest γ there: (N, 4), left, top,
            right, bottom.
    """

    case: Tensor
    step: Tensor
    written: Tensor
    gold: Tensor
    box: Tensor
    cell: Tensor

    def count(self, case: str) -> int:
        return int((self.case == CASES.index(case)).sum())

    @property
    def wrong(self) -> int:
        """Captions with a wrong word."""
        return sum(self.count(case) for case in (PLACE, NAME, RELATION))

    def chosen(self, case: str) -> list[int]:
        """The first scenes of a kind, as many as are shown."""
        kinds = [CASES.index(each) for each in ((PLACE, NAME, RELATION) if case == WRONG else (case,))]
        return torch.isin(self.case, torch.tensor(kinds)).nonzero()[:SHOWN, 0].tolist()


@dataclass(frozen=True)
class Counted:
    """Cases of soft and hard attention, as far as scenes are captioned."""

    soft: Cases
    hard: Cases


def errors(
    soft: Captioner, hard: Captioner, soft_card: Mapping[str, Any], test: str
) -> Iterator[tuple[float, Counted]]:
    """Caption all test scenes of a kind: the share done, and what is found."""
    data = known_scenes(test, int(soft_card["data"]["image_size"]))
    parts: list[tuple[Cases, Cases]] = []
    for rows in torch.arange(COUNT).split(CHUNK):
        batch = data[rows]
        parts.append((cases(soft, batch), cases(hard, batch)))
        yield (int(rows[-1]) + 1) / COUNT, Counted(*(joined(each) for each in zip(*parts, strict=True)))


def pictures(soft_card: Mapping[str, Any], test: str, chosen: list[int]) -> Tensor:
    """Some test scenes of a kind, (N, 3, H, W)."""
    return known_scenes(test, int(soft_card["data"]["image_size"])).pictures(torch.tensor(chosen))


def joined(parts: tuple[Cases, ...]) -> Cases:
    return Cases(*(torch.cat([vars(part)[name] for part in parts]) for name in Cases.__dataclass_fields__))


@torch.no_grad()
def cases(model: Captioner, batch: tuple[Tensor, Tensor, Tensor, Tensor]) -> Cases:
    """Caption pictures greedily, and compare with targets and boxes of a batch, see `datamodules.scenes`."""
    pictures, _, target, boxes = batch
    decoder, now = model.incremental_decoder(), model.begin(pictures)
    token, words, maps = torch.full((len(pictures),), model.bos), [], []
    for _step in range(target.shape[1]):
        maps.append(model.decoder.attend(now)[1])
        log_p, now = decoder.step(now, token)
        token = log_p.argmax(1)
        words.append(token)
    written, gamma = torch.stack(words, 1), torch.stack(maps, 1)
    wrong, boxed = (written != target) & (target != IGNORED), boxes.any(-1)
    hit = (
        pointing(gamma.flatten(0, 1), model.encoder.inside(boxes).flatten(0, 1))[0].reshape(target.shape) > 0
    )
    away, bad = boxed & ~hit, wrong.any(1)
    step = torch.where(bad, wrong.int().argmax(1), away.int().argmax(1))
    rows = torch.arange(len(pictures))
    case = torch.where(
        boxed[rows, step],
        torch.where(hit[rows, step], CASES.index(NAME), CASES.index(PLACE)),
        CASES.index(RELATION),
    )
    right = torch.where(away.any(1), CASES.index(ELSEWHERE), FINE)
    centre = model.encoder.centres()[gamma[rows, step].argmax(1)]
    half = model.encoder.jump / 2
    return Cases(
        case.where(bad, right), step, written[rows, step], target[rows, step], boxes[rows, step],
        torch.cat([centre - half, centre + half], 1),
    )  # fmt: skip


def names(ids: Tensor) -> list[str]:
    """The words of ids, END for the end."""
    coder = scenes.tokenizer()
    return [END if i == coder.EOS else coder.tokens[i] for i in ids.tolist()]
