"""The tuned lens: a planted affine map is found, and those that ship are nearer than the logit lens."""

import pytest
import torch
from torch import Tensor, nn

from lab import experiments, weights
from lab.lenses import recorded, tuned_lens
from modules.transformer.gpt import GPT
from modules.transformer.tuned_lens import TunedLens, divergence, divergences, fit, log_p


class Affine(nn.Module):
    """A block that takes the stream to another basis."""

    mixer = None

    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.map = torch.randn(width, width, generator=generator) / width**0.5
        self.shift = torch.randn(width, generator=generator)

    def forward(self, x: Tensor, *given: object, **more: object) -> Tensor:
        return x @ self.map.T + self.shift


def planted() -> tuple[GPT, Tensor]:
    torch.manual_seed(0)
    model = GPT(11, context=6, layers=2, heads=2, width=8).eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        model.embedding.weight.mul_(30)
    model.stack.blocks[1] = Affine(8, generator)
    return model, torch.randint(11, (64, 6), generator=generator)


@torch.no_grad()
def test_the_map_of_a_block_is_its_own_translator() -> None:
    model, tokens = planted()
    block = model.blocks[1]
    lens = TunedLens(torch.stack([torch.zeros(8, 8), block.map - torch.eye(8)]),
                     torch.stack([torch.zeros(8), block.shift]))  # fmt: skip
    found = divergences(model, tokens, lens)
    assert found[1] == pytest.approx(0, abs=1e-6) and found[2] == 0
    plain = divergences(model, tokens)
    assert plain[1] > 0.1 and plain[2] == 0 and found[0] == plain[0]
    x = list(model.residual_stream(tokens[:1]))  # by hand, one token
    p, q = (log_p(model, x[l])[0, 3].softmax(-1) for l in (2, 1))
    by_hand = sum(float(a * (a / b).log()) for a, b in zip(p, q, strict=True))
    assert float(divergence(p.log(), q.log())) == pytest.approx(by_hand, abs=1e-5)


def test_a_fit_finds_it_and_leaves_the_model_as_it_was() -> None:
    model, tokens = planted()
    before = {name: p.clone() for name, p in model.named_parameters()}
    plain = divergences(model, tokens)
    lens = fit(model, tokens, steps=600, lr=3e-2, decay=0.0)
    found = divergences(model, tokens, lens)
    assert found[1] < 0.02 * plain[1] and found[0] < plain[0] and found[2] == 0
    assert all(torch.equal(p, before[name]) and p.grad is None for name, p in model.named_parameters())
    again = fit(model, tokens, steps=3)
    assert torch.equal(again.weight, fit(model, tokens, steps=3).weight)
    assert not torch.equal(again.weight, fit(model, tokens, steps=3, seed=1).weight)
    with pytest.raises(ValueError, match="steps is 0"):
        fit(model, tokens, steps=0)


@pytest.mark.parametrize("name", tuned_lens.SHIPPED)
def test_the_lens_that_ships_is_nearer_at_every_layer(name: str, real_data) -> None:
    """On test text, of which neither the model nor the fit has seen a word."""
    card = weights.read_card(experiments.ZOO / name)
    if card["data"]["corpus"] != "pydocs":
        real_data({"shakespeare": "tinyshakespeare"}.get(card["data"]["corpus"], card["data"]["corpus"]))
    fitted = tuned_lens.find(card)
    assert fitted is not None and (recorded.FILMS / f"tuned-{name}.safetensors").stat().st_size < 200_000
    model = weights.load(experiments.ZOO / name).eval()
    assert isinstance(model, GPT)
    tokens = tuned_lens.windows(card, "test")[-32:]  # others than those of the numbers that are kept
    logit, tuned = divergences(model, tokens), divergences(model, tokens, fitted.lens)
    for mean, other in ((logit, fitted.logit), (tuned, fitted.tuned)):
        assert mean[-1] == other[-1] == 0 and mean[:-1] == pytest.approx(other[:-1], rel=0.35)
    assert (tuned[:-1] < logit[:-1]).all() and (fitted.tuned[:-1] < fitted.logit[:-1]).all()


def test_a_lens_is_of_the_weights_that_it_was_fitted_to() -> None:
    card = weights.read_card(experiments.ZOO / "gpt-pydocs")
    assert tuned_lens.find(card) is not None
    assert tuned_lens.find({**card, "sha256": "0" * 64}) is None
    assert tuned_lens.find({**card, "experiment": "leakygpt-shakespeare"}) is None
