"""The page "Memorise or generalise": its exact denoiser, its distances, what its scenes say."""

from functools import cache, partial

import pytest
import torch
from opening import figure, metrics, open_page, prose

from lab import experiments, weights
from modules.diffusion import exact
from modules.diffusion.gaussian_diffusion import GaussianDiffusion
from modules.diffusion.schedule import cosine
from pages.diffusion.memorise import lens, room

MODELS = {room.PLANE: "ddpm-eight", room.DIGITS: "ddpm-digits"}
opened = partial(open_page, "diffusion/memorise")


@cache
def model(data: str) -> GaussianDiffusion:
    return weights.load(MODELS[data]).eval().requires_grad_(False)  # type: ignore[return-value]


@cache
def trajectory(data: str = room.PLANE, n: int | None = 50) -> lens.Trajectory:
    return lens.trajectory(model(data), data, n, 0)


def compared(data: str = room.PLANE, n: int = 50) -> lens.Found:
    return lens.compared(trajectory(data, n), trajectory(data, None), data, n)


@pytest.mark.parametrize("t", [1, 300, 1000])
def test_the_best_denoiser_is_that_of_points_without_spread(t: int) -> None:
    result, generator = cosine(), torch.Generator().manual_seed(0)
    training = torch.randn(30, 5, dtype=torch.float64, generator=generator)
    x = torch.randn(7, 5, dtype=torch.float64, generator=generator)
    clean, noise = lens.best(result, training)(x, torch.full((7,), t))  # type: ignore[misc]
    mixture, a = exact.Mixture(training), result.alpha_bar[t]
    assert torch.allclose(clean, mixture.posterior_mean(x, a), atol=1e-10)
    assert torch.allclose(noise, mixture.eps(x, a), rtol=1e-9, atol=1e-9)
    assert torch.allclose(a.sqrt() * clean + (1 - a).sqrt() * noise, x, atol=1e-12)


def test_it_keeps_the_shape_of_pictures() -> None:
    training = lens.points(room.DIGITS, 10)
    x = torch.randn(3, 1, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    clean, noise = lens.best(cosine(), training)(x, torch.full((3,), 500))  # type: ignore[misc]
    assert clean.shape == noise.shape == x.shape


def test_nearest_by_brute_force() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(4, 3, dtype=torch.float64, generator=generator)
    training = torch.randn(9, 3, dtype=torch.float64, generator=generator)
    near, which = lens.nearest(x, training)
    for row, two, first in zip(x, near, which, strict=True):
        sums = sorted((float((row - point).square().sum().sqrt()), k) for k, point in enumerate(training))
        assert two.tolist() == pytest.approx([sums[0][0], sums[1][0]]) and int(first) == sums[0][1]


def test_a_copy_is_three_times_nearer_to_one_point_than_to_the_next() -> None:
    training = torch.tensor([[0.0], [4.0]]).double()
    result = lens.judged({"a": torch.tensor([[0.0], [0.9], [1.1], [2.0]]).double()}, training)
    assert result.copies["a"] == 0.5 and result.distance["a"].tolist() == pytest.approx([0, 0.9, 1.1, 2])


def test_held_out_data_are_none_of_the_training_data() -> None:
    for data in room.DATA:
        train, held = lens.splits(data)
        assert len(held) >= lens.COUNT[data] and float(lens.nearest(held[:100], train)[0].min()) > 0
    assert len(lens.splits(room.DIGITS)[0]) == 1297


def test_training_points_are_the_networks_own() -> None:
    """As the cards of the weights say how the data were made."""
    for data, text in ((room.PLANE, {"num_train": 200_000, "seed": 0}), (room.DIGITS, {"val_size": 250})):
        card = weights.read_card(experiments.ZOO / MODELS[data])
        result = card["config"]["data"]["init_args"]
        assert text.items() <= result.items()


def test_histograms_count_every_sample() -> None:
    for data, n in ((room.PLANE, 50), (room.DIGITS, 1297)):
        edges, share = lens.histogram(compared(data, n))
        assert len(edges) == lens.BINS + 1
        for values in share.values():
            assert float(values.sum()) == pytest.approx(1)


def test_what_is_shown() -> None:
    page = opened(n=10)
    shown, result = metrics(page), compared(n=10)
    assert f"that it has not seen {result.copies[lens.HELD]:.3f}. Half" in prose(page)
    for name in (room.EXACT, room.NETWORK):
        assert float(shown[f"Copies, {name}"]) == pytest.approx(result.copies[name], abs=6e-4)
    _, arrays = figure(page, "cloud")
    ends = torch.stack([torch.tensor(arrays[f"data.2.{axis}"][-1]) for axis in "xy"], 1).double()
    assert float(lens.nearest(ends, lens.points(room.PLANE, 10))[0][:, 0].max()) < 1e-5
    assert "only name this family" in prose(page)


@pytest.mark.parametrize("source", [room.EXACT, room.NETWORK])
def test_the_digits_beside_are_training_digits(source: str) -> None:
    _, arrays = figure(opened(data=room.DIGITS, n=10, source=source), "near")
    last = torch.tensor(arrays["data.0.z"][-1])[:8, :8].flatten().double()
    training = lens.points(room.DIGITS, 10)
    assert float((training - last).abs().amax(1).min()) < 1e-6


def test_what_the_scenes_of_the_plane_say() -> None:
    fifty = compared()
    assert fifty.copies[room.EXACT] > 0.9
    assert fifty.middle(room.NETWORK) == pytest.approx(fifty.middle(lens.HELD), rel=0.15)
    assert fifty.copies[room.NETWORK] < 0.2 and fifty.middle(room.EXACT) < 1e-3
    modes = exact.eight().means

    def home(x: torch.Tensor) -> set[int]:
        return set(torch.cdist(x, modes).argmin(1).tolist())

    ten = lens.points(room.PLANE, 10)
    assert len(home(ten)) == 6 and home(trajectory(n=10).ends) <= home(ten)
    many = compared(n=1297)
    assert 0.3 < many.copies[room.EXACT] < 0.8 * fifty.copies[room.EXACT]
    assert many.middle(room.EXACT) < 0.25 * many.middle(lens.HELD)
    assert float(many.distance[room.EXACT].max()) < 0.1
    half = trajectory()
    near = lens.nearest(half.x0[12], lens.points(room.PLANE, 50))[0][:, 0]
    assert half.times[12] == 491 and float(near.median()) > 1


def test_what_the_scenes_of_the_digits_say() -> None:
    every = compared(room.DIGITS, 1297)
    assert every.copies[room.EXACT] == 1 and float(every.distance[room.EXACT].max()) < 1e-6
    assert every.copies[room.NETWORK] == 0 and float(every.distance[room.NETWORK].min()) > 0.5
    ten = lens.nearest(trajectory(room.DIGITS, 10).ends, lens.points(room.DIGITS, 10))
    assert float(ten[0][:, 0].max()) < 1e-6 and len(set(ten[1].tolist())) == 10
