"""Sequence to sequence: a density that is decoded step by step, who sees whom, padding, forced and free."""

import contracts
import pytest
import torch
import torch.nn.functional as F
from contracts import exact
from torch import Tensor

from lab.lenses import attention as lens
from modules.language.beam import batched_beam_search, batched_exhaustive_search, beam_search
from modules.language.information import perplexity, perplexity_per
from modules.language.translation import IGNORED
from modules.recurrent.context import Context
from modules.recurrent.seq2seq import Seq2Seq
from modules.transformer.recorder import record_attention
from modules.transformer.source_attention import joined

V = 5
KINDS = {
    "additive": {},
    "dot, LSTM, two layers": {"context": "dot", "cell": "lstm", "layers": 2},
    "scaled, one way": {"context": "scaled", "score_width": 3, "bidirectional": False},
    "additive, reversed": {"bidirectional": False, "reverse": True},
    "ends": {"context": "ends"},
    "tied": {"tied": True},
    "mean": {"context": "mean", "cell": "lstm"},
    "last, reversed, first state": {
        "context": "last", "cell": "lstm", "bidirectional": False, "reverse": True, "every_step": False,
    },
}  # fmt: skip
kinds = pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)

LENGTHS, TARGETS = torch.tensor([4, 1, 3, 2]), torch.tensor([2, 5, 1, 4])
SOURCE = torch.randint(V, (4, 4), generator=torch.Generator().manual_seed(1))
TARGET = torch.randint(V, (4, 5), generator=torch.Generator().manual_seed(2))
PADDED = TARGET.masked_fill(torch.arange(5) >= TARGETS[:, None], IGNORED)
SENTENCES = [
    (SOURCE[b : b + 1, :n], TARGET[b : b + 1, :m])
    for b, (n, m) in enumerate(zip(LENGTHS, TARGETS, strict=True))
]


def model_of(settings, **more) -> Seq2Seq:
    return exact(Seq2Seq(V, embedding=3, hidden=4, **{**settings, **more}))


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


@kinds
def test_targets_have_mass_one_and_are_decoded_step_by_step(settings):
    """Σ_y p(y | x) = 1 over all y of three tokens; forced log p is the decoder's sum, each row."""
    model = model_of(settings)
    contracts.density_sums_to_one(
        lambda y: model.log_prob(y, SOURCE[:1, :3].expand(len(y), -1)), (3,), V, dtype=torch.int64
    )
    decoder = model.incremental_decoder()
    padding = torch.arange(4) >= LENGTHS[:, None]
    log_p, state = decoder.start(SOURCE, padding)
    total = torch.zeros(4).double()
    logits, gamma = model(SOURCE, TARGET, LENGTHS)
    for t, token in enumerate(TARGET.unbind(1)):
        close(log_p, logits[:, t].log_softmax(-1))
        close(state.gamma, gamma[:, t])
        total += log_p.gather(1, token[:, None])[:, 0]
        if t + 1 < TARGET.shape[1]:
            rows = torch.tensor([3, 0, 0, 2, 1])  # kept, repeated and moved by a search
            other, _ = decoder.step(state[rows], token[rows])
            log_p, state = decoder.step(state, token)
            close(other, log_p[rows])
    close(total, model.log_prob(TARGET, SOURCE, LENGTHS))


@kinds
def test_a_padded_batch_is_its_sentences_alone(settings):
    """Losses, gradients, states, translations and searches; whatever stands in the padding of the source."""
    model = model_of(settings)
    whole = model.log_prob(PADDED, SOURCE, LENGTHS)
    alone = torch.cat([model.log_prob(target, source) for source, target in SENTENCES])
    close(whole, alone)
    parameters = list(model.parameters())
    for a, b in zip(*(torch.autograd.grad(p.sum(), parameters) for p in (whole, alone)), strict=True):
        close(a, b)
    batch = (SOURCE, LENGTHS, model.inputs(PADDED), PADDED)
    close(model.step(batch, "train"), -alone.sum() / TARGETS.sum())
    assert int(model.loss_terms(batch)) == TARGETS.sum()
    junk = torch.where(torch.arange(4) < LENGTHS[:, None], SOURCE, (SOURCE + 1) % V)
    assert torch.equal(model.log_prob(PADDED, junk, LENGTHS), whole)

    padding = torch.arange(4) >= LENGTHS[:, None]
    _, state = model.incremental_decoder().start(SOURCE, padding)
    translated = model.translate(SOURCE, LENGTHS, 6)
    beams = batched_beam_search(model, SOURCE, 3, width=3, eos=1, padding=padding)
    best = batched_exhaustive_search(model, SOURCE, 3, eos=1, padding=padding)
    for b, (source, _) in enumerate(SENTENCES):
        _, single = model.incremental_decoder().start(source)
        close(state.state.h[b], single.state.h[0])
        close(state.gamma[b, : LENGTHS[b]], single.gamma[0])
        assert not state.gamma[b, LENGTHS[b] :].any()
        short = model.translate(source, length=6)[0]
        n = len(short)
        assert torch.equal(translated[b, :n], short) and (translated[b, n:] == 1).all()
        found = beam_search(model, source, 3, width=3, eos=1)
        assert [h.tokens for h in found] == [h.tokens for h in beams[b]]
        assert found[0].log_prob == pytest.approx(beams[b][0].log_prob, abs=1e-10)
        log_p = model.log_prob(torch.tensor([best[b].tokens]), source).item()
        assert best[b].log_prob == pytest.approx(log_p, abs=1e-10)
        assert not found[0].finished or best[b].log_prob >= found[0].log_prob - 1e-10


@pytest.mark.parametrize("settings", [kind for kind in KINDS.values() if "tied" not in kind])
def test_no_step_sees_the_token_that_it_predicts(settings):
    """The gradient of step t's logits by gold tokens y_≥t is exactly 0; that of its weights also by y_{t−1},
    as the score has s_{t−1}, which has read y_{t−2}, and never s_t."""
    model = model_of(settings)
    tokens = model.inputs(TARGET[:1])[0]  # <bos>, y_1 … y_4
    contracts.causal_in_tokens(lambda t: model.decode(SOURCE[:1], t)[0], model.embedding, tokens)
    if settings.get("context", "additive") not in ("additive", "dot", "scaled"):
        return
    vectors = model.embedding(tokens[None]).detach().requires_grad_()
    model.embedding.register_forward_hook(lambda *_: vectors)
    _, gamma = model.decode(SOURCE[:1], tokens[None])
    for t in range(1, 5):
        (gradient,) = torch.autograd.grad(gamma[0, t, 0], vectors, retain_graph=True)
        assert not gradient[0, t:].any() and gradient[0, :t].abs().amax(-1).min() > 0


class LastOnly(Context):
    """Attention whose weights are forced on j = S."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def remember(self, z, mask):
        return (z,)

    def forward(self, state, memory, mask):
        gamma = F.one_hot(mask.sum(1) - 1, mask.shape[1]).to(state)
        return (gamma[:, :, None] * memory[0]).sum(1), gamma


def test_attention_to_the_last_state_alone_is_a_fixed_context_at_every_step():
    fixed, attended = model_of({"context": "last"}), model_of({"context": "dot"})
    attended.context = LastOnly(8)
    attended.load_state_dict(fixed.state_dict())
    for a, b in zip(fixed(SOURCE, TARGET, LENGTHS), attended(SOURCE, TARGET, LENGTHS), strict=True):
        close(a, b)


def test_reading_backwards_is_reading_the_reversed_source():
    """And the weights stay where the words are."""
    settings = {"bidirectional": False}
    plain, backwards = model_of(settings), model_of(settings, reverse=True)
    backwards.load_state_dict(plain.state_dict())
    logits, gamma = plain(SOURCE.flip(1), TARGET)
    close(backwards(SOURCE, TARGET)[0], logits)
    close(backwards(SOURCE, TARGET)[1], gamma.flip(2))


def test_the_first_state_is_of_the_half_that_has_read_all():
    """s_0 = tanh(W_s h←_1 + b_s); where the context is the first state alone, of c."""
    model = model_of({})
    z, _ = model.encoder(model.source_embedding(SOURCE))
    close(model.read(SOURCE).state.h[:, 0], model.first_state(z[:, 0, 4:]).tanh())
    model = model_of({"context": "ends", "every_step": False})
    z, _ = model.encoder(model.source_embedding(SOURCE))
    ends = torch.cat([z[:, -1, :4], z[:, 0, 4:]], 1)
    close(model.read(SOURCE).state.h[:, 0], model.first_state(ends).tanh())


def test_the_source_is_projected_once():
    model, calls = model_of({}), []
    model.context.attention.key.register_forward_hook(lambda *_: calls.append(1))
    logits, _ = model(SOURCE, TARGET, LENGTHS)
    assert len(calls) == 1
    now, steps = model.read(SOURCE, LENGTHS), []
    z, _ = model.encoder(model.source_embedding(SOURCE), lengths=LENGTHS)
    for token in model.inputs(TARGET).unbind(1):
        now = type(now)(now.state, model.context.remember(z, now.mask), now.mask)  # U z anew at every step
        joined, now = model.advance(model.embed(token), now)
        steps.append(model.logits(joined))
    close(torch.stack(steps, 1), logits)


def test_free_running_reads_what_it_says():
    """Gold tokens are not read; the loss of one token is the forced one, of more it is another number."""
    model = model_of({})
    inputs = model.inputs(TARGET)
    free, _ = model.decode(SOURCE, inputs, LENGTHS, own=1.0)
    other, _ = model.decode(SOURCE, F.pad(inputs[:, 1:] * 0 + 3, (1, 0)), LENGTHS, own=1.0)
    assert torch.equal(free, other)
    close(free[:, 0], model(SOURCE, TARGET, LENGTHS)[0][:, 0])
    own = F.pad(free.argmax(-1), (1, 0))[:, :-1]
    close(model.decode(SOURCE, own, LENGTHS)[0], free)
    model.eos = 99  # no translation ends
    assert torch.equal(model.translate(SOURCE, LENGTHS, 5), free.argmax(-1))

    batch = (SOURCE, LENGTHS, model.inputs(PADDED), PADDED)
    model.step(batch, "val")
    measured = {name: float(model.meters[f"val_{name}"].compute()) for name in ("nll", "free_loss")}
    kept = PADDED != IGNORED
    expected = F.cross_entropy(free[kept], PADDED[kept])
    assert measured["free_loss"] == pytest.approx(float(expected), abs=1e-10)
    nats = -model.log_prob(PADDED, SOURCE, LENGTHS)
    assert measured["nll"] == pytest.approx(float(nats.sum() / TARGETS.sum()), abs=1e-10)
    assert abs(measured["nll"] - measured["free_loss"]) > 1e-3


def test_perplexity_is_per_token_or_per_word():
    """Of the same nats: one token and an end spelled in three pieces and an end."""
    model = model_of({})
    nats = -model.log_prob(PADDED, SOURCE, LENGTHS)
    per_token, per_word = perplexity_per(nats, TARGETS), perplexity_per(nats, torch.tensor([1, 2, 1, 2]))
    assert float(per_token) == pytest.approx(float((nats.sum() / 12).exp()))
    assert float(per_word) == pytest.approx(float(per_token) ** 2)  # half as many words
    one = torch.tensor([0.3, 0.5])
    assert perplexity_per(one.sum()[None], torch.tensor([2])).item() == pytest.approx(perplexity(one).item())


def test_scheduled_sampling_mixes_by_coins():
    """Step by step, with the same coins; its training loss is no nll, and does not carry that name."""
    model = model_of({}, scheduled_sampling=0.5)
    inputs = model.inputs(TARGET)
    torch.manual_seed(0)
    mixed, _ = model.decode(SOURCE, inputs, LENGTHS, own=0.5)
    torch.manual_seed(0)
    read = inputs.clone()
    for t in range(1, 5):
        coins = torch.rand(4) < 0.5
        read[:, t] = torch.where(coins, mixed[:, t - 1].argmax(-1), inputs[:, t])
    assert (read != inputs).any()
    close(model.decode(SOURCE, read, LENGTHS)[0], mixed)
    model.step((SOURCE, LENGTHS, inputs, TARGET), "train")
    assert model.meters["train_mixed_loss"].count == 20 and model.meters["train_nll"].count == 0


def test_twenty_million_parameters():
    """A public GRU RNNsearch has 20,518,405. Ours has one bias a gate where torch has two (three cells, 2 H
    each), none in the score, and s_0 from the right half, H columns of W_s less."""
    with torch.device("meta"):
        model = Seq2Seq(5893, 7853, embedding=256, hidden=512)
    H = 512
    assert model.num_parameters == 20_252_677 == 20_518_405 - 3 * 2 * H - H * H - H


def test_an_alignment_is_recorded_without_a_change():
    for settings in ({}, {"context": "scaled"}):
        model = model_of(settings)
        plain = model(SOURCE[:1], TARGET[:1])
        with record_attention() as seen:
            watched = model(SOURCE[:1], TARGET[:1])
        assert torch.equal(plain[0], watched[0])
        assert torch.equal(joined(seen.calls[model.context.attention])[:, 0], plain[1])
        assert torch.equal(lens.alignment(model, SOURCE[0], TARGET[0]), plain[1][0])
    fixed = model_of({"context": "mean"})
    assert (lens.alignment(fixed, SOURCE[0], TARGET[0]) == 0.25).all()


@pytest.mark.parametrize("settings", [{}, {"context": "last", "bidirectional": False}], ids=["soft", "fixed"])
def test_it_learns_to_copy_three_symbols(settings):
    torch.manual_seed(0)
    model = Seq2Seq(5, embedding=8, hidden=16, **settings)
    source = torch.cartesian_prod(*[torch.arange(2, 5)] * 3)  # all 27
    target = F.pad(source, (0, 1), value=1)
    batch = (source, torch.full((27,), 3), model.inputs(target), target)
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=0.02), [1.0]
    while losses[-1] > 0.02 and len(losses) < 300:
        loss = model.step(batch, "train")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert torch.equal(model.translate(source, length=4), target)


def test_tied_languages_have_one_table():
    """It embeds the source, embeds the target and reads out: p = softmax(E (W [s, c, y] + b))."""
    model = model_of({"tied": True})
    assert [n for n, p in model.named_parameters() if len(p) == V] == ["embedding.weight"]
    inputs: list[Tensor] = []
    model.head.register_forward_hook(lambda _, read, out: inputs.extend([*read, out]))
    logits, _ = model(SOURCE, TARGET, LENGTHS)
    assert inputs[0].shape == (4, 5, 4 + 8 + 3)
    close(logits, inputs[1] @ model.embedding.weight.mT)
    before = model.read(SOURCE, LENGTHS).state.h
    with torch.no_grad():
        model.embedding.weight[SOURCE[0, 0]] += 1
    assert (model.read(SOURCE, LENGTHS).state.h != before)[0].all()


@pytest.mark.parametrize(
    "settings",
    [
        {"context": "first"},
        {"every_step": False},
        {"context": "mean", "score_width": 3},
        {"context": "dot", "score_width": 3},
        {"reverse": True},
        {"context": "ends", "bidirectional": False},
        {"scheduled_sampling": 1.5},
        {"dropout": 1.0},
        {"tied": True, "source_vocab_size": V + 1},
        {"eos": V},
        {"embedding": 0},
        {"cell": "ssm"},
    ],
)
def test_what_contradicts_itself_is_refused(settings):
    with pytest.raises(ValueError, match=r"[.]$"):
        Seq2Seq(V, **settings)
