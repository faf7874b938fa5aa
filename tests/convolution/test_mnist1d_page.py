"""The page CNN against MLP on MNIST-1D: what its scenes say, its trainings and matrices by another road."""

import pytest
import torch
import torch.nn.functional as F
from opening import film, finish, open_page, run_page

from datamodules.mnist1d import generate
from lab import experiments, weights
from lab.bench import mnist1d, runs_file
from lab.lenses import inputs, signals
from modules.convolution.classifier import initialize_he
from modules.convolution.cnn1d import CNN1d
from modules.convolution.mlp import MLP
from pages.convolution.mnist1d import figures, lens, words
from pages.convolution.mnist1d.room import (
    ADAM,
    DENSE,
    HE,
    IN_ORDER,
    LOOKS,
    NETWORK,
    REACH,
    ROOM,
    SGD,
    SHUFFLED,
    UNIFORM,
    State,
)  # fmt: skip


def course(**values: object) -> list[lens.Look]:
    asked = {key: getattr(State(), key) for key in
             ("order", "examples", "steps", "optimizer", "rate", "batch", "start", "seed")}  # fmt: skip
    *_, (share, looks) = lens.trained(**asked | values)  # type: ignore[arg-type]
    assert share == 1 and len(looks) == LOOKS + 1 and looks[-1].step == (asked | values)["steps"]
    return looks


@pytest.fixture(scope="module")
def cnn() -> CNN1d:
    return weights.load(NETWORK)  # type: ignore[return-value]


@pytest.fixture(scope="module")
def mlp() -> MLP:
    return weights.load(DENSE)  # type: ignore[return-value]


def test_which_models_it_takes() -> None:
    catalog = experiments.catalog().values()
    assert {NETWORK, DENSE, "cnn25-mnist1d"} <= {e.name for e in catalog if lens.fits(e)}
    taken = {e.name for e in catalog if lens.convolves(e)}
    assert {NETWORK, "cnn25-mnist1d"} <= taken and not {DENSE, "gru-mnist1d", "cnn-mnist"} & taken


@pytest.mark.heavy
@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.soak)])
def test_what_the_scenes_of_training_say(seed: int) -> None:
    """CV-X1 in a thousand steps: the MLP fits better, the CNN errs less; shuffled it has no lead."""
    (cnn_train, cnn_test), (mlp_train, mlp_test) = course(seed=seed)[-1].errors.tolist()
    assert mlp_train < 0.05 < cnn_train < cnn_test < 0.25 and 0.28 < mlp_test < 0.38
    (_, cnn_shuffled), (fitted, mlp_shuffled) = course(seed=seed, order=SHUFFLED)[-1].errors.tolist()
    assert cnn_shuffled > mlp_shuffled + 0.05 and abs(mlp_shuffled - mlp_test) < 0.05 and fitted < 0.05
    few = course(seed=seed, examples=500)[-1].errors
    assert few[:, 0].max() < 0.01 and few[0, 1] < few[1, 1] - 0.03


def test_a_training_by_another_road() -> None:
    """Plain descent by hand: θ − ε ∂L/∂θ on the same rows, and the errors counted one by one."""
    looks = course(optimizer=SGD, rate=0.1, steps=500, batch=10, seed=3)
    torch.manual_seed(0)
    x, y = (torch.tensor(v) for v in generate())
    x, held = x.float()[:, None], slice(4000, 5000)
    own, _ = lens.networks(HE, 3)
    generator = torch.Generator().manual_seed(3)
    order = torch.cat([torch.tensor(rows) for rows in ordered()])
    train_x, train_y = x[:4000][order], y[:4000][order]
    for _ in range(25):
        rows = torch.randint(4000, (10,), generator=generator)
        grads = torch.autograd.grad(
            F.cross_entropy(own(train_x[rows]), train_y[rows]), list(own.parameters())
        )
        with torch.no_grad():
            for p, g in zip(own.parameters(), grads, strict=True):
                p -= 0.1 * g
    assert looks[1].step == 25
    for name, value in own.state_dict().items():
        assert torch.allclose(looks[1].weights[0][name], value, atol=1e-6)
    wrong = sum(int(own(x[held][k][None]).argmax()) != int(y[held][k]) for k in range(1000))
    assert float(looks[1].errors[0, 1]) == pytest.approx(wrong / 1000, abs=0.002)


def ordered() -> tuple[list[int], list[int]]:
    """Places among the 4,000 of the training split and of validation, as the data carve them."""
    order = torch.randperm(4000, generator=torch.Generator().manual_seed(0))
    return order[400:].sort().values.tolist(), order[:400].sort().values.tolist()


def test_starts() -> None:
    """He weights throughout, the last layer too; the library's own are uniform within 1/√fan_in."""
    he, dense = lens.networks(HE, 1)
    assert he.num_parameters == 2050 and dense.num_parameters == 59_065
    assert float(dense.layers[-1].weight.detach().std()) == pytest.approx((2 / 60) ** 0.5, rel=0.1)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    uniform, other = lens.networks(UNIFORM, 1)
    assert torch.equal(torch.get_rng_state(), before)
    for network in (uniform, other):
        for layer in network.layers:
            if hasattr(layer, "weight"):
                bound = layer.weight[0].numel() ** -0.5
                assert 0.9 * bound < float(layer.weight.abs().max()) <= bound
    again, _ = lens.networks(UNIFORM, 1)
    assert torch.equal(again.layers[0].weight, uniform.layers[0].weight)
    initialize_he(uniform.layers)  # the gain of the last layer is a tenth again
    assert float(uniform.layers[-1].weight.std()) == pytest.approx(0.1 * (2 / 60) ** 0.5, rel=0.15)


def test_a_training_that_runs_away_says_so() -> None:
    looks = course(optimizer=SGD, rate=0.1, steps=500, batch=10)
    broken = lens.Look(25, torch.full((2, 2), torch.nan), looks[0].kernels, looks[0].weights)
    assert "not finite" in words.course_captions([broken])[0]
    assert "not finite" in words.course_equations([broken])[0]
    assert figures.errors([looks[0], broken], 500)


def test_what_the_networks_say_of_a_curve_while_they_train() -> None:
    looks = course(steps=500, examples=100)
    curve = lens.read("7", None)
    p = lens.classified(looks, curve)
    assert p.shape == (2, LOOKS + 1, 10) and torch.allclose(p.sum(-1), torch.ones(2, LOOKS + 1), atol=1e-5)
    own = MLP()
    own.load_state_dict(looks[-1].weights[1])
    assert torch.allclose(p[1, -1], own(curve[None])[0].softmax(0), atol=1e-6)
    assert f"MLP says {int(p[1, -1].argmax())}" in words.class_captions(looks, p)[-1]


def test_the_curve_that_moves(cnn: CNN1d, mlp: MLP) -> None:
    one = lens.moved(cnn, mlp, lens.read("7", None))
    assert one.told[0] == 7
    says = (one.p.argmax(-1) == 7).sum(1).tolist()
    assert says == [19, 12]
    x = dict(signals.signals())["7"][0]
    for f in (0, 7, REACH, 2 * REACH):
        shift = f - REACH
        assert all(float(one.x[f, (i + shift) % 40]) == float(x[i]) for i in range(40))
    assert [m.shape[1:] for m in one.maps] == [(15, 19), (15, 9), (15, 4)]
    # away from the seam a shift by the stride moves a map by one
    inner = torch.allclose(one.maps[0][REACH + 2, :, 2:18], one.maps[0][REACH, :, 1:17], atol=1e-5)
    assert inner and not torch.allclose(
        one.maps[0][REACH + 1, :, 1:17], one.maps[0][REACH, :, 1:17], atol=1e-2
    )


def test_the_matrices_compute_the_cnn(cnn: CNN1d) -> None:
    layers = lens.written(cnn)
    assert [tuple(layer.matrix.shape) for layer in layers] == [(285, 40), (135, 285), (60, 135), (10, 60)]
    assert [layer.different for layer in layers] == [60, 690, 690, 610]
    assert [round(layer.zeros, 3) for layer in layers] == [0.925, 0.842, 0.667, 0.0]
    x, _ = (torch.tensor(v[:50]) for v in generate())
    h = x.float()
    for layer, own in zip(layers, (m for m in cnn.layers if hasattr(m, "weight")), strict=True):
        bias = own.bias.repeat_interleave(len(layer.matrix) // len(own.bias))
        h = h @ layer.matrix.T + bias
        h = h if len(bias) == 10 else h.relu()
    assert torch.allclose(h, cnn.predict(x.float()[:, None]), atol=1e-4)
    assert "2,050" in words.counted(layers) and "59,065" in words.counted(layers)


def test_the_protocol_of_the_text_is_read_from_its_runs() -> None:
    """CV-X1 and X2: 13–19 % and 37–43 %, no curve of training wrong; shuffled the CNN is no better."""
    runs = [run for run in runs_file.read(mnist1d.KEPT, mnist1d.Run) if run.recipe == "text"]
    assert all(run.train == 0 for run in runs if not run.shuffled) and {run.seed for run in runs} == {
        0,
        1,
        2,
        3,
    }
    errors = lens.of_the_text()
    assert 13 < errors["CNN", False][0] < 19 and 37 < errors["MLP", False][0] < 43
    assert errors["CNN", True][0] > errors["MLP", True][0] - 1
    assert "the CNN errs on 15.8 ± 0.8 % of" in words.of_the_text(errors)


def test_a_curve_is_read_as_other_pages_read_it() -> None:
    sketch = dict(inputs.sketches())["3"]
    assert torch.equal(lens.read("own", sketch), signals.curve(sketch))
    assert not lens.read("own", torch.zeros(40, 40)).any()


def test_the_page_shows_these_numbers() -> None:
    page = finish(open_page("convolution/mnist1d"))
    *_, (_, looks) = lens.trained(IN_ORDER, 4000, 1000, ADAM, 0.005, 100, HE, 0)
    bar = film(page, "look")
    assert bar["captions"] == words.course_captions(looks) and bar["count"] == LOOKS + 1
    moved = run_page("convolution/mnist1d", scene=list(ROOM.scenes).index("Moved") + 1)
    assert "4 to the right" in film(moved, "shift")["captions"][REACH + 4]
