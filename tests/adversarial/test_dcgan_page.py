"""The page "DCGAN": shapes and counts, one number of z turned, the recipe, and what its scenes say."""

import re
from itertools import pairwise

import pytest
import torch
from opening import figure, film, open_page, run_page, scenes
from torch import nn

from lab import weights
from lab.lenses.games import moves
from lab.lenses.recipe import CONNECTED, width
from lab.room import load
from modules.adversarial.dcgan import DCGAN
from pages.adversarial.dcgan import figures, lens, one_number, recipe
from pages.adversarial.dcgan.room import JUDGING, MADE, PRINTED, SHIPPED, VALUES


def model(name: str = "dcgan-mnist") -> DCGAN:
    return weights.load(name)  # type: ignore[return-value]


def count(network: nn.Module) -> int:
    return sum(p.numel() for p in network.parameters())


def test_sizes_of_the_printed_network() -> None:
    result, judge = lens.look(None, MADE, 0), lens.look(None, JUDGING, 0)
    assert [row.shape for row in result.rows] == [
        (1024, 4, 4), (512, 8, 8), (256, 16, 16), (128, 32, 32), (3, 64, 64),
    ]  # fmt: skip
    assert result.rows[0].weights == 1_638_400
    assert sum(row.weights for row in result.rows[1:]) == 11_016_192
    assert sum(row.parameters for row in result.rows) == 12_658_432
    assert [row.shape for row in judge.rows][-1] == (1, 1, 1)
    assert sum(row.parameters for row in judge.rows) == 11_036_160
    larger, _ = lens.printed(kernel=5)
    five = lens.rows(larger, torch.zeros(1, 100, device="meta"))
    assert sum(row.weights for row in five[1:]) == 17_212_800 and five[-1].shape == (3, 64, 64)


def test_counts_of_the_shipped_networks() -> None:
    for name, g, d in (("dcgan-mnist", 298_017, 167_009), ("dcgan-digits", 41_953, 33_761)):
        result, judge = (lens.look(model(name), who, 0) for who in (MADE, JUDGING))
        assert (sum(r.parameters for r in result.rows), sum(r.parameters for r in judge.rows)) == (g, d)
        assert (count(model(name).generator), count(model(name).discriminator)) == (g, d)
        assert result.shown is not None and len(result.shown) == len(result.rows) + 1
    ups, downs = (lens.look(model(), who, 0).rows for who in (MADE, JUDGING))
    assert [row.shape[1] for row in ups] == [4, 7, 14, 28] and [row.shape[1] for row in downs] == [
        14,
        7,
        4,
        1,
    ]


def test_the_last_block_is_the_picture_and_ds_is_its_answer() -> None:
    z = model().noise(1, torch.Generator().manual_seed(3))
    with torch.no_grad():
        x = model().ema_generator()(z)
        f = model().discriminate(x)
    result, judge = (lens.look(model(), who, 3) for who in (MADE, JUDGING))
    ink = (x[0, 0] - x.min()) / (x.max() - x.min())
    for look, at in ((result, -1), (judge, 0)):
        torch.testing.assert_close(lens.blocks(look)[at][1:-1, 1:-1], ink)
    assert float(lens.blocks(judge)[-1][0, 0]) == pytest.approx(float(f.sigmoid()))
    torch.testing.assert_close(result.shown[0], z[0])  # type: ignore[index]
    results, middles = lens.sheets(result)
    assert len(results) == len(middles) == 5 and results.shape[1] == 76
    top = (76 - 30) // 2
    torch.testing.assert_close(results[-1][top + 1 : top + 29, -29:-1], ink)
    assert bool((results[-2][top : top + 30, -30:] == lens.EMPTY).all())  # its place alone


def test_every_map_stands_in_its_place_and_is_shown_once_its_layer_has_worked() -> None:
    h = torch.arange(5.0)[:, None, None] % 4 * torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    block = lens.block(h, 2, 8)  # the first four maps
    assert block.shape == (7, 7)
    assert bool((block[::3] == lens.EMPTY).all()) and bool((block[:, ::3] == lens.EMPTY).all())
    tile = torch.tensor([[0.0, 1.0], [2.0, 3.0]]) / 3
    for i, (top, left) in enumerate([(1, 1), (1, 4), (4, 1), (4, 4)]):
        torch.testing.assert_close(block[top : top + 2, left : left + 2], tile if i else 0 * tile)
    assert lens.block(h[:1], 1, 8).shape == (4, 4) and lens.block(torch.arange(5.0), 1, 8).shape == (5, 4)
    for name in SHIPPED:
        for player in (MADE, JUDGING):
            look = lens.look(model(name), player, 0)
            result, middles = lens.sheets(look)
            parts = lens.blocks(look)
            assert len(lens.names(look, player)) == len(parts) == len(result)
            for layer, (part, middle) in enumerate(zip(parts, middles, strict=True)):
                rows, columns = part.shape
                left, top = round(middle - (columns - 1) / 2), (result.shape[1] - rows) // 2
                drawn = result[:, top : top + rows, left : left + columns]
                assert all(torch.equal(one, part) for one in drawn[layer:])
                assert bool((drawn[:layer] == lens.EMPTY).all())


def test_equal_size_means_equal() -> None:
    for total in (9_000, 41_953, 237_345):
        h = width(64, 784, 3, 10 * total)
        for units, under in ((h, True), (h + 1, False)):
            network = nn.Sequential(*(nn.Linear(a, b) for a, b in pairwise([64, units, units, 784])))
            assert (count(network) <= 10 * total) == under
    plain = lens.connected(64, (1, 28, 28), 3, 237_345)
    assert 0.98 * 237_345 < sum(plain) <= 237_345 and len(plain) == 3
    result = recipe.game(CONNECTED, 0)[0].generator
    whole = recipe.game(recipe.PLAIN, 0)[0].generator
    assert 0.97 * count(whole) < count(result) <= count(whole)


def test_every_switch_changes_its_line_alone() -> None:
    names = {name: [str(m) for m in recipe.game(name, 0)[0].modules()] for name in recipe.SWITCHES}
    assert not any("BatchNorm" in m for m in names["no batch norm"])
    assert any("negative_slope=0.0" in m for m in names["ReLU in D, not leaky"])
    assert any("MaxPool" in m for m in names["pooling, not strides"])
    assert not any("ConvTranspose" in m for m in names[CONNECTED])
    assert names["β₁ = 0.9"] == names[recipe.PLAIN] == names["torch's first weights"]
    for name in recipe.SWITCHES:
        momentum = recipe.game(name, 0)[1]["generator"].defaults["betas"][0]
        assert momentum == (0.9 if name == "β₁ = 0.9" else 0.5)
    spread = [
        float(recipe.game(name, 0)[0].players()["generator"][0].detach().std())
        for name in (recipe.PLAIN, "torch's first weights")
    ]
    assert spread[0] == pytest.approx(0.02, rel=0.1) and spread[1] > 3 * spread[0]


def test_one_game_beside_itself_is_the_same_and_repeats() -> None:
    *_, (share, rounds) = recipe.playing(recipe.PLAIN, 5, 0)
    assert share == 1 and [one.batches for one in rounds] == [0, 1, 2, 3, 4, 5]
    assert torch.equal(rounds[-1].whole, rounds[-1].other)
    *_, (_, again) = recipe.playing("no batch norm", 5, 0)
    assert torch.equal(again[-1].whole, rounds[-1].whole)
    assert not torch.equal(again[-1].whole, again[-1].other)
    assert rounds[0].distances[0] > 5 * recipe.floor()


def test_looks_leave_a_game_alone() -> None:
    *_, (_, rounds) = recipe.playing(recipe.PLAIN, 6, 1)
    known, held = recipe.digits()
    assert len(held) == recipe.MEASURED
    alone, optimizers = recipe.game(recipe.PLAIN, 1)
    *_, _ = moves(alone, optimizers, known, 6, 1, 6, recipe.BATCH)
    assert torch.equal(recipe.measured(alone, held)[0], rounds[-1].other)


def test_one_number_of_z() -> None:
    result = one_number.turning(model(), 0, 1)
    z = model().noise(one_number.SHEET, torch.Generator().manual_seed(0))
    z[:, 0] = 3
    with torch.no_grad():
        torch.testing.assert_close(result[-1], model().decode(z)[:, 0])
    text = one_number.changes(result)
    assert text[VALUES.index(0.0)] == 0 and text[-1] > text[7] > 0
    assert torch.equal(result[6], one_number.turned(model(), 0, 1, 0.0))


def test_what_the_scenes_say() -> None:
    up, down, whole = (lens.look(m, who, 0).rows for m, who in (
        (model(), "G"), (model(), "D"), (None, "G")))  # fmt: skip
    assert [row.shape for row in up] == [(128, 4, 4), (64, 7, 7), (32, 14, 14), (1, 28, 28)]
    assert [row.shape for row in down] == [(32, 14, 14), (64, 7, 7), (128, 4, 4), (1, 1, 1)]
    total = sum(row.parameters for row in whole)
    assert round(total / 1e6, 1) == 12.7 and 0.64 < whole[1].parameters / total < 0.69
    result = one_number.turning(model(), 0, 1)
    assert one_number.changes(result)[-1] < one_number.between(result)


@pytest.mark.heavy
def test_what_the_scenes_of_the_recipe_say() -> None:
    texts = {}
    for switch in ("no batch norm", "β₁ = 0.9", "pooling, not strides", CONNECTED):
        *_, (_, rounds) = recipe.playing(switch, 400, 0)
        assert rounds[-1].distances[0] < rounds[0].distances[0] / 4
        texts[switch] = rounds[-1].distances[1] / rounds[-1].distances[0]
    assert texts["no batch norm"] > 3 and texts["β₁ = 0.9"] > 2
    assert 0.5 < texts["pooling, not strides"] < 2 and texts[CONNECTED] < 1.2


def test_the_page() -> None:
    page = open_page("adversarial/dcgan")
    look = lens.look(model(), MADE, 0)
    assert film(page, "layer")["captions"] == lens.layer_captions(look, MADE, 64)
    _, arrays = figure(page, "maps")
    assert arrays["data.0.z"].shape == lens.sheets(look)[0].shape
    for name in (*SHIPPED, PRINTED):
        for player in (MADE, JUDGING):
            open_page("adversarial/dcgan", model=name, player=player)
    assert len(scenes(page)) <= 9
    samples = open_page("adversarial/dcgan", view="Samples", model="dcgan-digits", number=32, value="-3")
    assert film(samples, "value")["at"] == 0


def test_nonsense_in_the_link() -> None:
    for link in ({"model": "🦊"}, {"view": "Samples", "model": PRINTED}, {"seed": "nan"},
                 {"view": "Recipe", "switch": "x", "batches": "1e9"}):  # fmt: skip
        assert not run_page("adversarial/dcgan", **link).exception


@pytest.mark.parametrize("topic, named", [("dcgan", 4), ("clinic", 9)])
def test_scenes_that_train_ask_and_do_not_tell_the_end(topic: str, named: int) -> None:
    """Their lines say what to watch or to count; what comes of it is told below, where it has come."""
    known = load(f"adversarial-{topic}")
    assert known is not None
    lines = [scene.sees for scene in known.scenes.values()][-named:]
    assert len(lines) == named
    for line in lines:
        assert re.search(r"\b(watch|count)\b[^.]*\.$", line), line
        assert not re.search(r"\b(holds on|falls?|fails?|wins?|loses|nothing|stays|opens\.|never|cannot)\b",
                             line.replace("whether the heap opens.", "")), line  # fmt: skip


def test_numbers_above_bars_are_short() -> None:
    counts = (7, 577, 999, 1000, 6272, 9999, 51_840, 99_600, 133_376, 999_400, 999_500, 1_605_632)
    assert [figures.shortly(n) for n in counts] == [
        "7", "577", "999", "1k", "6.3k", "10k", "52k", "100k", "133k", "999k", "1M", "1.6M",
    ]  # fmt: skip
