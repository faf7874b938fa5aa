r"""A picture that is captioned word by word: where each word looks, and whether that is the object it names.

    mass_t = Σ_{i ∈ box} γ_ti       beside the area  |box| / L       H(γ_t) = −Σ_i γ_ti log γ_ti

A word of size, colour or shape speaks of one object, the k-th in the caption for the k-th "a"; its box is the
locations whose cell overlaps the object (`GridEncoder.inside`).

Shapes: pictures (3, H, W); T words with the end, L locations.

References: Xu et al. 2015, arXiv:1502.03044; Zhang et al. 2018, arXiv:1608.00507 (the pointing game).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor

from datamodules import scenes
from datamodules.scenes import CaptionedPictures, Objects, Pictures
from lab import experiments
from lab.errors import UserError
from lab.experiments import Experiment
from modules.recurrent.captioning import Captioner
from modules.recurrent.grid_features import pointing
from pages.recurrent.captioning.room import (
    ATTENTIONS,
    DRAWN,
    KINDS,
    OBJECTS,
    OWN,
    PAIRS,
    SEEN,
    THREE,
    variant,
)

Asked = tuple[str, int, tuple[tuple[str, int], ...], float]
MOST, TEST = 24, 3  # words that are written; number of the test split
DRAWS = range(20)  # seeds of which captions are counted
END = "⊣"  # shown for <eos>
LEVELS: dict[str, tuple[int, scenes.Test]] = {
    PAIRS: (2, "pairs"), OBJECTS: (2, "objects"), SEEN: (2, "seen"), THREE: (3, "seen"),
}  # fmt: skip
COUNT = 1000  # test scenes of a kind


def fits(experiment: Experiment) -> bool:
    """Check for a captioner of scenes with soft or hard attention whose sister is trained too."""
    kind = experiment.name.partition("-")[0]
    if not experiment.module.endswith(".Captioner") or kind not in ATTENTIONS:
        return False
    try:
        sisters = [experiments.find(variant(experiment.name, each)) for each in ("soft", "hard")]
    except UserError:
        return False
    given = experiment.config["model"].get("init_args") or {}
    return given.get("context", "soft") == ATTENTIONS[kind] and all(
        each.weights is not None for each in sisters
    )


# --- The scene ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Picture:
    """A scene.

    Attributes:
        pixels: (3, H, W) in [0, 1].
        gold: the words of its caption, END behind them; of: the object that each speaks of, −1 for none.
        objects: names of the objects in reading order. boxes: (K, 4).
        says: what of it no training scene has; "" for nothing.
    """

    pixels: Tensor
    gold: list[str]
    objects: list[str]
    boxes: Tensor
    says: str


def picture(soft_card: Mapping[str, Any], asked: Asked) -> Picture:
    """The scene that a reader has composed, or one of the test scenes.

    Raises:
        UserError: two objects have one place.
    """
    side = int(soft_card["data"]["image_size"])
    source, number, composed, contrast = asked
    if source == OWN:
        if len({place for _, place in composed}) < len(composed):
            raise UserError("Two objects have the same place: give each one of its own.")
        objects = placed(composed)
        pixels = contrast * drawn(objects, side) + (1 - contrast) * drawn(empty(objects), side)
    else:
        data = known_scenes(source, side)
        objects = Objects(*(each[number : number + 1] for each in data.objects))
        pixels = data.pictures(torch.tensor([number]))[0]
    kinds = [kind for kind in objects.kinds[0].tolist() if kind >= 0]
    words, _ = scenes.caption(objects.kinds[0].tolist(), objects.cells[0].tolist())
    boxes = scenes.boxes(objects, side)[0, : len(kinds)]
    return Picture(pixels, [*words, END], [KINDS[k] for k in kinds], boxes, novelty(kinds))


def drawn(objects: Objects, side: int) -> Tensor:
    """One scene on always the same noise, (3, H, W)."""
    return Pictures(objects, side, 0).pictures(torch.tensor([0]))[0]


def empty(objects: Objects) -> Objects:
    """The scene without its objects."""
    return objects._replace(kinds=torch.full_like(objects.kinds, -1))


def placed(composed: tuple[tuple[str, int], ...]) -> Objects:
    """Objects at the centres of their cells, in reading order."""
    order = sorted((place - 1, KINDS.index(kind)) for kind, place in composed)
    cells, kinds = torch.tensor(order).T
    centres = torch.stack([cells % scenes.GRID, cells // scenes.GRID], -1) + 0.5
    return Objects(kinds[None], cells[None], centres[None])


@cache
def known_scenes(kind: str, side: int) -> CaptionedPictures:
    """The test scenes of a kind."""
    level, test = LEVELS[kind]
    objects = scenes.draw(COUNT, level, test, TEST, scenes.JITTER if level == 3 else 0.0)
    return CaptionedPictures(objects, side, TEST, scenes.tokenizer())


def novelty(kinds: list[int]) -> str:
    """What of a scene no training scene has."""
    if strange := [KINDS[k] for k in kinds if scenes.new_objects()[k]]:
        return f"No training scene has a {strange[0]}."
    if len(kinds) > 2:
        return "Training scenes have two objects at most."
    if len(kinds) == 2 and bool(scenes.new_pairs()[kinds[0], kinds[1]]):
        return "No training scene has these two objects together."
    return ""


# --- The caption, word by word -----------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A caption of T words, the end included.

    Attributes:
        words: END for the end. ids: (T,). p: their probabilities, (T,).
        gamma: weights of each step, before a place is drawn, (T, L).
        places: where a step of hard attention looked, (T,); None of soft attention.
        of: the object that a word speaks of, −1 for none.
        wrong: words that are not true of their object, and the first word that the gold caption has not.
        mass, area: γ in the box of the object, and the box's share of all locations; NaN without one: (T,).
        inside: locations that point at that box, (T, L). entropy: of γ in nats, (T,).
        centres: pixel on which each location is centred, (L, 2). jump: pixels from one to the next.
        field: pixels in a row that a location sees.
    """

    words: list[str]
    ids: Tensor
    p: Tensor
    gamma: Tensor
    places: list[int] | None
    of: list[int]
    wrong: list[bool]
    mass: Tensor
    area: Tensor
    inside: Tensor
    entropy: Tensor
    centres: Tensor
    jump: int
    field: int

    @property
    def right(self) -> bool:
        return not any(self.wrong)


@torch.no_grad()
def write(
    model: Captioner, shown: Picture, location: Literal["argmax", "sample"] = "argmax", seed: int = 0
) -> Written:
    """Caption a picture greedily; hard attention looks at the heaviest place, or at one that is drawn."""
    tokens = scenes.tokenizer().tokens
    decoder = model.incremental_decoder(location, torch.Generator().manual_seed(seed))
    now, token = model.begin(shown.pixels[None]), torch.tensor([model.bos])
    rows: list[tuple[Tensor, ...]] = []
    while len(rows) < MOST and not (rows and int(token) == model.eos):
        gamma = model.decoder.attend(now)[1]
        log_p, now = decoder.step(now, token)
        best = log_p[0].max(-1)
        token = best.indices[None]
        assert now.gamma is not None
        rows.append((best.indices, best.values.exp(), gamma[0], now.gamma[0].argmax()))
    ids, p, gamma, places = (torch.stack(column) for column in zip(*rows, strict=True))
    words = [END if i == model.eos else tokens[i] for i in ids.tolist()]
    of = speaks_of(words)
    boxed = torch.tensor([0 <= k < len(shown.boxes) for k in of])
    box = shown.boxes[[max(0, min(k, len(shown.boxes) - 1)) for k in of]]
    inside = model.encoder.inside(box) & boxed[:, None]
    _, mass, area = pointing(gamma, inside)
    return Written(
        words, ids, p, gamma, places.tolist() if model.hard else None, of, mistakes(words, of, shown),
        mass.where(boxed, torch.nan), area.where(boxed, torch.nan), inside,
        torch.special.entr(gamma).sum(1), model.encoder.centres(), model.encoder.jump,
        model.encoder.receptive_field,
    )  # fmt: skip


def speaks_of(words: list[str]) -> list[int]:
    """The object that each word of a caption speaks of, −1 for none: the k-th after the k-th "a"."""
    attributes = {word for group in scenes.ATTRIBUTES.values() for word in group}
    k, results = -1, []
    for word in words:
        k += word == "a"
        results.append(k if word in attributes else -1)
    return results


def mistakes(words: list[str], of: list[int], shown: Picture) -> list[bool]:
    """Words that are not true of their object, and the first that the gold caption has not, (T,)."""
    padded = [*shown.gold, *[""] * len(words)]
    first = next((t for t, word in enumerate(words) if word != padded[t]), -1)
    names = [shown.objects[k].split() if 0 <= k < len(shown.objects) else [] for k in of]
    return [
        t == first or (k >= 0 and word not in names[t])
        for t, (word, k) in enumerate(zip(words, of, strict=True))
    ]


def read(model: Captioner, soft_card: Mapping[str, Any], asked: Asked) -> tuple[Picture, Written]:
    """A picture and its caption; hard attention looks at the heaviest place."""
    shown = picture(soft_card, asked)
    return shown, write(model, shown)


@dataclass(frozen=True)
class Compared:
    """One picture by soft and hard attention.

    Attributes:
        right: of as many draws of hard attention as there are DRAWS, those whose caption is right.
    """

    picture: Picture
    soft: Written
    hard: Written
    right: int


def compare(
    soft: Captioner, hard: Captioner, soft_card: Mapping[str, Any], asked: Asked, location: str, seed: int
) -> Compared:
    """Both captions, and how many are right where the places of hard attention are drawn."""
    shown = picture(soft_card, asked)
    one = write(hard, shown, "sample" if location == DRAWN else "argmax", seed)
    right = sum(write(hard, shown, "sample", draw).right for draw in DRAWS)
    return Compared(shown, write(soft, shown), one, right)
