"""Maps of letters in the prompt: what is answered to each question, where it looks, what Bayes would say.

Shapes: `B` prompts, `N` questions of one, `V` letters, `L` layers, `H` heads, `T` tokens.
"""

import math
import re
from dataclasses import dataclass

import torch
from torch import Tensor

from datamodules.in_context import ARROW, LETTERS, CharacterMaps
from lab.errors import UserError
from lab.lenses import attention
from modules.transformer.gpt import GPT
from pages.transformer.in_context.room import FRESH

DATA = CharacterMaps()
COUNT, TOP = 2_000, 6
COPIES, KEEPS = "copies the flipped label", "keeps the label before"


# --- Prompts -----------------------------------------------------------------------------------------


def read(text: str) -> tuple[list[str], list[str]]:
    """Letters asked for, the last without an answer, and the answers of the others.

    Raises:
        UserError: a word is no pair, the question is missing, or there are too many pairs.
    """
    words = re.sub(r"\s*>\s*", ">", text.lower().strip().removesuffix("?").strip())
    # "a>b c>d e>": behind the last arrow stands nothing
    parts = [word for word in re.split(r"[\s,;]+", words) if word]
    if not parts or not re.fullmatch(r"[a-z]>", parts[-1]):
        raise UserError("The question is missing: end with a letter and >, as in a>q b>m a>.")
    for word in parts[:-1]:
        if not re.fullmatch(r"[a-z]>[a-z]", word):
            raise UserError(f"“{word[:20]}” is no pair: write two letters from a to z as in a>q.")
    if len(parts) > DATA.shots + 1:
        raise UserError(f"There are {len(parts) - 1} pairs: the model was trained with up to {DATA.shots}.")
    return [word[0] for word in parts], [word[2] for word in parts[:-1]]


def checked(text: str) -> str:
    """A prompt that can be read.

    Raises:
        UserError: as of `read`.
    """
    read(text)
    return text


def flipped(keys: list[str], values: list[str]) -> list[str]:
    """Answers after the letter asked for last and the first other letter have exchanged theirs; the same
    answers where there are no two such letters."""
    table = dict(zip(keys, values, strict=False))
    other = next((key for key in table if key != keys[-1]), None)
    if keys[-1] not in table or other is None:
        return values
    table[keys[-1]], table[other] = table[other], table[keys[-1]]
    return [table[k] if k in (keys[-1], other) else v for k, v in zip(keys, values, strict=False)]


@dataclass(frozen=True)
class Answers:
    """
    Attributes:
        names: of the T tokens. keys: letters asked for, N. values: their answers, without the last.
        p: of each answer, (N, V). best: the same by Bayes; NaN where no map has the pairs.
        looks: attention of each question's arrow, (N, L·H, T). heads: names of its rows.
        flips: whether two letters have exchanged their answers.
    """

    names: list[str]
    keys: list[str]
    values: list[str]
    p: Tensor
    best: Tensor
    looks: Tensor
    heads: list[str]
    flips: bool

    def matches(self, n: int) -> list[int]:
        """Places of the answers of question n that stand before it."""
        return [3 * i + 2 for i in range(n) if self.keys[i] == self.keys[n]]


def flip_said(one: Answers) -> str:
    """Whether labels are flipped, and if not why."""
    last, others = one.keys[-1], {key for key in one.keys[:-1]} - {one.keys[-1]}
    if one.flips:
        return f"{last} and the first other letter have exchanged their answers"
    if last not in one.keys[:-1]:
        return f"nothing is exchanged: {last} was never shown"
    return "nothing is exchanged: " + ("both have one answer" if others else "there is no other letter")


def numbers(letters: list[str]) -> Tensor:
    return torch.tensor([LETTERS.index(letter) for letter in letters], dtype=torch.int64)


def answered(maps: GPT, text: str, flip: bool) -> Answers:
    """One pass over a prompt."""
    keys, given = read(text)
    values = flipped(keys, given) if flip else given
    names = [part for k, v in zip(keys, [*values, ""], strict=True) for part in (k, ">", v)][:-1]
    tokens = torch.tensor([ARROW if name == ">" else LETTERS.index(name) for name in names])
    seen = attention.record(maps, tokens)
    p = seen.logits[1::3, : len(LETTERS)].softmax(-1)  # the arrow is no answer
    best = DATA.best(numbers(keys)[None], numbers([*values, "a"])[None])[0]
    L, H = seen.weights.shape[:2]
    looks = seen.weights[:, :, 1::3].permute(2, 0, 1, 3).flatten(1, 2)  # (N, L·H, T)
    heads = [f"{l + 1}.{h + 1}" for l in range(L) for h in range(H)]
    return Answers(names, keys, values, p, best, looks, heads, values != given)


def top(one: Answers, n: int) -> tuple[list[str], Tensor, Tensor]:
    """The likeliest answers to question n, their probabilities, and those by Bayes."""
    p, ids = one.p[n].topk(TOP)
    return [LETTERS[i] for i in ids.tolist()], p, one.best[n, ids].nan_to_num(0)


# --- Accuracy ----------------------------------------------------------------------------------------


@torch.no_grad()
def shares(maps: GPT, task: str, flip: bool) -> dict[str, Tensor]:
    """Share of right answers after 0 … shots, by name, (N,), NaN where nothing is asked.

    With flipped labels the questions are those for letters that have exchanged theirs and were shown.
    """
    data = CharacterMaps(fresh=1.0 if task == FRESH else 0.0)
    keys, values = data.pairs(COUNT, 3)
    N = keys.shape[1]
    earlier = (keys[:, :, None] == keys[:, None]) & torch.ones(N, N, dtype=torch.bool).tril(-1)
    shown = earlier.any(2)  # (B, N)
    told = exchanged(keys, values) if flip else values
    tokens = torch.stack([keys, torch.full_like(keys, ARROW), told], -1).flatten(1)[:, :-1]
    answers = maps(tokens)[:, 1::3, : len(LETTERS)].argmax(-1)
    if flip:
        asked = shown & (told != values)
        return {COPIES: share(answers == told, asked), KEEPS: share(answers == values, asked)}
    p = DATA.best(keys, values)
    likeliest = p >= p.amax(2, keepdim=True) - 1e-12  # several where Bayes has to guess among them
    chance = likeliest.gather(2, values[..., None])[..., 0] / likeliest.sum(2)
    return {
        "shown": share(answers == values, shown),
        "missing": share(answers == values, ~shown),
        "missing, Bayes": share(chance, ~shown),
    }


def exchanged(keys: Tensor, values: Tensor) -> Tensor:
    """Answers (B, N) after the first letter of each prompt and its first other one have exchanged theirs."""
    first = keys == keys[:, :1]  # (B, N)
    at = (~first).int().argmax(1, keepdim=True)  # 0 where there is no other
    second = keys == keys.gather(1, at)
    return torch.where(first, values.gather(1, at), torch.where(second, values[:, :1], values))


def share(right: Tensor, asked: Tensor) -> Tensor:
    """Mean of `right` over what is asked, (B, N) -> (N,)."""
    return (right.double() * asked).sum(0) / asked.sum(0)


# --- In words ----------------------------------------------------------------------------------------


def captions(one: Answers) -> list[str]:
    """What is answered to each question."""
    texts = []
    for n, key in enumerate(one.keys):
        (letter, *_), p, best = top(one, n)
        known = f"{key} was shown" if one.matches(n) else f"{key} is missing"
        how = "" if one.best[n].isnan().any() else f", Bayes {float(best[0]):.2f}"
        texts.append(f"{n} shot{'s' * (n != 1)}, {known}: {letter} with {float(p[0]):.2f}{how}.")
    return texts


def equations(one: Answers) -> list[str]:
    """Probability of the likeliest answer, and the attention that the matching pair gets."""
    results = []
    for n, key in enumerate(one.keys):
        names, p, _ = top(one, n)
        text = rf"\Pr(\text{{{names[0]}}} \mid k = {n}, \text{{{key}>}}) = {float(p[0]):.3f}"
        if places := one.matches(n):
            most, h = one.looks[n][:, [p - d for p in places for d in (0, 1, 2)]].sum(1).max(0)
            text += rf";\qquad \text{{head {one.heads[int(h)]} gives the matching pair }} {float(most):.2f}"
        results.append(text)
    return results


def share_captions(found: dict[str, Tensor]) -> list[str]:
    """Shares after each number of shots."""
    count = len(next(iter(found.values())))
    return [
        f"{k} shot{'s' * (k != 1)}: "
        + ", ".join(f"{name} {said(float(values[k]))}" for name, values in found.items())
        + "."
        for k in range(count)
    ]


def said(value: float) -> str:
    return "not asked" if math.isnan(value) else f"{value:.2f}"


def share_equations(found: dict[str, Tensor]) -> list[str]:
    """The same as equations: a share is a mean of rights and wrongs."""
    count = len(next(iter(found.values())))
    return [
        rf"k = {k}:\quad "
        + (
            r",\quad ".join(
                rf"\Pr(\text{{{name}}}) = {float(values[k]):.3f}"
                for name, values in found.items()
                if not math.isnan(float(values[k]))
            )
            or r"\text{not asked}"
        )
        for k in range(count)
    ]
