"""The recorded residual stream: sums, patches, and what nobody asked for."""

import contracts
import pytest
import torch

from modules.transformer.gpt import GPT
from modules.transformer.stream import record_stream


def tiny(**kwargs) -> GPT:
    return contracts.exact(
        GPT(**({"vocab_size": 7, "context": 6, "layers": 3, "heads": 2, "width": 8} | kwargs))
    )


def tokens(seed=0):
    return torch.randint(7, (1, 6), generator=contracts.seeded(seed))


@torch.no_grad()
@pytest.mark.parametrize("norm", ["pre", "none"])
def test_the_stream_is_the_sum_of_what_is_added(norm):
    model = tiny(norm=norm)
    with record_stream() as seen:
        logits = model(tokens())
    blocks = list(model.blocks)
    total = seen.values[blocks[0], "in"]
    for block in blocks:
        total = total + seen.values[block, "mixer"] + seen.values[block, "feedforward"]
        torch.testing.assert_close(seen.values[block, "out"], total, atol=1e-12, rtol=0)
    torch.testing.assert_close(model.logits(model.final_norm(total)), logits, atol=1e-12, rtol=0)
    torch.testing.assert_close(model(tokens()), logits, atol=0, rtol=0)  # recording changed nothing


@torch.no_grad()
def test_contributions_sum_to_the_logits_once_the_last_norm_holds_its_deviation():
    model = tiny()
    with record_stream() as seen:
        logits = model(tokens())
    blocks, x = list(model.blocks), seen.values[model.blocks[-1], "out"]
    deviation = (x.var(-1, correction=0, keepdim=True) + model.final_norm.eps).sqrt()
    parts = [seen.values[blocks[0], "in"]]
    parts += [seen.values[block, name] for block in blocks for name in ("mixer", "feedforward")]
    terms = [
        model.logits((part - part.mean(-1, keepdim=True)) / deviation * model.final_norm.weight)
        for part in parts
    ]
    torch.testing.assert_close(torch.stack(terms).sum(0), logits, atol=1e-12, rtol=0)


@torch.no_grad()
def test_a_patch_that_changes_nothing_and_one_that_changes_all():
    model, clean, corrupt = tiny(), tokens(), tokens(1)
    with record_stream() as donor:
        expected = model(clean)
    own = model(corrupt)
    block = model.blocks[1]
    with record_stream({(block, "out"): lambda x: x}):
        assert torch.equal(model(corrupt), own)
    with record_stream({(block, "out"): lambda _: donor.values[block, "out"]}):
        assert torch.equal(model(corrupt), expected)

    def one_place(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[:, 2] = donor.values[block, "out"][:, 2]
        return x

    with record_stream({(block, "out"): one_place}):
        patched = model(corrupt)
    assert torch.equal(patched[:, :2], own[:, :2]) and not torch.allclose(patched[:, 2:], own[:, 2:])


@torch.no_grad()
def test_a_zero_gain_is_the_identity_and_no_skip_is_the_last_sublayer():
    model = GPT(vocab_size=7, context=6, layers=3, heads=2, width=8, residual="rezero").double()
    stream = list(model.residual_stream(tokens()))
    assert all(torch.equal(x, stream[0]) for x in stream)
    bare = tiny(residual="none")
    with record_stream() as seen:
        bare(tokens())
    for block in bare.blocks:
        assert torch.equal(seen.values[block, "out"], seen.values[block, "feedforward"])


def test_what_is_recorded_ends_with_the_block():
    with pytest.raises(RuntimeError), record_stream():
        raise RuntimeError
    model = tiny()
    with record_stream() as seen:
        pass
    model(tokens())
    assert not seen.values
