"""The copying autoencoder: below the floor, sums beyond one, and a MADE of the same sizes that keeps both."""

import math

import pytest
import torch
from opening import figure, film, metrics, open_page

from lab import weights
from lab.lenses import drawing
from pages.autoregressive.autoencoder import lens


@pytest.fixture(scope="module")
def trained():
    return lens.train(16, 0)


def test_a_wide_autoencoder_falls_below_every_density(trained) -> None:
    steps = trained[0]
    assert lens.floor() == pytest.approx(math.log(14))
    last = steps[-1].values
    assert last["loss_ae"] < 0.5 < lens.floor() <= last["loss_made"] < 2.9
    assert last["total_ae"] > 50
    for step in steps:
        assert step.values["total_made"] == pytest.approx(1, abs=1e-10)


def test_shown_numbers_are_those_of_the_models(trained) -> None:
    """The loss and the sum by a loop over pixels and pictures; the Jacobian by differences."""
    ae = trained[1]
    total = 0.0
    for picture in lens.all_pictures():
        q = ae.reconstruct(picture[None])[0].tolist()
        total += math.prod(q[i] if picture[i] else 1 - q[i] for i in range(9))
    again = lens.look(0, {"ae": ae, "made": trained[2]}, {"ae": 0.0, "made": 0.0})
    assert again.values["total_ae"] == pytest.approx(total, rel=1e-9)
    x, h = lens.images(), 1e-6
    moved = [((ae.logits(x + h * e) - ae.logits(x - h * e)) / (2 * h)).mean(0) for e in torch.eye(9)]
    torch.testing.assert_close(again.values["reads_ae"], torch.stack(moved, 1).detach(), rtol=1e-4, atol=1e-5)


def test_own_inputs_move_the_autoencoder_alone(trained) -> None:
    values = trained[0][-1].values
    assert values["reads_ae"].diagonal().min() > 0.5
    assert (values["reads_made"].triu() == 0).all()
    assert values["reads_made"].abs().max() > 0


def test_samples_of_made_are_patterns_and_decoded_noise_is_not() -> None:
    drawn = lens.race(16, 0).result
    by_hand = sum(any(torch.equal(x, p) for p in lens.images()) for x in drawn.made) / len(drawn.made)
    assert drawn.valid_made == pytest.approx(by_hand)
    assert drawn.valid_made > 0.8 > 2 * drawn.valid_ae


def test_a_narrow_code_cannot_copy_and_is_no_density_either() -> None:
    """The text's zero error needs a code that is wide enough."""
    steps, _, _ = lens.train(2, 0)
    assert steps[-1].values["loss_ae"] > 1.0
    assert abs(steps[-1].values["total_ae"] - 1) > 0.1


def test_a_race_repeats() -> None:
    assert lens.race(4, 3).digest() == lens.race(4, 3).digest() != lens.race(4, 4).digest()


def test_a_digit_is_copied_for_next_to_nothing() -> None:
    ae, made = weights.load("autoencoder-digits"), weights.load("made-digits")
    for _, picture in drawing.examples(8)[:5]:
        x = drawing.bits(picture)
        result = lens.on_digit(ae, made, x)
        assert result.bce == pytest.approx(-float(ae.log_product(x[None])), rel=1e-5, abs=1e-6)
        assert result.nll == pytest.approx(-float(made.log_prob(x[None])), rel=1e-5)
        assert result.bce < 5 < result.nll
        assert ((result.rebuilt > 0.5) == x.bool()).float().mean() > 0.95
        assert (result.own_made == 0).all() and result.own_ae.median() > 1


def test_the_page_shows_every_step_of_its_race() -> None:
    page = open_page("autoregressive/autoencoder", step=10)
    trace = lens.race(16, 0, 200)
    turned = film(page)
    assert turned["at"] == 10 and turned["captions"] == [step.caption for step in trace]
    total = f"{trace[10].values['total_ae']:.3f}"
    assert total in turned["equations"][10] and ">1.000<" in turned["equations"][10]
    _, frames = figure(page, "jacobian-ae")
    expected = torch.stack([step.values["reads_ae"] for step in trace])
    torch.testing.assert_close(torch.tensor(frames["data.0.z"]), expected.float())
    sheets = torch.tensor(figure(page, "drawn-ae")[1]["data.0.z"])
    assert len(sheets) == len(trace)
    drawn = trace[10].values["drawn_ae"][13].reshape(3, 3)  # the second of the second row
    torch.testing.assert_close(sheets[10, 4:7, 4:7], drawn.float())
    assert metrics(page)["of MADE's samples"] == f"{100 * trace.result.valid_made:.0f} %"
    source, shown = page.session_state["_program"]
    assert shown == trace[10].values["total_ae"] and "range(60)" in source


def test_the_page_shows_what_both_say_of_a_digit() -> None:
    page = open_page("autoregressive/autoencoder", show="Your digit", digit="1")
    picture = (dict(drawing.examples(8))["1"] * 15).round() / 15
    result = lens.on_digit(weights.load("autoencoder-digits"), weights.load("made-digits"),
                          drawing.bits(picture))  # fmt: skip
    assert metrics(page)["Autoencoder, loss"] == f"{result.bce:.2f} nats"
    assert metrics(page)["MADE, −log p"] == f"{result.nll:.2f} nats"


def test_the_scenes_say_what_is_so(trained) -> None:
    wide, narrow = lens.train(32, 0)[0][-1].values, lens.train(2, 0)[0][-1].values
    assert wide["loss_ae"] < 0.1 and wide["total_ae"] > 50
    assert narrow["loss_ae"] > 1 and abs(narrow["total_ae"] - 1) > 0.1
