"""What each process of `test_two_processes.py` does: every row of the members table, alone and together.

All draws are one number, so that nothing that differs is chance.
"""

import copy
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import contracts
import torch
from members import MEMBERS, ROWS, make
from torch import Tensor, nn

from datamodules.base import DataModule, TensorSplit
from modules.adversarial.diversity import MinibatchStd

DRAWN = 0.3  # in place of every number that is drawn
# Seeking modes divides by how far two draws are apart, so there draws are draws.
CHANCE = [("modules.adversarial.tricks.TrickGAN", 2)]
OF_A_BATCH = (nn.modules.batchnorm._BatchNorm, MinibatchStd)  # each process has its own batch's statistics


def filled(*size: Any, generator: Any = None, **options: Any) -> Tensor:
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return torch.full(tuple(shape), DRAWN, **options)


@contextmanager
def without_chance() -> Iterator[None]:
    """Whatever is drawn is one number."""
    like = lambda x, **options: torch.full_like(x, DRAWN, **options)  # noqa: E731
    with mock.patch.multiple(
        torch,
        rand=filled,
        randn=filled,
        rand_like=like,
        randn_like=like,
        normal=lambda mean, std, **_: mean + DRAWN * std,
        bernoulli=lambda p, **_: (p > DRAWN).to(p),
        randperm=lambda n, generator=None, **options: torch.arange(n, **options),
        multinomial=lambda p, n, replacement=False, **_: p.argmax(-1, keepdim=True).expand(*p.shape[:-1], n),
    ):
        yield


class Whole:
    """A split of one thing, a graph, that every process sees whole."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing.clone().apply(lambda t: t.double() if t.is_floating_point() else t)

    def __len__(self) -> int:
        return 1

    def __getitem__(self, positions: Tensor) -> Any:
        return self.thing


def data(batch: Any) -> DataModule:
    """A row's batch as every split, five examples at a time: of these two processes have unequal parts."""
    data_module = DataModule(batch_size=5)
    data_module.train_set = data_module.val_set = data_module.test_set = (
        TensorSplit(*batch) if isinstance(batch, tuple) else Whole(batch)
    )
    return data_module


def life(name: str, number: int, **options: Any) -> dict[str, Any]:
    """What a row measures of fresh weights, and what it is after an epoch with its validation; or what it
    says instead."""
    batch, model = MEMBERS[name][number].batch, make(name, number)
    kept: dict[str, Any] = {"own": {type(m).__name__ for m in model.modules() if isinstance(m, OF_A_BATCH)}}
    options = {"precision": "64-true", "use_distributed_sampler": False} | options
    chance = nullcontext() if (name, number) in CHANCE else without_chance()
    with warnings.catch_warnings(), chance:
        warnings.simplefilter("ignore")
        try:
            trainer = contracts.trainer(**options)
            trainer.test(copy.deepcopy(model), data(batch), verbose=False)
            kept["measured"] = {k: float(v) for k, v in trainer.callback_metrics.items()}
            trainer = contracts.trainer(**options)
            trainer.fit(model, data(batch))
        except Exception as error:
            return kept | {"refused": str(error)}
    kept["validated"] = {k: float(v) for k, v in trainer.callback_metrics.items() if k.startswith("val/")}
    state = {k: v.detach().clone() for k, v in model.state_dict().items() if "meters" not in k}
    return kept | {"state": state}


def every(out: str, port: int, rank: int) -> int:
    """Half of the rows alone, then each with the other process; what was found goes into a file."""
    torch.set_num_threads(1)
    alone = {row: life(*row) for row in ROWS[rank::2]}
    job = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "TORCHELASTIC_RUN_ID": "one"}
    job |= {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0"}
    os.environ.update(job | {"RANK": str(rank), "LOCAL_RANK": str(rank)})
    together = {}
    for row in ROWS:
        print(row, flush=True)  # where it stands, should it hang
        together[row] = life(*row, devices=2, strategy="ddp")
    torch.save((alone, together), Path(out) / f"{rank}.pt")
    return 0
