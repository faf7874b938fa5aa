"""Slices of the loss, by another road: weights set by hand, full Hessians, rescaled layers, known planes."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.convolution import loss_surface
from modules.convolution.loss_surface import (
    bends_down,
    curvature,
    direction,
    loss_at,
    loss_slice,
    path_plane,
    rescaled,
    values,
)
from modules.convolution.residual_mlp import ResidualMLP


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def mlp(seed: int = 0, **how: object) -> ResidualMLP:
    """A small network in float64, its biases and norms with random parameters."""
    options = {
        "image_shape": (1, 5),
        "num_classes": 3,
        "width": 6,
        "blocks": 2,
        "block_depth": 2,
        "norm": "none",
    }
    model = ResidualMLP(**(options | how)).double()  # type: ignore[arg-type]
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(drawn(*p.shape, seed=100 * seed + i) / math.sqrt(max(p.shape[-1:] or (1,))))
    return model.requires_grad_(False).eval()


X, Y = drawn(12, 1, 5, seed=7), torch.arange(12) % 3


@pytest.mark.parametrize("how", [{}, {"norm": "batch"}, {"shortcut": "none"}])
def test_a_slice_is_the_loss_of_weights_set_by_hand(how: dict[str, object]) -> None:
    """CV-O51: at (0, 0) it is the final loss."""
    model = mlp(**how)
    first, second = (direction(model, seed=i) for i in (0, 1))
    alphas, betas = torch.tensor([-0.5, 0.0, 0.3]).double(), torch.tensor([0.0, 1.0]).double()
    found = loss_slice(model, X, Y, first, second, alphas, betas)
    assert found.shape == (3, 2) and not found.requires_grad
    assert float(found[1, 0]) == pytest.approx(float(F.cross_entropy(model(X), Y)), rel=1e-12)
    before = {name: p.clone() for name, p in model.state_dict().items()}
    for i, a in enumerate(alphas):
        for j, b in enumerate(betas):
            moved = {n: p + a * first[n] + b * second[n] if n in first else p for n, p in before.items()}
            model.load_state_dict(moved)
            assert float(found[i, j]) == pytest.approx(float(F.cross_entropy(model(X), Y)), rel=1e-10)
    model.load_state_dict(before)
    torch.testing.assert_close(loss_slice(model, X, Y, first, second, alphas, betas, chunk=1), found)


def test_directions_of_filters_and_of_the_whole() -> None:
    net = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4, 3))
    filters, raw = direction(net, "filter", 3), direction(net, "raw", 3)
    for name, w in values(net).items():
        if w.ndim < 2:
            assert not filters[name].any() and not raw[name].any()
            continue
        for i in range(len(w)):  # each filter by itself
            assert float(filters[name][i].norm()) == pytest.approx(float(w[i].norm()), rel=1e-5)
            cosine = (filters[name][i] * raw[name][i]).sum() / (filters[name][i].norm() * raw[name][i].norm())
            assert float(cosine) == pytest.approx(1, abs=1e-5)
    length = sum(float(d.square().sum()) for d in raw.values())
    assert length == pytest.approx(
        sum(float(w.square().sum()) for w in values(net).values() if w.ndim > 1), rel=1e-5
    )
    spread = [float(raw[n].std()) for n in ("0.weight", "3.weight")]
    assert spread[0] == pytest.approx(spread[1], rel=0.5)  # one factor for all of them
    again, other = direction(net, "filter", 3), direction(net, "filter", 4)
    assert all(torch.equal(again[n], d) for n, d in filters.items())
    assert not torch.equal(other["0.weight"], filters["0.weight"])


@pytest.mark.parametrize("shortcut", ["identity", "none"])
def test_rescaled_layers_change_the_raw_picture_alone(shortcut: str) -> None:
    """CV-O51: a layer times 10, the next divided by 10."""
    model = mlp(shortcut=shortcut)
    first, second = [n for n, m in model.named_modules() if isinstance(m, nn.Linear)][1:3]
    other = rescaled(model, first, second, 10.0)
    torch.testing.assert_close(other(X), model(X), rtol=1e-12, atol=1e-12)
    assert float(
        other.get_submodule(first).weight.norm() / model.get_submodule(first).weight.norm()
    ) == pytest.approx(10)  # type: ignore[operator]
    places = torch.linspace(-1, 1, 5, dtype=torch.float64)

    def picture(net: nn.Module, kind: loss_surface.Kind) -> Tensor:
        return loss_slice(net, X, Y, direction(net, kind, 0), direction(net, kind, 1), places, places)

    torch.testing.assert_close(picture(other, "filter"), picture(model, "filter"), rtol=1e-9, atol=0)
    raw, before = picture(other, "raw"), picture(model, "raw")
    assert float(raw[2, 2]) == pytest.approx(float(before[2, 2]), rel=1e-9)
    assert float((raw - before).abs().max()) > float(before.max())


@pytest.mark.parametrize("how", [{}, {"norm": "batch"}])
def test_curvature_is_that_of_the_whole_hessian(how: dict[str, object]) -> None:
    model = mlp(3, width=3, blocks=1, **how)
    along, centre = direction(model, seed=5), values(model)
    names, flat = list(centre), torch.cat([p.flatten() for p in centre.values()])

    def loss(vector: Tensor) -> Tensor:
        parts = vector.split([centre[n].numel() for n in names])
        return loss_at(model, X, Y, {n: v.view(centre[n].shape) for n, v in zip(names, parts, strict=True)})

    hessian = torch.autograd.functional.hessian(loss, flat)
    d = torch.cat([along[n].flatten() for n in names])
    found = curvature(model, X, Y, along)
    assert found == pytest.approx(float(d @ hessian @ d), rel=1e-9)
    h = torch.tensor([-1e-4, 0.0, 1e-4]).double()
    row = loss_slice(model, X, Y, along, along, h, torch.zeros(1).double())[:, 0]
    assert found == pytest.approx(float(row[2] - 2 * row[1] + row[0]) / 1e-8, rel=1e-3)


def test_where_known_surfaces_bend_down() -> None:
    a, b = torch.meshgrid(torch.linspace(-1, 1, 7), torch.linspace(-1, 1, 5), indexing="ij")
    assert bends_down(a**2 + b**2 + a * b).sum() == 0 and bends_down(a**2 + b**2).shape == (5, 3)
    assert bends_down(a * b).all() and bends_down(a**2 - b**2).all() and bends_down(-(a**2) - b**2).all()
    tilted = a**2 + b**2 + 12 * a * b  # convex along both axes, not between them
    assert bends_down(tilted).all()
    half = bends_down(a**3 + b**2)
    assert half[:2].all() and not half[3:].any()


def test_the_plane_of_a_path_holds_a_flat_one_and_most_of_another() -> None:
    u, v = drawn(2, 3, seed=1), drawn(2, 3, seed=2)
    end = drawn(2, 3, seed=3)
    steps = [(3.0, -1.0), (2.0, 1.0), (1.0, 0.5), (0.0, 0.0)]
    plane = path_plane([{"w": end + s * u + t * v, "b": torch.ones(1).double()} for s, t in steps])
    assert plane.share == pytest.approx(1) and plane.places.shape == (4, 2)
    torch.testing.assert_close(plane.places[-1], torch.zeros(2).double(), atol=1e-12, rtol=0)
    for (s, t), (p, q) in zip(steps, plane.places, strict=True):
        torch.testing.assert_close(p * plane.first["w"] + q * plane.second["w"], s * u + t * v)
    assert float(plane.first["w"].norm()) == pytest.approx(1)
    assert float((plane.first["w"] * plane.second["w"]).sum()) == pytest.approx(0, abs=1e-12)
    rows = drawn(6, 8, seed=4)
    found = path_plane([{"w": row[:6].view(2, 3), "b": row[6:]} for row in rows])
    left = rows - rows[-1]
    sizes = torch.linalg.eigvalsh(left.T @ left)  # rising
    assert found.share == pytest.approx(float(sizes[-2:].sum() / sizes.sum()))
    assert float(found.places[:, 0].square().sum()) == pytest.approx(float(sizes[-1]))


def test_what_is_refused() -> None:
    model = mlp()
    one = direction(model)
    with pytest.raises(ValueError, match="training mode"):
        loss_at(model.train(), X, Y, values(model))
    with pytest.raises(ValueError, match="kind"):
        direction(model, "layer")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="factor is -2"):
        rescaled(model, "layers.1", "layers.4", -2.0)
    with pytest.raises(ValueError, match="three states"):
        path_plane([one, one])
    with pytest.raises(ValueError, match="losses"):
        bends_down(torch.zeros(2, 3))
    with pytest.raises(ValueError, match="chunk"):
        loss_slice(model.eval(), X, Y, one, one, torch.zeros(1), torch.zeros(1), chunk=0)
