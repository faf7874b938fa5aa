"""The page Norms: statistics by other roads, gradients that the bench keeps, scenes that hold, own input."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from opening import open_page, run_page

from lab.bench import norms as bench
from lab.errors import UserError
from pages.transformer.norms import depths, lens
from pages.transformer.norms.room import (
    ADDED,
    BATCHED,
    DEPTHS,
    FACTORS,
    FEEDFORWARD,
    KINDS,
    LAYER,
    PARTS,
    QUERY,
    RMS,
    ROOM,
    RUNNING,
    VALUE,
)

X = (0.1, 200, -150, 0.3)


def test_norms_of_the_worked_vector() -> None:
    """[LLM] prints (−.56, 1.13, −1.12, −.55) for the LayerNorm."""
    one = lens.vector(X, (-0.56, 1.13, -1.12, -0.55), 1.0, 0.0, -5)
    assert one.mean == pytest.approx(12.6) and one.variance == pytest.approx(15466.265)
    assert one.layer == pytest.approx([-0.10051, 1.50687, -1.30746, -0.09890], abs=1e-5)
    assert one.rms == pytest.approx([0.0008, 1.6, -1.2, 0.0024], abs=1e-4)
    assert "mean -0.275, variance 0.711: not normalised" in one.verdict()
    assert "variance 1.000: normalised" in lens.vector(X, one.layer.tolist(), 1.0, 0.0, -5).verdict()
    assert "1.5069" in lens.vector_equation(one, -5)
    small = lens.vector((1, 2, 3), (), 2.0, 0.5, -8)
    assert small.layer == pytest.approx([0.5 - 2 * 1.224745, 0.5, 0.5 + 2 * 1.224745], abs=1e-5)
    assert small.rms == pytest.approx([2 * 0.46291, 2 * 0.92582, 2 * 1.38873], abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_who_hears_of_a_changed_row(kind: str) -> None:
    rows = lens.read_rows(ROOM.scenes["LayerNorm"].state.rows)
    one = lens.change(rows, kind, 1.5, -0.5, -5)
    assert not one.apart[0].any() and lens.reached(one, 0) == []
    assert lens.reached(one, len(ADDED) - 1) == ([1, 2, 3, 4] if kind == BATCHED else [4])
    x = torch.tensor(rows, dtype=torch.float64)
    x[-1, 0] += ADDED[-1]
    if kind == LAYER:
        wanted = F.layer_norm(x, (4,)) * 1.5 - 0.5
    elif kind == RMS:
        wanted = x / (x.square().mean(1, keepdim=True) + 1e-5).sqrt() * 1.5
    elif kind == BATCHED:
        wanted = (x - x.mean(0)) / (x.var(0, correction=0) + 1e-5).sqrt() * 1.5 - 0.5
        assert (one.apart[:, :, 1:] < 1e-12).all()  # one feature alone
    else:
        before = torch.randn(64, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2 + 1
        wanted = (x - before.mean(0)) / (before.var(0) + 1e-5).sqrt() * 1.5 - 0.5
    assert one.outputs[-1] == pytest.approx(wanted.numpy())
    assert len(lens.change_captions(one)) == len(lens.change_equations(one)) == len(ADDED)


def test_a_batch_of_one() -> None:
    with pytest.raises(UserError, match="no batch statistics"):
        lens.change(((1, 2, 3),), BATCHED, 1, 0, -5)
    assert np.isfinite(lens.change(((1, 2, 3),), RUNNING, 1, 0, -5).outputs).all()


def test_gradients_are_what_the_scenes_say() -> None:
    """Over the three seeds that the bench keeps."""
    assert len(depths.runs()) == len(bench.PLACEMENTS) * len(DEPTHS) * len(bench.SEEDS)
    assert DEPTHS == bench.DEPTHS
    deep = {(run.placement, run.seed): run for run in depths.runs() if run.depth == 48}
    shallow = {(run.placement, run.seed): run for run in depths.runs() if run.depth == 2}
    for seed in bench.SEEDS:
        post, pre, none = (deep[placement, seed] for placement in ("post", "pre", "none"))
        assert post.query[0] < 0.2 * shallow["post", seed].query[0]
        assert pre.query[0] > 0.3 * shallow["pre", seed].query[0] and pre.query[0] > 5 * post.query[0]
        assert post.feedforward[0] > 0.2 * shallow["post", seed].feedforward[0]
        assert pre.feedforward[-1] < 0.6 * shallow["pre", seed].feedforward[-1]
        assert none.loss > 1e6 and none.feedforward[0] > 1e6
        assert all(v > q for run in (pre, post) for q, v in zip(run.query, run.value, strict=True))
        zero = deep["rezero", seed]
        assert not any(zero.query + zero.value + zero.feedforward) and all(zero.gain)
    for part in PARTS:
        found = depths.gradients(part)
        assert [len(v) for v in found["post"]] == list(DEPTHS)
        assert len(depths.gradient_captions(part)) == len(depths.gradient_equations(part)) == len(DEPTHS)
    of = {QUERY: "query", VALUE: "value", FEEDFORWARD: "feedforward"}
    for part, field in of.items():
        firsts = [getattr(deep["pre", seed], field)[0] for seed in bench.SEEDS]
        assert depths.gradients(part)["pre"][-1][0] == pytest.approx(math.prod(firsts) ** (1 / 3))


def test_the_kept_gradients_come_from_the_model() -> None:
    """ReZero's outputs are its embeddings'; a small model again."""
    again = bench.start("post", 2, 0)
    kept = next(run for run in depths.runs() if (run.placement, run.depth, run.seed) == ("post", 2, 0))
    assert again.feedforward == pytest.approx(
        kept.feedforward, rel=0.2
    )  # the text differs by Python's version
    tokens = torch.arange(6)[None]
    model = bench.network("rezero", 3, 9)
    entered, *_, left = model.residual_stream(tokens)
    torch.testing.assert_close(entered, left, atol=0, rtol=0)


@pytest.mark.parametrize("layers", [1, 2, 8])
def test_the_jacobian_is_the_sum_of_its_paths(layers: int) -> None:
    one = depths.jacobian(layers)
    assert one.terms.sum(1) == pytest.approx(one.slopes, abs=1e-9)
    assert one.slopes == pytest.approx([(1 + w) ** layers for w in FACTORS], abs=1e-12)
    assert one.slopes[FACTORS.index(-1.0)] == 0 and "gone" in depths.jacobian_captions(one)[10]
    assert len(depths.jacobian_equations(one)) == len(FACTORS)


def test_own_numbers_and_bad_ones() -> None:
    for read, text, words in (
        (lens.read_vector, "1 x", "“x” is no number"),
        (lens.read_vector, "1", "two features"),
        (lens.read_rows, "1 2 / 1 2 3", "equally many"),
        (lens.read_vector, "1 nan", "between"),
    ):
        with pytest.raises(UserError, match=words):
            read(text)  # type: ignore[operator]
    with pytest.raises(UserError, match="equally many"):
        lens.vector((1, 2), (1,), 1, 0, -5)
    page = run_page("transformer/norms", view="Batch", kind=BATCHED, rows="1 2")
    said = " ".join(each.value for each in [*page.warning, *page.error, *page.info])
    assert not page.exception and "no batch statistics" in said
    assert open_page("transformer/norms", view="One vector", x="0 0")
