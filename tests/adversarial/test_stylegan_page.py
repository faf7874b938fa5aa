"""The room of the StyleGAN: what its scenes say of styles, noise and cuts, by the weights that ship."""

from functools import cache

import pytest
import torch
from opening import film, open_page

from lab import weights
from modules.adversarial.stylegan import StyleGAN
from pages.adversarial.stylegan import lens, truncation
from pages.adversarial.stylegan.room import State


@cache
def model() -> StyleGAN:
    return weights.load(State().model)  # type: ignore[return-value]


def test_shares_of_rows_and_columns() -> None:
    rows = torch.arange(3.0)[:, None, None, None].expand(3, 4, 2, 2)
    columns = torch.arange(4.0)[None, :, None, None].expand(3, 4, 2, 2)
    assert lens.shares(rows) == pytest.approx((1, 0)) and lens.shares(columns) == pytest.approx((0, 1))
    row, column = lens.shares(rows + columns)
    assert row == pytest.approx((2 / 3) / (2 / 3 + 5 / 4)) and row + column == pytest.approx(1)
    assert sum(lens.shares((rows - 1) * (columns - 1.5))) == pytest.approx(0)


@torch.no_grad()
def test_what_the_scenes_of_mixing_say() -> None:
    text = lens.explained(model(), 0)
    assert text[0] == pytest.approx((0, 1), abs=1e-5) and text[-1] == pytest.approx((1, 0), abs=1e-5)
    assert max(text[2]) < 0.5 and lens.decides(text[4]) == lens.OPTIONS[0]
    assert [row for row, _ in text] == sorted(row for row, _ in text)
    first, second = lens.styles(model(), 16, 5), lens.styles(model(), 16, 6)
    mixed = lens.crossed(model(), first, second, 4)  # the digit is the row's, the pen the column's
    by_row, by_column = lens.shares(mixed.mean((2, 3))[..., None, None])
    assert by_column > 0.5 > by_row  # of the ink
    reader = weights.load(State().reader)
    named = truncation.named(reader, mixed.flatten(0, 1)).view(16, 16)
    ends = [truncation.named(reader, model().pictures(some)[:, 0]) for some in (first, second)]
    assert (named == ends[0][:, None]).double().mean() > 0.5
    assert (named == ends[1][None]).double().mean() < 0.3


def test_crossed_styles_make_the_pictures_of_the_model() -> None:
    first, second = lens.styles(model(), 3, 5), lens.styles(model(), 4, 6)
    for crossing in range(len(model().generator.layers) + 1):
        result = lens.crossed(model(), first, second, crossing)
        assert result.shape == (3, 4, 16, 16)
        for r, c in ((0, 0), (2, 1), (1, 3)):
            one = model().mix_styles(first[r : r + 1], second[c : c + 1], crossing)
            torch.testing.assert_close(result[r, c], model().pictures(one)[0, 0], atol=1e-5, rtol=0)


def test_edges_are_the_sources() -> None:
    result = lens.mixing(model(), 0)
    assert len(result) == 7 and result[0].shape == (5, 9, 16, 16)
    torch.testing.assert_close(result[0][1:, 1:], result[0][:1, 1:].expand(4, -1, -1, -1), atol=1e-4, rtol=0)
    torch.testing.assert_close(result[6][1:, 1:], result[6][1:, :1].expand(-1, 8, -1, -1), atol=1e-4, rtol=0)


def test_what_the_scenes_of_noise_say() -> None:
    result, of_style = lens.noises(model(), 0), lens.by_style(model(), 0)
    assert lens.spread(result[-1]).mean() < 0.1 * of_style
    assert lens.blurred(result[5]) < 0.1 and lens.blurred(result[5]) < lens.blurred(result[0])
    assert float(lens.spread(result[5]).max()) > 0


def test_what_the_scenes_of_truncation_say() -> None:
    _, certain, spreads = truncation.cuts(model(), weights.load(State().reader), 0)
    assert spreads == sorted(spreads) and spreads[5] < 0.9 * spreads[-1] and spreads[0] < 0.1 * spreads[-1]
    assert abs(certain[5] - certain[-1]) < 0.06


def test_steps_in_w_change_less_than_steps_in_z() -> None:
    of_z, of_w = lens.path_lengths(model())
    assert of_w < 0.6 * of_z


@pytest.mark.parametrize("layer", [0, 3, 5])
def test_maps_have_the_mean_and_spread_of_their_style(layer: int) -> None:
    h, (scale, shift) = lens.looked(model(), 0, layer)
    torch.testing.assert_close(h.mean((1, 2)), shift, atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(h.std((1, 2), correction=0), scale.abs(), atol=1e-3, rtol=1e-2)


def test_the_page() -> None:
    page = open_page("adversarial/stylegan")
    assert film(page, "crossing")["captions"] == lens.mixing_captions(lens.explained(model(), 0))
    for show in ("Noise", "Truncation", "Layers"):
        open_page("adversarial/stylegan", show=show)
