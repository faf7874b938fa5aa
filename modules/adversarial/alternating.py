"""Alternating training: several players, each with its optimizer, of which one at a time updates its weights.

A model says in `players` whose the weights are, and in `updates` which loss each lowers, in which order; each
loss is computed when it is asked for, after the update before it has been made.
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn

from modules.base import BatchShard, Module

Update = tuple[str, Tensor]  # of which player, and the loss that it lowers


class AlternatingTraining(Module):
    """Base of models that are trained by alternating updates; the first player has the optimizer's own rate.

    Attributes:
        discriminator_rate: the discriminator's learning rate, where it is not the generator's.
    """

    discriminator_rate: float | None = None

    def __init__(self, *args: Any, **training: Any) -> None:
        super().__init__(*args, **training)
        self.automatic_optimization = False

    def players(self) -> dict[str, list[nn.Parameter]]:
        """The weights that each player updates."""
        raise NotImplementedError

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        """x of a batch, as the networks see it, and what else the losses are given."""
        raise NotImplementedError

    def updates(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Iterator[Update]:
        """The updates of one batch: a player and its loss, to be lowered by that player alone before the next
        is asked for."""
        raise NotImplementedError

    def check_loss(self, loss: Tensor) -> Tensor:
        """The loss of an update as it is lowered; a subclass may refuse what is no number."""
        return loss

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        (x, given), players = self.unpack(batch), self.players()
        weight = batch.weight if isinstance(batch, BatchShard) else 1.0  # of this process among all
        optimizers = dict(zip(players, cast(list, self.optimizers()), strict=True))
        reported: Tensor | None = None
        self._weight = weight
        for player, loss in self.updates(x, **given):
            optimizers[player].zero_grad()
            self.backward_for(self.check_loss(loss) * weight, players[player])
            optimizers[player].step()
            self.log_metric("train", player[0], loss.detach())
            if player == "discriminator" or reported is None:
                reported = loss.detach()
        self._weight = 1.0
        assert reported is not None  # there is an update in every batch
        self.log("train/loss", reported, on_step=True, on_epoch=False, prog_bar=True)
        if self.lr_interval == "step":
            self.schedule()
        return reported

    def on_train_epoch_end(self) -> None:
        if self.lr_interval == "epoch":
            self.schedule()

    def schedule(self) -> None:
        """A step of both schedules: Lightning leaves them to whoever steps the optimizers by hand."""
        for scheduler in cast(list, self.lr_schedulers() or []):
            scheduler.step()

    def configure_optimizers(self) -> Any:
        optimizers = []
        for player, parameters in self.players().items():
            optimizer = self.optimizer(parameters)
            if player == "discriminator" and self.discriminator_rate is not None:
                for group in optimizer.param_groups:
                    group["lr"] = self.discriminator_rate
            optimizers.append(optimizer)
        if self.lr_scheduler is None:
            return optimizers
        return optimizers, [{"scheduler": self.lr_scheduler(optimizer)} for optimizer in optimizers]
