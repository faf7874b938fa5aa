"""What sharing buys: NADE against untied weights, as shipped, trained live, and shown."""

import statistics

import pytest
import torch
from opening import figure, film, metrics, open_page

from datamodules.digits import Digits
from lab import weights
from lab.experiments import ZOO
from pages.autoregressive.sharing import lens


def test_input_weights_of_both() -> None:
    assert (lens.input_weights("untied", 32), lens.input_weights("NADE", 32)) == (64_512, 2_048)


def test_a_draw_of_training_digits() -> None:
    small, whole = Digits(binarize="threshold", train_size=100), Digits(binarize="threshold")
    for data in (small, whole):
        data.setup()
    assert len(small.train_set) == 100 == small.describe()["splits"]["train"]
    assert len(whole.train_set) == 1297 == whole.describe()["splits"]["train"]
    assert len(small.val_set) == len(whole.val_set) == 250
    everything = {bytes(x.byte().numpy()) for x in whole.train_set[torch.arange(1297)][0]}
    assert {bytes(x.byte().numpy()) for x in small.train_set[torch.arange(100)][0]} <= everything
    for size in (0, 1298):
        with pytest.raises(ValueError, match="between 1 and 1297"):
            Digits(train_size=size)


@pytest.mark.parametrize("name", lens.SHIPPED)
def test_the_cards_are_of_three_seeds_and_of_their_size(name: str) -> None:
    costs = []
    for size, experiment in lens.SHIPPED[name].items():
        card = weights.read_card(ZOO / experiment)
        assert card["seeds"] == [0, 1, 2] and card["data"]["splits"]["train"] == size
        assert card["config"]["model"]["init_args"]["hidden"] == 32
        model = weights.load(experiment)
        test = lens.splits()[2]
        assert lens.nll(model, test) == pytest.approx(card["shipped"]["metrics"]["test/nll"], abs=1e-3)
        costs.append(card["metrics"]["test/nll"])
    assert costs == sorted(costs, reverse=True)  # more digits, lower cost


def test_sharing_wins_and_few_digits_open_the_gap() -> None:
    results = [
        lens.shipped(name, size, weights.load(experiment), weights.read_card(ZOO / experiment))
        for name, by_size in lens.SHIPPED.items()
        for size, experiment in by_size.items()
    ]
    gaps, spread = lens.gaps(results), max(f.std for f in results)
    assert gaps[100] > 3 * spread and gaps[1297] > 3 * spread and gaps[400] > -spread  # at 400 it is even
    for name in lens.MODELS:
        few, some, many = (f.test - f.train for f in results if f.name == name)
        assert few > some > many > 0


def test_training_keeps_the_best_step_by_validation() -> None:
    *_, (share, run) = lens.train("NADE", 100, hidden=32, seed=0, steps=400)
    val = run.curves["val"]
    assert share == 1 and len(val) == len(run.curves["train"]) == 400 / lens.EVERY + 1
    assert run.val == min(val) < val[0] and run.train == run.curves["train"][val.index(min(val))]
    assert run.curves["train"][-1] < run.train < run.test  # it went on learning its 100 digits by heart
    assert lens.drawn(100, 1).shape == (100, 64) and len(lens.drawn(100, 1).unique(dim=0)) == 100
    assert not torch.equal(lens.drawn(100, 1), lens.drawn(100, 2))
    ends = [list(lens.train("NADE", 100, hidden=8, seed=1, steps=50))[-1] for _ in range(2)]
    assert ends[0] == ends[1]


def test_a_sweep_trains_both_on_every_size_and_its_means_are_means() -> None:
    *_, (share, runs) = lens.sweep([100, 200], hidden=4, seeds=2, steps=50)
    assert share == 1
    assert {(r.model, r.size, r.seed) for r in runs} == {
        (model, size, seed) for model in ("untied", "NADE") for size in (100, 200) for seed in (0, 1)
    }
    each = {(r.model, r.seed): r for r in runs if r.size == 200}
    sizes, means, spread = lens.curve(runs, "untied", "test")
    pair = [each["untied", seed].test for seed in (0, 1)]
    assert sizes == [100, 200] and means[1] == pytest.approx(statistics.fmean(pair))
    assert spread[1] == pytest.approx(abs(pair[0] - pair[1]) / 2**0.5)
    shared = statistics.fmean(each["NADE", seed].test for seed in (0, 1))
    assert lens.advantage(runs, 200, "test") == pytest.approx(means[1] - shared)
    last = statistics.fmean(each["NADE", seed].last - each["NADE", seed].test for seed in (0, 1))
    assert lens.overshoot(runs, "NADE", 200) == pytest.approx(last)
    rows = lens.table(runs)
    assert rows["training digits"] == [100, 200, 100, 200] and len(rows["test nats"]) == 4
    assert rows["test nats"][1] == f"{means[1]:.2f} ± {spread[1]:.2f}"


def test_the_page_shows_the_cards() -> None:
    page = open_page("autoregressive/sharing")
    rows = page.dataframe[0].value
    for experiment, shown in zip(rows["experiment"], rows["test nats"], strict=True):
        card = weights.read_card(ZOO / experiment)
        assert shown == f"{card['metrics']['test/nll']:.2f} ± {card['std']['test/nll']:.2f}"
    assert r"d n(n-1)/2 = 64{,}512 \quad\text{against}\quad n d = 2{,}048" in page.latex[0].value
    assert metrics(page)["NADE, test nats"] == rows["test nats"][3]


def test_the_columns_of_nade_are_those_of_every_pixel() -> None:
    nade, untied = (weights.load(lens.SHIPPED[name][100]) for name in ("NADE", "untied"))
    for model in (nade, untied):
        columns = lens.columns(model, 5)
        assert columns.shape == (64, 5, 64)
        known = ~columns.isnan()
        assert torch.equal(known[:, 0], torch.ones(64, 64, dtype=torch.bool).tril(-1))
    own, shared = lens.columns(untied, 5), lens.columns(nade, 5)
    assert torch.equal(shared[20, :, :20], shared[63, :, :20])
    assert not torch.equal(own[20, :, :20], own[63, :, :20])
    assert own[20, 3, 7] == untied.columns()[20, 7, 3] and shared[20, 3, 7] == nade.weight[7, 0, 3]


def test_maps_stand_side_by_side() -> None:
    weights_ = torch.arange(2 * 8 * 64.0).reshape(2, 8, 64)
    sheet = lens.sheets(weights_)
    assert sheet.shape == (2, 17, 35)
    assert torch.equal(sheet[1, :8, 9:17], weights_[1, 1].reshape(8, 8))
    assert torch.equal(sheet[0, 9:, 27:], weights_[0, 7].reshape(8, 8))
    assert sheet[0, 8].isnan().all() and sheet[0, :, 8].isnan().all()


def test_the_film_goes_through_the_pixels() -> None:
    page = open_page("autoregressive/sharing", pixel="10", digits="400")
    bar, (_, arrays) = film(page, "pixel"), figure(page, "weights-untied")
    assert bar["at"] == 10 and "reads 10 pixels. Untied: 320 weights of its own" in bar["captions"][10]
    expected = lens.sheets(lens.columns(weights.load("untied-digits400"), 8))
    assert torch.allclose(torch.tensor(arrays["data.0.z"]), expected, equal_nan=True)
