"""Games with classes on demand: what is measured of them is right, and what the scenes say is so."""

from functools import cache

import pytest
import torch
from opening import figure, film, open_page

from lab import weights
from pages.adversarial.conditional_bench import lens

SMALL, LARGE = "infogan-digits", "infogan-mnist"


@cache
def story(name: str, turned: int = 0) -> list[lens.Frame]:
    return lens.story(weights.load(name), 8, turned, 0)


def test_no_share_is_the_plain_class_and_the_whole_the_other() -> None:
    model = weights.load("acgan-digits")
    z, y = model.noise(4, torch.Generator().manual_seed(0)), torch.tensor([0, 3, 5, 9])
    with torch.no_grad():
        plain, eights = model.decode(z, y=y)[:, 0], model.decode(z, y=torch.full((4,), 8))[:, 0]
    torch.testing.assert_close(lens.mixed_samples(model, z, y, 0.0, 8), plain)
    torch.testing.assert_close(lens.mixed_samples(model, z, y, 1.0, 8), eights)


@pytest.mark.parametrize("name", [SMALL, LARGE])
def test_a_code_and_a_number_are_set(name: str) -> None:
    model = weights.load(name)
    z = model.noise(10, torch.Generator().manual_seed(0))
    k = model.latent_dim
    again = z.clone()
    again[:, k : k + 10] = torch.eye(10)
    again[:, k + 11] = 0.5
    with torch.no_grad():
        torch.testing.assert_close(lens.coded(model, z, torch.arange(10), 1, 0.5), model.decode(again)[:, 0])


def test_what_the_scenes_say() -> None:
    cgan, acgan = story("cgan-digits"), story("acgan-digits")
    projection = story("projectiongan-digits")
    assert min(cgan[0].obeyed, acgan[0].obeyed, projection[0].obeyed) >= 0.95
    assert acgan[0].variety < cgan[0].variety and acgan[0].variety > 0.7
    assert 0.5 < cgan[5].obeyed < 0.9
    assert float(cgan[-1].table[:, 8].mean()) > 0.95
    for name in (SMALL, LARGE):
        info = story(name)[5]
        assert 0.8 < info.obeyed < 1 and info.variety > 0.5


def test_the_page() -> None:
    page = open_page("adversarial/conditional_bench")
    assert film(page, "turn")["captions"] == lens.captions(story("cgan-digits"), False, 8, 0)
    _, arrays = figure(page, "table")
    assert arrays["data.0.z"][0] == pytest.approx(story("cgan-digits")[0].table.numpy(), abs=1e-3)
    info = open_page("adversarial/conditional_bench", model=LARGE)
    assert film(info, "turn")["captions"][5].startswith("c₂ = 0")
