"""The page In-context learning: errors recomputed, scenes that hold, prompts that are typed."""

import pytest
import torch
from opening import open_page, run_page

from datamodules.in_context import LETTERS, LinearTasks
from lab import weights
from lab.errors import UserError
from modules.transformer.gpt import GPT
from modules.transformer.in_context import InContextRegression
from pages.transformer.in_context import figures, lens, maps
from pages.transformer.in_context.room import FRESH, LINEAR, MAP, ROOM, RULE, SHARES

SCENES = ROOM.scenes


@pytest.fixture(scope="module")
def linear() -> InContextRegression:
    model = weights.load("incontext-linear").eval()
    assert isinstance(model, InContextRegression)
    return model


@pytest.fixture(scope="module")
def gpt() -> GPT:
    model = weights.load("gpt-maps").eval()
    assert isinstance(model, GPT)
    return model


def found(linear: InContextRegression, name: str) -> dict[str, torch.Tensor]:
    now = SCENES[name].state
    return lens.errors(linear, now.scale_x, now.scale_w)


@torch.no_grad()
def test_errors_by_another_road(linear: InContextRegression) -> None:
    """A sequence at a time, the normal equations written out."""
    one = lens.errors(linear, 1.0, 1.0)
    x, y = LinearTasks(5, 15, 0.5).draw(lens.COUNT, 3)
    k, ridge, ours = 7, [], []
    for b in range(300):
        X, t = x[b, :k].double(), y[b, :k].double()
        w = torch.linalg.inv(X.T @ X + 0.25 * torch.eye(5)) @ X.T @ t
        ridge.append(float((x[b, k].double() @ w - y[b, k]) ** 2))
        ours.append(float((linear(x[b : b + 1, : k + 1], y[b : b + 1, : k + 1])[0, k] - y[b, k]) ** 2))
    assert sum(ridge) / 300 == pytest.approx(float(one["ridge"][k]), rel=0.35)
    assert sum(ours) / 300 == pytest.approx(float(one[lens.OURS][k]), rel=0.35)
    whole = (linear(x, y) - y).square().mean(0)
    torch.testing.assert_close(whole.double(), one[lens.OURS], atol=1e-4, rtol=1e-4)


def test_near_ridge_beyond_as_many_shots_as_weights(linear: InContextRegression) -> None:
    """TF-X16 (i): of the shipped seed."""
    one = found(linear, "Beyond")
    ours, ridge = one[lens.OURS], one["ridge"]
    assert (ours < 1.5 * ridge).all() and (ours > 0.95 * ridge).all()
    assert (ours[5:] < 0.6 * one["one step"][5:]).all()
    assert one["least squares"][5] > 3 * ours[5]  # as many pairs as weights
    assert ours[2] > 2.5 and ours[0] == pytest.approx(5.25, rel=0.1)


def test_off_distribution_it_falls_behind(linear: InContextRegression) -> None:
    for name in ("Larger x", "Larger w"):
        one = found(linear, name)
        assert one[lens.OURS][15] > 3 * one["least squares"][15], name


def test_one_question_behind_all_shots(linear: InContextRegression) -> None:
    one = lens.answered(linear, 1.0, 1.0, 0)
    x, y = LinearTasks(5, 15, 0.5).draw(1, 1_000)
    k = 4
    rows = torch.cat([x[:, :k], x[:, -1:]], 1)
    with torch.no_grad():
        got = linear(rows, torch.cat([y[:, :k], torch.zeros(1, 1)], 1))[0, -1]
    assert float(one.predictions[lens.OURS][k]) == pytest.approx(float(got), abs=1e-4)
    assert abs(one.target - float(y[0, -1])) < 2.5
    assert f"{one.target:.2f}" in lens.equations(lens.errors(linear, 1.0, 1.0), one)[3]


def test_scenes_of_prompts(gpt: GPT) -> None:
    def last(name: str) -> tuple[str, float, maps.Answers]:
        now = SCENES[name].state
        one = maps.answered(gpt, now.text, now.flip)
        return LETTERS[int(one.p[-1].argmax())], float(one.p[-1].max()), one

    letter, p, one = last("Induction")
    assert letter == "c" and p > 0.9 and one.matches(6) == [8]
    assert float(one.looks[-1][:, 6:9].sum(1).max()) > 0.8
    letter, p, one = last("Missing pair")
    assert letter == "q" and p > 0.9 and not one.matches(4)
    letter, p, one = last("Flipped labels")
    assert letter == "b" and p > 0.9 and one.flips and one.values == ["l", "b", "u", "b", "l"]
    torch.testing.assert_close(one.looks.sum(-1), torch.ones(6, 8), atol=1e-5, rtol=0)
    tokens = torch.tensor([[LETTERS.index(t) if t != ">" else 26 for t in one.names]])
    with torch.no_grad():
        p_last = gpt(tokens)[0, -1, :26].softmax(-1)
    torch.testing.assert_close(one.p[-1], p_last)


def test_shares_are_as_the_scene_says(gpt: GPT) -> None:
    """TF-X16 (ii): of the shipped seed."""
    one = maps.shares(gpt, FRESH, False)
    assert one["shown"][0].isnan() and (one["shown"][1:] > 0.95).all() and (one["missing"] < 0.1).all()
    assert (maps.shares(gpt, RULE, False)["missing"][2:] > 0.95).all()
    flips = maps.shares(gpt, RULE, True)
    assert (flips[maps.COPIES][1:] > 0.95).all() and (flips[maps.KEEPS][1:] < 0.05).all()


def test_prompts_are_read_or_refused() -> None:
    assert maps.read("A>q, b > m;a>?") == (["a", "b", "a"], ["q", "m"])
    assert maps.read("z>") == (["z"], [])
    for text in ("", "a>q", "a>q b", "ab>q a>", "a>1 a>", "é>q a>", "a>q " * 13 + "a>"):
        with pytest.raises(UserError):
            maps.read(text)
    assert maps.flipped(["a", "b", "a"], ["q", "m"]) == ["m", "q"]
    assert maps.flipped(["a", "c"], ["q"]) == ["q"] and maps.flipped(["a"], []) == []


def test_pairs_that_no_map_has(gpt: GPT) -> None:
    one = maps.answered(gpt, "a>q a>m a>", False)
    assert one.best[2].isnan().all() and "Bayes" not in maps.captions(one)[2]
    assert "Bayes" in maps.captions(one)[0] and len(figures.looks(one)["data"]) == 1
    keys = torch.tensor([[3, 3, 5, 3, 5]])
    assert maps.exchanged(keys, keys + 1).tolist() == [[6, 6, 4, 6, 4]]
    alone = torch.tensor([[3, 3]])
    assert maps.exchanged(alone, alone + 1).tolist() == [[4, 4]]


@pytest.mark.parametrize("view", [LINEAR, MAP, SHARES])
def test_every_view_opens(view: str) -> None:
    open_page("transformer/in_context", view=view)


def test_own_prompts() -> None:
    open_page("transformer/in_context", view=MAP, text="x>y a>b x>", flip=True)
    assert run_page("transformer/in_context", view=MAP, text="x>").exception == []
    app = run_page("transformer/in_context", view=MAP, text="a>q 7>b a>")
    assert not app.exception and any("7>b" in e.value for e in [*app.error, *app.warning])
