"""The page "word2vec live": gradients, the floor of the loss, and passes, on the reader's text."""

import math
from collections import Counter
from functools import partial

import numpy as np
import pytest
import torch
from opening import captions, figure, film, metrics, open_page

from lab.errors import UserError
from lab.figures import labels
from modules.language.word2vec import CBOW, SkipGram
from pages.language.word2vec import lens, live

opened = partial(open_page, "language/word2vec")
COFFEE = "I drank hot coffee this morning"
CATS = "the cat sat on the mat the dog sat on the rug the cat chased the dog"


@pytest.mark.parametrize("method, d", [("skip-gram", 2), ("skip-gram", 5), ("CBOW", 2), ("CBOW", 5)])
def test_a_window_learns_by_its_gradient(method, d):
    trace = lens.slide(CATS, 2, d, 0.5, method)
    assert len(trace) == 17 and trace.digest() == lens.slide(CATS, 2, d, 0.5, method).digest()
    ids = [trace.result["vocabulary"].index(w) for w in CATS.split()]
    for t in (3, 6):
        step, following = trace[t].values, trace[t + 1].values
        places = [t - 2, t - 1, t + 1, t + 2]
        assert (step["given"], step["predicted"]) == (
            ([t], places) if method == "skip-gram" else (places, [t])
        )
        result = (SkipGram if method == "skip-gram" else CBOW)(len(trace.result["vocabulary"]), d).double()
        with torch.no_grad():
            result.v.copy_(step["v"])
            result.u.copy_(step["u"])
        around = torch.tensor([[ids[p] for p in places]])
        if method == "skip-gram":
            loss = -result.log_probs(torch.tensor([ids[t]]))[0][around[0]].mean()
        else:
            loss = -result.log_probs(around)[0, ids[t]]
        loss.backward()
        torch.testing.assert_close(following["u"], step["u"] - 0.5 * result.u.grad, rtol=0, atol=1e-12)
        torch.testing.assert_close(following["v"], step["v"] - 0.5 * result.v.grad, rtol=0, atol=1e-12)
        torch.testing.assert_close(step["gradient"], step["observed"] - step["expected"])
        given = [ids[p] for p in step["given"]]
        torch.testing.assert_close(step["before"], step["v"][given].mean(0))
        torch.testing.assert_close(step["after"], following["v"][given].mean(0))
        assert step["share"] == 1 / len(given)


def test_each_context_gets_its_share():  # 1/(2k) each
    step, following = (lens.slide(COFFEE, 2, 2, 0.5, "CBOW")[t].values for t in (3, 4))
    for place in (1, 2, 4, 5):
        torch.testing.assert_close(following["v"][place] - step["v"][place], 0.5 * step["gradient"] / 4)
    assert torch.equal(following["v"][[0, 3]], step["v"][[0, 3]])


def entropy(text, k, method):
    """H of what is predicted given what is given, by counting in a dictionary."""
    words = text.lower().split()
    pairs = Counter()
    for i, w in enumerate(words):
        around = [words[j] for j in range(max(0, i - k), min(len(words), i + k + 1)) if j != i]
        if method == "skip-gram":
            pairs.update((w, o) for o in around)
        else:
            pairs[tuple(sorted(around)), w] += 1
    given = Counter()
    for (g, _), n in pairs.items():
        given[g] += n
    return -sum(n * math.log(n / given[g]) for (g, _), n in pairs.items()) / sum(pairs.values())


@pytest.mark.parametrize("method", ["skip-gram", "CBOW"])
@pytest.mark.parametrize("text, k", [(CATS, 1), (CATS, 2), (COFFEE, 2), ("a b a c a b", 1)])
def test_the_floor_is_the_entropy_of_the_windows(text, k, method):
    assert lens.read(text, k).floor(method) == pytest.approx(entropy(text, k, method), abs=1e-12)


def test_the_floor_is_met_as_d_grows_and_not_in_one_pass():
    for method, near in (("skip-gram", 0.02), ("CBOW", 0.02)):
        floor = lens.read(CATS, 2).floor(method)
        reached = lens.by_size(CATS, 2, method, (1, 2, 16), 300)
        assert reached[1] == pytest.approx(float(lens.by_size(CATS, 2, method, (2,), 300)))  # each for itself
        assert floor <= reached[2] < floor + near and reached[2] < reached[1] < reached[0]
        losses = lens.passes(CATS, 2, 16, 0.3, method)
        assert len(losses) == 21 and losses[1] > losses[5] > losses[20] > floor
        # the first pass is the slide that the page shows
        trace = lens.slide(CATS, 2, 16, 0.3, method)
        assert trace[0].values["loss"] == pytest.approx(float(losses[0]))


def test_the_plane_is_of_the_longest_directions():
    trace = lens.slide(CATS, 2, 6, 0.5)
    P = trace.result["plane"]
    torch.testing.assert_close(P.T @ P, torch.eye(2, dtype=P.dtype), rtol=0, atol=1e-9)
    assert torch.equal(lens.slide(CATS, 2, 2, 0.5).result["plane"], torch.eye(2, dtype=P.dtype))


def test_what_is_shown():
    page = opened(text=COFFEE, step="3")
    shown, trace = film(page), lens.slide(COFFEE, 2, 2, 0.5)
    assert shown["at"] == 3 and shown["count"] == len(trace) == 6
    floor = entropy(COFFEE, 2, "skip-gram")
    for step, caption, equation in zip(trace.steps, shown["captions"], shown["equations"], strict=True):
        assert f"Loss {step.values['loss']:.4f} nats, floor {floor:.4f}" in caption
        for entry in step.values["observed"]:
            assert f"{abs(float(entry)):.3f}" in equation
    header, frames = figure(page, "update")
    flat = lens.flat(trace)
    assert frames["data.0.x"] == pytest.approx(flat["u"][..., 0].float().numpy())
    assert frames["layout.annotations.1.y"] == pytest.approx(flat["after"][:, 1].float().numpy())
    assert header["texts"]["data.2.text"][3][-1] == "v of coffee"
    header, _ = figure(page, "strip")
    colors = header["texts"]["data.0.textfont.color"][3]
    assert colors[3] != colors[0] and len({colors[i] for i in (1, 2, 4, 5)}) == 1

    page = opened(text=COFFEE, step="3", method="CBOW", d="7")
    step = lens.slide(COFFEE, 2, 7, 0.5, "CBOW")[3].values
    shown = film(page)
    assert f"{abs(float(step['gradient'][0])) * 0.5 / 4:.3f}" in shown["equations"][3]
    assert "two longest directions of the 7" in captions(page)

    page = opened(text=COFFEE, view="Loss and its floor", d="16", rate="1.0")
    losses = lens.passes(COFFEE, 2, 16, 1.0, "skip-gram")
    assert list(metrics(page).values()) == [f"+{float(losses[p]) - floor:.4f}" for p in (1, 5, 20)]
    reached = lens.by_size(COFFEE, 2, "skip-gram", (16,))
    assert f"= {floor:.4f}" in page.latex[0].value and f"16: {float(reached[0]):.4f}" in page.latex[0].value


@pytest.mark.parametrize(
    "link, key, dots",
    [
        ({"scene": "1"}, "update", (0, 1)),
        ({"scene": "4"}, "update", (0, 1)),
        ({"scene": "2"}, "lane-full softmax", (1,)),
        ({"scene": "3"}, "lane-u, predicted", (1,)),
    ],
)
def test_a_line_leads_from_every_dot_to_its_word(link, key, dots):
    header, frames = figure(opened(**link), key)

    def places(*traces):
        return np.stack(
            [np.concatenate([frames[f"data.{i}.{axis}"] for i in traces], 1) for axis in "xy"], -1
        )

    points, words, lines = places(*dots), places(2), places(4 if key == "update" else 3)
    start, end = lines[:, ::3], lines[:, 1::3]
    assert np.isnan(lines[:, 2::3]).all() and start == pytest.approx(points, abs=1e-5)
    axes = header["figure"]["layout"]
    span = np.array([axes[f"{side}axis"]["range"][1] for side in "xy"])
    away = (
        abs(end - words) / (2 * span) * labels.ROOM
    )  # in letters and lines, of the longest "mean v of 4 words"
    assert (away[..., 0] <= 9).all() and (away[..., 1] <= 0.31).all()
    on_the_way = np.einsum("tnk,tnk->tn", (end - start) / span, (words - start) / span)
    assert (on_the_way >= -1e-6).all()


@pytest.mark.parametrize("points", [np.zeros((3, 2)), np.array([[0.0, 0], [0.01, 0], [9, 9]])])
def test_leaders_end_at_the_edge_of_their_labels(points):
    words, room = ["word", "other", "a"], (40.0, 10.0)
    at = labels.places(points, words, 10.0, room)
    lines = labels.leaders(points, at, words, 10.0, room).reshape(-1, 3, 2)
    assert np.isnan(lines[:, 2]).all() and (lines[:, 0] == points).all()
    in_letters = (lines[:, 1] - at) / 20 * room
    half = np.array([[(len(w) + 0.8) / 2, 0.3] for w in words])
    on_edge = np.isclose(abs(in_letters), half)
    assert (abs(in_letters) <= half + 1e-9).all() and on_edge.any(1).all()
    film = labels.leaders(np.stack([points] * 2), np.stack([at] * 2), words, 10.0, room)
    np.testing.assert_array_equal(film[1], lines.reshape(-1, 2))


@pytest.mark.parametrize("method", ["skip-gram", "CBOW"])
def test_two_losses_train_from_one_start(method):
    runs = [live.train(CATS, 2, 3, 0.5, method, loss, 5) for loss in ("softmax", "negative")]
    start = lens.model(lens.read(CATS, 2), 3, method)
    floor = lens.read(CATS, 2).floor(method)
    for run in runs:
        assert torch.equal(run.v[0], start.v) and torch.equal(run.u[0], start.u)
        assert len(run.nll) == live.EPOCHS // live.EVERY + 1
        assert run.nll[0] > run.nll[-1] + 0.2 and run.nll[-1] >= floor
        model = lens.model(lens.read(CATS, 2), 3, method)
    softmax = runs[0]
    model.v.copy_(softmax.v[7])
    model.u.copy_(softmax.u[7])
    assert lens.loss(model, lens.read(CATS, 2)) == pytest.approx(float(softmax.nll[7]))
    again = live.train(CATS, 2, 3, 0.5, method, "negative", 5)
    assert torch.equal(again.v, runs[1].v)  # from its seed


def test_trails_follow_the_words():
    points = torch.arange(24.0).reshape(6, 2, 2)
    lines = live.trails(points).reshape(6, 2, live.TRAIL + 1, 2)
    assert lines[..., -1, :].isnan().all()
    for t in range(6):
        for back in range(live.TRAIL):
            assert torch.equal(lines[t, :, back], points[max(0, t - back)])
    tables = [torch.randn(4, 5, 3, generator=torch.Generator().manual_seed(s)) for s in (0, 1)]
    drawn = live.lanes(tables)
    assert drawn.shape == (2, 4, 5, 2)
    S = torch.linalg.svdvals(torch.cat([t[-1] for t in tables]))
    assert drawn[:, -1].square().sum().item() == pytest.approx(float(S[:2].square().sum()), rel=1e-5)


def test_the_training_is_shown():
    page = opened(view="Training", epoch="80", text=COFFEE, lanes="tables")
    run = live.train(COFFEE, 2, 2, 0.5, "skip-gram", "softmax", 5)
    shown = film(page, "epoch")
    assert shown["at"] == 40 and shown["names"][40] == "80"
    assert f"Full softmax {run.nll[40]:.3f} nats" in shown["captions"][40]
    _, frames = figure(page, "lane-v, given")
    assert frames["data.1.x"] == pytest.approx(run.v[..., 0].float().numpy(), abs=1e-5)


def test_refusals():
    with pytest.raises(UserError, match="has 2 words"):
        lens.slide("two words", 2, 2, 0.5)
