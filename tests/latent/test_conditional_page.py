"""Conditional VAE: one style under ten classes, the costs of a digit under each, and the probe of the
code."""

import math

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned
from torch import Tensor

from lab import ui, weights
from lab.lenses import stock
from modules.latent.conditional import CVAE
from pages.latent.conditional import lens

VIEWS = ("Own style", "Class × style", "What the code tells")


@pytest.fixture(scope="module")
def cvae() -> CVAE:
    return weights.load("cvae-digits")


@pytest.fixture(scope="module")
def digits() -> tuple[Tensor, Tensor]:
    return stock.bits()


def test_each_class_is_decoded_from_the_same_code(cvae: CVAE) -> None:
    z = lens.styles(cvae, 3, 0)
    together = lens.every_class(cvae, z)
    for s in range(3):
        for c in (0, 7):
            alone = cvae.decode(z[s : s + 1], y=torch.tensor([c])).reshape(8, 8)
            assert torch.allclose(together[s, c], alone, atol=1e-5)


def test_costs_make_a_classifier(cvae: CVAE, digits: tuple[Tensor, Tensor]) -> None:
    x, y = digits[0][:60], digits[1][:60]
    costs, belief = lens.costs(cvae, x[:1])
    assert belief.sum() == pytest.approx(1, abs=1e-5) and costs.argmin() == belief.argmax()
    guesses = cvae.class_log_weights(x, lens.DRAWS, torch.Generator().manual_seed(0)).argmax(1)
    assert (guesses == y).float().mean() > 0.85


def test_a_line_reads_what_is_there_and_nothing_else() -> None:
    g = torch.Generator().manual_seed(0)
    y = torch.randint(3, (600,), generator=g)
    centres = torch.tensor([[0.0, 4.0], [4.0, 0.0], [-4.0, -4.0]])
    z = centres[y] + torch.randn(600, 2, generator=g)
    assert lens.probe(z[:400], y[:400], z[400:], y[400:]) > 0.97
    noise = torch.randn(600, 2, generator=g)
    assert lens.probe(noise[:400], y[:400], noise[400:], y[400:]) < 0.5
    assert lens.majority_accuracy(torch.tensor([1, 1, 2]), torch.tensor([1, 2, 1, 0])) == 0.5


def test_told_the_class_the_code_tells_it_no_more(cvae: CVAE, digits: tuple[Tensor, Tensor]) -> None:
    (x, y), (held, labels) = stock.bits("train"), digits
    score = {
        name: lens.probe(lens.means(m, x, y), y, lens.means(m, held, labels), labels)
        for name, m in (("told", cvae), ("not", weights.load("vae-bits-digits")))
    }
    assert score["not"] > 0.8 and score["told"] < 0.2
    page = open_page("latent/conditional", view=VIEWS[2])
    header, _ = figure(page, "probe")
    shown = [float(line.split(",")[1]) for line in header["csv"].splitlines()[1:]]
    assert shown == pytest.approx([score["not"], score["told"], lens.majority_accuracy(y, labels)], abs=1e-6)
    cards = [weights.read_card(ui.folder(n)) for n in ("vae-bits-digits", "cvae-digits")]
    assert [float(v) for v in metrics(page).values()] == pytest.approx(
        [card["metrics"]["test/elbo"] for card in cards], abs=6e-3
    )


def test_the_film_turns_one_number(cvae: CVAE) -> None:
    page = open_page("latent/conditional", digit="8", told=3)
    bar, (_, frames) = film(page), figure(page, "classes")
    assert bar["count"] == 25 and len(frames["data.0.z"]) == 25
    assert "told the class 3" in "\n".join(m.value for m in page.markdown)
    changed = (frames["data.0.z"][0] != frames["data.0.z"][-1]).any()
    assert changed and not math.isnan(float(frames["data.0.z"][0][0, 0]))


def test_class_moves_a_pixel_more_than_style(cvae: CVAE) -> None:
    pictures = lens.every_class(cvae, lens.styles(cvae, 7, 0))
    page = open_page("latent/conditional", view=VIEWS[1])
    assert f"{pictures.var(0).mean():.4f}" in page.latex[0].value
    assert pictures.var(1).mean() > pictures.var(0).mean()


def test_a_broken_drawing_and_a_class_that_is_none_are_named() -> None:
    assert "cannot be read" in open_warned("latent/conditional", digit="ink.!!").warning[0].value
    assert "likeliest" in open_warned("latent/conditional", told="12").warning[0].value
