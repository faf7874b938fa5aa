"""A CNN and the MLP that contains it: trained side by side, shown curves that move, written out as matrices.

[UDL] §10.2.7 trains both for 100,000 steps (`lab bench mnist1d`); what is trained here sees as many batches
as a reader waits for.

Shapes: F frames, two networks (CNN, MLP), n positions of a curve, C channels.
"""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.mnist1d import MNIST1D
from lab.bench import mnist1d, runs_file
from lab.experiments import Experiment
from lab.lenses import inputs, stock, surfaces
from lab.lenses.training import watch
from lab.seeding import seeded
from modules.base import Module
from modules.convolution.classifier import HEAD_GAIN, Classifier
from modules.convolution.cnn1d import CNN1d
from modules.convolution.mlp import MLP
from pages.convolution.mnist1d.room import ADAM, HE, LOOKS, REACH, SHUFFLED

NAMES = "CNN", "MLP"


def fits(experiment: Experiment) -> bool:
    """Check whether it classifies the curves with their positions in order."""
    return surfaces.is_a(experiment, Classifier) and (
        surfaces.is_a(experiment, MNIST1D, part="data")
        and not surfaces.option(experiment, "shuffle_positions", "data")
    )


def convolves(experiment: Experiment) -> bool:
    return fits(experiment) and surfaces.is_a(experiment, CNN1d)


def read(signal: str, curve: Tensor | None) -> Tensor:
    """The curve (1, n) that was chosen or drawn."""
    return inputs.signal(signal, curve)


# --- Both in training -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Look:
    """The two networks after so many steps.

    Attributes:
        step: steps of gradient descent.
        errors: (2, 2), shares of training and test curves that are wrong, by network.
        kernels: (C, K), of the first layer of the CNN.
        weights: of both networks, to go on from.
    """

    step: int
    errors: Tensor
    kernels: Tensor
    weights: tuple[dict[str, Tensor], dict[str, Tensor]]


def networks(start: str, seed: int) -> tuple[CNN1d, MLP]:
    """The text's two networks, 2,050 and 59,065 parameters, with He weights or the library's own."""

    def begun(build: type[CNN1d] | type[MLP]) -> Classifier:
        network = build()
        if start == HE:
            network.layers[-1].weight.data.div_(HEAD_GAIN)  # type: ignore[operator, union-attr]
        else:
            for layer in network.layers:
                if isinstance(layer, nn.Linear | nn.Conv1d):
                    layer.reset_parameters()
        return network

    return seeded(lambda: begun(CNN1d), seed), seeded(lambda: begun(MLP), seed)  # type: ignore[return-value]


@torch.no_grad()
def wrong(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Share of wrong classes; NaN once the logits are not finite."""
    logits = model(x)
    return float((logits.argmax(1) != y).double().mean()) if logits.isfinite().all() else float("nan")


def trained(
    order: str, examples: int, steps: int, optimizer: str, rate: float, batch: int, start: str, seed: int
) -> Iterator[tuple[float, list[Look]]]:
    """Train both networks on the same batches; a look after each twentieth of the steps."""
    shuffled = order == SHUFFLED
    x, y = (v[:examples] for v in stock.examples(MNIST1D, "train", "val", shuffle_positions=shuffled))
    held, answers = stock.examples(MNIST1D, "test", shuffle_positions=shuffled)
    both = networks(start, seed)
    kind = torch.optim.Adam if optimizer == ADAM else torch.optim.SGD
    descents = [kind(network.parameters(), lr=rate) for network in both]
    generator = torch.Generator().manual_seed(seed)
    stride = steps // LOOKS

    def looks() -> Iterator[tuple[int, Look]]:
        for step in range(0, steps + 1, stride):
            for _ in range(stride if step else 0):
                rows = torch.randint(len(x), (batch,), generator=generator)
                for network, descent in zip(both, descents, strict=True):
                    loss = F.cross_entropy(network(x[rows]), y[rows])
                    descent.zero_grad()
                    loss.backward()  # type: ignore[no-untyped-call]
                    descent.step()
            errors = torch.tensor([[wrong(m, x, y), wrong(m, held, answers)] for m in both])
            kept = [{name: v.clone() for name, v in m.state_dict().items()} for m in both]
            yield step, Look(step, errors, kept[0]["layers.0.weight"][:, 0], (kept[0], kept[1]))

    yield from watch(steps, looks())


@torch.no_grad()
def classified(looks: list[Look], curve: Tensor) -> Tensor:
    """Probabilities (2, F, 10) of a curve (1, n) by both networks at each look."""
    both = CNN1d(), MLP()
    rows: list[list[Tensor]] = [[], []]
    for look in looks:
        for network, weights, kept in zip(both, look.weights, rows, strict=True):
            network.load_state_dict(weights)
            kept.append(network.eval()(curve[None])[0].softmax(0))
    return torch.stack([torch.stack(kept) for kept in rows])


def of_the_text() -> dict[tuple[str, bool], tuple[float, float]]:
    """Test error in per cent of each network, in order or shuffled, after the text's 100,000 steps: mean and
    standard deviation over the seeds that `lab bench mnist1d` has trained."""
    runs = [run for run in runs_file.read(mnist1d.KEPT, mnist1d.Run) if run.recipe == "text"]
    errors = {(name, shuffled): [run.test for run in runs if (run.network, run.shuffled) == (name, shuffled)]
              for name in NAMES for shuffled in (False, True)}  # fmt: skip
    return {case: (statistics.mean(tests), statistics.stdev(tests)) for case, tests in errors.items()}


# --- A curve that moves -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Moved:
    """A curve at every shift.

    Attributes:
        x: (F, n) the curve, moved around as the data are made.
        p: (2, F, 10) probabilities by both networks.
        maps: of each layer of the CNN that has any, (F, C, positions).
    """

    x: Tensor
    p: Tensor
    maps: list[Tensor]

    @property
    def told(self) -> list[int]:
        """Class that each network says of the curve where it stood."""
        return [int(p[REACH].argmax()) for p in self.p]


@torch.no_grad()
def moved(model: CNN1d, other: Module, curve_read: Tensor) -> Moved:
    """The curve, −REACH to REACH positions to the right, by both networks."""
    x = torch.stack([curve_read.roll(shift, -1) for shift in range(-REACH, REACH + 1)])  # (F, 1, n)
    maps, h = [], x
    for layer in model.layers:
        h = layer(h)
        if isinstance(layer, nn.ReLU) and h.ndim == 3:
            maps.append(h)
    return Moved(x[:, 0], torch.stack([h.softmax(1), other.predict(x).softmax(1)]), maps)  # type: ignore


# --- The CNN as a dense network ---------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A layer of the CNN as a dense one.

    Attributes:
        matrix: (outputs, inputs). different: numbers that the layer learned, biases included.
    """

    matrix: Tensor
    different: int

    @property
    def zeros(self) -> float:
        return float((self.matrix == 0).double().mean())


def written(model: CNN1d) -> list[Written]:
    """All layers of the CNN as matrices."""
    network = seeded(lambda: MLP.from_convolution(model))  # which draws weights before it copies them
    dense = [layer for layer in network.layers if isinstance(layer, nn.Linear)]
    own = [layer for layer in model.layers if isinstance(layer, nn.Conv1d | nn.Linear)]
    return [
        Written(matrix.weight.detach(), sum(p.numel() for p in layer.parameters()))
        for matrix, layer in zip(dense, own, strict=True)
    ]
