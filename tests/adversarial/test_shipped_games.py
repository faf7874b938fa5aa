"""What the games that ship can do, judged by a classifier that they never met; and a run that goes on."""

from pathlib import Path

import pytest
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from datamodules.digits import Digits
from datamodules.mnist import MNIST
from datamodules.points import MIXTURES
from lab.__main__ import main
from lab.bench.games import features
from lab.weights import load, read_checkpoint
from modules.adversarial import metrics


@torch.no_grad()
def named(x: Tensor) -> Tensor:
    """The class that cnn-digits, right of 98.8 % of its test digits, gives to each picture."""
    return load("cnn-digits").predict(x).argmax(1)


def real() -> Tensor:
    data = Digits()
    data.setup("fit")
    return data.train_set[torch.arange(1000)][0]


@torch.no_grad()
def test_acgan_makes_the_class_that_it_is_asked_for() -> None:
    y = torch.arange(1000) % 10
    samples = load("acgan-digits").sample(1000, generator=torch.Generator().manual_seed(0), y=y)
    assert (named(samples) == y).double().mean() > 0.95  # 98 %
    for digit in range(10):  # and not one picture of each
        spread = samples[y == digit].flatten(1).std(0).mean()
        assert spread > 0.05, digit


@pytest.mark.heavy
def test_dcgan_is_near_the_real_digits_and_covers_them(real_data) -> None:
    """Precision and recall (k = 3) are 0.85 of those of test digits at least; every class has its share."""
    real_data("MNIST")
    data, network, first = MNIST(binarize="none"), load("cnn-mnist"), torch.arange(2000)
    data.setup("fit")
    data.setup("test")
    known = features(network, data.train_set[first][0])[1]
    logits, result = features(
        network, load("dcgan-mnist").sample(2000, generator=torch.Generator().manual_seed(0))
    )
    floor = metrics.precision_recall(known, features(network, data.test_set[first][0])[1], 3)
    for ours, real_digits in zip(metrics.precision_recall(known, result, 3), floor, strict=True):
        assert ours > 0.85 * real_digits
    shares = logits.argmax(1).bincount(minlength=10) / 2000
    assert shares.min() > 0.06 and shares.max() < 0.14


@torch.no_grad()
def test_infogans_code_is_read_back_and_follows_the_classes_that_it_never_saw() -> None:
    model = load("infogan-digits")
    z = model.noise(2000, torch.Generator().manual_seed(0))
    result, code = model.decode(z), z[:, model.latent_dim :][:, :10].argmax(1)
    assert (model.infer_codes(2 * result - 1)[0].argmax(1) == code).double().mean() > 0.98
    table = torch.zeros(10, 10).index_put((code, named(result)), torch.ones(2000), accumulate=True)
    rows, columns = linear_sum_assignment(-table.numpy())
    assert table[rows, columns].sum() / 2000 > 0.9  # 96 %; a tenth by chance


@torch.no_grad()
@pytest.mark.parametrize("name", ["dcgan-digits", "acgan-digits", "infogan-digits"])
def test_made_digits_are_of_every_class_and_near_to_real_ones(name: str) -> None:
    samples = load(name).sample(1000, generator=torch.Generator().manual_seed(0))
    assert named(samples).bincount(minlength=10).min() > 50
    precision, recall = metrics.precision_recall(real().flatten(1), samples.flatten(1), 3)
    assert precision > 0.65 and recall > 0.45
    assert metrics.frechet(real().flatten(1), samples.flatten(1)) < 0.2  # test digits: 0.16, with 250 of them


@torch.no_grad()
@pytest.mark.parametrize(
    ("name", "data", "quality"),
    [("gan-ring", "ring8", 0.85), ("wgan-gp-ring", "ring8", 0.7), ("gan-grid", "grid25", 0.75)],
)
def test_rings_and_grid_have_all_their_modes(name: str, data: str, quality: float) -> None:
    model, result = load(name), {}
    assert torch.equal(torch.tensor(model.hparams["modes"]), MIXTURES[data][0])
    for measure in ("modes", "quality", "kl"):
        metric = metrics.ModeCoverage(model.hparams["modes"], model.hparams["mode_sd"], measure)  # type: ignore[arg-type]
        metric.update(model.sample(2500, generator=torch.Generator().manual_seed(0)))
        result[measure] = metric.compute().item()
    assert result["modes"] == len(MIXTURES[data][0]) and result["quality"] > quality and result["kl"] < 0.05


@pytest.mark.heavy
@pytest.mark.parametrize("name", ["dcgan-digits", "wgan-gp-ring"])
def test_a_game_that_stops_and_goes_on_reaches_the_same_bits(name: str, tmp_path: Path, monkeypatch) -> None:
    small = ["--data.init_args.batch_size=32"]
    small += ["--data.init_args.num_train=500"] if "ring" in name else ["--data.init_args.train_size=200"]
    states = []
    for folder, ends in (("whole", [3]), ("parts", [1, 3])):
        monkeypatch.setenv("LECTERN_RUNS", str(tmp_path / folder))
        for number, epochs in enumerate(ends):
            again = ["--ckpt_path=last"] if number else []
            assert main(["fit", name, f"--trainer.max_epochs={epochs}", *small, *again]) == 0
        checkpoint = read_checkpoint(next((tmp_path / folder).rglob("last.ckpt")))
        states.append((checkpoint["state_dict"], checkpoint["optimizer_states"]))
    (one, of_one), (two, of_two) = states
    assert all(torch.equal(one[key], two[key]) for key in one) and one["num_updates"].tolist()[1] > 0
    assert len(of_one) == len(of_two) == 2
    for a, b in zip(of_one, of_two, strict=True):
        assert all(torch.equal(a["state"][k]["exp_avg"], b["state"][k]["exp_avg"]) for k in a["state"])
