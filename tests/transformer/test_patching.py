"""Activation patching: by a forward pass written out by hand, at its ends, and where it must refuse."""

import math
from collections.abc import Callable

import contracts
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from modules.transformer.gpt import GPT
from modules.transformer.patching import (
    PatchMap,
    activation_patching,
    changes,
    gradients,
    leads,
    patched_leads,
)

CLEAN, CORRUPTED, ANSWERS = [1, 4, 2, 6, 3], [1, 5, 2, 0, 3], torch.tensor([2, 5])
TOKENS = torch.tensor([CLEAN, CORRUPTED])
SITES = ["stream", "sublayers", "heads"]


def tiny(**options: object) -> GPT:
    settings = {"vocab_size": 7, "context": 6, "layers": 3, "heads": 2, "width": 8, "bias": True} | options
    return contracts.exact(GPT(**settings))


def by_hand(model: GPT, tokens: list[int], edit: Callable[[str, int, Tensor], Tensor]) -> float:
    """Lead of a GPT with pre-norm, head by head and layer by layer; `edit` may replace what it is shown."""
    T, C = len(tokens), model.width
    x = edit("stream", 0, model.embedding.weight[tokens] + model.positions.table[:T])  # type: ignore[union-attr]
    for l, block in enumerate(model.blocks):
        h = F.layer_norm(x, (C,), block.mixer_norm.weight, block.mixer_norm.bias)
        q, k, v = (h @ block.mixer.qkv.weight.T + block.mixer.qkv.bias).split(C, 1)
        D, parts = C // model.heads, []
        for n in range(model.heads):
            own = slice(n * D, (n + 1) * D)
            scores = q[:, own] @ k[:, own].T / math.sqrt(D)
            weights = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf).softmax(1)
            parts.append(weights @ v[:, own] @ block.mixer.proj.weight[:, own].T)
        parts = list(edit("heads", l, torch.stack(parts)))
        x = x + edit("sublayers", 2 * l, sum(parts) + block.mixer.proj.bias)
        h = F.layer_norm(x, (C,), block.feedforward_norm.weight, block.feedforward_norm.bias)
        up, down = block.feedforward.up, block.feedforward.down
        x = x + edit("sublayers", 2 * l + 1, F.gelu(h @ up.weight.T + up.bias) @ down.weight.T + down.bias)
        x = edit("stream", l + 1, x)
    last = F.layer_norm(x[-1], (C,), model.final_norm.weight, model.final_norm.bias)
    logits = model.embedding.weight @ last
    return float(logits[ANSWERS[0]] - logits[ANSWERS[1]])


@torch.no_grad()
@pytest.mark.parametrize("site", SITES)
def test_a_map_is_brute_force_by_hand(site: str) -> None:
    model, kept = tiny(), {}

    def keep(name: str, row: int, x: Tensor) -> Tensor:
        kept[name, row] = x
        return x

    clean, corrupted = by_hand(model, CLEAN, keep), by_hand(model, CORRUPTED, lambda name, row, x: x)
    one = activation_patching(model, TOKENS, ANSWERS, site)  # type: ignore[arg-type]
    assert one.clean == pytest.approx(clean, abs=1e-10) and one.corrupted == pytest.approx(
        corrupted, abs=1e-10
    )
    rows, columns = {"stream": (4, 5), "sublayers": (6, 5), "heads": (3, 2)}[site]
    assert one.recovered.shape == (rows, columns)
    for r in range(rows):
        for k in range(columns):

            def edit(name: str, row: int, x: Tensor, r: int = r, k: int = k) -> Tensor:
                if (name, row) == (site, r):  # a position, or a head at all positions
                    x = x.clone()
                    x[k] = kept[name, row][k]
                return x

            d = by_hand(model, CORRUPTED, edit)
            assert float(one.recovered[r, k]) == pytest.approx(
                (d - corrupted) / (clean - corrupted), abs=1e-9
            ), (r, k)


@torch.no_grad()
@pytest.mark.parametrize(
    "options", [{}, {"positions": "rotary", "kv_heads": 1, "normalization": "rms", "norm": "post"}]
)
def test_a_patch_of_nothing_gives_0_and_of_everything_1(options: dict[str, object]) -> None:
    model = tiny(**options)
    one = activation_patching(model, TOKENS, ANSWERS, "stream")
    assert (one.recovered[:, 0] == 0).all() and (one.approximation[:, 0] == 0).all()  # before any difference
    assert (one.recovered[0, [2, 4]] == 0).all()  # the same tokens, as they enter
    assert (one.recovered[-1, :-1].abs() < 1e-12).all()  # nobody reads them any more
    assert float(one.recovered[-1, -1]) == pytest.approx(1, abs=1e-12)
    points, added = changes(model, TOKENS, "stream")
    for row, delta in zip(points, added, strict=True):  # all positions of a layer together
        d = patched_leads(model, TOKENS[1], ANSWERS, row[:1], delta.sum(0)[None])
        assert float(one.share(d)) == pytest.approx(1, abs=1e-12)
        d = patched_leads(model, TOKENS[1], ANSWERS, row[:1], torch.zeros_like(delta[:1]))
        assert torch.equal(d, leads(model, TOKENS[1:], ANSWERS))


@torch.no_grad()
@pytest.mark.parametrize("options", [{}, {"residual": "rezero"}, {"kv_heads": 1, "positions": "alibi"}])
def test_heads_sum_to_their_sublayer(options: dict[str, object]) -> None:
    model = tiny(**options)
    _, heads = changes(model, TOKENS, "heads")
    _, sublayers = changes(model, TOKENS, "sublayers")
    for l in range(3):  # what all heads add is what attention adds; its bias is the same in both runs
        torch.testing.assert_close(heads[l].sum(0), sublayers[2 * l].sum(0), atol=1e-12, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("site", SITES)
def test_the_gradient_is_that_of_a_small_step(site: str) -> None:
    """Central differences of a patch that is a ten-thousandth of the whole one."""
    model = tiny()
    one = activation_patching(model, TOKENS, ANSWERS, site)  # type: ignore[arg-type]
    points, added = changes(model, TOKENS, site)  # type: ignore[arg-type]
    R, K = added.shape[:2]
    step, places = 1e-4, [point for row in points for point in row]

    def moved(size: float) -> Tensor:
        return patched_leads(model, TOKENS[1], ANSWERS, places, size * added.flatten(0, 1)).unflatten(
            0, (R, K)
        )

    slope = (moved(step) - moved(-step)) / (2 * step)
    torch.testing.assert_close(one.approximation, slope / (one.clean - one.corrupted), atol=1e-6, rtol=1e-5)
    assert one.correlation == pytest.approx(
        float(torch.corrcoef(torch.stack([one.recovered.flatten(), one.approximation.flatten()]))[0, 1])
    )


@torch.no_grad()
def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny()
    whole = activation_patching(model, TOKENS, ANSWERS, "stream")
    for size in (1, 16):  # one run a batch, then three
        monkeypatch.setattr("modules.transformer.patching.TOKENS", size)
        part = activation_patching(model, TOKENS, ANSWERS, "stream")
        torch.testing.assert_close(part.recovered, whole.recovered, atol=1e-12, rtol=0)
    empty = patched_leads(model, TOKENS[1], ANSWERS, [], torch.zeros(0, 5, 8))
    assert empty.shape == (0,)


def test_weights_that_are_frozen_or_float32_have_a_map_too() -> None:
    model = GPT(vocab_size=7, context=6, layers=2, heads=2, width=8).requires_grad_(False).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(0.5 * torch.randn(p.shape, generator=contracts.seeded(3)))
    one = activation_patching(model, TOKENS, ANSWERS, "stream")
    assert float(one.recovered[-1, -1]) == pytest.approx(1, abs=1e-4)
    assert float(one.approximation.abs().max()) > 0
    grad = gradients(model, TOKENS[1], ANSWERS, [(model.blocks[0], "in")])
    assert grad.shape == (1, 5, 8) and not grad.requires_grad
    short = activation_patching(model, TOKENS[:, 1:2], ANSWERS, "stream")  # one token
    assert short.recovered.shape == (3, 1) and torch.allclose(short.recovered, torch.ones(3, 1), atol=1e-4)


def test_what_cannot_be_compared_is_refused_in_a_sentence() -> None:
    model = tiny()
    with pytest.raises(ValueError, match="Both prompts are the same"):
        activation_patching(model, TOKENS[[0, 0]], ANSWERS, "stream")
    with pytest.raises(ValueError, match="Both answers are the same"):
        activation_patching(model, TOKENS, ANSWERS[[0, 0]], "stream")
    with pytest.raises(ValueError, match="choose one of stream, sublayers, heads"):
        activation_patching(model, TOKENS, ANSWERS, "tokens")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="7 tokens: 6 at most"):
        activation_patching(model, torch.arange(14).reshape(2, 7) % 7, ANSWERS, "stream")
    deaf = tiny()
    with torch.no_grad():
        for block in deaf.blocks:
            block.mixer.proj.weight.zero_()
    with pytest.raises(ValueError, match="does not tell the prompts apart"):  # the last tokens agree
        activation_patching(deaf, TOKENS, ANSWERS, "stream")
    for mixer in ("mamba", "linear"):
        with pytest.raises(ValueError, match="without heads"):
            activation_patching(tiny(mixer=mixer), torch.tensor([[1, 2], [1, 3]]), ANSWERS, "heads")


def test_a_flat_map_has_no_correlation() -> None:
    flat = PatchMap(1.0, 0.0, torch.zeros(2, 2), torch.eye(2))
    assert flat.correlation is None
    assert PatchMap(1.0, 0.0, torch.eye(2), -torch.eye(2)).correlation == pytest.approx(-1)
