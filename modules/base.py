"""Base of all models: one LightningModule, and the surfaces that a model may offer.

A model is one class: it holds the parameters, offers its surfaces (`log_prob`, `sample`,
`predict`, ...) and says in `step` what its loss is. Everything else about training is here.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, cast, get_args, runtime_checkable

import lightning as L
import torch
from lightning.pytorch.strategies import ParallelStrategy
from torch import Tensor, nn
from torch.distributions import Distribution
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torchmetrics import Metric

from modules.trace import Trace

# The names under which LightningCLI finds any optimizer and scheduler of torch.
OptimizerCallable = Callable[[Iterable], torch.optim.Optimizer]
LRSchedulerCallable = Callable[[torch.optim.Optimizer], torch.optim.lr_scheduler.LRScheduler]

Split = Literal["train", "val", "test"]
SPLITS: tuple[Split, ...] = ("train", "val", "test")


class Mean(Metric):
    """Mean of all values of a split, summed in double precision; a NaN shows.

    torchmetrics' own MeanMetric sums in single precision (its `set_dtype` is undone by `.to(device)`)
    and leaves NaN out.

    Attributes:
        error: the standard error of the mean that was computed last, over values; NaN of fewer than two.
    """

    total: Tensor
    squares: Tensor
    count: Tensor
    error = math.nan

    def __init__(self) -> None:
        super().__init__()
        dtype = (
            torch.float32 if torch.backends.mps.is_available() else torch.float64
        )  # Apple's GPUs have no double
        self.add_state("total", torch.tensor(0.0, dtype=dtype), dist_reduce_fx="sum")
        self.add_state("squares", torch.tensor(0.0, dtype=dtype), dist_reduce_fx="sum")
        self.add_state("count", torch.tensor(0.0, dtype=dtype), dist_reduce_fx="sum")

    def update(self, values: Tensor, weight: float = 1.0) -> None:
        """Add values, each of which counts as often as `weight` says."""
        values = torch.as_tensor(values, device=self.total.device)
        self.total += weight * values.sum(dtype=self.total.dtype)
        self.squares += weight * values.to(self.squares.dtype).square().sum()
        self.count += weight * values.numel()

    def compute(self) -> Tensor:
        mean = self.total / self.count
        spread = (self.squares / self.count - mean.square()).clamp(min=0)
        self.error = float((spread / (self.count - 1)).sqrt()) if self.count > 1 else math.nan
        return mean


def require(least: float, below: float = math.inf, **arguments: float | Sequence[float]) -> None:
    """Refuse arguments of a constructor that are out of range.

        require(1, hidden=hidden, layers=layers)
        require(0, below=1, dropout=dropout)

    Raises:
        ValueError: one is below `least`, not below `below`, NaN, or an empty list; one sentence.
    """
    for name, value in arguments.items():
        entries = list(value) if isinstance(value, Sequence) else [value]
        if not entries or not all(least <= entry < below for entry in entries):
            bound = "" if below == math.inf else f" and below {below}"
            raise ValueError(f"{name} is {value}: it must be at least {least}{bound}.")


def require_one_of(known: object, **arguments: str) -> None:
    """Refuse arguments that are none of the values of a Literal.

        require_one_of(Pooling, pooling=pooling)

    Raises:
        ValueError: one sentence.
    """
    for name, value in arguments.items():
        if value not in get_args(known):
            raise ValueError(f"{name} is {value!r}: choose one of {', '.join(get_args(known))}.")


def require_picture(image_shape: Sequence[int]) -> None:
    """Refuse an `image_shape` that is no (C, H, W).

    Raises:
        ValueError: one sentence.
    """
    if len(image_shape) != 3 or min(image_shape) < 1:
        raise ValueError(f"image_shape is {list(image_shape)}: give colours, height and width.")


def in_rows(x: Tensor) -> Tensor:
    """Flatten examples x (B, ...) -> (B, D); also none of them, where `reshape(0, -1)` cannot tell D."""
    return x.flatten(1) if x.ndim > 1 else x[:, None]


def all_reduce_sum(values: Tensor) -> Tensor:
    """Sum of a tensor over all processes that train, of the same shape everywhere; of one alone, its own."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return values
    total = values.clone()
    torch.distributed.all_reduce(total)
    return total


@runtime_checkable
class BatchShard(Protocol):
    """Part of one process of a batch that does not divide evenly among the processes.

    `weight` makes the mean of the processes' losses the mean over the whole batch; at 0 the `batch` is
    there only so that this process takes part, and nothing of it counts.
    """

    batch: Any
    weight: float


class Module(L.LightningModule):
    """Base of every model: the three training hooks share one `step`.

    A subclass implements `step(batch, split) -> loss` and reports what it measures with
    `log_metric`. Constructor arguments that the card must remember are saved as `hparams`.

    Args:
        optimizer: takes the parameters, returns the optimizer.
        lr_scheduler: takes the optimizer, returns the scheduler; None keeps the rate.
        lr_interval: step the scheduler every "epoch" or every "step".
        metrics: torchmetrics by name, "nll" for `train/nll`, `val/nll`, `test/nll`; of a class that says
            itself what it measures, they take the place of its own.
        _measures: the metrics of the class itself; no option, as its name says.

    Raises:
        ValueError: a metric is given for what the class does not measure.
    """

    FIXED: ClassVar[tuple[str, ...]] = ()  # arguments of a base class that this one sets itself
    FORMER_TENSORS: ClassVar[Mapping[str, str]] = {}  # beginnings of names in earlier files -> names now
    draw = 0  # of an evaluation that is repeated to see what its draws are worth
    _weight = 1.0  # among all processes, of the part of a batch that is looked at; 0: it is another's

    def __init__(
        self,
        optimizer: OptimizerCallable = torch.optim.Adam,
        lr_scheduler: LRSchedulerCallable | None = None,
        lr_interval: Literal["epoch", "step"] = "epoch",
        metrics: Mapping[str, Metric] | None = None,
        _measures: Mapping[str, Metric] | None = None,
    ) -> None:
        super().__init__()
        self.save_hyperparameters(ignore=["optimizer", "lr_scheduler", "lr_interval", "metrics", "_measures"])
        for name in self.hparams.keys() - self.argument_names():
            del self.hparams[name]  # bookkeeping of the command line
        self.optimizer = optimizer
        self.lr_scheduler = lr_scheduler
        self.lr_interval = lr_interval
        if _measures is None:
            _measures = metrics if metrics is not None else {"nll": Mean()}
        for name in metrics or {}:
            if name not in _measures:
                raise ValueError(
                    f"metrics has {name!r}: {type(self).__name__} measures {', '.join(_measures)}."
                )
        metrics = {**_measures, **(metrics or {})}
        # torchmetrics reduce over devices by themselves, so the numbers are right on any number of them
        self.meters = nn.ModuleDict(
            {f"{split}_{name}": metric.clone() for split in SPLITS for name, metric in metrics.items()}
        )

    @classmethod
    def argument_names(cls) -> set[str]:
        """Constructor arguments of the model itself, without those of its training."""
        models = [c for c in cls.__mro__ if issubclass(c, Module) and c is not Module]
        arguments = [p for c in models for p in inspect.signature(c.__init__).parameters.values()]
        names = {p.name for p in arguments if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        return names - {"self"} - {name for c in models for name in c.FIXED}

    def metric_names(self, split: Split) -> list[str]:
        """Names that `log_metric` can report for a split: "val/nll", ..."""
        prefix = f"{split}_"
        return [f"{split}/{name.removeprefix(prefix)}" for name in self.meters if name.startswith(prefix)]

    def step(self, batch: Any, split: Split) -> Tensor:
        """Loss of one batch, a scalar; measures what the split reports."""
        raise NotImplementedError

    def log_metric(self, split: Split, name: str, *values: Any) -> None:
        """Update the metric `name` with `values` and log it as `<split>/<name>` per epoch.

        Raises:
            ValueError: of the metrics that the model was given, none has that name.
        """
        if f"{split}_{name}" not in self.meters:
            raise ValueError(f"{type(self).__name__} measures {name}: give one of that name in metrics.")
        metric = cast(Metric, self.meters[f"{split}_{name}"])
        whole = not any(isinstance(v, Tensor) and v.ndim for v in values)  # one number for a batch
        if isinstance(metric, Mean) and whole:
            metric.update(values[0], self._weight)
        elif self._weight:
            metric.update(*values)
        elif any(isinstance(state, list) for state in metric.metric_state.values()):
            # it gathers the values of all processes: this one takes part with none
            metric.update(*(v[:0] for v in values))
        # A model used as a library has nobody to log to. In training one call per epoch is enough, as the
        # metric keeps all updates: of small models each call costs more than the step itself.
        if self._trainer is not None and (split != "train" or self.trainer.is_last_batch):
            size = next((v.shape[0] for v in values if isinstance(v, Tensor) and v.ndim), 1)
            self.log(
                f"{split}/{name}",
                metric,
                on_step=False,
                on_epoch=True,
                batch_size=size,
                prog_bar=split != "train",
            )

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        loss, weight = self._step(batch, "train")
        if self._trainer is not None and self.trainer.world_size > 1:
            terms = self.loss_terms(batch.batch if isinstance(batch, BatchShard) else batch)
            if terms is not None:
                mine = terms * (weight > 0)
                weight = float(mine * self.trainer.world_size / self.all_reduce_sum(mine))
            loss = loss + 0 * sum(p.sum() for p in self.unused_parameters())
        self.log("train/loss", loss.detach(), on_step=True, on_epoch=False, prog_bar=True)
        return loss * weight if weight != 1 else loss  # 0 · loss: the other processes wait for a gradient

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self._step(batch, "val")

    def test_step(self, batch: Any, batch_idx: int) -> None:
        self._step(batch, "test")

    def _step(self, batch: Any, split: Split) -> tuple[Tensor, float]:
        """Loss of this process's part of a batch, and its weight among the processes."""
        if not isinstance(batch, BatchShard):
            return self.step(batch, split), 1.0
        self._weight = batch.weight
        try:
            return self.step(batch.batch, split), batch.weight
        finally:
            self._weight = 1.0

    def loss_terms(self, batch: Any) -> Tensor | None:
        """Number of terms that `step`'s loss is the mean of, where these are not the examples of the batch:
        pairs of words, of which one example has more than another. Over all processes each counts once."""
        return None

    def all_reduce_sum(self, values: Tensor) -> Tensor:
        """Sum of a tensor over all processes, such as a count in their parts of a batch."""
        if self._trainer is None or self.trainer.world_size == 1:
            return values
        return all_reduce_sum(values if self._weight else torch.zeros_like(values))

    def all_reduce_mean(self, values: Tensor) -> Tensor:
        """Mean of values (B,) over the parts of a batch that all processes have, a scalar."""
        total = self.all_reduce_sum(torch.stack([values.sum(), values.new_tensor(len(values))]))
        return total[0] / total[1]

    def unused_parameters(self) -> Sequence[nn.Parameter]:
        """Parameters that the loss of this step does not reach: no process waits for their gradient."""
        return ()

    def on_after_backward(self) -> None:
        if self.trainer.world_size > 1:
            for parameter in self.unused_parameters():
                parameter.grad = None  # as one process has it

    def backward_for(self, loss: Tensor, parameters: Sequence[nn.Parameter]) -> None:
        """Put the gradient of `loss` into those parameters alone, of several processes the mean of theirs.

        For training by hand: the hooks that average gradients wait for those of all parameters.
        """
        strategy = self.trainer.strategy
        if not isinstance(strategy, ParallelStrategy):
            self.manual_backward(loss, inputs=parameters)
            return
        with strategy.block_backward_sync():
            self.manual_backward(loss, inputs=parameters)
        gradients = [p.grad for p in parameters if p.grad is not None]
        mean = cast(Tensor, strategy.reduce(torch.cat([g.flatten() for g in gradients]), reduce_op="mean"))
        for gradient, part in zip(gradients, mean.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def on_validation_start(self) -> None:
        """Broadcast from the first process what no gradient moves, as statistics of batches."""
        if self.trainer.world_size > 1:
            for name in sorted(self.state_dict().keys() & dict(self.named_buffers()).keys()):
                torch.distributed.broadcast(self.get_buffer(name), 0)

    def parameter_groups(self) -> Iterable:
        """Parameters for the optimizer; a model that penalises only some weights gives groups instead."""
        return self.parameters()

    def predict_step(self, batch: Any, batch_idx: int) -> Tensor:
        """Prediction per example: the likeliest class, or log p(x) in nats."""
        if isinstance(batch, BatchShard):
            return self.predict_step(batch.batch, batch_idx)[: None if batch.weight else 0]
        x = batch[0]
        if isinstance(self, Predictor):
            return self.predict(x).argmax(-1)
        if isinstance(self, Density):
            return self.log_prob(x)
        raise NotImplementedError(f"{type(self).__name__} has nothing to predict.")

    def configure_optimizers(self) -> Any:
        optimizer = self.optimizer(self.parameter_groups())
        if self.lr_scheduler is None:
            return optimizer
        scheduler = self.lr_scheduler(optimizer)
        plan: dict[str, Any] = {"scheduler": scheduler, "interval": self.lr_interval}
        if isinstance(scheduler, ReduceLROnPlateau):  # torch's own names no metric
            plan["monitor"] = getattr(scheduler, "monitor", None)
        return {"optimizer": optimizer, "lr_scheduler": plan}

    @property  # type: ignore[misc]  # Lightning's own has a setter, which only refuses
    def dtype(self) -> torch.dtype:
        """Dtype of the first floating tensor, parameters first; Lightning's overlooks a table's buffers."""
        # the walk of `parameters()` takes as long as a step of a small game, which asks at every draw
        for held in ("_parameters", "_buffers"):
            for module in self.modules():
                for t in getattr(module, held).values():
                    if t is not None and t.is_floating_point():
                        return cast(torch.dtype, t.dtype)
        return torch.get_default_dtype()

    @property
    def num_parameters(self) -> int:
        """Number of stored parameters."""
        return sum(p.numel() for p in self.parameters())

    def resize_buffers(self, state: Mapping[str, Tensor]) -> None:
        """Resize buffers whose size depends on the training data, before `state` is copied into them."""

    @classmethod
    def present_names(cls, state_dict: Mapping[str, Any]) -> dict[str, Any]:
        """`state_dict` under present names: a file of an earlier version may hold those of `FORMER_TENSORS`,
        of this class or of one that it derives from."""
        former = {k: v for c in reversed(cls.__mro__) for k, v in vars(c).get("FORMER_TENSORS", {}).items()}

        def present(name: str) -> str:
            start = max((f for f in former if name == f or name.startswith(f"{f}.")), key=len, default=None)
            return name if start is None else former[start] + name[len(start) :]

        return {present(name): value for name, value in state_dict.items()}

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """As part of another module too, of an average of weights: there the names begin with `prefix`."""
        own = {k.removeprefix(prefix): state_dict.pop(k) for k in list(state_dict) if k.startswith(prefix)}
        state_dict.update({prefix + k: v for k, v in self.present_names(own).items()})
        super()._load_from_state_dict(state_dict, prefix, *args)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> Any:
        state_dict = self.present_names(state_dict)
        self.resize_buffers(state_dict)
        return super().load_state_dict(state_dict, strict, assign)


class CountModel(Module):
    """Base of models that are fitted by counting: no gradient, no optimizer, one epoch is the fit.

    A subclass implements `count(batch)`, `reset_counts()` and, as every model, `step`. Another epoch
    resets and counts anew. Within an epoch, train metrics are those of the counts so far: with the
    whole split as one batch they are those of the fitted model.
    """

    def __init__(self, *args: Any, **training: Any) -> None:
        super().__init__(*args, **training)
        nothing = [nn.Parameter(torch.zeros(1))]
        given, default = self.optimizer(nothing), torch.optim.Adam(nothing)  # the command line wraps it
        other = type(given) is not type(default) or given.defaults != default.defaults
        if other or self.lr_scheduler is not None or self.lr_interval != "epoch":
            raise ValueError("It is fitted by counting: leave optimizer, lr_scheduler and lr_interval out.")
        self.automatic_optimization = False

    def count(self, batch: Any) -> None:
        """Add what is seen in a training batch to the counts."""
        raise NotImplementedError

    def reset_counts(self) -> None:
        """Set all counts to zero."""
        raise NotImplementedError

    def setup(self, stage: str) -> None:
        """
        Raises:
            ValueError: several processes are to count, each what it sees.
        """
        if stage == "fit" and self.trainer.world_size > 1:
            raise ValueError("Counting is done by one process: take one device.")

    def on_train_epoch_start(self) -> None:
        self.reset_counts()

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        self.count(batch)
        return super().training_step(batch, batch_idx)

    def configure_optimizers(self) -> None:
        """There is nothing to optimize."""


# --- Surfaces: the same names in every family --------------------------------------------------


@runtime_checkable
class Density(Protocol):
    """Exact likelihood. `log_prob(x)` -> (B,) in nats; a bound says so in its name (`elbo`)."""

    def log_prob(self, x: Tensor) -> Tensor: ...


@runtime_checkable
class Sampler(Protocol):
    """Draws new examples. `sample(n)` -> (n, ...); `sample_trace` shows how, step by step.

    Wherever they exist, in this order: `sample(n, *, y=, temperature=, generator=, …)`, then what only this
    model knows. `y` is one class for all or n of them; without a generator torch's own is used.
    """

    def sample(self, n: int, **params: Any) -> Tensor: ...

    def sample_trace(self, **params: Any) -> Trace: ...


@runtime_checkable
class Latent(Protocol):
    """Code of each example: `encode(x)` -> z, `decode(z)` -> x, `prior` over z."""

    @property
    def prior(self) -> Distribution: ...

    def encode(self, x: Tensor) -> Tensor: ...

    def decode(self, z: Tensor) -> Tensor: ...


@runtime_checkable
class Predictor(Protocol):
    """Classifiers and graph heads: `predict(x)` -> logits."""

    def predict(self, x: Any) -> Tensor: ...


@runtime_checkable
class NextToken(Protocol):
    """Language models: what comes after each text.

    `next_log_probs(prefix)`: (B, T) int64 -> (B, V) in nats, normalised. The prefix starts where a text
    starts (the model puts its own begin tokens before it) and may be empty, T = 0. Texts of unequal length
    are padded on the left: `padding` (B, T) is True where a text has not begun, whatever token stands there.
    """

    def next_log_probs(self, prefix: Tensor, padding: Tensor | None = None) -> Tensor: ...


class IncrementalDecoder(Protocol):
    """Texts decoded token by token, B at once: a state stands for all that was read so far.

    `start(source)` -> log p of the first new token, (B, V) in nats, normalised, and the state. Of a language
    model the source is the prefix (B, T) of `NextToken`, T ≥ 0; of a translator, the source sentences. Rows
    of unequal length come with their `padding`, True where there is nothing.
    `step(state, token)` -> log p of what comes after these tokens (B,), and the next state; the state that
    was given stays as it is, and may be gone on from again.
    `state[rows]`, rows (R,) int64, is the state of those rows: a search keeps, repeats and drops hypotheses.

    It is an object of its own, for `step` of a `Module` is that of its training.
    """

    def start(self, source: Any, padding: Tensor | None = None) -> tuple[Tensor, Any]: ...

    def step(self, state: Any, token: Tensor) -> tuple[Tensor, Any]: ...


@runtime_checkable
class Incremental(Protocol):
    """Models that can be decoded step by step: `incremental_decoder()` says how."""

    def incremental_decoder(self) -> IncrementalDecoder: ...
