"""The page ImageGPT: conditionals are the model's, positions lie in a plane, probes by hand, scenes."""

import pytest
import torch
from opening import open_page, run_page, warnings
from sklearn.linear_model import LogisticRegression

from lab import weights
from lab.lenses import attention, drawing, stock
from modules.transformer.image_gpt import ImageGPT
from modules.transformer.recorder import record_attention
from pages.transformer.pixels import figures, lens, probe
from pages.transformer.pixels.room import PROBE, ROOM, State

SCENES = {name: scene.state for name, scene in ROOM.scenes.items()}


@pytest.fixture(scope="module")
def model() -> ImageGPT:
    loaded = weights.load("imagegpt-digits").eval()
    assert isinstance(loaded, ImageGPT)
    return loaded


def five(model: ImageGPT) -> torch.Tensor:
    return lens.examples(model)[0][1]


@pytest.mark.parametrize("rows", [0, 4, 7])
@pytest.mark.parametrize("t", [0.0, 0.7, 1.0])
@torch.no_grad()
def test_conditionals_and_sums_are_those_of_one_pass(model: ImageGPT, rows: int, t: float) -> None:
    one = lens.drawn(model, five(model), rows, t, 0, "2.3")
    assert one.places == list(range(8 * rows, 64))
    assert torch.equal(one.x[: 8 * rows], drawing.entries(five(model), 17)[: 8 * rows])
    p = model.conditionals(one.x[None])[0].view(64, 17)
    torch.testing.assert_close(
        one.log_p, p[one.places].gather(1, one.x[one.places].long()[:, None])[:, 0].log()
    )
    if t:
        sharp = p[one.places] ** (1 / t)
        torch.testing.assert_close(one.p, sharp / sharp.sum(1, keepdim=True), atol=1e-5, rtol=1e-3)
    else:
        assert torch.equal(one.p.argmax(1), one.x[one.places].long()) and bool((one.p.amax(1) == 1).all())
    whole = float(model.log_prob(one.x.view(1, 1, 8, 8)))
    assert abs(one.before + float(one.log_p.sum()) - whole) < 1e-3
    assert lens.equations(one)[-1].endswith(f"{whole:.2f}")
    with record_attention() as seen:  # by another road: the pass ends before the pixel
        model.hidden(one.x[None, :40])
    row = seen.calls[attention.layers(model)[1]][0].weights[0, 2, 39]
    if 40 in one.places:
        torch.testing.assert_close(one.attention[one.places.index(40), :40], row, atol=1e-5, rtol=1e-4)
        assert bool(one.attention[one.places.index(40), 40:].isnan().all())
    assert one.attention.shape == (len(one.places), 64) and one.picture(0).isnan().sum() == 63 - 8 * rows


def test_completions_keep_what_is_given(model: ImageGPT) -> None:
    done = lens.completed(model, five(model), 4, 1.0, 0)
    assert bool((done.pictures[:, :32] == done.given[:32]).all()) and int(done.known.sum()) == 32
    assert len(done.pictures.unique(dim=0)) == lens.COUNT  # all differ
    cold = lens.completed(model, five(model), 4, 0.0, 0)
    assert len(cold.pictures.unique(dim=0)) == 1
    known, whole = done.log_p
    x = drawing.entries(five(model), 17)
    assert abs(whole - float(model.log_prob(x.view(1, 1, 8, 8)))) < 1e-3 and whole < known < 0
    assert not lens.completed(model, five(model), 0, 1.0, 0).known.any()


def test_the_plane_is_learned_and_layers_classify(model: ImageGPT) -> None:
    similar = lens.similarity(model)
    torch.testing.assert_close(similar.diag(), torch.ones(64))
    mean = lens.by_offset(similar, 8)
    by_hand = [float(similar[8 * r + c, 8 * (r + 1) + c]) for r in range(7) for c in range(8)]
    assert abs(float(mean[3, 2]) - sum(by_hand) / 56) < 1e-5
    above, left = float(mean[1, 2]), float(mean[2, 1])
    assert f"{above:.2f} {left:.2f} {float(mean[2, 0]):.2f}" == "0.49 0.26 -0.16"
    others = [
        float(v) for i, row in enumerate(mean) for j, v in enumerate(row) if abs(i - 2) + abs(j - 2) > 1
    ]
    assert above > left > max(others)
    found = probe.probed(model)
    accuracy = found.accuracy.mean(1)
    assert found.names == ["input", "layer 1", "layer 2", "layer 3", "layer 4", "pixels"]
    assert accuracy[0] < 0.35 and accuracy[1:5].min() > 0.8 and accuracy[5] > 0.93 > accuracy[1:5].max()
    assert float(accuracy[1:5].max() - accuracy[1:5].min()) < 0.04  # no layer stands out
    (x, y), (test, truth) = stock.digits("train"), stock.digits("test")
    chosen = torch.randperm(len(x), generator=torch.Generator().manual_seed(1))[: probe.LABELS]
    rows, others_ = (probe.features(model, each)[3] for each in (x[chosen], test))
    m, s = rows.mean(0), rows.std(0, unbiased=False)
    by_hand = LogisticRegression(max_iter=1000).fit(((rows - m) / s).numpy(), y[chosen].numpy())
    right = float((torch.from_numpy(by_hand.predict(((others_ - m) / s).numpy())) == truth).float().mean())
    assert abs(right - float(found.accuracy[3, 1])) < 0.01


def test_scenes_say_what_is_so(model: ImageGPT) -> None:
    now = SCENES["Pixel above"]
    one = lens.drawn(model, five(model), now.rows, now.t, now.seed, now.head)
    above = [
        int(row.nan_to_num(-1).argmax()) == place - 8
        for row, place in zip(one.attention, one.places, strict=True)
    ]
    assert sum(above) > 0.6 * len(above) and now.pixel is not None and above[now.pixel]
    now = SCENES["Lower half"]
    one = lens.drawn(model, five(model), now.rows, now.t, now.seed, now.head)
    assert now.pixel is not None and float(one.p[now.pixel].max()) < 0.7
    two, four = (lens.completed(model, five(model), rows, 1.0, 0).pictures[:, 32:] for rows in (2, 4))
    assert float(two.std(0).mean()) > float(four.std(0).mean())


def test_figures_have_a_frame_for_each_pixel(model: ImageGPT) -> None:
    one = lens.drawn(model, five(model), 4, 1.0, 0, "1.1")
    assert len(figures.picture(one, 8, 17)["data"][2]["x"].values) == 32
    assert len(figures.looks(one, 8, "1.1")["data"][0]["z"].values) == 32
    assert len(figures.conditional(one)["data"][0]["y"].values) == 32
    assert len(lens.captions(one, 8, "1.1")) == len(lens.equations(one)) == 32
    assert len(lens.heads(model)) == 16 and lens.last_row(model) == 7 and PROBE in lens.views(model)


@pytest.mark.parametrize("name", SCENES)
def test_scenes_open(name: str) -> None:
    at = open_page("transformer/pixels", scene=name)
    assert not at.exception and not warnings(at)


def test_the_last_row_alone_is_drawn() -> None:
    at = run_page("transformer/pixels", rows=7, t=State().t)
    assert not at.exception and not at.error
