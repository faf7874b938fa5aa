"""The page "MAF against IAF": numbers of both directions, calls, and what is known when."""

from functools import partial

import pytest
import torch
from opening import figure, film, metrics, open_page, open_warned, prose, run_page, spoken, warnings

from lab.lenses import masked_layer
from pages.flow.maf_iaf import figures, lens

opened = partial(open_page, "flow/maf_iaf")
VALUES = [0.5, -1.0, 1.5, -0.3, 0.8]


@pytest.mark.parametrize("sampling", [True, False])
@pytest.mark.parametrize("kind", [0, 1])
def test_number_by_number_is_what_the_layer_does(kind: int, sampling: bool) -> None:
    model = masked_layer.both(5, 3)[kind]
    run = lens.course(model, VALUES, sampling)
    h, ladj = (model.generate if sampling else model.normalize)(torch.tensor(VALUES, dtype=torch.float64))
    torch.testing.assert_close(run.outputs, h, rtol=0, atol=1e-12)
    assert run.slope == pytest.approx(float(ladj), abs=1e-12) and run.error < 1e-12
    assert run.calls == (1 if (kind == 1) == sampling else 5)
    sign = 1 if sampling else -1
    again = (
        run.inputs * run.scales.exp() + run.shifts
        if sampling
        else (run.inputs - run.shifts) * (-run.scales).exp()
    )
    torch.testing.assert_close(again, run.outputs, rtol=0, atol=1e-12)
    assert float(run.scales.sum()) * sign == pytest.approx(run.slope, abs=1e-12)


def test_the_roles_are_exchanged() -> None:
    assert metrics(opened())["MAF calls"] == "5" and metrics(opened())["IAF calls"] == "1"
    shown = metrics(opened(way="score"))
    assert shown["MAF calls"] == "1" and shown["IAF calls"] == "5"


def test_the_film_counts_calls() -> None:
    page = opened(step=2)
    bar = film(page)
    assert bar["count"] == 6 and bar["at"] == 2
    assert bar["captions"][2] == "MAF: 2 calls, 2 of 5 numbers; IAF: 1 call, done."
    run = lens.course(masked_layer.both(5, 0)[0], VALUES, sampling=True)
    _, s, t, x = spoken(bar["equations"][2])
    assert (s, t, x) == pytest.approx(
        (float(run.scales[1]), float(run.shifts[1]), float(run.outputs[1])), abs=6e-4
    )
    _, frames = figure(page, "MAF")
    result = frames["data.1.x"]
    assert [int((row == row).sum()) > 0 for row in result] == [False, *[True] * 5]
    header, _ = figure(page, "IAF")
    texts = header["texts"]["data.3.text"]
    assert texts[0] == ["?"] * 5 and "?" not in texts[1]


def test_arrows_lead_from_earlier_numbers_alone() -> None:
    for parallel in (True, False):
        x, _ = figures.lines(4, [2], parallel)
        ends = [v for v in x if v == v]
        assert set(map(round, ends)) <= {0, 1, 2} and min(ends) == 0
    assert [v for v in figures.lines(4, [], True)[0] if v == v] == []


def test_what_is_no_number_is_named() -> None:
    page = open_warned("flow/maf_iaf", values="0.5 x -1")
    assert "“x” is left out" in warnings(page) and metrics(page)["MAF calls"] == "2"
    assert "Type at least two numbers" in warnings(run_page("flow/maf_iaf", values="1"))


def test_the_clock_measures_every_size() -> None:
    *_, (share, rows) = lens.clocked((2, 3), repeats=1)
    assert share == 1 and rows["D"] == [2, 3]
    assert all(s > 0 for s in [*rows["score"], *rows["sample"]])
    assert "exactly" in prose(opened(view="Clock"))
