"""Text from a code: what each scene says, walks, swaps and letters against the model's own, typed lines."""

import math
import re

import pytest
import torch
from opening import equation, figure, film, numbers, open_page, open_warned, prose, table_with

from lab import weights
from lab.ui.models import loading
from modules.latent.text_vae import TextVAE
from pages.latent.text_vae import figures, lens

PLAIN, ANNEALED, FREE = "textvae-pydocs", "textvae-annealed-pydocs", "textvae-freebits-pydocs"
A, B = "return the number of bytes written", "the default value is none"
SWAP, CURVES = "Codes swapped", "Training"


@pytest.fixture(scope="module")
def shipped() -> dict[str, TextVAE]:
    return {name: weights.load(name) for name in (PLAIN, ANNEALED, FREE)}


@pytest.fixture(scope="module")
def ends() -> tuple[torch.Tensor, torch.Tensor]:
    return lens.typed(A, 40)[0], lens.typed(B, 40)[0]


@pytest.fixture(scope="module")
def result(shipped: dict[str, TextVAE]) -> dict[str, lens.Used]:
    x = lens.held_out()
    return {name: lens.used(model, x) for name, model in shipped.items()}


def test_which_models_are_offered() -> None:
    assert set(loading.trained("latent", lens.fits)) >= {PLAIN, ANNEALED, FREE}
    assert [lens.short(name) for name in (PLAIN, ANNEALED, f"{FREE}/20260101")] == [
        "plain", "annealed", "freebits/20260101",
    ]  # fmt: skip


def test_the_walks_that_the_scenes_show(shipped: dict[str, TextVAE], ends: tuple) -> None:
    plain, free = (lens.interpolate(shipped[name], *ends) for name in (PLAIN, FREE))
    assert plain.different == 1 and set(plain.moved) == {0}  # one line for all
    assert free.different >= 3 and free.moved[-1] > 10
    assert lens.interpolate(shipped[PLAIN], *ends, seed=0).different <= 2
    assert lens.interpolate(shipped[FREE], *ends, seed=0).different >= 5
    annealed = lens.interpolate(shipped[ANNEALED], *ends)
    assert annealed.lines[0].startswith("return ") and annealed.lines[-1].startswith("the ")
    assert free.lines[0].startswith("return ") and free.lines[-1].startswith("the ")
    for model in shipped.values():
        assert lens.interpolate(model, ends[0], ends[0]).different == 1


def test_a_walk_is_the_models_own(shipped: dict[str, TextVAE], ends: tuple) -> None:
    model = shipped[FREE]
    walk = lens.interpolate(model, *ends)
    codes = [model.encode(x)[0] for x in ends]
    middle = 0.5 * codes[0] + 0.5 * codes[1]
    assert walk.lines[5] == lens.read(model.decode(middle[None]))[0]
    assert walk.lines[0] == lens.read(model.decode(codes[0][None]))[0]
    assert walk.lengths[5] == pytest.approx(middle.norm().item(), rel=1e-5)
    assert lens.interpolate(model, *ends, seed=3) == lens.interpolate(model, *ends, seed=3)


def test_one_luck_follows_the_models_probabilities(shipped: dict[str, TextVAE], ends: tuple) -> None:
    """The first letter, drawn from one code with many seeds; of the plain model, which is sure of none."""
    model = shipped[PLAIN]
    z = model.encode(ends[0])
    with torch.no_grad():
        p = model.logits(ends[0], z)[0, 0].softmax(-1)
    lines = [lens.interpolate(model, ends[0], ends[0], s).lines[0] for s in range(150)]
    drawn = torch.tensor([lens.typed(line, 40)[0][0, 0].item() for line in lines])
    share = drawn.bincount(minlength=28)[: len(p)] / len(drawn)
    assert (share - p).abs().max() < 4 * 0.5 / math.sqrt(len(drawn))


def test_bound_and_kl_are_the_cards(result: dict[str, lens.Used]) -> None:
    for name, one in result.items():
        card = weights.read_card(loading.folder(name))["metrics"]
        assert one.swap.paid == pytest.approx(card["test/kl"], rel=0.1, abs=2e-3)
        assert one.swap.cost == pytest.approx(card["test/elbo"], rel=0.05)
        assert one.information <= math.log(lens.SHOWN) and one.information < one.swap.paid + 0.15


def test_what_the_scenes_say_of_use(result: dict[str, lens.Used]) -> None:
    plain, free = result[PLAIN].swap, result[FREE].swap
    # the lines are those of this Python's documentation: 0.01 nats by 3.11.7, 0.06 by 3.11.2
    assert abs(plain.saved) < 0.1 and plain.paid < 0.05 and plain.active == 0
    assert free.paid > 3 and free.saved > 3 and free.active == 16 and result[FREE].information > 2
    annealed = result[ANNEALED]
    assert annealed.swap.saved > 1.5 and annealed.information > 0.8
    assert abs(result[PLAIN].information) < 0.05


def test_the_first_letters_are_what_a_code_saves(shipped: dict[str, TextVAE], ends: tuple) -> None:
    others = lens.held_out()[:100]
    letter_costs = lens.letter_costs(shipped[FREE], ends[0], others)
    first, rest = lens.gains(letter_costs)
    assert first > rest and first + rest == pytest.approx(letter_costs.saved, abs=1e-6)
    assert "".join(letter_costs.letters) == A.replace(" ", "␣") + "⏎"
    model = shipped[FREE]
    cost = -model.log_likelihood(ends[0], model.encode(ends[0])[None])[0, 0].item()
    assert sum(letter_costs.own) == pytest.approx(cost, rel=1e-5)


def test_trainings_end_as_the_scenes_say() -> None:
    curves = {name: loading.history(name) for name in (PLAIN, ANNEALED, FREE)}
    kls = {name: c["val/kl"][-1] for name, c in curves.items()}
    costs = [c["val/rec"][-1] + c["val/kl"][-1] for c in curves.values()]
    assert 3.5 < kls[FREE] < 4.5 and 0.8 < kls[ANNEALED] < 1.5 and kls[PLAIN] < 0.05
    assert max(costs) - min(costs) < 2
    assert 60 < curves[ANNEALED]["val/kl"][0] < 80 and curves[PLAIN]["val/kl"][0] < 0.05
    page = open_page("latent/text_vae", view=CURVES, epoch=1)
    bar, (_, frames) = film(page, "epoch"), figure(page, "costs")
    names = loading.trained("latent", lens.fits)
    assert bar["at"] == 0
    assert frames["data.1.x"][0][names.index(FREE)] == pytest.approx(curves[FREE]["val/kl"][0], rel=1e-5)


def test_the_walk_on_the_page(shipped: dict[str, TextVAE], ends: tuple) -> None:
    page = open_page("latent/text_vae", model=FREE, step=7)
    walk = lens.interpolate(shipped[FREE], *ends)
    text = film(page, "step")
    assert text["at"] == 7 and walk.lines[7] in text["captions"][7]
    assert f"{walk.different} different lines" in prose(page)
    assert figure(page, "sheet")[1]["layout.shapes.0.y0"][7] == 7.5
    drawn = figures.sheet(A, B, walk.lines, 7).data[0]
    assert re.sub("<[^>]*>", "", drawn.text[7]) == walk.lines[7]
    assert list(drawn.y) == list(range(1, 12))


def test_letters_that_the_line_above_does_not_have_are_marked() -> None:
    text = figures.marked("the list is", "the last")
    assert re.sub("<span[^>]*>", "[", text).replace("</span>", "]") == "the l[i]st [is]"
    assert figures.marked("same", "same") == "same"


def test_the_swap_in_numbers(result: dict[str, lens.Used]) -> None:
    page, one = open_page("latent/text_vae", view=SWAP, model=FREE), result[FREE]
    results = one.swap
    assert numbers(equation(page))[:5] == pytest.approx(
        [results.other, -results.own, results.saved, results.paid, one.information], abs=6e-3
    )
    row = table_with(page, "−ELBO").set_index("model").loc["freebits"]
    assert row["KL"] == pytest.approx(results.paid, abs=1e-3) and row["active"] == 16


@pytest.mark.parametrize("text", ["", "12 34!", "🙂", "日本"])
def test_a_line_without_letters_is_named(text: str) -> None:
    page = open_warned("latent/text_vae", a=text)
    assert "There is no letter a to z" in page.warning[0].value
    with pytest.raises(ValueError, match="no letter a to z"):
        lens.typed(text, 40)


def test_a_typed_line_is_spelled_and_cut() -> None:
    x, text = lens.typed("  It's 5 P.M.: " + "abc " * 30, 40)
    assert text == ("it s p m " + "abc " * 30)[:40] and x.shape == (1, 40)
    assert lens.read(x) == [text]
    assert lens.read(lens.typed("Hi", 40)[0]) == ["hi"]
