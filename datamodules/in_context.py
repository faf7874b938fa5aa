"""Tasks that stand in the prompt alone: what is to be done is drawn anew for each sequence.

LinearTasks     w ~ N(0, s_w² I),  x_i ~ N(0, s_x² I),  y_i = w·x_i + σ ε_i    shots (x_1, y_1) … (x_k, y_k)
CharacterMaps   a map of letters to letters;  "a>q b>m a>"  ->  q              shots are its pairs

Half of the maps are substitutions, permutations of the alphabet drawn anew; the others are one of three rules
that are the same in all prompts: each letter goes to itself, to the next or to the one before (z and a meet).
So a pair that is missing can be known from the weights, where the prompt follows a rule, and cannot where it
does not. The letters of a prompt are drawn from a few of the alphabet: its questions return.

Every split is a draw of its own, the same for every seed.

Shapes: `B` sequences, `N` examples of one, `D` features; x (B, N, D) and y (B, N); of maps tokens and labels
(B, 3N − 1) int64: letter, ">", letter of each pair, without the last answer; labels are −100 but behind ">".

References: Garg et al. 2022, arXiv:2208.01066 (linear functions); Brown et al. 2020, arXiv:2005.14165; [UDL]
12.7.4 (few-shot learning).
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from datamodules.base import Drawn, within

UNSCORED = -100  # label of a place where nothing is asked
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ARROW = len(LETTERS)  # token of ">"
RULES = {"same letter": 0, "next letter": 1, "letter before": -1}  # steps in the alphabet


class LinearTasks(Drawn):
    """Linear regression in the prompt.

    Args:
        features: D. shots: most pairs before a question; a sequence has one example more.
        noise: σ. scale_x, scale_w: s_x and s_w.
        batch_size, seed, num_train, num_val, num_test: see `datamodules.algorithmic.Copying`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, features: int = 5, shots: int = 15, noise: float = 0.5, scale_x: float = 1.0,
        scale_w: float = 1.0, batch_size: int = 64, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        within(1, 1_000, features=features, shots=shots)
        for name, value in {"noise": noise, "scale_x": scale_x, "scale_w": scale_w}.items():
            if not 0 <= value <= 1e6:
                raise ValueError(f"{name} is {value}: it must be at least 0 and at most 1,000,000.")
        super().__init__(batch_size, seed, (shots + 1) * (features + 1), num_train, num_val, num_test)
        self.features, self.shots, self.noise = features, shots, noise
        self.scale_x, self.scale_w = scale_x, scale_w

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        w = self.scale_w * torch.randn(count, self.features, 1, generator=generator)
        x = self.scale_x * torch.randn(count, self.shots + 1, self.features, generator=generator)
        noise = self.noise * torch.randn(count, self.shots + 1, generator=generator)
        return x, (x @ w)[..., 0] + noise

    @property
    def sizes(self) -> dict[str, Any]:
        return {"num_features": self.features}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "LinearTasks",
            "features": self.features,
            "shots": self.shots,
            "noise": self.noise,
            "scale_x": self.scale_x,
            "scale_w": self.scale_w,
            "splits": self.counts,
            "seed": self.seed,
        }


class CharacterMaps(Drawn):
    """Maps of letters in the prompt.

    Args:
        shots: most pairs before a question; a sequence has one more.
        pool: different letters that a prompt may ask for.
        fresh: share of prompts with a substitution of their own; the others follow one of three rules.
        batch_size, seed, num_train, num_val, num_test: see `datamodules.algorithmic.Copying`.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self, shots: int = 12, pool: int = 6, fresh: float = 0.5, batch_size: int = 64, seed: int = 0,
        num_train: int = 20_000, num_val: int = 500, num_test: int = 1_000,
    ) -> None:  # fmt: skip
        within(1, 1_000, shots=shots)
        within(1, len(LETTERS), pool=pool)
        if not 0 <= fresh <= 1:
            raise ValueError(f"fresh is {fresh}: it must be a share from 0 to 1.")
        # the order of the alphabet is drawn twice for each sequence
        super().__init__(batch_size, seed, 3 * (shots + 1) + 3 * len(LETTERS), num_train, num_val, num_test)
        self.shots, self.pool, self.fresh = shots, pool, fresh

    def pairs(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        """Letters asked for and their answers, (B, N) each, as numbers from 0."""
        generator = torch.Generator().manual_seed(seed)
        V, N = len(LETTERS), self.shots + 1
        maps = torch.rand(count, V, generator=generator).argsort(1)  # (B, V): substitutions
        steps = torch.tensor(list(RULES.values()))[
            torch.randint(3, (count, 1), generator=generator)
        ]  # (B, 1)
        fresh = torch.rand(count, 1, generator=generator) < self.fresh
        maps = maps.where(fresh, (torch.arange(V) + steps) % V)
        pool = torch.rand(count, V, generator=generator).argsort(1)[:, : self.pool]  # (B, P)
        keys = pool.gather(1, torch.randint(self.pool, (count, N), generator=generator))  # (B, N)
        return keys, maps.gather(1, keys)

    def best(self, keys: Tensor, values: Tensor) -> Tensor:
        """p of each answer given the pairs before it, by Bayes: (B, N) each -> (B, N, V) float64.

        A substitution gives a letter that was not asked for yet each answer that was not given yet, with the
        same probability. Pairs that no map has, such as a>b a>c, give NaN.
        """
        V = len(LETTERS)
        steps = torch.tensor(list(RULES.values()))
        rules = one_hot((keys[..., None] + steps) % V, V).double()  # (B, N, R, V)
        follows = rules.gather(3, values[..., None, None].expand(-1, -1, len(steps), 1))[..., 0]  # (B, N, R)
        given, asked = one_hot(values, V).double(), one_hot(keys, V).double()  # (B, N, V)
        joint = torch.zeros(len(keys), V, V, dtype=torch.float64)  # 1 at the pairs that were shown
        p_rules = torch.full((len(keys), len(steps)), (1 - self.fresh) / len(steps), dtype=torch.float64)
        p_fresh = torch.full((len(keys), 1), self.fresh, dtype=torch.float64)
        results = []
        for n in range(keys.shape[1]):
            known = (asked[:, n, None] @ joint)[:, 0]  # (B, V): what the letter was mapped to
            free = 1 - joint.amax(1)  # answers not given
            new = free / free.sum(1, keepdim=True) * (1 - known.amax(1, keepdim=True))
            of_fresh = known + new.nan_to_num()
            p = p_fresh * of_fresh + (p_rules[..., None] * rules[:, n]).sum(1)
            results.append(p / p.sum(1, keepdim=True))
            p_fresh = p_fresh * (of_fresh * given[:, n]).sum(1, keepdim=True)
            p_rules = p_rules * follows[:, n]
            joint = torch.maximum(joint, asked[:, n, :, None] * given[:, n, None])
        return torch.stack(results, 1)

    def draw(self, count: int, seed: int) -> tuple[Tensor, Tensor]:
        keys, values = self.pairs(count, seed)
        tokens = torch.stack([keys, torch.full_like(keys, ARROW), values], -1).flatten(1)  # (B, 3N)
        labels = torch.full_like(tokens, UNSCORED)
        labels[:, 1::3] = values
        return tokens[:, :-1], labels[:, :-1]

    @property
    def sizes(self) -> dict[str, Any]:
        return {"vocab_size": len(LETTERS) + 1}

    def describe(self) -> dict[str, Any]:
        return {
            "name": "CharacterMaps",
            "shots": self.shots,
            "pool": self.pool,
            "fresh": self.fresh,
            "splits": self.counts,
            "seed": self.seed,
        }
