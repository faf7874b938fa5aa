"""What pages send is dumped and compared: one page twice is equal, and whatever moves is named."""

from pathlib import Path
from typing import Any

import numpy as np
import payloads
import pytest


def page_that_sends() -> None:
    """A page of two scenes; the environment says which of its numbers are other ones."""
    import os

    import numpy as np
    import plotly.graph_objects as go

    from lab import ui

    def by(name: str) -> float:
        return float(os.environ.get("OTHER") == name)

    stage = ui.stage("Sending", "A page that sends something of each kind.")
    stage.scenes({"Near": ui.scene("It is near.", far=1.0), "Far": ui.scene("It is far away.", far=3.0)})
    with stage.rail:
        far = ui.slider("Far", 0.0, 5.0, 2.0, key="far")
    film = ui.film(3, key="step", default=1)
    steps = np.arange(12.0).reshape(3, 4) * far
    steps[2, 3] += by("frame")
    fig = go.Figure(go.Scatter(x=[1, 2, 3, 4], y=steps[1]), {"xaxis": {"title": {"text": "x"}}})
    fig.layout.shapes = [{"type": "line", "x0": 0, "x1": 1 + by("figure"), "y0": 0, "y1": 0}]
    with stage.picture:
        ui.figure(fig, alt="A line", key="line", film=film, frames={"data.0.y": steps})
        ui.cells(
            np.eye(2) * (1 + by("cell")) / 2,
            rows=["a", "b"],
            columns=["a", "b"],
            alt="Two cells",
            key="cell",
        )
    with stage.foot:
        film.bar(
            captions=[f"Step {i} of {3 + by('caption'):g}." for i in range(3)], equations=["x", "y", "z"]
        )
    stage.metrics({"Largest": f"{steps.max() + by('metric'):.1f}"})
    stage.equation(rf"y = {far + by('equation'):g} x", f"Of {1 + by('note'):g} step.")
    with stage.below:
        ui.warning(f"Only {2 + by('warning'):g} are shown.")
        ui.notice(f"It has {4 + by('notice'):g} corners.")
        ui.table({"x": [1, 2 + by("table")]}, alt="A table")
        ui.check("Which?", ["a", "b"], "ab"[int(by("check"))], wrong=("It is not.", "Nor is it."))
        ui.program("result = 7", shows=7 + by("result"))


NAMED = {
    "figure": ("figure.0.figure.layout.shapes.0.x1", "1.0", "2.0"),
    "frame": ("figure.0.frames.data.0.y[2, 3], 1 of 12 values", "22.0", "23.0"),
    "cell": ("cells.0.arrays.values[0, 0, 0], 2 of 4 values", "0.5", "1.0"),
    "caption": ("film.0.captions.0", "Step 0 of 3.", "Step 0 of 4."),
    "metric": ("metrics.0.1", "22.0", "23.0"),
    "note": ("captions.0", "Of 1 step.", "Of 2 step."),
    "warning": ("warnings.0", "Only 2 are shown.", "Only 3 are shown."),
    "notice": ("words.0", "t to notice It has 4 corners.", "t to notice It has 5 corners."),
    "table": ("tables.0.x[1], 1 of 2 values", "2.0", "3.0"),
    "check": ("checks.0.answer", "a", "b"),
    "result": ("result", "7.0", "8.0"),
    "equation": ("equations.0", "$$ y = 2 x $$", "$$ y = 3 x $$"),
}


@pytest.mark.parametrize("other", NAMED)
def test_what_another_number_changes_is_named(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, before = payloads.opened(page_that_sends, 0)
    monkeypatch.setenv("OTHER", other)
    _, after = payloads.opened(page_that_sends, 0)
    result = list(payloads.differences(before, after))
    assert result[0][:3] == NAMED[other]
    assert {d.path.partition(".")[0] for d in result} <= {NAMED[other][0].partition(".")[0], "metrics"}


def test_two_dumps_are_equal_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept, again = (payloads.page_payloads(page_that_sends) for _ in range(2))
    assert list(kept) == ["0 at first", "1 Near", "2 Far"] and not list(payloads.differences(kept, again))
    assert kept["2 Far"]["link"] == {"far": "3"} and kept["2 Far"]["slider"][0]["value"] == 3
    for folder, sent in (("a", kept), ("b", again), ("c", again | {"2 Far": again["1 Near"]})):
        payloads.save(tmp_path / folder / "some/page.npz", sent)
    a, b, c = (str(tmp_path / folder) for folder in "abc")
    assert payloads.main(["compare", a, b]) == 0
    assert capsys.readouterr().out.count("EQUAL") == 3
    assert payloads.main(["compare", a, c, "--most", "99"]) == 1
    out = capsys.readouterr().out
    assert out.count("EQUAL") == 2 and "link.far: 3 ≠ 1" in out and "metrics.0.1: 33.0 ≠ 11.0" in out
    first, near, far = kept.values()
    payloads.save(Path(c, "some/page.npz"), {"0 at first": first, "1 Far": far, "2 Close by": near})
    assert payloads.main(["compare", a, c]) == 1
    out = capsys.readouterr().out
    assert out.count("1 differ") == 2 and "1 Near ≠ 2 Close by" in out and "2 Far ≠ 1 Far" in out
    payloads.save(Path(c, "some/page.npz"), {"0 at first": first, "1 Near": near, "2 Wide": first})
    assert payloads.main(["compare", a, c]) == 1
    out = capsys.readouterr().out
    assert "2 Far ≠ nothing" in out and "2 Wide: a new scene" in out and out.count("EQUAL") == 2


def test_a_page_of_the_course_sends_the_same_twice() -> None:
    first, again = (payloads.page_payloads("convolution/own_stack") for _ in range(2))
    assert len(first) > 2 and all(sent["figure"] and not sent["failures"] for sent in first.values())
    assert not [d for d in payloads.differences(first, again) if d.share > payloads.ROUNDING]


def sent(figure: Any, **frames: Any) -> Any:
    """A figure as a dump has it."""
    return payloads.plain({"figure": figure, "frames": {k.replace("_", "."): v for k, v in frames.items()}})


def test_what_a_reader_cannot_see_is_no_difference() -> None:
    one = sent({"data": [{"x": [1, 2], "y": np.arange(2.0)}], "layout": {"title": None, "xaxis": {}}})
    two = sent({"layout": {}, "data": [{"y": (0, 1), "x": [1.0, 2.0]}]})
    assert not list(payloads.differences(one, two))
    still = sent({"layout": {}, "data": [{"y": (0, 1), "x": [1.0, 2.0]}]}, data_0_x=[[1, 2]] * 5)
    assert not list(payloads.differences(one, still))
    moves = sent({"layout": {}, "data": [{"y": (0, 1), "x": [1.0, 2.0]}]}, data_0_x=[[1, 2], [1, 3]])
    (result,) = payloads.differences(one, moves)
    assert result[:3] == ("frames.data.0.x", "nothing", "[[1, 2], [1, 3]]")
    apart = sent({"data": [{"x": [1, 2], "y": [0, 1 + 1e-8]}], "layout": {}})
    (result,) = payloads.differences(one, apart)
    assert result.path == "figure.data.0.y[1], 1 of 2 values" and 0 < result.share < payloads.ROUNDING
    for other in (
        {"x": [1, 2], "y": [0, None]},
        {"x": [1, 2], "y": [[0, 1]]},
        {"x": ["1", "2"], "y": [0, 1]},
    ):
        (result,) = payloads.differences(one, sent({"data": [other], "layout": {}}))
        assert result.share > payloads.ROUNDING
