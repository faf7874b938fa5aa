"""The property table: every cell is measured, and where it contradicts the text it says so."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from opening import component, finish, open_page

from lab import weights
from lab.experiments import ZOO
from lab.lenses import generated, stock, verdicts
from lab.ui import pages
from pages.adversarial.property_table import large, lens, room


def test_the_work_of_a_sample_is_counted() -> None:
    """Two layers of 64 × 10 and 10 × 5: 2 · (640 + 50) multiplications and additions."""
    net = torch.nn.Sequential(torch.nn.Linear(64, 10), torch.nn.Linear(10, 5))
    assert lens.work(SimpleNamespace(sample=lambda n, generator: net(torch.zeros(n, 64)))) == 2 * (640 + 50)


def test_the_longest_step() -> None:
    """On a map that jumps once all of the way is one step."""
    prior = torch.distributions.Independent(torch.distributions.Normal(torch.zeros(2), 1.0), 1)
    leap = SimpleNamespace(prior=prior, decode=lambda z: (z[:, :1] > z[:, :1].median()).float())
    assert lens.jump(leap) > 5
    assert lens.jump(SimpleNamespace(prior=prior, decode=torch.zeros_like)) == 0  # nothing moves
    assert lens.jump(SimpleNamespace(sample=None)) is None


def test_agreement_with_the_text() -> None:
    assert lens.agreement("yn?y-n", [True, True, True, False, None, False]) == [1, 2, 0, 2, 0, 1]
    assert all(len(text) == len(room.CRITERIA) for text in lens.TEXT.values())


def test_every_cell_has_a_room_that_is_there() -> None:
    topics = {page.topic for page in pages()}
    rooms = {(family, name): lens.room(family, name) for family in room.MODELS for name in room.CRITERIA}
    assert set(rooms.values()) <= topics and set(lens.OWN) <= set(rooms)
    assert rooms["diffusion", "likelihood"] == "ode_likelihood" and rooms["VAE", "quality"] == "judge"


def test_what_the_models_have_to_say_of_log_p() -> None:
    texts = {family: lens.likelihood(weights.load(name)) for family, name in room.MODELS.items()}
    assert list(texts.values()) == ["none", "bound", "exact", "by ODE", "exact"]


def test_pixels_cost_more_than_one_pass() -> None:
    """64 of them, each of which asks only what has changed."""
    pixelcnn, vae = (weights.load(room.MODELS[name]) for name in ("autoregressive", "VAE"))
    assert lens.work(pixelcnn) > 30 * lens.work(vae)


def test_the_measured_models_of_mnist() -> None:
    """What the poster says, by the file; no network names the numbers again but those that are counted."""
    floor, rows = large.table()
    result = dict(zip(room.LARGE, rows, strict=True))
    assert result["GAN"].recall > 0.9 * floor.recall
    assert [row.likelihood for row in rows] == ["none", "bound", "exact", "by ODE", "exact"]
    assert all(row.samples.shape == (lens.SHOWN, 28, 28) and row.samples.max() > 0.9 for row in rows)
    for family in ("GAN", "VAE", "flow"):
        model = weights.load(room.LARGE[family])
        assert lens.work(model) == result[family].work
        assert lens.likelihood(model) == result[family].likelihood
        assert lens.jump(model) == pytest.approx(result[family].jump, rel=0.02)
        *_, (_, x) = generated.drawn(model, verdicts.DRAWN, 0)
        ink = generated.ink(weights.read_card(ZOO / room.LARGE[family]), x)[: lens.SHOWN]
        assert float(((ink - result[family].samples).abs() < 0.02).float().mean()) > 0.97


@pytest.mark.soak
@pytest.mark.skipif(not stock.has_mnist(), reason="no MNIST")
@pytest.mark.parametrize("family", list(room.LARGE))
def test_a_model_of_mnist_is_measured_again(family: str) -> None:
    """On another processor a few of 500 pictures differ."""
    network = weights.load(large.NETWORK)
    known = verdicts.known(network, large.digits("train"))
    again = large.measured(room.LARGE[family], network, known)
    kept = dict(zip(room.LARGE, large.table()[1], strict=True))[family]
    assert again.work == kept.work and again.likelihood == kept.likelihood
    assert again.precision == pytest.approx(kept.precision, abs=0.03)
    assert again.recall == pytest.approx(kept.recall, abs=0.03)


def test_the_page_of_mnist_measures_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "evaluate", None)
    page = open_page("adversarial/property_table", digits=room.MNIST, family="diffusion")
    heat = component(page, "figure-table")[0]["figure"]["data"][0]
    _, rows = large.table()
    assert [line[2] for line in heat["text"]] == [f"{row.recall:.2f}" for row in rows]
    source, shows = page.session_state["_program"]
    space: dict[str, Any] = {}
    exec(source, space)
    assert space["result"] == shows


def test_the_page() -> None:
    page = finish(open_page("adversarial/property_table", family="VAE", criterion="quality"))
    network, known = weights.load(verdicts.NETWORK), verdicts.digits("train")
    text = verdicts.evaluate(network, known, verdicts.drawn_by(room.MODELS["VAE"], 0), 3)
    assert any(f"VAE, quality: Precision {text.precision:.3f}" in caption.value for caption in page.caption)
    heat = component(page, "figure-table")[0]["figure"]["data"][0]
    assert heat["text"][1][1] == f"{text.precision:.2f}"
    assert heat["text"][0][5] == "none" and heat["text"][2][5] == "exact"
    # DF-57, DF-E1, DF-E2: slow, its codes joined with long steps, and not a bound alone
    slow, _, _, jump, *_ = heat["text"][3]
    assert float(slow.strip("×").replace(",", "")) > 100 and lens.SMOOTH < float(jump) < 5
    assert heat["text"][3][4:] == ["–", "by ODE"] and [heat["z"][3][j] for j in (0, 3, 4, 5)] == [1, 1, 0, 2]
