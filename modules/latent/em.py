r"""Expectation–maximisation: climb the likelihood of a latent variable model in closed-form steps.

    E-step   q(z) = p(z|x; θ)                        the ELBO touches log p(x; θ)
    M-step   θ = argmax Σ_n E_q log p(x_n, z_n; θ)    both climb

It is coordinate ascent on the ELBO, so Σ log p(x_n) never falls; at a fixed point it stays ([GM] §3.2.2 says
that it increases). All that the M-step reads of the data are sums over examples, `Stats`: a batch adds its
own, and the last batch of an epoch moves the parameters. An epoch is one step of EM on the whole split,
whatever the size of its batches.

A model implements three methods: `initialize(x)` makes a start from data, `e_step(x)` is the E-step, and
`m_step(stats)` the M-step. Models whose fit is one closed form (PCA) need one epoch.

Shapes: x (B, *event_shape); log p(x) (B,), nats. Parameters are buffers in float64.

References: Dempster, Laird, Rubin 1977; Neal, Hinton 1998; [GM] §3.2.2 and remark 3.1; [UDL] fig. 17.15.
"""

import math
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from modules.base import CountModel, Split, in_rows, require

Stats = Mapping[str, Tensor]  # sums over examples; "loglik" (), nats, and "count" () are always there


class CollapseWarning(UserWarning):
    """A component has shrunk to the floor of its variance: it sits on a point, a line or a plane."""


def add_stats(first: Stats | None, second: Stats) -> Stats:
    """The sums over both."""
    return second if first is None else {name: first[name] + second[name] for name in second}


def flatten(x: Tensor, numbers: int) -> Tensor:
    """Examples as rows (B, D).

    Raises:
        ValueError: an example has not as many numbers as the model.
    """
    rows = in_rows(x)
    if rows.shape[1] != numbers:
        raise ValueError(f"each example has {rows.shape[1]} numbers, the model {numbers}.")
    return rows


class EMModel(CountModel):
    """Base of models that EM fits. Its parameters are buffers.

    Attributes:
        allows_missing: an example may lack some of its numbers (NaN).

    Args:
        restarts: starts that are tried; the likeliest after `trial_steps` steps is kept.
        trial_steps: EM steps that each start is given.
        training: metrics, ... of `modules.base.Module`.
    """

    allows_missing: ClassVar[bool] = False
    started: Tensor

    def __init__(self, restarts: int = 1, trial_steps: int = 10, **training: Any) -> None:
        super().__init__(**training)
        require(1, restarts=restarts)
        require(0, trial_steps=trial_steps)
        self.restarts, self.trial_steps = restarts, trial_steps
        self.sums: Stats | None = None
        self.register_buffer("started", torch.tensor(False))

    # --- what a model implements ---

    def initialize(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        """Put the parameters where EM begins."""
        raise NotImplementedError

    def e_step(self, x: Tensor) -> Stats:
        """The E-step: expected sufficient statistics under the present parameters, summed over examples."""
        raise NotImplementedError

    def m_step(self, stats: Stats) -> None:
        """The M-step: the parameters that these statistics like best."""
        raise NotImplementedError

    def check_data(self, x: Tensor) -> Tensor:
        """x, if it can be fitted to.

        Raises:
            ValueError: there is none, or it holds what is no number.
        """
        if not len(x):
            raise ValueError("There are no examples to fit to.")
        strange = x.isinf() if self.allows_missing else ~x.isfinite()
        if bool(strange.any()):
            rows = int(strange.reshape(len(x), -1).any(1).sum())
            raise ValueError(
                f"{rows} of {len(x)} examples hold NaN or infinity: leave them out"
                + (", or write NaN for what is missing." if self.allows_missing else ", or fill them in.")
            )
        return x

    # --- the algorithm ---

    def em_step(self, x: Tensor) -> float:
        """One E-step and one M-step on x; Σ log p(x) *before* it, nats."""
        stats = self.e_step(x)
        self.m_step(stats)
        return float(stats["loglik"])

    def initialize_best(self, x: Tensor, generator: torch.Generator | None = None) -> None:
        """Begin from x; of several starts, each tried for some steps, keep the likeliest."""
        best, kept = -math.inf, None
        for _ in range(self.restarts):
            self.initialize(x, generator)
            if self.restarts == 1:
                break
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CollapseWarning)  # of starts that may not be kept
                for _ in range(self.trial_steps):
                    self.em_step(x)
            total = float(self.e_step(x)["loglik"])
            if kept is None or total > best:
                best, kept = total, {name: b.clone() for name, b in self.named_buffers()}
        if kept is not None:
            for name, buffer in self.named_buffers():
                buffer.copy_(kept[name])
        self.started.fill_(True)

    def fit(
        self,
        x: Tensor,
        steps: int = 200,
        tolerance: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> list[float]:
        """EM on x, from the present parameters or, at first, from a start of its own.

        Args:
            tolerance: stop when a step gains less than this, nats per example.

        Returns:
            Σ log p(x) before each step and after the last: it never falls.
        """
        self.check_data(x)
        if not self.started:
            self.initialize_best(x, generator)
        totals: list[float] = []
        for _ in range(steps):
            totals.append(self.em_step(x))
            if len(totals) > 1 and totals[-1] - totals[-2] < tolerance * len(x):
                break
        return [*totals, float(self.e_step(x)["loglik"])]

    # --- training ---

    def reset_counts(self) -> None:
        self.sums = None

    @torch.no_grad()
    def count(self, batch: Any) -> None:
        x = self.check_data(examples(batch))
        if not self.started:
            self.initialize_best(x)
        self.sums = add_stats(self.sums, self.e_step(x))

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        """The E-step of a batch; the epoch's last one takes the M-step too."""
        loss = super().training_step(batch, batch_idx)  # of the parameters that the E-step had
        if self.sums is not None and (self._trainer is None or self.trainer.is_last_batch):
            self.m_step(self.sums)
            self.sums = None
        return loss


class EMDensity(EMModel):
    """Base of those that have a density."""

    def log_prob(self, x: Tensor) -> Tensor:
        """log p(x), (B,), nats."""
        raise NotImplementedError

    def bic(self, x: Tensor) -> float:
        """Bayes' information criterion, p ln N − 2 Σ log p(x): of models fitted to x the least is best
        (Schwarz 1978)."""
        return self.num_parameters * math.log(len(x)) - 2 * float(self.log_prob(x).sum())

    @torch.no_grad()
    def step(self, batch: Any, split: Split) -> Tensor:
        nll = -self.log_prob(examples(batch))
        self.log_metric(split, "nll", nll)
        return nll.mean()


def examples(batch: Any) -> Tensor:
    """x of a batch that may have labels beside it."""
    return batch[0] if isinstance(batch, (tuple, list)) else batch


def compare_sizes(
    models: Mapping[int, EMDensity], x: Tensor, held_out: Tensor, steps: int = 200
) -> list[dict]:
    """Fit models of several sizes to x: which does BIC choose, which the held-out likelihood?

    Returns:
        a row for each size: `size`, `parameters`, `nll` of x and `held_out`, nats per example, and `bic`.
    """
    rows = []
    for size, model in models.items():
        model.fit(x, steps, tolerance=1e-6)
        rows.append(
            {
                "size": size,
                "parameters": model.num_parameters,
                "nll": -float(model.log_prob(x).mean()),
                "held_out": -float(model.log_prob(held_out).mean()),
                "bic": model.bic(x),
            }
        )
    return rows
