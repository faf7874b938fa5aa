"""Attribution: linear models in closed form, sums, loops over windows, a map of classes by its definition."""

import contracts
import pytest
import torch
from torch import Tensor, nn

from lab.lenses import attribution
from lab.seeding import seeded
from modules.convolution.cnn1d import CNN1d
from modules.convolution.cnn2d import CNN2d

SHAPES = [(2, 9), (2, 5, 6)]


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def smooth(shape: tuple[int, ...]) -> nn.Sequential:
    """A net of tanh, three classes."""
    n = torch.Size(shape).numel()
    net = seeded(lambda: nn.Sequential(nn.Flatten(), nn.Linear(n, 7), nn.Tanh(), nn.Linear(7, 3)))
    return net.double()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_linear_model_has_closed_forms(shape: tuple[int, ...]) -> None:
    w, x, start = draw(4, *shape), draw(*shape, seed=1), draw(*shape, seed=2)

    def model(batch: Tensor) -> Tensor:
        return torch.einsum("b...,k...->bk", batch.flatten(1), w.flatten(1)) + 3

    S = attribution.score(model, 2, 1)
    v = w[2] - w[1]
    torch.testing.assert_close(S(x[None])[0], (v * x).sum())
    torch.testing.assert_close(attribution.score(model, 2)(x[None])[0], (w[2] * x).sum() + 3)
    torch.testing.assert_close(attribution.gradient(S, x), v.sum(0))
    torch.testing.assert_close(attribution.gradient_times_input(S, x), (v * x).sum(0))
    for steps in (1, 5):
        path = attribution.integrated(S, x, start, steps)
        torch.testing.assert_close(path.sums[-1], (v * (x - start)).sum(0))
        assert path.error < 1e-12 and len(path.points) == len(path.scores) == steps + 1
        torch.testing.assert_close(path.points[0], start)
        torch.testing.assert_close(path.points[-1], x)
    torch.testing.assert_close(attribution.integrated(S, x, 0.5, 3).sums[-1], (v * (x - 0.5)).sum(0))
    alone = attribution.occlusion(S, x, 1, -0.5)  # a window of one position: w_i (x_i − value)
    torch.testing.assert_close(alone, (v * (x + 0.5)).sum(0))


@pytest.mark.parametrize("shape", SHAPES)
def test_attributions_sum_to_the_difference(shape: tuple[int, ...]) -> None:
    x = draw(*shape)
    S = attribution.score(smooth(shape), 0, 2)
    before, after = (float(S(v[None]).detach()) for v in (torch.full_like(x, 0.3), x))
    path = attribution.integrated(S, x, 0.3, 400)
    assert abs(float(path.sums[-1].sum()) - (after - before)) < 1e-4
    assert path.error < 1e-4 and abs(float(path.scores[-1]) - after) < 1e-12
    # so far as it has come, it is the way's own difference
    torch.testing.assert_close(path.reached, path.scores - path.scores[0], atol=1e-4, rtol=0)
    rough = attribution.integrated(S, x, 0.3, 2)
    assert rough.error > path.error
    # the midpoint rule of two steps, by hand
    slopes = [attribution.gradient(S, 0.3 + a * (x - 0.3)) for a in (0.25, 0.75)]
    torch.testing.assert_close(rough.gradients, torch.stack(slopes))


def test_the_integral_of_a_square_is_known() -> None:
    x, start = draw(1, 4), draw(1, 4, seed=1)
    path = attribution.integrated(lambda v: v.flatten(1).pow(2).sum(1), x, start, 1)
    torch.testing.assert_close(path.sums[-1], (x**2 - start**2)[0])  # linear gradient: exact


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [1, 3, 5])
def test_occlusion_is_that_of_a_loop(shape: tuple[int, ...], size: int) -> None:
    x, value = draw(*shape), 0.7
    S = attribution.score(smooth(shape), 1)
    expected = torch.empty(shape[1:], dtype=torch.float64)
    reach = size // 2
    for place in torch.cartesian_prod(*map(torch.arange, shape[1:])).view(-1, len(shape) - 1).tolist():
        hidden = x.clone()
        hidden[(slice(None), *(slice(max(0, i - reach), i + reach + 1) for i in place))] = value
        expected[tuple(place)] = (S(x[None]) - S(hidden[None]))[0].detach()
    torch.testing.assert_close(attribution.occlusion(S, x, size, value), expected)


def test_even_and_empty_windows_are_refused() -> None:
    S = attribution.score(smooth((1, 4)), 0)
    with pytest.raises(ValueError, match="odd"):
        attribution.occlusion(S, draw(1, 4), 2)
    with pytest.raises(ValueError, match="size"):
        attribution.occlusion(S, draw(1, 4), 0)
    with pytest.raises(ValueError, match="steps"):
        attribution.integrated(S, draw(1, 4), 0.0, 0)


@pytest.mark.parametrize("axes", [1, 2])
def test_grad_cam_behind_global_pooling_is_the_map_of_classes(axes: int) -> None:
    conv, pool = ((nn.Conv1d, nn.AdaptiveAvgPool1d), (nn.Conv2d, nn.AdaptiveAvgPool2d))[axes - 1]
    chain = seeded(
        lambda: nn.Sequential(conv(2, 5, 3), nn.ReLU(), pool(1), nn.Flatten(), nn.Linear(5, 3)), 4
    ).double()
    x = draw(2, *[6] * axes)
    maps = chain[1](chain[0](x[None]))[0]  # (5, positions...)
    positions = maps[0].numel()
    w = chain[4].weight.detach()
    for weights, against in ((w[1], None), (w[1] - w[0], 0)):
        seen = torch.einsum("k,k...->...", weights, maps).relu() / positions
        mode = ("linear", "bilinear")[axes - 1]
        expected = nn.functional.interpolate(seen[None, None], size=x.shape[1:], mode=mode)[0, 0]
        result = attribution.grad_cam(chain, x, 1, against)
        torch.testing.assert_close(result, expected.detach())
        assert result.shape == x.shape[1:] and bool((result >= 0).all())
    with pytest.raises(ValueError, match="needs maps"):
        attribution.grad_cam(nn.Sequential(nn.Flatten(), nn.Linear(4, 2)), draw(1, 4), 0)


@pytest.mark.parametrize("model", [CNN1d((1, 20), channels=[3, 4]), CNN2d((1, 8, 8), channels=[3, 4])])
def test_grad_cam_of_a_stack_weighs_its_last_maps(model: nn.Module) -> None:
    model = contracts.exact(model)
    x = draw(*model.hparams["image_shape"])
    layers = list(model.layers)
    cut = next(i for i, layer in enumerate(layers) if isinstance(layer, nn.Flatten))
    maps = nn.Sequential(*layers[:cut])(x[None])[0]
    kernel = layers[-1].weight.view(10, *maps.shape)  # f is linear in the maps: its weights are the gradient
    w = (kernel[3] - kernel[5]).flatten(1).mean(1)
    seen = torch.einsum("k,k...->...", w, maps).relu()
    mode = "linear" if x.ndim == 2 else "bilinear"
    expected = nn.functional.interpolate(seen[None, None], size=x.shape[1:], mode=mode)[0, 0]
    torch.testing.assert_close(attribution.grad_cam(model, x, 3, 5), expected.detach())


def test_deletion_takes_positions_away_in_order() -> None:
    w, x = draw(2, 3, 4), draw(2, 3, 4, seed=1)

    def S(batch: Tensor) -> Tensor:
        return (w * batch).flatten(1).sum(1)

    values = (w * x).sum(0)
    order, counts = attribution.falling(values), torch.arange(13)
    inputs, scores = attribution.deleted(S, x, order, counts)
    left = values.flatten().sort(descending=True).values
    expected = torch.stack([left[k:].sum() for k in range(13)])
    torch.testing.assert_close(scores, expected)
    assert bool((inputs[-1] == 0).all()) and bool((inputs[0] == x).all())
    assert attribution.falling(torch.zeros(2, 2)).tolist() == [0, 1, 2, 3]
    inputs, _ = attribution.deleted(S, x, order, torch.tensor([3]), -2.0)
    assert int((inputs[0, 0] == -2).sum()) == 3


def test_random_weights_come_from_the_last_layer_down() -> None:
    model = contracts.exact(CNN2d((1, 8, 8), channels=[3, 4]))
    before = {name: p.clone() for name, p in model.named_parameters()}
    x = draw(2, 1, 8, 8)
    torch.testing.assert_close(attribution.randomized(model, 0, 0).predict(x), model.predict(x))
    others = [attribution.randomized(model, count, 0) for count in range(4)]
    weighted = [i for i, m in enumerate(model.layers) if isinstance(m, attribution.WEIGHTED)]
    for count, other in enumerate(others):
        for place in weighted:
            same = torch.equal(other.layers[place].weight, model.layers[place].weight)
            assert same == (place not in weighted[len(weighted) - count :])
    assert torch.equal(others[3].layers[-1].weight, others[1].layers[-1].weight)
    assert float(others[3].layers[-1].bias.detach().abs().max()) == 0
    norm = next(m for m in others[3].layers if isinstance(m, nn.BatchNorm2d))
    assert bool((norm.running_var == 1).all()) and bool((norm.weight == 1).all())
    assert not torch.equal(attribution.randomized(model, 1, 1).layers[-1].weight, others[1].layers[-1].weight)
    for name, p in model.named_parameters():
        assert torch.equal(p, before[name])


def test_rank_correlation_by_hand() -> None:
    a, b = torch.tensor([[1.0, 2.0], [2.0, 4.0]]), torch.tensor([[10.0, 30.0], [20.0, 40.0]])
    ranks = torch.tensor([-1.5, 0, 0, 1.5]), torch.tensor([-1.5, 0.5, -0.5, 1.5])  # ties at their mean
    expected = float(ranks[0] @ ranks[1] / (ranks[0].norm() * ranks[1].norm()))
    assert attribution.rank_correlation(a, b) == pytest.approx(expected)
    assert attribution.rank_correlation(a, torch.ones(2, 2)) == 0
    assert attribution.rank_correlation(a, -a) == pytest.approx(-1)
