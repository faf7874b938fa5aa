"""The kit that pages are made of: links, controls that are set, clicks, drawings, films, errors."""

import ast
import builtins
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch
from opening import film, go, move, run_page
from streamlit.testing.v1 import AppTest

from lab import weights
from lab.figures import basic, theme
from lab.ui.browser import wire
from lab.ui.controls import drawing
from lab.ui.figures import films, plots
from lab.ui.page.blocks import ALWAYS, notebook
from lab.ui.session import ranges, state

ROOT = Path(__file__).resolve().parents[2]


def warnings_of(page: AppTest) -> list[str]:
    assert not page.exception, [e.value for e in page.exception]
    return [w.value for w in page.warning]


def result(page: AppTest) -> Any:
    return page.session_state["result"]


def controls_page() -> None:
    import streamlit as st

    from lab import ui

    ui.stage("Kit", "All controls.")
    st.session_state["result"] = {
        "t": ui.slider("T", 0.1, 3.0, 1.0, key="t"),
        "n": ui.slider("N", 1, 9, 4, key="n"),
        "seed": ui.number("Seed", 0, 99, 7, key="seed"),
        "layer": ui.choice("Layer", ["1", "2"], key="layer"),
        "wide": ui.choice("Wide", [f"option {i}" for i in range(9)], key="wide"),
        "causal": ui.toggle("Causal", True, key="causal"),
        "text": ui.text("Text", "To be", key="text", examples={"Romeo": "wherefore"}, max_chars=100),
    }
    wanted = {"t": 2, "n": 2, "layer": "2", "wide": "option 3", "causal": False, "text": "x"}
    ui.button("All", key="set-All", on_click=ui.set_values, args=(wanted,))


DEFAULTS = {
    "t": 1.0, "n": 4, "seed": 7, "layer": "1", "wide": "option 0", "causal": True, "text": "To be"
}  # fmt: skip


def test_controls_start_at_their_defaults_and_keep_the_link_clean() -> None:
    page = run_page(controls_page)
    assert result(page) == DEFAULTS
    assert not page.query_params and not warnings_of(page)


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [("t", "2.5", 2.5), ("n", "9", 9), ("seed", "0", 0), ("layer", "2", "2"),
     ("wide", "option 8", "option 8"), ("causal", "false", False), ("text", "or not", "or not")],
)  # fmt: skip
def test_a_link_sets_a_control(key: str, text: str, value: Any) -> None:
    page = run_page(controls_page, **{key: text})
    assert result(page) == DEFAULTS | {key: value}
    assert not warnings_of(page)


@pytest.mark.parametrize(
    ("key", "text"),
    [("t", "3.01"), ("t", "nan"), ("t", "inf"), ("t", "warm"), ("t", ""), ("n", "2.5"), ("n", "0"),
     ("seed", "100"), ("seed", "-1"), ("layer", "3"), ("wide", "option"), ("causal", "maybe"),
     ("text", "x" * 101), ("text", "x" * 100_000)],
)  # fmt: skip
def test_a_bad_link_gets_one_sentence_until_the_control_is_moved(key: str, text: str) -> None:
    page = run_page(controls_page, **{key: text})
    assert result(page) == DEFAULTS
    (sentence,) = warnings_of(page)
    assert key in sentence and len(sentence) < 250
    page.run()
    assert warnings_of(page) == [sentence]
    page.button(key="set-All").click().run()
    if key != "seed":
        assert not warnings_of(page)


def test_values_and_examples_set_controls_and_the_link() -> None:
    page = run_page(controls_page)
    page.button(key="set-All").click().run()
    assert result(page) == {
        "t": 2.0, "n": 2, "seed": 7, "layer": "2", "wide": "option 3", "causal": False, "text": "x",
    }  # fmt: skip
    assert isinstance(result(page)["t"], float)
    assert {k: v for k, v in page.query_params.items()}.keys() >= {
        "t",
        "n",
        "layer",
        "wide",
        "causal",
        "text",
    }
    page.button(key="text-example-Romeo").click().run()
    assert result(page)["text"] == "wherefore"


def test_a_text_beyond_the_limit_is_cut_with_a_sentence() -> None:
    page = run_page(controls_page)
    page.text_input(key="text").set_value("y" * 100_000).run()
    assert result(page)["text"] == "y" * 100
    assert any("100 characters" in sentence for sentence in warnings_of(page))


def clicks_page() -> None:
    import streamlit as st
    import torch

    from lab import ui
    from lab.figures import basic

    before = ui.selection("cell")
    fig = basic.heatmap(torch.arange(6.0).reshape(2, 3), clickable=True)
    st.session_state["result"] = (before, ui.clickable(fig, key="cell", alt="six cells"))
    ui.button("Hold", key="set-Hold", on_click=ui.set_values, args=({"cell": (2, 1)},))
    ui.button("Let go", key="set-Let go", on_click=ui.set_values, args=({"cell": None},))


def test_a_number_in_a_link_is_finite_or_a_text() -> None:
    assert [ranges.parse(text) for text in ("3", "1e400", "nan", "b")] == [3, None, None, None]
    assert [plots.value(text) for text in ("3", "-2.5", "1e400", "nan", "b")] == [
        3,
        -2.5,
        "1e400",
        "nan",
        "b",
    ]


@pytest.mark.parametrize("link", ["-3,2", "2,-3", "4,0", "0,3", "1e400,1", "1.5,1"])
def test_a_cell_outside_of_its_map_is_none(link: str) -> None:
    def script() -> None:
        from lab import ui

        ui.stage("Map", "Three rows of four cells.")
        ui.caption(f"cell {ui.selected_cell('cell', 3, 4)}")

    page = run_page(script, cell=link)
    assert not page.exception and page.caption[-1].value == "cell None"


def test_a_held_cell_comes_from_the_link_and_from_what_sets_it() -> None:
    page = run_page(clicks_page)
    assert result(page) == (None, None)
    page.button(key="set-Hold").click().run()
    before, point = result(page)
    assert before == {"x": 2, "y": 1, "customdata": None}
    assert point == {"x": 2, "y": 1, "customdata": [1.0, 2.0, 5.0]}  # row, column, value
    assert page.query_params["cell"] in ("2,1", ["2,1"])
    page.button(key="set-Let go").click().run()
    assert result(page) == (None, None) and "cell" not in page.query_params
    assert result(run_page(clicks_page, cell="0,1"))[1] == {"x": 0, "y": 1, "customdata": [1.0, 0.0, 3.0]}


@pytest.mark.parametrize("text", ["7,7", "nonsense", "", ",", "nan,nan", "1,1,1"])
def test_a_link_to_no_cell_holds_none(text: str) -> None:
    page = run_page(clicks_page, cell=text)
    assert result(page)[1] is None
    assert not page.exception


def drawing_page() -> None:
    import streamlit as st
    import torch

    from lab import ui

    examples = [("blank", torch.zeros(5, 5)), ("full", torch.ones(5, 5))]
    st.session_state["result"] = ui.draw("Digit", key="digit", size=5, examples=examples)
    ui.button("Full", key="set-Full", on_click=ui.set_values, args=({"digit": "full"},))


def test_the_pad_starts_with_an_example_and_reads_the_link() -> None:
    page = run_page(drawing_page)
    assert result(page).shape == (5, 5) and result(page).sum() == 0 and not page.query_params
    page.button(key="set-Full").click().run()
    assert result(page).sum() == 25
    assert page.query_params["digit"] in ("full", ["full"])
    picture = torch.rand(5, 5, generator=torch.Generator().manual_seed(0))
    levels = drawing.quantise(picture, 5)
    page = run_page(drawing_page, digit=drawing.INK + drawing.spell(levels))
    assert torch.equal(result(page), levels.float() / 15) and not warnings_of(page)
    assert (result(page) - picture).abs().max() <= 0.5 / 15


@pytest.mark.parametrize("token", ["ink.", "ink.AAAA", "ink." + "A" * 10_000, "ink.ö", "no example"])
def test_a_link_with_a_broken_drawing_gets_one_sentence(token: str) -> None:
    page = run_page(drawing_page, digit=token)
    assert len(warnings_of(page)) == 1 and result(page).sum() == 0


@pytest.mark.parametrize("size", [1, 5, 8, 28])
def test_a_drawing_survives_the_link_and_the_pad(size: int) -> None:
    levels = torch.randint(
        0, 16, (size, size), dtype=torch.uint8, generator=torch.Generator().manual_seed(size)
    )
    assert torch.equal(drawing.read(drawing.INK + drawing.spell(levels), {}, size), levels)
    assert torch.equal(drawing.unpack_bytes(drawing.to_text(levels), size), levels)
    picture = levels.float() / drawing.LEVELS  # as `draw` answers it, and a program reads it
    assert torch.equal(eval(drawing.ink_code(picture)), picture)


@pytest.mark.parametrize("size", [1, 5, 48])
def test_a_picture_in_colour_survives_the_link_and_the_pad(size: int) -> None:
    levels = torch.randint(
        0, 16, (3, size, size), dtype=torch.uint8, generator=torch.Generator().manual_seed(size)
    )
    token = drawing.ink(levels.float() / drawing.LEVELS)
    assert torch.equal(drawing.read(token, {}, size, 3), levels) and len(token) < 5000
    assert (
        drawing.read(token, {}, size) is None and drawing.read(drawing.INK + token[4:], {}, size, 3) is None
    )
    assert torch.equal(drawing.unpack_bytes(drawing.to_text(levels), size, 3), levels)
    assert torch.equal(drawing.pixels(token, drawing.side(token)), levels.float() / drawing.LEVELS)


@pytest.mark.parametrize("message", [None, 7, "", "*", "AAAA", "/" * 32])
def test_the_pad_refuses_what_is_no_picture(message: Any) -> None:
    assert drawing.unpack_bytes(message, 4) is None


def test_a_packed_bomb_is_not_unpacked() -> None:
    import base64
    import zlib

    bomb = base64.urlsafe_b64encode(zlib.compress(bytes(50_000_000))).decode()
    assert drawing.read(drawing.INK + bomb, {}, 28) is None


def check_page() -> None:
    from lab import ui

    ui.check(
        "2 + 2?", [3, 4, 5], answer=4, why="Count.", veils=("map", "equation"),
        wrong={3: "One is missing.", 5: "One is there twice."},
    )  # fmt: skip


def test_a_check_veils_until_an_answer_is_chosen() -> None:
    page = run_page(check_page)
    assert not page.radio and not veils(page)
    page.button[0].click().run()
    assert page.radio[0].value is None
    assert veils(page) == f"{ALWAYS}, .st-key-figure-map, .st-key-map, .st-key-foot"
    page.radio[0].set_value("4").run()
    assert "4. Count." in page.success[0].value and not veils(page)
    page.radio[0].set_value("3").run()
    assert page.info[0].value == "No: it is 4. One is missing. Count." and not veils(page)
    page.radio[0].set_value("5").run()
    assert page.info[0].value == "No: it is 4. One is there twice. Count."
    page.button[0].click().run()
    assert not page.radio and not veils(page)


def veils(page: AppTest) -> str:
    """The selectors of what is veiled."""
    results = [h.proto.body for h in page.get("html") if "blur" in h.proto.body]
    return results[0].partition("<style>")[2].partition(" {")[0] if results else ""


def test_a_notebook_runs_the_program_and_ends_by_its_result() -> None:
    (cell,) = json.loads(notebook("result = 1 + 1"))["cells"]
    shown = ast.parse(cell["source"]).body[-1]
    assert isinstance(shown, ast.Expr) and ast.unparse(shown) == "result" and cell["cell_type"] == "code"


def test_an_error_in_a_page_is_one_sentence() -> None:
    def page_() -> None:
        from lab import ui
        from lab.errors import UserError

        with ui.guard():
            raise UserError("The file is missing: fetch it.")
        with ui.guard():
            raise ZeroDivisionError("secret")

    page = run_page(page_)
    assert warnings_of(page) == ["The file is missing: fetch it."]
    (sentence,) = (e.value for e in page.error)
    assert "ZeroDivisionError" in sentence and "secret" not in sentence and "Traceback" not in sentence


def test_the_source_is_the_code_that_runs() -> None:
    def page_() -> None:
        from lab import ui
        from modules.trace import Trace

        ui.source(Trace.digest, references=["Kingma and Welling 2013, arXiv:1312.6114"])

    page = run_page(page_)
    import inspect

    from modules.trace import Trace

    line = inspect.getsourcelines(Trace.digest)[1]
    (sheet,) = (h.proto.body for h in page.get("html") if "lectern-source" in h.proto.body)
    assert f"modules/trace.py:{line}" in sheet
    assert "hashlib.sha256()" in re.sub(r"<[^>]*>", "", sheet)
    assert "href='https://arxiv.org/abs/1312.6114'" in sheet


def test_an_unknown_model_in_the_link_gets_a_sentence() -> None:
    def page_() -> None:
        import streamlit as st

        from lab import ui

        st.session_state["result"] = ui.experiment("Model", family="autoregressive", default="made-digits")

    page = run_page(page_, model="made-mnits")
    assert result(page) == "made-digits"
    assert "made-mnits" in warnings_of(page)[0]


def test_csv_holds_the_columns_and_refuses_unequal_ones() -> None:
    assert plots.to_csv({"a": torch.tensor([1, 2]), "b": ["x", "y,z"]}) == 'a,b\r\n1,x\r\n2,"y,z"\r\n'
    with pytest.raises(ValueError):
        plots.to_csv({"a": [1], "b": [1, 2]})


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_scales_are_centred_and_run_from_paper(mode: theme.Mode) -> None:
    before = theme.mode()
    theme.use(mode)
    try:
        diverging = theme.scale("diverging")
        assert len(diverging) % 2 == 1 and diverging[len(diverging) // 2][0] == 0.5
        fig = basic.heatmap([[-1.0, 0.5]], scale="diverging")
        assert (fig.data[0].zmin, fig.data[0].zmax) == (-1.0, 1.0)
        fig = theme.styled(basic.heatmap([[0.2, 0.3]]))
        assert (fig["data"][0]["zmin"], fig["data"][0]["zmax"]) == (0.0, 1.0)
        shared = fig["layout"]["template"]["layout"]
        assert shared["paper_bgcolor"] == theme.PAPER[mode]
        assert shared["font"]["size"] >= 18
    finally:
        theme.use(before)


def test_cached_results_are_keyed_by_the_tensors_values() -> None:
    from lab import ui

    calls = []

    def double(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return 2 * x

    cached = ui.cached(double)
    assert torch.equal(cached(torch.tensor([1.0])), torch.tensor([2.0]))
    assert torch.equal(cached(torch.tensor([1.0])), torch.tensor([2.0])) and len(calls) == 1
    assert torch.equal(cached(torch.tensor([3.0])), torch.tensor([6.0])) and len(calls) == 2
    cached(torch.tensor([1]))
    assert len(calls) == 3  # an integer 1 is another input than 1.0
    st.cache_resource.clear()


def modes_page() -> None:
    import streamlit as st

    from lab import ui

    mode = ui.choice("Show", ["one", "two"], key="show")
    st.session_state["result"] = ui.slider("T", 0.0, 1.0, 0.5, key="t") if mode == "two" else None
    ui.button("Two, hot", key="set-Two, hot", on_click=ui.set_values, args=({"show": "two", "t": 0.75},))


def test_the_value_of_a_control_that_was_not_there_travels_in_the_link() -> None:
    page = run_page(modes_page)
    page.button(key="set-Two, hot").click().run()
    assert result(page) == 0.75
    link = {k: v if isinstance(v, str) else v[-1] for k, v in page.query_params.items()}
    assert link == {"show": "two", "t": "0.75"}
    assert result(run_page(modes_page, **link)) == 0.75


def test_the_link_wins_over_what_was_held_when_it_changes() -> None:
    """As when the reader goes back in the browser's history; what it does not say stands as at first."""
    page = run_page(stage_page, cell="0,1", show="words", text="mine", n="3")
    page.text_area(key="text").set_value("typed").run()
    move(page, "step", 2)
    go(page, cell="1,0")
    assert result(page) == (5, "numbers", "", 0, {"x": 1, "y": 0, "customdata": None})
    go(page, show="words")
    assert result(page) == (5, "words", "To be", 0, None) and not warnings_of(page)
    go(page, show="none", n="3")
    assert result(page)[:2] == (3, "numbers") and "show=none" in warnings_of(page)[0]


def test_another_page_does_not_inherit_held_clicks() -> None:
    def two_pages() -> None:
        import streamlit as st

        from lab import ui

        ui.stage(st.session_state.get("title", "First"), "")
        st.session_state["result"] = ui.selection("cell")

    page = run_page(two_pages, cell="1,1")
    assert result(page) is not None
    page.session_state["title"] = "Second"
    del page.query_params["cell"]
    page.run()
    assert result(page) is None


def test_another_page_does_not_inherit_what_a_widget_says() -> None:
    def two_pages() -> None:
        import streamlit as st

        from lab import ui

        title = st.session_state.get("title", "First")
        ui.stage(title, "")
        st.session_state["result"] = ui.text("Own", f"default of {title}", key="own")

    page = run_page(two_pages)
    page.text_area(key="own").set_value("typed on the first").run()
    assert result(page) == "typed on the first"
    page.session_state["title"] = "Second"
    for key in list(page.query_params):  # the menu's links name nothing
        del page.query_params[key]
    page.run()
    assert result(page) == "default of Second" and not warnings_of(page)


def test_a_legend_has_the_room_it_needs() -> None:
    assert theme.legend_rows(["a", "b", "c"]) == 1
    assert theme.legend_rows(["as they are", "with noise", "entropy"]) == 2
    assert theme.legend_rows(["untied networks"] * 7) == 7  # 175 px each, two of them 350
    few, many = (basic.curves({f"{i} untied networks": [0, 1] for i in range(n)}, title="T") for n in (2, 7))
    theme.make_room(few)
    theme.make_room(many)
    assert few.layout.legend.y is None and few.layout.margin.t == 36 + 2 * 24
    assert many.layout.legend.y < 0 and many.layout.margin.t == 48


def reader_page() -> None:
    import streamlit as st
    import torch

    from lab import ui

    @ui.cached
    def logits(name):
        return ui.load(name).logits(torch.zeros(1, 64))

    @ui.cached
    def total(name):  # knows of the weights only through another
        return float(logits(name).sum())

    @ui.cached
    def named(name):
        return ui.card(name)["experiment"]

    name = ui.experiment("Model", family="autoregressive")
    st.session_state["result"] = (logits(name), total(name), named(name))


def test_a_run_that_is_written_anew_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was computed from the weights is computed again, also through functions that call each other."""
    monkeypatch.setenv("LECTERN_RUNS", str(tmp_path))
    folder = tmp_path / "made-digits" / "20260101-000000"
    model = weights.load("made-digits")
    card = weights.read_card(weights.experiments.find("made-digits").weights)
    weights.save(folder, model, card)
    name = f"made-digits/{folder.name}"
    before = result(run_page(reader_page, model=name))
    assert torch.equal(result(run_page(reader_page, model=name))[0], before[0])
    with torch.no_grad():
        model.out.bias += 1.0
    weights.save(folder, model, card | {"experiment": "another"})
    after = result(run_page(reader_page, model=name))
    torch.testing.assert_close(after[0], before[0] + 1)
    assert after[1] == pytest.approx(before[1] + 64, abs=1e-3)
    assert (before[2], after[2]) == ("made-digits", "another")
    assert torch.equal(after[0], model.logits(torch.zeros(1, 64)))


def test_cached_functions_of_pages_read_nothing_but_their_arguments() -> None:
    """A page's variable is no part of the key: what it changes would not be computed again."""
    results = []
    for path in sorted([*(ROOT / "pages").glob("*.py"), *(ROOT / "pages").rglob("page.py")]):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        fixed = set(dir(builtins))
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                fixed |= {alias.asname or alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                fixed.add(node.name)
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and "ui.cached" in map(
                ast.unparse, function.decorator_list
            ):
                names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
                own = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)}
                own |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
                read = {n.id for n in names if not n.id.isupper()} - own - fixed
                results += [f"{path.parent.name}: {function.name} reads {name}" for name in sorted(read)]
    assert not results


# --- The stage: scenes and films ------------------------------------------------------------------


def stage_page() -> None:
    import streamlit as st

    from lab import ui

    stage = ui.stage("Kit", "A stage.")
    stage.scenes(
        {
            "Start": ui.scene("Everything stands where it stands at first."),
            "Late": ui.scene("The last frame of a short film.", n=3, step=2),
            "Own": ui.scene("Words and a cell.", show="words", text="or not", cell=(2, 1)),
        }
    )
    with stage.rail:
        n = ui.slider("N", 1, 9, 5, key="n")
        show = ui.choice("Show", ["numbers", "words"], key="show")
        text = ui.text("Text", "To be", key="text") if show == "words" else ""
    film = ui.film(n, key="step")
    with stage.foot:
        film.bar(captions=[f"frame {i}" for i in range(n)], equations=[rf"x_{i} = {i}" for i in range(n)])
    st.session_state["result"] = (n, show, text, film.at, ui.selection("cell"))
    stage_module = __import__("lab.ui.page.stage", fromlist=["close"])
    stage_module.close(stage, lambda key: key in ("hidden", "text"))


def active(page: AppTest) -> int | None:
    """The scene that the stage marks."""
    import json

    (element,) = (e for e in page.get("bidi_component") if e.proto.component_name == "lectern_stage")
    results: int | None = json.loads(element.proto.json)["active"]
    return results


def test_a_scene_is_the_full_state_of_a_page() -> None:
    page = run_page(stage_page)
    assert result(page) == (5, "numbers", "", 0, None) and active(page) == 0
    move(page, "n", 7)
    assert result(page)[0] == 7 and active(page) is None
    go(page, scene=3)
    assert result(page) == (5, "words", "or not", 0, {"x": 2, "y": 1, "customdata": None})
    assert active(page) == 2 and "scene" not in page.query_params
    page.text_area(key="text").set_value("own").run()
    assert active(page) is None
    go(page, scene=2)
    assert result(page) == (3, "numbers", "", 2, None) and active(page) == 1
    link = {k: v if isinstance(v, str) else v[-1] for k, v in page.query_params.items()}
    assert link == {"n": "3", "step": "2"}
    go(page, scene=1)
    assert result(page) == (5, "numbers", "", 0, None) and active(page) == 0 and not page.query_params


@pytest.mark.parametrize("wrong", ["-1", "4", "x", ""])
def test_a_link_to_no_scene_gets_a_sentence(wrong: str) -> None:
    page = run_page(stage_page, scene=wrong)
    (sentence,) = warnings_of(page)
    assert "scene" in sentence and result(page)[0] == 5


def test_what_a_link_names_and_nothing_knows_gets_a_sentence() -> None:
    (sentence,) = warnings_of(run_page(stage_page, nonsense="1", hidden="2", n="3"))
    assert "nonsense" in sentence and "hidden" not in sentence
    assert not warnings_of(run_page(stage_page, text="or not"))  # of a control that another choice shows


def test_a_film_says_its_frames_and_follows_a_shorter_one() -> None:
    page = run_page(stage_page, step="4")
    bar = film(page)
    assert (bar["at"], bar["count"]) == (4, 5)
    assert bar["captions"][4] == "frame 4" and all(tex.startswith("<math") for tex in bar["equations"])
    move(page, "n", 2)
    assert result(page)[3] == 1 and film(page)["at"] == 1 and not warnings_of(page)
    assert [w for w in warnings_of(run_page(stage_page, step="5")) if "step=5" in w]


def test_a_film_of_a_knob_stands_in_the_link_by_its_value() -> None:
    def knob() -> None:
        import streamlit as st

        from lab import ui

        film = ui.film(5, key="k", values=[-1.0, -0.5, 0.0, 0.5, 1.0], default=0.5, label="k")
        film.bar(captions=list("abcde"))
        st.session_state["result"] = (film.at, film.value)

    page = run_page(knob)
    assert result(page) == (3, 0.5) and not page.query_params
    bar = film(page, "k")
    assert bar["names"] == ["-1", "-0.5", "0", "0.5", "1"] and bar["at"] == 3
    assert result(run_page(knob, k="-0.6")) == (1, -0.5)  # the nearest
    assert "runs from -1 to 1" in warnings_of(run_page(knob, k="3"))[0]


@pytest.mark.parametrize(("results", "at"), [(2, 2), (99, 4), (-1, 0)])
def test_where_a_film_rests_is_one_of_its_frames(
    results: int, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tell(key: str, data: bytes, on_rest_change: Any) -> None:
        st.session_state[key] = {"rest": {"stamp": wire.unpack(data)[0]["stamp"], "at": results}}
        on_rest_change()

    monkeypatch.setattr(films, "mount", tell)
    assert run_page(stage_page).run().session_state["_held:step"] == str(at)


def test_what_a_film_tells_of_a_place_that_was_left_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    def tell(key: str, data: bytes, on_rest_change: Any) -> None:
        st.session_state[key] = {"rest": {"stamp": "of a scene before", "at": 3}}
        on_rest_change()

    monkeypatch.setattr(films, "mount", tell)
    assert run_page(stage_page, step="1").session_state["_held:step"] == "1"


def test_films_of_two_pages_with_one_key_are_two() -> None:
    def other() -> None:
        from lab import ui

        ui.stage("Another", "The same key.")
        ui.film(5, key="step").bar(captions=list("abcde"))

    assert film(run_page(stage_page))["key"] != film(run_page(other))["key"]


def test_what_moves_has_a_value_for_every_frame() -> None:
    with pytest.raises(ValueError, match="3 frames, the film 4"):
        films.Film(4, "step", 0, 0.1, "Step").expects({"data.0.z": torch.zeros(3, 2)})


def test_the_wire_brings_back_what_it_was_given() -> None:
    arrays = {
        "f": torch.randn(3, 4, 5), "d": torch.randn(7, dtype=torch.float64), "i": torch.arange(5),
        "b": torch.tensor([True, False]), "none": torch.zeros(0, 3), "u": torch.ones(3, dtype=torch.uint8),
    }  # fmt: skip
    header, back = wire.unpack(wire.pack({"alt": "ä, 🎓", "n": [1, None]}, arrays))
    assert header == {"alt": "ä, 🎓", "n": [1, None]}
    for name, values in arrays.items():
        assert back[name].shape == tuple(values.shape)
        assert torch.allclose(torch.as_tensor(back[name].copy()).double(), values.double(), atol=1e-6)


EQUATIONS = [
    r"x_{4} = -1.835 + 0.600 \cdot 1.000 = -1.236", r"x_12^34 = 5", r"x^{12}=\frac{12}3",
    r"\frac12 + \sqrt[3]{27}", r"p=1{,}234", r"\begin{array}{cc}1&2\\3&4\end{array}", "x", r"10^{-3}",
    r"\text{step 12 of 30} = 4", r"2.5e-05", r".5 + 1.", r"\underset{2}{3}", r"\color{#0072B2}{3.2}",
    r"x_1, x_{10}, \log_2 8", r"3! = \binom52", r"1,234.5", r"\mathbf{12}x", r"\mathrm{W2} = 700001",
]  # fmt: skip


@pytest.mark.parametrize("latex", EQUATIONS)
def test_equations_that_share_a_pattern_are_what_each_alone_would_be(latex: str) -> None:
    from latex2mathml.converter import convert

    from lab.ui.page.mathml import mathml

    again = latex.replace("4", "7").replace("1.835", "22.5")
    for tex in (latex, again):
        assert mathml(tex) == convert(tex, display="block")


def test_the_numbers_of_a_films_equations_are_not_read_again() -> None:
    from lab.ui.page import mathml

    mathml.pattern.cache_clear()
    for step in range(50):
        mathml.mathml(rf"x_{{{step}}} = {step / 7:.3f} \cdot \frac{{{step}}}{{3}}")
    assert mathml.pattern.cache_info().misses == 1


def test_no_control_has_the_key_of_a_lecture() -> None:
    for key in sorted(state.KEPT):
        with pytest.raises(ValueError, match="a link says something else"):
            state.register(key, "text")


def test_pictures_carry_no_text_for_each_pixel() -> None:
    """A film says the value of the frame that it shows; a sheet of pictures says nothing."""
    grid = torch.rand(5, 2, 3)
    (one,), (many,) = (basic.image(grid[0]).data, basic.images(grid, columns=2).data)
    assert one.hovertext is None and "%{z" in one.hovertemplate
    assert many.hovertext is None and many.hoverinfo == "skip" and many.hovertemplate is None
    np.testing.assert_array_equal(basic.mosaic(grid, 2), many.z)
    sheet = basic.mosaic(grid, 2)
    assert sheet.shape == (8, 7) and np.isnan(sheet[2]).all() and np.isnan(sheet[6:, 4:]).all()
    np.testing.assert_allclose(sheet[3:5, 4:7], grid[3])


def test_scripts_of_pages_run_in_browsers_of_2021() -> None:
    """What one of them lacks would leave the whole page empty there."""
    younger = re.compile(
        r"\b(Map|Object)\.groupBy|\.(toSorted|toReversed|toSpliced|findLast|findLastIndex)\(|\.at\(-"
        r"|structuredClone|OffscreenCanvas|Object\.hasOwn|\(\?<[=!]|Promise\.(try|withResolvers)"
    )
    scripts = [*(ROOT / "lab/ui").rglob("*.js")]
    assert len(scripts) > 20
    code = {script.name: re.sub(r"(?m)(^|\s)//.*", "", script.read_text("utf-8")) for script in scripts}
    assert {name: results.group() for name, text in code.items() if (results := younger.search(text))} == {}
