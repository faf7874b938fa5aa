"""What a reader types: commas are decimal marks in every box of numbers or points, or they part them."""

import tomllib
from pathlib import Path

import pytest
from opening import failures, run_page

from datamodules import sheet
from lab.errors import UserError
from lab.lenses import tables, typed
from lab.ui.controls.widgets import first_lines
from lab.ui.server import serve
from pages.autoregressive.chains import lens as chains
from pages.autoregressive.fvsbn import lens as fvsbn
from pages.autoregressive.gaussian_chain import lens as gaussian_chain
from pages.convolution.kernel import lens as kernel
from pages.flow.change_of_variables import lens as change
from pages.flow.dequantization import lens as dequantization
from pages.flow.flow_bench import lens as flow_bench
from pages.latent.bound_staircase import lens as staircase
from pages.latent.curve_density import lens as curve
from pages.latent.hidden_markov import lens as hidden_markov
from pages.latent.kalman import lens as kalman
from pages.latent.mixture import points as mixture
from pages.latent.not_markov import lens as not_markov

LINES, POINTS = "1,5;2,5\n3;0,25\n", [[1.5, 2.5], [3.0, 0.25]]
LAST = len("3;0,25\n")


def test_decimal_commas_in_every_box_of_points() -> None:
    for text in (LINES, LINES.replace(";", "\t"), LINES.replace(";", " "), "x;y\n" + LINES):
        for x, texts in (
            mixture.typed(text), flow_bench.read_points(text), curve.typed(text), kalman.typed(text, 2),
        ):  # fmt: skip
            assert x.tolist() == POINTS and "decimal marks" in texts
        _, rows, texts = tables.typed_table(text + text[-LAST:])
        assert rows.tolist() == [*POINTS, POINTS[1]] and "decimal marks" in texts
    for x, texts in (mixture.typed("1,5;2,5"), flow_bench.read_points("1,5;2,5")):
        assert x.tolist() == [[1.5, 2.5]] and "1.5 and 2.5" in texts


def test_points_with_a_point_stay_what_they_were() -> None:
    assert curve.typed("0,0;1,1;2,0")[0].tolist() == [[0, 0], [1, 1], [2, 0]]
    assert curve.typed("0,0;1,1")[0].tolist() == [[0, 0], [1, 1]]
    assert mixture.typed("1.5;2.5\n3,4")[0].tolist() == [[1.5, 2.5], [3, 4]]


def test_a_pasted_table_gives_its_first_two_columns_of_numbers() -> None:
    text = '"","eruptions","waiting"\n"1",3.6,79\n"2",1.8,54\n'
    x, texts = mixture.typed(text)
    assert x.tolist() == [[3.6, 79], [1.8, 54]] and "row numbers" in texts
    x, texts = mixture.typed("Tag;a;b;c\n1.1.2020;1,5;2;3\n2.1.2020;2,5;3;4\n")
    assert x.tolist() == [[1.5, 2], [2.5, 3]] and "a and b" in texts


def test_decimal_commas_in_every_list_and_matrix() -> None:
    assert typed.named("0,5 -0,25", 5)[0] == [0.5, -0.25] and "decimal" in typed.named("0,5 -0,25", 5)[1]
    assert typed.named("0,5", 1) == ([0.5], "Commas are read as decimal marks: 0.5.")
    assert typed.distribution("0,5 0,25 0,25", 4)[0] == [0.5, 0.25, 0.25]
    assert typed.square("0,3 0,2; -0,1 0,4", 3, 2) == [[0.3, 0.2], [-0.1, 0.4]]
    assert typed.square("1,2;2,1", 3, 2) == [[1, 2], [2, 1]]
    with pytest.raises(UserError, match="square matrix"):
        typed.square("1,2,3;1", 3, 2)
    assert kernel.numbers_of("0,5 1", 5) == [0.5, 1]
    assert gaussian_chain.typed_path("0,5; 1,5").tolist() == [0.5, 1.5]
    weights, text = dequantization.weights_of("0,5 1")
    assert weights == [0.5, 1] and "decimal" in text
    assert staircase.typed("0,5 1,5")[0] == [0.5, 1.5] and staircase.typed("0,5", 1)[0] == [0.5]
    assert chains.typed_matrix("0,5 0,5; 0,25 0,75").tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert fvsbn.typed_rows("0,5; 1 1; 0 0 0; 1 1 1 1,5")[3] == [1, 1, 1, 1.5]
    law = hidden_markov.with_transitions(hidden_markov.world("Casino").model, "0,5 0,5; 0,25 0,75").transition
    assert law.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert not_markov.typed_chain("0,5 0,5; 0,25 0,75", "12").transition.tolist() == law.tolist()
    assert kalman.typed("0,5 1,5 ?", 1)[0][:2, 0].tolist() == [0.5, 1.5]


# boxes of numbers: the page, what its link says, and a box with decimal commas
BOXES = {
    "kernel": ("convolution/kernel", {}, {"taps": "0,5 -1"}),
    "input": ("convolution/kernel", {}, {"x": "0,5 1 2 3"}),
    "path": ("autoregressive/gaussian_chain", {"show": "Your path"}, {"path": "0,3 -0,2 1"}),
    "triangle": ("autoregressive/fvsbn", {}, {"a": "0,5; 1 1; 0 0 0; 1 1 1 1,5"}),
    "states": (
        "autoregressive/chains", {"show": "memory"}, {"matrix": "0,5 0,5; 0,25 0,75", "symbols": "1 2"},
    ),
    "transitions": ("latent/hidden_markov", {}, {"a": "0,5 0,5; 0,25 0,75"}),
    "own chain": ("latent/not_markov", {"chain": "Own chain"}, {"law": "0,5 0,5; 0,25 0,75", "shows": "1 2"}),
    "field": ("flow/continuous", {"field": "own matrix"}, {"J": "0,3 0,2; -0,1 0,4"}),
    "estimates": ("flow/log_det", {}, {"J": "0,3 0,2; -0,1 0,4"}),
    "plane": ("flow/linear_flow", {}, {"matrix": "2,5 0; 1 3"}),
    "z:x": ("flow/change_of_variables", {"f": "typed points"}, {"points": "-3:-3,5 1,5:2 3:5"}),
    "two KLs": ("latent/two_kls", {}, {"own": "0,5 0,5; 0,25 0,75"}),
    "perplexity": ("language/perplexity", {}, {"p": "0,7 0,5 1/3"}),
    "beam": ("language/beam_search", {}, {"table": ": 0,6 0,4\na: 0,5 0,5"}),
}  # fmt: skip


@pytest.mark.parametrize("box", BOXES)
def test_a_box_says_what_it_decided(box: str) -> None:
    page, link, typed_ = BOXES[box]
    shown = run_page(page, **link, **typed_)
    assert not failures(shown)
    texts = [element.value for element in (*shown.caption, *shown.warning)]
    assert any("Commas are read as decimal marks" in sentence for sentence in texts), texts


def test_decimal_commas_between_colons() -> None:
    assert change.pairs("1,5:2 -1:0,25")[0] == [(1.5, 2.0), (-1.0, 0.25)]
    assert "decimal" in change.pairs("1,5:2 -1:0,25")[1]
    assert change.pairs("1:2,3:4")[0] == change.pairs("1:2, 3:4")[0] == [(1.0, 2.0), (3.0, 4.0)]
    assert change.pairs("1:2.5,3:4") == ([(1.0, 2.5), (3.0, 4.0)], "")


def test_the_server_takes_what_an_upload_offers() -> None:
    """MiB both: a file that the control lets through and the server refuses fails without a sentence."""
    settings = tomllib.loads((Path(serve.__file__).parent / ".streamlit" / "config.toml").read_text())
    assert settings["server"]["maxUploadSize"] >= sheet.MOST_BYTES // 2**20


def test_what_is_too_long_is_cut_at_a_line() -> None:
    assert first_lines("1,2\n34,56\n7,8", 8) == "1,2" and first_lines("1,2\n3,4", 7) == "1,2\n3,4"
    assert first_lines("abcdef", 3) == "abc"
