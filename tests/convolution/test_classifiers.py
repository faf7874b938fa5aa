"""Convolutional classifiers: the arithmetic of the layers, the networks of the text, what training gave."""

from pathlib import Path

import contracts
import lightning as L
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from datamodules.base import DataModule, TensorSplit
from datamodules.digits import Digits
from datamodules.mnist1d import MNIST1D
from lab import experiments
from modules.base import Predictor
from modules.convolution.classifier import Classifier, initialize_he
from modules.convolution.cnn1d import CNN1d
from modules.convolution.cnn2d import CNN2d
from modules.convolution.mlp import MLP, as_linear

SIGNAL = (5.2, 5.3, 5.4, 5.1, 10.1, 10.3, 9.9, 10.3, 3.2, 3.4, 3.3, 3.1)  # notebook 10.1
EXPERIMENTS = ("cnn-mnist1d", "mlp-mnist1d", "cnn25-mnist1d", "cnn-mnist", "cnn-digits")


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def layer(
    kernel: tuple[float, ...], stride: int = 1, dilation: int = 1, padding: int = 0, bias: float = 0.0
) -> nn.Conv1d:
    """A convolution of one channel with these taps, in float64."""
    result = nn.Conv1d(1, 1, len(kernel), stride, padding, dilation, dtype=torch.float64)
    result.weight.data = torch.tensor(kernel, dtype=torch.float64)[None, None]
    result.bias.data.fill_(bias)
    return result


def apply(conv1d: nn.Conv1d, x: tuple[float, ...] | Tensor) -> Tensor:
    with torch.no_grad():
        return conv1d(torch.as_tensor(x, dtype=torch.float64)[None, None])[0, 0]


def by_hand(x: Tensor, weight: Tensor, bias: Tensor, stride: int, padding: int, dilation: int) -> Tensor:
    """Convolution (C_in, n) -> (C_out, n_out) by the sum of the docstring, index by index."""
    c_out, c_in, k = weight.shape
    n = x.shape[1]
    n_out = (n + 2 * padding - dilation * (k - 1) - 1) // stride + 1
    h = torch.zeros(c_out, n_out, dtype=x.dtype)
    for o in range(c_out):
        for i in range(n_out):
            total = bias[o].clone()
            for c in range(c_in):
                for tap in range(k):
                    position = stride * i + dilation * tap - padding
                    if 0 <= position < n:
                        total += weight[o, c, tap] * x[c, position]
            h[o, i] = total
    return h


def models() -> list[Classifier]:
    """One of each, on inputs small enough for exact checks."""
    return [
        CNN1d(),
        CNN1d(channels=[25] * 3, kernel_sizes=[5, 3, 3], paddings=[1], dropout=0.2),
        MLP(),
        CNN2d(image_shape=(1, 8, 8)),
        CNN2d(kernel_sizes=[5, 3, 3]),
    ]


NAMES = ["the text's CNN", "the benchmark's CNN", "MLP", "CNN on 8×8", "CNN on 28×28"]


@pytest.fixture(params=range(len(NAMES)), ids=NAMES)
def model(request: pytest.FixtureRequest) -> Classifier:
    torch.manual_seed(0)
    return models()[request.param]


def batch_for(model: Classifier, size: int = 12, seed: int = 0) -> tuple[Tensor, Tensor]:
    x = draw(size, *model.hparams["image_shape"], seed=seed).to(next(model.parameters()).dtype)
    return x, torch.arange(size) % 10


# --- The arithmetic of one layer ---------------------------------------------------------------


def test_worked_kernels() -> None:
    """Cross-correlation, no flip; and the ReLU of the negated kernel is silent."""
    x = (3.0, 1, 4, 1, 5, 9)
    assert apply(layer((-1, 0, 1)), x).tolist() == [1, 0, 1, 8]
    assert apply(layer((1, 0, -1)), x).tolist() == [-1, 0, -1, -8]
    assert F.relu(apply(layer((1, 0, -1)), x)).tolist() == [0, 0, 0, 0]
    matrix = as_linear(layer((-1, 0, 1)), 6)
    toeplitz = torch.zeros(4, 6, dtype=torch.float64)
    for i in range(4):
        toeplitz[i, i], toeplitz[i, i + 2] = -1, 1
    assert torch.equal(matrix.weight, toeplitz)


def test_worked_signal() -> None:
    """The twelve-point signal of notebook 10.1 with zero padding, through the matrices."""
    third, fifth = (0.33,) * 3, (0.2,) * 5
    close = {"abs": 1e-12}
    signal = torch.tensor(SIGNAL, dtype=torch.float64)

    def through(kernel: tuple[float, ...], **settings: int) -> Tensor:
        return as_linear(layer(kernel, **settings), len(SIGNAL))(signal).detach()

    dense = through(third, padding=1)
    assert dense.sum().item() == pytest.approx(71.115, **close)
    strided = through(third, stride=2, padding=1)
    assert torch.allclose(strided, dense[::2], rtol=0, atol=1e-14)
    assert strided.tolist() == pytest.approx([3.465, 5.214, 8.415, 10.065, 5.577, 3.234], **close)
    assert through(fifth, padding=2).sum().item() == pytest.approx(69.56, **close)
    assert through(third, dilation=2, padding=2).sum().item() == pytest.approx(68.277, **close)
    first = through((-1, 0.5, -0.2), padding=1)[:3]
    assert first.tolist() == pytest.approx([1.54, -3.63, -3.62], **close)


@pytest.mark.parametrize(
    ("settings", "rows"),
    [
        ({"padding": 1}, {0: (2, 3, 0, 0, 0, 0), 1: (1, 2, 3, 0, 0, 0), 5: (0, 0, 0, 0, 1, 2)}),
        ({"dilation": 2, "padding": 2},
         {0: (2, 0, 3, 0, 0, 0), 1: (0, 2, 0, 3, 0, 0), 2: (1, 0, 2, 0, 3, 0)}),
        ({"stride": 2, "padding": 1}, {0: (2, 3, 0, 0, 0, 0), 1: (0, 1, 2, 3, 0, 0)}),
    ],
)  # fmt: skip
def test_convolution_is_a_structured_matrix(settings: dict, rows: dict) -> None:
    """Banded, tied rows; stride 2 keeps every second row of stride 1."""
    matrix = as_linear(layer((1, 2, 3), **settings), 6)
    for row, expected in rows.items():
        assert matrix.weight[row].tolist() == list(expected)
    if settings.get("stride") == 2:
        assert torch.equal(matrix.weight, as_linear(layer((1, 2, 3), padding=1), 6).weight[::2])
    x = draw(6)
    assert (matrix(x) - apply(layer((1, 2, 3), **settings), x)).abs().max() <= 1e-14


def test_wide_kernel_matrix() -> None:
    """K = 5: the first row is the kernel from its middle on."""
    matrix = as_linear(layer((1, 2, 3, 4, 5), padding=2), 6)
    assert matrix.weight[0].tolist() == [3, 4, 5, 0, 0, 0]


def test_two_convolutions_make_one() -> None:
    """With "valid" padding conv∘conv is a convolution with ω∗ω; with zeros only inside."""
    kernel, square = (-1, 0.5, -0.2), (1, -1, 0.65, -0.2, 0.04)

    def matrix(taps: tuple[float, ...], size: int, padding: int = 0) -> Tensor:
        return as_linear(layer(taps, padding=padding), size).weight.detach()

    assert (matrix(kernel, 10) @ matrix(kernel, 12) - matrix(square, 12)).abs().max() <= 1e-12
    twice = matrix(kernel, 12, 1) @ matrix(kernel, 12, 1)
    error = (twice - matrix(square, 12, 2)).abs().amax(1)
    assert error[1:-1].max() <= 1e-12 and error[0] > 1e-3 and error[-1] > 1e-3


def test_brute_force() -> None:
    """The layers of a real CNN1d, for all strides, paddings and dilations, against the sum index by index."""
    cases = 0
    for k in range(1, 6):
        for s in range(1, 4):
            for d in range(1, 4):
                for p in range(4):
                    if 12 + 2 * p < d * (k - 1) + 1:
                        continue
                    model = contracts.exact(
                        CNN1d((2, 12), 3, channels=[3], kernel_sizes=[k], strides=[s], paddings=[p],
                              dilations=[d]), seed=cases)  # fmt: skip
                    first, x = model.layers[0], draw(2, 12, seed=cases)
                    expected = by_hand(x, first.weight, first.bias, s, p, d)
                    assert (first(x[None])[0] - expected).abs().max() <= 1e-12, (k, s, d, p)
                    logits = model.layers[-1](F.relu(expected).flatten())
                    assert (model.predict(x[None])[0] - logits).abs().max() <= 1e-12
                    cases += 1
    assert cases > 150


def test_brute_force_in_two_dimensions() -> None:
    model = contracts.exact(CNN2d(image_shape=(2, 6, 5), channels=[3], kernel_sizes=[3]))
    convolution, x = model.layers[0], draw(2, 6, 5)
    expected = torch.zeros(3, 6, 5, dtype=torch.float64)
    for o, i, j, c, m, n in torch.cartesian_prod(*(torch.arange(k) for k in (3, 6, 5, 2, 3, 3))).tolist():
        if 0 <= i + m - 1 < 6 and 0 <= j + n - 1 < 5:
            expected[o, i, j] += convolution.weight[o, c, m, n] * x[c, i + m - 1, j + n - 1]
    assert (convolution(x[None])[0] - expected).abs().max() <= 1e-12


# --- The networks of the text ------------------------------------------------------------------


def counts(model: nn.Module) -> list[int]:
    return [sum(p.numel() for p in m.parameters()) for m in model.layers if len(list(m.parameters()))]


def test_parameter_counts() -> None:
    """By hand, layer by layer, on the experiments' own settings."""
    built = {name: from_config(name) for name in EXPERIMENTS[:3]}
    assert counts(built["cnn-mnist1d"]) == [60, 690, 690, 610]
    assert built["cnn-mnist1d"].num_parameters == 2_050
    assert counts(built["mlp-mnist1d"]) == [11_685, 38_610, 8_160, 610]
    assert built["mlp-mnist1d"].num_parameters == 59_065
    assert built["cnn25-mnist1d"].num_parameters == 5_210


def from_config(name: str) -> Classifier:
    """The model of an experiment, untrained, from its YAML."""
    config = experiments.find(name).config["model"]
    kinds = {"CNN1d": CNN1d, "CNN2d": CNN2d, "MLP": MLP}
    settings = {k: v for k, v in config["init_args"].items() if k not in ("optimizer", "lr_scheduler")}
    if name == "cnn-digits":
        settings["image_shape"] = Digits().sizes["image_shape"]
    return kinds[config["class_path"].rpartition(".")[2]](**settings)


def test_positions_of_the_texts_network() -> None:
    """40 → 19 → 9 → 4 positions of 15 channels, 60 features."""
    h = draw(1, 1, 40).float()
    shapes = [tuple((h := each(h)).shape[1:]) for each in from_config("cnn-mnist1d").layers]
    assert shapes[::2][:3] == [(15, 19), (15, 9), (15, 4)] and shapes[6:] == [(60,), (10,)]


def test_blocks_of_two_convolutions_and_the_mean_of_a_map() -> None:
    """72,666 parameters; the last layer sees the mean of each map, so that where a shape is plays no part."""
    model = CNN2d(kernel_sizes=[3], convolutions=2, mean_pool=True)
    assert model.num_parameters == 9 * (16 + 16**2 + 16 * 32 + 32**2 + 32 * 64 + 64**2) + 2 * 2 * 112 + 650
    kinds = [type(layer).__name__ for layer in model.layers]
    block = ["Conv2d", "BatchNorm2d", "ReLU"] * 2
    assert kinds == [
        *block,
        "MaxPool2d",
        *block,
        "MaxPool2d",
        *block,
        "AdaptiveAvgPool2d",
        "Flatten",
        "Dropout",
        "Linear",
    ]
    model = contracts.exact(CNN2d((1, 12, 12), channels=[3], kernel_sizes=[3], mean_pool=True))
    x = torch.zeros(2, 1, 12, 12, dtype=torch.float64)
    x[0, 0, 3:5, 3:6] = x[1, 0, 6:8, 5:8] = draw(2, 3)
    logits = model.predict(x)
    assert (logits[0] - logits[1]).abs().max() < 1e-12
    maps = model.layers[:3](x)
    assert torch.allclose(model.layers[-1](maps.mean((2, 3))), logits, atol=1e-12)


def test_recipe_of_the_text() -> None:
    """100,000 steps of plain SGD at 0.01 in batches of 100, for the CNN and the MLP alike."""
    for name in ("cnn-mnist1d", "mlp-mnist1d"):
        config = experiments.find(name).config
        data = MNIST1D(**config["data"]["init_args"])
        data.setup("fit")
        steps = len(data.train_dataloader()) * config["trainer"]["max_epochs"]
        assert abs(steps - 100_000) < 100 and data.batch_size == 100
        optimizer = config["model"]["init_args"]["optimizer"]
        assert optimizer == {"class_path": "torch.optim.SGD", "init_args": {"lr": 0.01}}
        assert "lr_scheduler" not in config["model"]["init_args"]


def test_mlp_contains_the_cnn() -> None:
    """The same logits from dense matrices that are mostly zero."""
    cnn = contracts.exact(from_config("cnn-mnist1d"))
    mlp = MLP.from_convolution(cnn)
    x = draw(50, 1, 40)
    assert (mlp.predict(x) - cnn.predict(x)).abs().max() <= 1e-13
    dense = [m for m in mlp.layers if isinstance(m, nn.Linear)]
    assert [tuple(m.weight.shape) for m in dense] == [(285, 40), (135, 285), (60, 135), (10, 60)]
    assert [int((m.weight != 0).sum()) for m in dense] == [855, 6_075, 2_700, 600]
    assert mlp.num_parameters == from_config("mlp-mnist1d").num_parameters


def test_he_initialisation_ignores_the_image() -> None:
    """P10.19: Var ω = 2 / (C_in·K²) whatever the image's size; biases 0; a small head."""
    torch.manual_seed(0)
    chain = nn.Sequential(nn.Conv2d(8, 512, 3), nn.ReLU(), nn.Conv1d(32, 256, 5), nn.Linear(50, 4000))
    initialize_he(chain)
    for result, fan_in in ((chain[0], 72), (chain[2], 160)):
        assert result.weight.var().item() == pytest.approx(2 / fan_in, rel=0.03) and not result.bias.any()
    assert chain[3].weight.std().item() < 0.2 * (2 / 50) ** 0.5
    x = torch.randn(64, 8, 20, 20)
    inside = chain[0](x)  # no padding: no border
    assert inside.pow(2).mean().item() == pytest.approx(2 * x.pow(2).mean().item(), rel=0.05)


# --- Equivariance ------------------------------------------------------------------------------


def test_translation_equivariance() -> None:
    """Exact on a circle; with zeros only inside; with stride 2 for shifts of 2."""
    x = draw(1, 3, 16)
    circular = nn.Conv1d(3, 4, 3, padding=1, padding_mode="circular", dtype=torch.float64)
    assert (circular(x.roll(5, -1)) - circular(x).roll(5, -1)).abs().max() <= 1e-14
    zeros = contracts.exact(CNN1d((3, 16), 4, channels=[4], strides=[1], paddings=[1])).layers[0]
    error = (zeros(x.roll(1, -1)) - zeros(x).roll(1, -1)).abs().amax((0, 1))
    assert error[2:-1].max() <= 1e-14 and error[0] > 1e-3 and error[-1] > 1e-3
    strided = nn.Conv1d(3, 4, 3, stride=2, padding=1, padding_mode="circular", dtype=torch.float64)
    assert (strided(x.roll(2, -1)) - strided(x).roll(1, -1)).abs().max() <= 1e-14
    assert min((strided(x.roll(1, -1)) - strided(x).roll(k, -1)).abs().max() for k in range(8)) > 1e-2


def test_the_whole_network_moves_with_its_input() -> None:
    """An image moved by pool² pixels moves the last feature map by one position: wherever the fields,
    4i − 8 … 4i + 11, keep clear of the padding."""
    model = contracts.exact(CNN2d(kernel_sizes=[5, 3, 3]))
    features = model.layers[:-3]
    x = torch.zeros(1, 1, 28, 28, dtype=torch.float64)
    x[..., 12:16, 12:16] = draw(4, 4)
    here, there = features(x), features(x.roll((4, 4), (-2, -1)))
    assert (here[..., 2:4, 2:4] - there[..., 3:5, 3:5]).abs().max() <= 1e-12
    assert here[..., 2:4, 2:4].std() > 1e-3
    odd = features(x.roll((1, 1), (-2, -1)))
    assert (here[..., 2:4, 2:4] - odd[..., 2:4, 2:4]).abs().max() > 1e-3


# --- Contracts ---------------------------------------------------------------------------------


def test_predictor(model: Classifier) -> None:
    assert isinstance(model, Predictor)
    x, _ = batch_for(model)
    assert model.eval().predict(x).shape == (12, 10)
    assert torch.equal(model.predict(x), model.predict(x))  # no dropout in evaluation
    one = contracts.exact(model)
    x = x.double()
    assert (one.predict(x)[3:5] - one.predict(x[3:5])).abs().max() <= 1e-12  # no batch mates


def test_loss_at_start(model: Classifier) -> None:
    """ln 10: ten equal classes."""
    contracts.loss_at_start(model, batch_for(model, 200), torch.tensor(10.0).log().item(), 0.1)


def test_gradients(model: Classifier) -> None:
    model.train()
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch_for(model, 64), "train"))


def test_overfits(model: Classifier) -> None:
    contracts.overfits_one_batch(model, batch_for(model, 20), below=0.05, steps=200, lr=5e-3)


def test_saving(model: Classifier, tmp_path: Path) -> None:
    x, _ = batch_for(model)
    contracts.survives_saving(model, lambda m: m.predict(x), tmp_path)


def test_step_measures_what_it_says() -> None:
    """nll is −log softmax at the label in nats, acc the share of right answers, over all batches."""
    model = contracts.exact(CNN1d())
    nll, right = [], []
    for seed in range(3):
        x, y = batch_for(model, 7 + seed, seed)
        loss = model.step((x, y), "test")
        p = model.predict(x).softmax(1)
        nll.append(-p[torch.arange(len(y)), y].log())
        right.append((p.argmax(1) == y).double())
        assert loss.item() == pytest.approx(nll[-1].mean().item(), abs=1e-12)
    assert model.meters["test_nll"].compute().item() == pytest.approx(torch.cat(nll).mean().item(), abs=1e-6)
    assert model.meters["test_acc"].compute().item() == pytest.approx(
        torch.cat(right).mean().item(), abs=1e-6
    )


class Steps(DataModule):
    """24 examples in unequal batches."""

    def setup(self, stage: str | None = None) -> None:
        x, y = draw(24, 1, 40).float(), torch.arange(24) % 10
        self.train_set = self.val_set = TensorSplit(x, y)


def test_training_metrics_cover_the_whole_epoch() -> None:
    """With a rate of 0 the model stands still: training and validation report the same numbers."""
    model = CNN1d(optimizer=lambda p: torch.optim.SGD(p, 0.0))
    trainer = L.Trainer(max_epochs=2, logger=False, enable_checkpointing=False, enable_progress_bar=False,
                        enable_model_summary=False, accelerator="cpu")  # fmt: skip
    trainer.fit(model, Steps(batch_size=6))
    results = {name: float(value) for name, value in trainer.callback_metrics.items()}
    assert results["train/nll"] == pytest.approx(results["val/nll"], rel=1e-5)
    assert results["train/acc"] == pytest.approx(results["val/acc"], abs=1e-6)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: CNN1d(channels=[4, 4], kernel_sizes=[3, 3, 3]), "3 entries for 2 layers"),
        (lambda: CNN1d((1, 6)), "too small"),
        (lambda: CNN2d(kernel_sizes=[4]), "odd"),
        (lambda: CNN2d((1, 2, 2)), "too small"),
    ],
)
def test_bad_settings_say_what_is_wrong(make, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


# --- What training gave ------------------------------------------------------------------------


def trained_card(name: str) -> dict:
    experiment = experiments.find(name)
    if experiment.card is None:
        pytest.fail(f"{name} has no trained weights in the zoo")
    return experiment.card


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("cnn-mnist1d", 0.81, 0.87),  # the text about 83 %
        ("mlp-mnist1d", 0.57, 0.63),  # the text about 60 %
        ("cnn25-mnist1d", 0.93, 1.0),  # published 94 %
        ("cnn-mnist", 0.99, 1.0),
        ("cnn-digits", 0.97, 1.0),
    ],
)
def test_accuracy_of_the_shipped_weights(name: str, low: float, high: float) -> None:
    assert low <= trained_card(name)["metrics"]["test/acc"] <= high


@pytest.mark.parametrize("name", EXPERIMENTS[:3] + EXPERIMENTS[4:])
def test_card_is_what_the_weights_do(name: str) -> None:
    """The shipped file, run again over the whole test split, gives the card's numbers."""
    from lab import weights

    card = trained_card(name)
    data = (Digits if name == "cnn-digits" else MNIST1D)(**experiments.find(name).config["data"]["init_args"])
    data.setup("test")
    x, y = data.test_set[torch.arange(len(data.test_set))]
    with torch.no_grad():
        logits = weights.load(name).predict(x)
    result = (logits.argmax(1) == y).float().mean().item()
    metrics = card.get("shipped", card)["metrics"]  # of several seeds, those of the one that ships
    assert result == pytest.approx(metrics["test/acc"], abs=1e-6)
    assert F.cross_entropy(logits, y).item() == pytest.approx(metrics["test/nll"], rel=1e-4)
    assert card["parameters"] == from_config(name).num_parameters


def test_weight_sharing_generalises() -> None:
    """The CNN beats the MLP that contains it by more than 15 points."""
    cnn, mlp = (trained_card(name)["metrics"]["test/acc"] for name in ("cnn-mnist1d", "mlp-mnist1d"))
    assert cnn - mlp > 0.15
