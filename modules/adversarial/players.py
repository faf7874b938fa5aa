"""Training in turns: several players with an optimizer each, of whom one at a time moves its own weights.

A model says in `players` whose the weights are, and in `turns` what is lowered by whom, in which order; each
loss is computed when it is asked for, after the turn before it has been made.
"""

from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn

from modules.base import BatchShard, Module

Turn = tuple[str, Tensor]  # whose it is, and what is to be lowered


class Players(Module):
    """Base of models that are trained in turns; the first player has the optimizer's own rate.

    Attributes:
        discriminator_rate: the discriminator's learning rate, where it is not the generator's.
    """

    discriminator_rate: float | None = None

    def __init__(self, *args: Any, **training: Any) -> None:
        super().__init__(*args, **training)
        self.automatic_optimization = False

    def players(self) -> dict[str, list[nn.Parameter]]:
        """The weights that each moves in its turn."""
        raise NotImplementedError

    def unpack(self, batch: Any) -> tuple[Tensor, dict[str, Any]]:
        """x of a batch, as both networks see it, and what the game is conditioned on."""
        raise NotImplementedError

    def turns(self, x: Tensor, generator: torch.Generator | None = None, **given: Any) -> Iterator[Turn]:
        """The turns of one batch: whose it is and the loss, to be lowered by that player alone before the
        next is asked for."""
        raise NotImplementedError

    def checked(self, loss: Tensor) -> Tensor:
        """The loss of a turn, as it is lowered; a game refuses what is no number."""
        return loss

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        (x, given), players = self.unpack(batch), self.players()
        weight = batch.weight if isinstance(batch, BatchShard) else 1.0  # of this process among all
        optimizers = dict(zip(players, cast(list, self.optimizers()), strict=True))
        shown: Tensor | None = None
        self._weight = weight
        for whose, loss in self.turns(x, **given):
            optimizers[whose].zero_grad()
            self.backward_for(self.checked(loss) * weight, players[whose])
            optimizers[whose].step()
            self.log_metric("train", whose[0], loss.detach())
            if whose == "discriminator" or shown is None:
                shown = loss.detach()
        self._weight = 1.0
        assert shown is not None  # there is a turn in every batch
        self.log("train/loss", shown, on_step=True, on_epoch=False, prog_bar=True)
        if self.lr_interval == "step":
            self.schedule()
        return shown

    def on_train_epoch_end(self) -> None:
        if self.lr_interval == "epoch":
            self.schedule()

    def schedule(self) -> None:
        """A step of both schedules: Lightning leaves them to whoever steps the optimizers by hand."""
        for scheduler in cast(list, self.lr_schedulers() or []):
            scheduler.step()

    def configure_optimizers(self) -> Any:
        made = []
        for whose, parameters in self.players().items():
            optimizer = self.optimizer(parameters)
            if whose == "discriminator" and self.discriminator_rate is not None:
                for group in optimizer.param_groups:
                    group["lr"] = self.discriminator_rate
            made.append(optimizer)
        if self.lr_scheduler is None:
            return made
        return made, [{"scheduler": self.lr_scheduler(optimizer)} for optimizer in made]
