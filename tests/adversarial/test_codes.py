"""What is measured of an InfoGAN's codes: slant and thickness of strokes, and errors of known tables."""

import pytest
import torch

from datamodules.digits import Digits
from lab import weights
from lab.lenses import codes
from modules.adversarial.infogan import InfoGAN


def test_the_slant_of_a_sheared_bar() -> None:
    """A bar that goes one column to the right for each row up leans by 1, one upright by 0, faint or not."""
    bar = torch.zeros(3, 8, 8)
    bar[0, :, 3] = 1
    for i in range(8):
        bar[1, 7 - i, i] = 1
        bar[2, i, i] = 0.3
    assert codes.slants(bar).tolist() == pytest.approx([0, 1, -1], abs=1e-5)


def test_tables_and_their_fit() -> None:
    asked, answer = torch.tensor([0, 0, 3]), torch.tensor([0, 7, 3])
    counts = codes.table(asked, answer)
    assert counts.sum() == 3 and counts[0, 7] == counts[0, 0] == counts[3, 3] == 1
    order = torch.randperm(10, generator=torch.Generator().manual_seed(0))
    assert torch.equal(codes.fitting(10 * torch.eye(10)[order] + 1), order)


@pytest.mark.parametrize("width", [1, 3, 6])
def test_the_thickness_of_a_bar_however_faint(width: int) -> None:
    """Of a bar of 200 × w pixels, but for its two ends and the corner where both differences meet."""
    bar = torch.zeros(2, 202, 12)
    bar[0, 1:-1, 2 : 2 + width] = 1
    bar[1] = 0.4 * bar[0]
    assert codes.thicknesses(bar).tolist() == pytest.approx([width] * 2, rel=0.04)
    edge = torch.zeros(1, 200, 12)
    edge[0, :, :width] = 1  # nothing is drawn beyond the edge
    assert codes.thicknesses(edge).item() == pytest.approx(width, rel=0.04)


def test_errors_of_codes() -> None:
    y = torch.arange(1000) % 10
    order = torch.randperm(10, generator=torch.Generator().manual_seed(1))
    assert codes.error(order[y], y) == 0
    assert codes.error(torch.zeros_like(y), y) == pytest.approx(0.9)
    some = order[y].clone()
    some[:100] = (some[:100] + 1) % 10
    assert codes.error(some, y) == pytest.approx(0.1)
    assert codes.error(order[y // 2], y) == pytest.approx(0.5)  # two classes a code


def test_codes_that_ship_are_read_and_named() -> None:
    """Both errors of the small one, and its first code in what it gets."""
    model, network = weights.load("infogan-digits"), weights.load("cnn-digits")
    assert isinstance(model, InfoGAN)
    z = model.noise(50, torch.Generator().manual_seed(3))
    assert torch.equal(torch.eye(10)[codes.code_of(model, z)], z[:, 32:42])
    assert codes.error_of_samples(model, network) < 0.06
    with torch.no_grad():
        result = model.decode(z)
    assert codes.error_of_read(model, result, codes.code_of(model, z)) < 0.05
    data = Digits()
    data.setup("test")
    x, y = data.test_set[torch.arange(len(data.test_set))]
    assert codes.error_of_read(model, x, y) < 0.1  # of real digits, whose labels it never saw
    assert codes.meanings(model).shape == (2, 2) and codes.meanings(model).abs().max() <= 1


@pytest.mark.parametrize("q_hidden", [0, 2])
def test_the_bound_on_information_is_raised(q_hidden: int) -> None:
    """Each loss falls by the weight times the bound: G's always, D's where D itself reads the codes."""
    x, losses = torch.rand(4, 1, 8, 8, generator=torch.Generator().manual_seed(0)), []
    for weight in (0.5, 2.5):
        torch.manual_seed(0)
        game = InfoGAN(
            image_shape=(1, 8, 8),
            channels=[2, 2],
            categories=2,
            continuous=1,
            q_hidden=q_hidden,
            weight=weight,
        )
        seeded = [torch.Generator().manual_seed(1) for _ in range(3)]
        z = game.noise(4, seeded[0])
        bound = game.bound(z, game.generator(z))
        losses.append((game.g_update_loss(x, seeded[1]), game.d_update_loss(x, seeded[2])))
    (g, d), (g2, d2) = losses
    torch.testing.assert_close(g2 - g, -2 * bound)
    torch.testing.assert_close(d2 - d, 0 * bound if q_hidden else -2 * bound)
