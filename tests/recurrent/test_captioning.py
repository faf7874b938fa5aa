"""Captioning: soft and hard attention by another road, the gradient of hard attention, training."""

import math
from collections.abc import Callable
from typing import Any

import contracts
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from modules.language import decoding
from modules.recurrent.captioning import IGNORED, Captioner
from modules.recurrent.hard_attention import all_paths, lower_bound, surrogate, tighter_bound

SMALL: dict[str, Any] = {"image_shape": (1, 2, 6), "vocab_size": 3, "channels": [3]}
SMALL |= {"embedding": 2, "hidden": 3, "score_width": 2}


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def small(**other: Any) -> Captioner:
    """L = 3 locations in a row, V = 3."""
    return contracts.exact(Captioner(**SMALL | other), seed=3, scale=0.7)


PICTURES, CAPTIONS = drawn(2, 1, 2, 6), torch.tensor([[2, 0, 1], [0, 1, IGNORED]])


# --- The model by another road --------------------------------------------------------------------


def by_hand(
    model: Captioner, picture: Tensor, caption: list[int], path: list[int] | None
) -> tuple[Tensor, Tensor]:
    """log p(y | c, x) and log q(c | x) of one caption, with torch's LSTM, one vector at a time."""
    ours, n = model.decoder, model.hidden
    a, lstm = ours.context.attention, nn.LSTMCell(ours.cell.inputs, n).double()
    for name, value in (("weight_ih", ours.cell.weight_x), ("weight_hh", ours.cell.weight_h),
                        ("bias_ih", ours.cell.bias), ("bias_hh", 0 * ours.cell.bias)):  # fmt: skip
        getattr(lstm, name).data.copy_(value)
    z = model.norm(
        F.relu(F.conv2d(picture[None], *model.encoder.layers[0].parameters(), 2, 1)).flatten(2)[0].t()
    )
    first = (ours.first_state.weight @ z.mean(0) + ours.first_state.bias).tanh()
    s, cell, log_p, log_q = first[:n], first[n:], torch.zeros(()), torch.zeros(())
    for t, word in enumerate(caption):
        hidden = a.query.weight @ s
        e = torch.stack([a.energy.weight[0] @ (hidden + a.key.weight @ z_i).tanh() for z_i in z])
        gamma = e.exp() / e.exp().sum()
        c = sum(g * z_i for g, z_i in zip(gamma, z, strict=True)) if path is None else z[path[t]]
        log_q = log_q + (0.0 if path is None else gamma[path[t]].log())
        c = torch.sigmoid(ours.gate.weight[0] @ s + ours.gate.bias) * c
        y = ours.embedding.weight[caption[t - 1] if t else model.bos]
        s, cell = (v[0] for v in lstm(torch.cat([y, c])[None], (s[None], cell[None])))
        logits = ours.head.weight @ torch.cat([s, c, y]) + ours.head.bias
        log_p = log_p + logits[word] - logits.exp().sum().log()
    return log_p, log_q


def test_soft_and_hard_are_what_they_are_by_hand() -> None:
    soft, hard = small(), small(context="hard", baseline="none")
    for row, words in enumerate(([2, 0, 1], [0, 1])):
        ours = soft.log_prob(CAPTIONS[row : row + 1], PICTURES[row : row + 1])[0]
        torch.testing.assert_close(ours, by_hand(soft, PICTURES[row], words, None)[0], rtol=0, atol=1e-12)
        log_q, log_p = hard.by_paths(CAPTIONS[row], PICTURES[row])
        for i, path in enumerate(all_paths(3, len(words)).tolist()):
            theirs = by_hand(hard, PICTURES[row], words, path)
            torch.testing.assert_close((log_p[i], log_q[i]), theirs, rtol=0, atol=1e-12)
        torch.testing.assert_close(log_q.logsumexp(0), torch.zeros_like(log_q[0]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("context", ["soft", "hard"])
def test_captions_of_a_picture_have_mass_one(context: str) -> None:
    model, texts = small(context=context), contracts.configurations((2,), 3).long()
    for picture in PICTURES:
        mass = model.log_prob(texts, picture.expand(len(texts), -1, -1, -1)).exp().sum()
        assert float(mass.detach()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("context", ["soft", "hard"])
def test_a_padded_batch_gives_what_its_captions_give_alone(context: str) -> None:
    model = small(context=context, **({"penalty": 0.3} if context == "soft" else {}))
    together, alone = model.log_prob(CAPTIONS, PICTURES)[1:], model.log_prob(CAPTIONS[1:, :2], PICTURES[1:])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-12)

    def loss(rows: slice, T: int) -> Tensor:
        target = CAPTIONS[rows, :T]
        boxes = torch.zeros(*target.shape, 4)
        return model.step((PICTURES[rows], model.inputs(target), target, boxes), "val")

    together = (loss(slice(0, 1), 3) * 3 + loss(slice(1, 2), 2) * 2) / 5
    torch.testing.assert_close(loss(slice(0, 2), 3), together, rtol=0, atol=1e-6 if model.hard else 1e-12)


def test_decoding_step_by_step_is_reading_at_once() -> None:
    model = small()
    decoder = model.incremental_decoder()
    log_p, state = decoder.start(PICTURES)
    total = log_p[torch.arange(2), CAPTIONS[:, 0]]
    for t in (1, 2):
        log_p, state = decoder.step(state, CAPTIONS[:, t - 1])
        chosen = log_p[torch.arange(2), CAPTIONS[:, t].clamp(min=0)]
        total = total + chosen * (CAPTIONS[:, t] != IGNORED)
    torch.testing.assert_close(total, model.log_prob(CAPTIONS, PICTURES), rtol=0, atol=1e-12)
    swapped = decoder.step(state[torch.tensor([1, 0, 1])], torch.tensor([2, 2, 2]))[0]
    torch.testing.assert_close(
        swapped[:2], decoder.step(state, torch.tensor([2, 2]))[0].flip(0), rtol=0, atol=1e-12
    )
    hard = small(context="hard")
    for location, seeds in (("argmax", (0, 1)), ("sample", (0, 0))):
        looks = []
        for seed in seeds:
            writer = hard.incremental_decoder(location, torch.Generator().manual_seed(seed))
            _, state = writer.step(writer.start(PICTURES)[1], torch.tensor([2, 2]))
            looks.append(state.gamma)
        assert torch.equal(*looks) and set(looks[0].unique().tolist()) == {0, 1}
    with pytest.raises(ValueError, match=r"Pictures have no padding"):
        decoder.start(PICTURES, torch.zeros(2, 3, dtype=torch.bool))


def test_sampled_captions_follow_the_density() -> None:
    for kind in ("soft", "hard"):
        model, n = small(context=kind), 4000
        context = {"location": "sample", "generator": torch.Generator().manual_seed(1)} if model.hard else {}
        steps = decoding.stream(
            model.incremental_decoder(**context), PICTURES[:1].expand(n, -1, -1, -1), 2,
            generator=torch.Generator().manual_seed(0),
        )  # fmt: skip
        texts = torch.stack([token for _, token in steps], 1)
        all_texts = contracts.configurations((2,), 3).long()
        p = model.log_prob(all_texts, PICTURES[:1].expand(len(all_texts), -1, -1, -1)).exp()
        share = (texts[:, None] == all_texts).all(-1).double().mean(0)
        assert ((share - p).abs() < 4 * (p * (1 - p) / n).sqrt() + 1e-9).all()


# --- The gradient of hard attention: 27 paths -----------------------------------------------------

SHARED = ("cell", "embedding", "first_state", "gate", "norm", "encoder")  # by q and p


def gradients(model: Captioner, loss: Tensor, retain: bool = True) -> dict[str, Tensor]:
    """Gradient by parameter group, each one vector; of parameters that are not reached, 0."""
    chosen = {k.removeprefix("decoder."): p for k, p in model.named_parameters() if "score_function" not in k}
    values = torch.autograd.grad(loss, list(chosen.values()), retain_graph=retain, allow_unused=True)
    groups: dict[str, list[Tensor]] = {}
    for (name, p), value in zip(chosen.items(), values, strict=True):
        groups.setdefault(name.partition(".")[0], []).append(
            (torch.zeros_like(p) if value is None else value).flatten()
        )
    return {k: torch.cat(v) for k, v in groups.items()}


def game(**other: Any) -> tuple[Captioner, Tensor, Tensor, Tensor]:
    """A hard captioner, a caption of 3 words, its picture, and all paths."""
    model = Captioner(**SMALL | {"context": "hard", "freeze": False} | other)
    return contracts.exact(model, seed=5, scale=1.5), CAPTIONS[:1], PICTURES[:1], all_paths(3, 3)


def everything(model: Captioner, target: Tensor, picture: Tensor, path: Tensor) -> Any:
    rows = torch.zeros(len(path), dtype=torch.int64)
    now, inputs = model.begin(picture)[rows], model.inputs(target)[rows]
    reading = model.decoder.read(now, inputs, lambda gamma, t: path[:, t])
    return reading, reading.log_p(target[rows])


def test_both_terms_are_the_gradient_and_the_second_reaches_more_than_the_encoder() -> None:
    model, target, picture, path = game()
    reading, log_p = everything(model, target, picture, path)
    log_q, log_p = reading.log_q.sum(1), log_p.sum(1)
    exact = gradients(model, lower_bound(log_q, log_p))
    q = log_q.exp().detach()
    first = gradients(model, (q * log_p).sum())
    second = gradients(model, (q * log_p.detach() * log_q).sum())
    for name, value in exact.items():
        torch.testing.assert_close(first[name] + second[name], value, rtol=0, atol=1e-10)
    assert not second["head"].any()  # it has no part in where to look
    assert not first["context"].any() and second["context"].norm() > 0.1  # and it in nothing else
    for name in SHARED:  # [DGM] has the encoder alone in the second term
        assert second[name].norm() > 1e-3 and first[name].norm() > 1e-3, name


@pytest.mark.parametrize("to_go", [True, False])
@pytest.mark.parametrize("baseline", ["none", "average", "learned"])
def test_draws_agree_with_all_paths_in_every_group_of_parameters(baseline: Any, to_go: bool) -> None:
    M = 30_000
    model, target, picture, path = game(baseline=baseline, to_go=to_go, draws=M, entropy_weight=0.1)
    if model.score_function.average is not None:
        model.score_function.average.average.fill_(-1.0)
    reading, log_p = everything(model, target, picture, path)
    entropy = torch.special.entr(reading.gamma).sum((1, 2))
    log_q = reading.log_q.sum(1)
    exact = gradients(model, lower_bound(log_q, log_p.sum(1) + 0.1 * entropy))
    torch.manual_seed(0)
    words = target != IGNORED
    loss = model.step((picture, model.inputs(target), target, torch.zeros(1, 3, 4)), "train")
    estimate = {k: -v * words.sum() for k, v in gradients(model, loss).items()}
    if model.score_function.average is not None:
        model.score_function.average.average.fill_(-1.0)
    each = [
        gradients(model, -model.score_function(*pick_row(reading, log_p, i), words)[0].sum())
        for i in range(len(path))
    ]
    q = log_q.exp().detach()
    lost = (
        gradients(model, (q * log_p.sum(1)).sum()),
        gradients(model, (q * log_p.sum(1).detach() * log_q).sum()),
    )
    for name, value in exact.items():
        paths = torch.stack([row[name] for row in each])
        mean = q @ paths
        torch.testing.assert_close(mean, value, rtol=0, atol=1e-10)  # unbiased, to the last digit
        error = ((q @ paths.square() - mean.square()).sum() / M).sqrt()
        assert (estimate[name] - value).norm() < 4 * error, name
        if name == "cell" and to_go:  # with one term only it is another vector
            assert all((term[name] - value).norm() > 4 * error for term in lost)


def pick_row(reading: Any, log_p: Tensor, i: int) -> tuple[Any, Tensor]:
    parts = {k: getattr(reading, k)[i : i + 1] for k in ("logits", "gamma", "states", "log_q")}
    return type(reading)(**parts), log_p[i : i + 1]


def test_a_baseline_may_read_the_state_before_the_draw_but_not_after_it() -> None:
    model, target, picture, path = game()
    reading, log_p = everything(model, target, picture, path)
    log_q = reading.log_q.sum(1)
    q, exact = log_q.exp().detach(), gradients(model, lower_bound(log_q, log_p.sum(1)))
    before = reading.states @ drawn(3, seed=5)  # (27, 3)
    for baseline, unbiased in ((before, True), (before.roll(-1, 1), False)):
        mean = gradients(model, (q * surrogate(log_p, reading.log_q, baseline)).sum())
        off = max(float((mean[name] - exact[name]).abs().max()) for name in exact)
        assert (off < 1e-10) == unbiased


def test_bounds_of_a_captioner_rise_to_its_likelihood() -> None:
    model, target, picture, _ = game()
    log_q, log_p = (each.detach() for each in model.by_paths(target[0], picture[0]))
    exact = lower_bound(log_q, log_p), tighter_bound(log_q, log_p, 2), model.log_prob(target, picture)[0]
    assert exact[0] < exact[1] < exact[2]
    generator, n = torch.Generator().manual_seed(0), 4000
    with torch.no_grad():
        many = model.by_draws(target, picture, n, generator)[:, 0]
    assert abs(float(many.mean() - exact[0])) < 4 * float(many.std()) / n**0.5
    two = many.view(-1, 2).logsumexp(1) - math.log(2)
    assert abs(float(two.mean() - exact[1])) < 4 * float(two.std()) / (n / 2) ** 0.5
    same = [
        model.iwae(target, picture, draws=9, generator=torch.Generator().manual_seed(1)) for _ in range(2)
    ]
    elbo = model.elbo(target, picture, draws=9, generator=torch.Generator().manual_seed(1))
    assert torch.equal(*same) and bool(same[0] > elbo)
    soft = small()
    torch.testing.assert_close(soft.elbo(CAPTIONS, PICTURES), soft.log_prob(CAPTIONS, PICTURES))


def test_the_expected_context_in_place_of_all_draws_is_soft_attention() -> None:
    """So its gradient is another than that of 𝓛."""
    model, target, picture, path = game(expected=1.0)
    loss = model.step((picture, model.inputs(target), target, torch.zeros(1, 3, 4)), "train")
    soft = contracts.exact(Captioner(**SMALL | {"freeze": False}), seed=5, scale=1.5)
    ours = gradients(model, loss * 3)
    theirs = gradients(soft, -soft.log_prob(target, picture).sum())
    reading, log_p = everything(model, target, picture, path)
    exact = gradients(model, -lower_bound(reading.log_q.sum(1), log_p.sum(1)))
    for name in theirs:
        torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=1e-10)
    assert (ours["cell"] - exact["cell"]).norm() > 1e-3


def test_a_warm_start_is_soft_attention_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    model, target, picture, _ = game(warm_start_epochs=2)
    soft = contracts.exact(Captioner(**SMALL | {"freeze": False}), seed=5, scale=1.5)
    theirs = -float(soft.log_prob(target, picture).detach()) / 3
    for epoch, same in ((1, True), (2, False)):
        monkeypatch.setattr(Captioner, "current_epoch", epoch)
        torch.manual_seed(0)
        loss = model.step((picture, model.inputs(target), target, torch.zeros(1, 3, 4)), "train")
        assert (float(loss.detach()) == pytest.approx(theirs, abs=1e-12)) == same


# --- Training -------------------------------------------------------------------------------------


def test_the_penalty_wants_every_place_looked_at_once() -> None:
    batch = (PICTURES, small().inputs(CAPTIONS), CAPTIONS, torch.zeros(2, 3, 4))
    plain, with_penalty = small(), small(penalty=0.5)
    gamma = plain.decoder.read(plain.begin(PICTURES), batch[1]).gamma
    looks = torch.stack([gamma[0].sum(0), gamma[1, :2].sum(0)])  # the second caption has two words
    extra = 0.5 * (1 - looks).square().sum() / 5
    torch.testing.assert_close(
        with_penalty.step(batch, "val"), plain.step(batch, "val") + extra, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("context", ["soft", "hard"])
def test_it_begins_at_ln_v_and_learns_a_batch_by_heart(context: Any) -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"channels": [8, 8, 8], "embedding": 16, "hidden": 32, "freeze": False}
    model = Captioner((3, 16, 16), 8, context, draws=4 if context == "hard" else 1, **sizes)
    pictures = torch.rand(4, 3, 16, 16)
    target = torch.tensor([[2, 3, 4, 1], [3, 5, 1, IGNORED], [6, 7, 2, 1], [7, 1, IGNORED, IGNORED]])
    batch = (pictures, model.inputs(target), target, torch.zeros(4, 4, 4))
    name = "nll" if context == "soft" else "elbo"
    model.step(batch, "val")
    assert abs(float(model.meters[f"val_{name}"].compute())) == pytest.approx(math.log(8), abs=0.3)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(130):
        optimizer.zero_grad()
        model.step(batch, "train").backward()
        optimizer.step()
    model.meters[f"val_{name}"].reset()
    model.meters["val_exact"].reset()
    model.step(batch, "val")
    assert abs(float(model.meters[f"val_{name}"].compute())) < 0.01
    assert float(model.meters["val_exact"].compute()) == 1


def test_pictures_of_one_vector_leave_nothing_to_choose() -> None:
    model = small(context="pooled", score_width=None)
    reading = model.decoder.read(model.begin(PICTURES), model.inputs(CAPTIONS))
    assert torch.equal(reading.gamma, torch.full((2, 3, 3), 1 / 3, dtype=torch.float64))
    assert model.metric_names("val") == ["val/nll", "val/exact"]


def test_positions_tell_what_a_frozen_encoder_does_not() -> None:
    """Vectors of places are added to z, learn though the encoder stays, and tell equal locations apart."""
    plain, placed = small(freeze=True), small(freeze=True, positions=True)
    assert placed.place is not None and placed.place.shape == (3, plain.encoder.width)
    assert not Captioner(**SMALL | {"positions": True}).place.any()  # they begin at nothing
    placed.load_state_dict(plain.state_dict(), strict=False)
    torch.nn.init.zeros_(placed.place)
    before = placed.log_prob(CAPTIONS, PICTURES)
    assert torch.equal(before, plain.log_prob(CAPTIONS, PICTURES))
    loss = -before.sum()
    loss.backward()
    assert placed.place.grad is not None and placed.place.grad.abs().min() > 0
    assert all(p.grad is None for p in placed.encoder.parameters())
    added = torch.arange(placed.place.numel(), dtype=torch.float64).view_as(placed.place)
    with torch.no_grad():
        placed.place.copy_(added)
    memory = [model.begin(PICTURES).memory[1] for model in (plain, placed)]
    torch.testing.assert_close(memory[1] - memory[0], added.expand(2, -1, -1))


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"context": "both"}, "context is 'both'"),
    ({"context": "hard", "penalty": 1.0}, "it is of soft attention"),
    ({"context": "pooled", "penalty": 1.0}, "it is of soft attention"),
    ({"context": "pooled"}, "a pooled picture has no scores"),
    ({"draws": 3}, "are of hard attention"),
    ({"context": "hard", "baseline": "mean"}, "baseline is 'mean'"),
    ({"context": "hard", "expected": 1.5}, "expected is 1.5"),
    ({"warm_start_epochs": 2}, "are of hard attention"),
    ({"kernel": 5}, "kernel is 5"),
    ({"image_shape": (3, 64)}, "image_shape"),
]


@pytest.mark.parametrize(("other", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_arguments_that_contradict_are_refused(other: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        Captioner(**SMALL | other)
    assert str(refusal.value).endswith(".")


def test_more_paths_than_can_be_enumerated_are_refused() -> None:
    model: Callable[..., Tensor] = Captioner((3, 32, 32), 5, "hard").log_prob
    with pytest.raises(ValueError, match="16 locations in 4 steps are 65536 paths"):
        model(torch.tensor([[2, 3, 4, 1]]), torch.zeros(1, 3, 32, 32))
