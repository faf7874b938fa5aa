"""Grid features: receptive fields and centres, the pointing game, and a classifier of attributes."""

import math

import pytest
import torch
from torch import nn

from modules.recurrent.grid_features import AttributeClassifier, GridEncoder, pointing


@pytest.mark.parametrize(("kernel", "field", "offset"), [(4, 22, 3.5), (3, 15, 0.0)])
def test_every_location_sees_the_box_around_its_centre(kernel: int, field: int, offset: float) -> None:
    encoder = GridEncoder((1, 64, 64), (2, 2, 2), kernel)
    assert encoder.grid == (8, 8)
    assert (encoder.receptive_field, encoder.jump) == (field, 8)
    centres = encoder.centres()
    assert centres[:3].tolist() == [[offset, offset], [8 + offset, offset], [16 + offset, offset]]
    assert centres[8].tolist() == [offset, 8 + offset]
    for part in encoder.layers:
        if isinstance(part, nn.Conv2d):
            part.weight.data.abs_()
            part.bias.data.fill_(1.0)  # no ReLU is shut
    for location in (18, 45):
        picture = torch.rand(1, 1, 64, 64, requires_grad=True)
        encoder(picture)[0, location].sum().backward()
        y, x = (picture.grad[0, 0] != 0).nonzero().unbind(1)
        for pixels, centre in zip((x, y), centres[location].tolist(), strict=True):
            assert (pixels.min(), pixels.max()) == (centre - (field - 1) / 2, centre + (field - 1) / 2)


def test_every_layer_has_a_grid_not_only_an_early_one() -> None:
    for layers, size in ((1, 32), (2, 16), (3, 8), (4, 4)):
        assert GridEncoder((3, 64, 64), [4] * layers).grid == (size, size)
    with pytest.raises(ValueError, match=r"too small for 3 layers"):
        GridEncoder((3, 4, 64))


def test_pointing_by_hand() -> None:
    encoder = GridEncoder((3, 32, 32))  # centres 3.5, 11.5, 19.5, 27.5
    inside = encoder.inside(
        torch.tensor([[8.0, 8.0, 15.0, 15.0], [15.0, 0.0, 24.5, 6.0], [5.0, 13.0, 6.0, 14.0]])
    )
    assert [row.nonzero()[:, 0].tolist() for row in inside] == [[5], [1, 2, 3], [4]]
    gamma = torch.zeros(3, 16)
    gamma[0, 5], gamma[0, 6], gamma[1, 0], gamma[1, 3], gamma[2] = 0.6, 0.4, 0.9, 0.1, 1 / 16
    hit, mass, area = pointing(gamma, inside)
    assert hit.tolist() == [1, 0, 0] and area.tolist() == [1 / 16, 3 / 16, 1 / 16]
    torch.testing.assert_close(mass, torch.tensor([0.6, 0.1, 1 / 16]))


def test_a_classifier_begins_by_chance_and_learns_attributes_by_heart() -> None:
    torch.manual_seed(0)
    classifier, pictures = AttributeClassifier((3, 16, 16), channels=[4, 5]), torch.rand(6, 3, 16, 16)
    values = torch.stack([torch.arange(6) % k for k in (2, 4, 3)], 1)
    loss = classifier.step((pictures, values), "val").detach()
    assert float(loss) == pytest.approx(math.log(2 * 4 * 3), abs=0.3)
    optimizer = torch.optim.Adam(classifier.parameters(), 0.02)
    for _ in range(150):
        optimizer.zero_grad()
        classifier.step((pictures, values), "train").backward()
        optimizer.step()
    assert torch.equal(classifier.predict_step((pictures,), 0), values)
    classifier.meters["val_acc"].reset()
    values[0, 2] = 1  # one wrong attribute makes one wrong picture
    classifier.step((pictures, values), "val")
    assert float(classifier.meters["val_acc"].compute()) == pytest.approx(5 / 6)
