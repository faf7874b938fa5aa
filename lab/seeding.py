"""Networks from a seed, in a process that many readers share.

Torch's layers draw their first weights from its global generator and take no other. A dashboard serves
its readers in threads, so whoever sets or uses that generator changes what another one gets: everything
that a page calls draws from a generator of its own, and builds networks here, one at a time.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

import torch

T = TypeVar("T")
_building = threading.RLock()


def seeded(build: Callable[[], T], seed: int = 0) -> T:
    """Result of `build` when torch's global generator starts from `seed`; afterwards it is as it was.

    Only the CPU's generator: build there, then move the network.
    """
    with _building, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return build()
