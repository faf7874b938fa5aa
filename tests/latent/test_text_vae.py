"""Lines from codes: probabilities of all lines, what stands behind the end, drawing, what collapse costs."""

import math

import contracts
import pytest
import torch
from torch import Tensor

from modules.base import Latent, Sampler
from modules.latent.text_vae import TextVAE, line_mask

SMALL = {"event_shape": (3,), "vocab_size": 3, "embedding": 4, "width": 6, "latent_dim": 2, "iwae_samples": 3}
END = 2


def every_line() -> Tensor:
    """(15, 3): the lines of up to three tokens of {0, 1}, ended where they are shorter."""
    lines = []
    for length in range(4):
        for number in range(2**length):
            bits = [number >> i & 1 for i in range(length)]
            lines.append(bits + [END] * (3 - length))
    return torch.tensor(lines)


LINES = every_line()


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random_vae(scale: float = 0.6, **more: float) -> TextVAE:
    return contracts.exact(TextVAE(**SMALL, **more), scale=scale)  # type: ignore[arg-type]


def test_what_belongs_to_a_line() -> None:
    x = torch.tensor([[0, 1, 0], [0, END, END], [END, 0, 1]])
    assert line_mask(x, END).tolist() == [[True] * 3, [True, True, False], [True, False, False]]


def test_all_lines_sum_to_one() -> None:
    model, z = random_vae(1.0), torch.randn(5, 1, 2, generator=seeded(), dtype=torch.float64)
    with torch.no_grad():
        each = model.log_likelihood(LINES, z.expand(-1, len(LINES), -1))
    assert each.shape == (5, 15)
    torch.testing.assert_close(each.exp().sum(1), torch.ones(5, dtype=torch.float64))
    assert each.std(0).min() > 1e-3  # and the code is told


def test_the_density_sums_to_one_and_both_proposals_agree() -> None:
    model = random_vae(0.3)
    with torch.no_grad():
        log_w = model.log_weights(LINES, 5000, seeded())
        by_prior = model.log_prob_is(LINES, 5000, seeded(1), proposal="prior")
        parts = model.elbo_terms(LINES, 5000, seeded(2))
    by_encoder = log_w.logsumexp(0) - math.log(len(log_w))
    assert by_prior.exp().sum().item() == pytest.approx(1, abs=0.02)
    torch.testing.assert_close(by_encoder, by_prior, rtol=0, atol=0.05)
    error = log_w.std(0) / math.sqrt(len(log_w))
    assert ((parts.elbo() - log_w.mean(0)).abs() < 6 * error + 1e-6).all()


def test_drawn_lines_follow_the_density() -> None:
    model = random_vae()
    drawn = model.sample(20_000, generator=seeded())
    with torch.no_grad():
        table = model.log_prob_is(LINES, 4000, seeded(1), proposal="prior").exp()
    shares = torch.stack([(drawn == line).all(1).double().mean() for line in LINES])
    assert shares.sum().item() == 1  # nothing stands behind an end
    assert (shares - table).abs().max() < 0.02


def test_logits_see_what_stands_before_and_the_code() -> None:
    model = random_vae(0.7)
    z = torch.randn(2, generator=seeded(), dtype=torch.float64)
    result = model.logits(LINES, z.expand(len(LINES), -1))  # (15, 3, 3)
    for i in range(3):
        for a, x in enumerate(LINES):
            for b, other in enumerate(LINES):
                same = torch.allclose(result[a, i], result[b, i], atol=1e-12)
                assert same == torch.equal(x[:i], other[:i])
    for way in (model.decoder.start.weight, model.decoder.gru.cells[0].weight_x):  # each alone tells the code
        with torch.no_grad():
            kept, way[:] = way.clone(), 0.0
        by_z = torch.autograd.functional.jacobian(lambda v: model.logits(LINES[:1], v[None])[0], z)
        assert (by_z != 0).all()
        with torch.no_grad():
            way.copy_(kept)


def test_what_stands_behind_the_end_changes_nothing() -> None:
    model = random_vae()
    a, b = torch.tensor([[0, END, END]]), torch.tensor([[0, END, 1]])
    assert torch.equal(model.encode(a), model.encode(b))
    z = torch.zeros(1, 2, dtype=torch.float64)
    torch.testing.assert_close(model.log_likelihood(a, z), model.log_likelihood(b, z))
    torch.testing.assert_close(model.log_likelihood(a, z), model.log_likelihood(a[:, :2], z))
    torch.testing.assert_close(model.encode(a), model.encode(a[:, :2]))


def test_the_likeliest_line_is_written_letter_by_letter() -> None:
    model = contracts.exact(TextVAE(**SMALL | {"event_shape": (8,)}), scale=2.0)
    with torch.no_grad():
        model.decoder.last.bias[END] -= 3.0  # long lines, in which letters take turns
    z = torch.randn(20, 2, generator=seeded(), dtype=torch.float64)
    lines = model.decode(z)
    assert lines.shape == (20, 8) and len({tuple(line) for line in lines.tolist()}) > 1
    with torch.no_grad():
        best = model.logits(lines, z).argmax(-1)
    kept = line_mask(lines, END)
    assert torch.equal(lines[kept], best[kept])
    inner = lines[:, 1:-1] != lines[:, :1]
    assert (inner & kept[:, 1:-1]).any()  # or it would not matter which letter is told
    assert (lines[~kept] == END).all()
    assert model.decode(z.view(4, 5, 2)).shape == (4, 5, 8)


def test_the_bound_cannot_tell_collapse_from_use() -> None:
    """Two lines, half each: a writer that ignores z tells them by their first letter, for log 2 and no KL."""
    model = TextVAE(**SMALL | {"event_shape": (2,), "latent_dim": 1, "embedding": 2, "width": 2}).double()
    x = torch.tensor([[0, 0], [1, 1]])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        writer = model.decoder
        writer.embedding.weight.copy_(torch.tensor([[-20.0, 0], [20.0, 0], [0, 0]]))
        writer.gru.cells[0].weight_x[4, 0] = 1.0  # the candidate state is the sign of the letter before
        writer.gru.cells[0].bias[2:4] = -40.0  # and replaces the old one
        writer.last.weight.copy_(torch.tensor([[-40.0, 0], [40.0, 0], [0, 0]]))
        writer.last.bias.copy_(torch.tensor([0.0, 0.0, -40.0]))
    parts = model.elbo_terms(x, generator=seeded())
    assert parts.elbo().mean().item() == pytest.approx(-math.log(2), abs=1e-6)
    assert parts.kl.abs().max() == 0


def test_surfaces_replays_and_gradients() -> None:
    model = random_vae()
    assert isinstance(model, Latent) and isinstance(model, Sampler)
    assert model.encode(LINES).shape == (15, 2) and model.iwae(LINES, 2).shape == (15,)
    contracts.reproducible(lambda seed: model.sample(8, generator=seeded(seed)))
    contracts.trace_replays(lambda seed: model.sample_trace(2, generator=seeded(seed)))
    batch = (LINES.repeat(3, 1),)
    model.train()
    contracts.every_parameter_gets_a_gradient(model, lambda: model.step(batch, "train"))


def test_one_batch_is_overfitted() -> None:
    torch.manual_seed(0)
    model = TextVAE(**SMALL | {"width": 16})
    batch = (LINES[[8, 3]].repeat(8, 1),)
    first = model.step(batch, "val").item()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(150):
        optimizer.zero_grad()
        model.step(batch, "train").backward()
        optimizer.step()
    with torch.no_grad():
        loss = -model.iwae(batch[0], 100, seeded()).mean().item()
    assert 0.99 * math.log(2) < loss < 0.6 * first  # two lines cost ln 2, no less


@pytest.mark.parametrize(
    ("settings", "text"),
    [({"vocab_size": 1}, "vocab_size is 1"), ({"event_shape": (2, 3)}, "give the tokens of a line"),
     ({"width": 0}, "width is 0"), ({"event_shape": (0,)}, "event_shape is"),
     ({"free_bits": math.nan}, "free_bits is nan")],
)  # fmt: skip
def test_bad_settings_are_named(settings: dict, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        TextVAE(**SMALL | settings)


def test_a_line_too_long_is_named() -> None:
    with pytest.raises(ValueError, match="A line has 4 tokens: give 1 to 3"):
        random_vae().encode(torch.zeros(1, 4, dtype=torch.long))
