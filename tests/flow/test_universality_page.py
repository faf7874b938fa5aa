"""The page "Universality": couplings against layers, in each order."""

from functools import partial

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, prose, run_page, spoken, warnings

from lab.errors import UserError
from lab.lenses import masked_layer
from pages.flow.universality import lens

opened = partial(open_page, "flow/universality")
VALUES = [0.5, -1.0, 1.5, -0.3]


def test_the_order_decides_which_layer_it_is() -> None:
    down, up = lens.compare(VALUES, [3, 2, 1, 0], 0), lens.compare(VALUES, [0, 1, 2, 3], 0)
    assert down.differences["IAF"] == 0 and down.differences["MAF"] > 0.1
    assert up.differences["MAF"] < 1e-13 and up.differences["IAF"] > 0.1
    mixed = lens.compare(VALUES, [0, 2, 1, 3], 0)
    assert min(mixed.differences.values()) > 0.01
    assert "neither" in lens.verdict(mixed) and "the IAF layer" in lens.verdict(down)


@pytest.mark.parametrize("seed", range(3))
def test_values_jacobian_and_way_back(seed: int) -> None:
    result = lens.compare(VALUES, [3, 2, 1, 0], seed)
    maf, iaf = masked_layer.both(4, seed)
    start = torch.tensor(VALUES, dtype=torch.float64)
    torch.testing.assert_close(result.layers["MAF"], maf.generate(start)[0])
    _, ladj = iaf.generate(start)
    assert float(torch.linalg.slogdet(result.jacobian).logabsdet) == pytest.approx(float(ladj))
    assert (result.jacobian.triu(1) == 0).all() and result.error < 1e-12
    moved = result.values.diff(dim=0) != 0
    assert moved.sum(1).tolist() == [1, 1, 1, 1] and moved.int().argmax(1).tolist() == [3, 2, 1, 0]


def test_what_the_page_shows() -> None:
    page = opened()
    result = lens.compare(VALUES, [3, 2, 1, 0], 0)
    shown = metrics(page)
    assert shown["From the IAF layer"] == "0"
    assert shown["From the MAF layer"] == f"{result.differences['MAF']:.3g}"
    bar = film(page)
    assert bar["captions"][1] == "Coupling 1 changes number 4; it reads 1, 2, 3 as input."
    assert spoken(bar["equations"][1]) == pytest.approx([-0.3, float(result.values[1, 3])], abs=6e-4)
    assert "already changed" in film(opened(order="1 → D"))["captions"][4]
    _, frames = figure(page, "grid")
    assert frames["data.0.z"].shape == (5, 8, 4)
    assert frames["data.0.z"][4, 4] == pytest.approx(frames["data.0.z"][4, 6], abs=1e-6)  # the IAF row


def test_numbers_of_the_scenes() -> None:
    assert "neither" in prose(opened(order="own"))
    six = lens.compare([1, -0.5, 0.3, 2, -1.2, 0.8], [5, 4, 3, 2, 1, 0], 0)
    assert six.differences["IAF"] == 0
    two = lens.compare([1, 0.5], [0, 1], 0)
    assert two.differences["MAF"] < 1e-13 and two.differences["IAF"] > 0.01


def test_a_bad_order_and_a_bad_number_are_named() -> None:
    with pytest.raises(UserError, match="1 to 4 once, such as 1 3 2 4"):
        lens.typed_order("1 1 2 3", 4)
    assert "names each of 1 to 4" in warnings(run_page("flow/universality", order="own", own="1 2"))
    page = open_warned("flow/universality", values="0.5 ? -1")
    assert "“?” is left out" in warnings(page) and film(page)["count"] == 3
