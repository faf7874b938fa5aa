"""The recurrent language model: its chunks are one pass, its steps are its density, its gradient is cut."""

import math
from types import SimpleNamespace
from typing import Any, Literal

import contracts
import pytest
import torch

from lab import weights
from lab.experiments import ZOO
from modules.language import decoding, information
from modules.recurrent.language_model import RecurrentLM

CELLS: tuple[Literal["rnn", "lstm", "gru"], ...] = ("rnn", "lstm", "gru")
cells = pytest.mark.parametrize("cell", CELLS)


def small(cell: Any = "lstm", **knobs: Any) -> RecurrentLM:
    return contracts.exact(RecurrentLM(5, cell, **{"embedding": 3, "hidden": 4, "layers": 2, **knobs}))


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randint(5, shape, generator=contracts.seeded(seed))


def chunks(x: torch.Tensor, k: int) -> list[tuple[torch.Tensor, torch.Tensor, bool]]:
    """Text (B, T + 1) as chunks of k tokens, k or fewer at the end."""
    T = x.shape[1] - 1
    return [(x[:, t : min(t + k, T)], x[:, t + 1 : t + k + 1], t > 0) for t in range(0, T, k)]


def test_first_loss_of_a_zero_head_is_uniform() -> None:
    """RN-O13: ln 65 = 4.174387 nats, perplexity 65."""
    model = RecurrentLM(65, embedding=3, hidden=4).double()
    for p in model.head.parameters():
        torch.nn.init.zeros_(p)
    x = torch.randint(65, (8, 21), generator=contracts.seeded())
    nats = model.step((x[:, :-1], x[:, 1:]), "val")
    assert nats.item() == pytest.approx(4.174387, abs=1e-6)
    assert information.perplexity(nats).item() == pytest.approx(65, abs=1e-9)


def test_loss_at_the_start_is_near_uniform() -> None:
    """RN-O27."""
    for cell in CELLS:
        torch.manual_seed(0)
        x = torch.randint(65, (8, 51), generator=contracts.seeded())
        assert RecurrentLM(65, cell).step((x[:, :-1], x[:, 1:]), "val").item() == pytest.approx(
            math.log(65), abs=0.1
        )


@cells
@torch.no_grad()
def test_chunks_with_the_carried_state_are_one_pass(cell: str) -> None:
    """RN-O13, and that without the state they are not."""
    model, x = small(cell), drawn(3, 24)
    whole, end = model(x[:, :-1])
    for k in (1, 4, 7, 23):
        state, logits = None, []
        for tokens, _, _ in chunks(x, k):
            part, state = model(tokens, state)
            logits.append(part)
        assert (torch.cat(logits, 1) - whole).abs().max() < 1e-12
        assert (state.h - end.h).abs().max() < 1e-12
        losses = [model.step(chunk, "val") * chunk[0].shape[1] for chunk in chunks(x, k)]
        one = model.step((x[:, :-1], x[:, 1:]), "val")
        assert sum(losses).item() / 23 == pytest.approx(one.item(), abs=1e-12)
    anew = torch.cat([model(tokens)[0] for tokens, _, _ in chunks(x, 4)], 1)
    assert (anew - whole).abs().max() > 0.01


def test_splits_carry_their_own_state() -> None:
    model, x = small(), drawn(2, 9)
    first, second = chunks(x, 4)
    model.step(first, "train")
    model.step((drawn(1, 4, seed=1), drawn(1, 4, seed=2), False), "val")
    model.step((drawn(1, 4, seed=1), drawn(1, 4, seed=2)), "train")  # texts by themselves touch none
    after = model.step(second, "train")
    whole = -model(x[:, :-1])[0].log_softmax(-1).gather(-1, x[:, 1:, None])[:, 4:].mean()
    assert after.item() == pytest.approx(whole.item(), abs=1e-12)


@cells
def test_the_truncated_gradient_becomes_the_whole_one(cell: str) -> None:
    """RN-O13: equal at K ≥ T; before, it lacks what reaches further back than a chunk."""
    model, x = small(cell), drawn(2, 21)

    def gradient(k: int) -> torch.Tensor:
        model.zero_grad()
        for chunk in chunks(x, k):
            (model.step(chunk, "train") * chunk[0].shape[1] / 20).backward()
        return torch.cat([p.grad.flatten() for p in model.recurrent.parameters() if p.grad is not None])

    whole = gradient(20)
    errors = [float((gradient(k) - whole).norm() / whole.norm()) for k in (1, 5, 10, 30)]
    assert errors[0] > errors[2] and min(errors[:3]) > 0.001
    assert errors[3] == 0


def test_no_gradient_reaches_behind_a_chunk() -> None:
    model, x = small(), drawn(2, 9)
    first, second = chunks(x, 4)
    model.step(first, "train")
    before = model.carried["train"]
    assert not before.h.requires_grad
    assert before.cell is not None and not before.cell.requires_grad
    model.step(second, "train").backward()  # would walk through the first chunk's graph else


@cells
@torch.no_grad()
def test_steps_are_the_density(cell: str) -> None:
    model, x = small(cell), drawn(4, 7)
    contracts.next_tokens_make_the_density(model.next_log_probs, model.log_prob, x)
    assert (model.token_log_probs(x).sum(1) - model.log_prob(x)).abs().max() < 1e-12
    decoder = model.incremental_decoder()
    log_p, state = decoder.start(x[:, :2])
    rows = torch.tensor([3, 0, 0])
    for t in range(2, 7):
        assert (log_p - model.next_log_probs(x[:, :t])).abs().max() < 1e-12
        branch, _ = decoder.step(state[rows], x[rows, t])  # a search goes on from some of the rows
        log_p, state = decoder.step(state, x[:, t])
        assert (branch - log_p[rows]).abs().max() < 1e-12


@cells
@torch.no_grad()
def test_a_left_padded_batch_is_its_texts_alone(cell: str) -> None:
    model = small(cell)
    texts = [drawn(n, seed=n) for n in (5, 0, 3, 1)]
    tokens, padding = decoding.left_padded(texts)
    decoder = model.incremental_decoder()
    log_p, state = decoder.start(tokens.masked_fill(padding, 4), padding)
    next_p, _ = decoder.step(state, torch.tensor([1, 2, 3, 4]))
    for b, text in enumerate(texts):
        alone, own = decoder.start(text[None])
        assert (log_p[b] - alone[0]).abs().max() < 1e-12
        assert (next_p[b] - decoder.step(own, torch.tensor([b + 1]))[0][0]).abs().max() < 1e-12


@torch.no_grad()
def test_texts_end_or_go_on() -> None:
    """RN-O13: terminated within n tokens + still alive = 1."""
    model = contracts.exact(RecurrentLM(3, embedding=3, hidden=4, eos=2))
    alive = [contracts.configurations((n,), 2) for n in range(1, 5)]  # of the tokens 0 and 1
    ended = [torch.tensor([[2]]), *(torch.cat([x, torch.full((len(x), 1), 2)], 1) for x in alive[:-1])]
    total = sum(model.log_prob(x).exp().sum() for x in [*ended, alive[-1]])
    assert float(total) == pytest.approx(1, abs=1e-12)


@torch.no_grad()
def test_samples_are_drawn_through_the_state_and_follow_the_density() -> None:
    model = contracts.exact(RecurrentLM(3, "gru", embedding=3, hidden=4))
    samples = model.sample(5_000, length=3, generator=contracts.seeded())
    contracts.samples_follow_the_density(samples, model.log_prob, 3)
    read = []
    model.recurrent.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].shape[1]))
    model.sample(2, length=4, prompt=torch.tensor([0, 1]))
    assert read == [3, 1, 1, 1]  # the prompt behind its begin token, then one token a step


def test_tied_weights_are_one() -> None:
    model, free = (RecurrentLM(5, embedding=4, hidden=4, tied=tied) for tied in (True, False))
    assert free.num_parameters - model.num_parameters == 5 * 4
    assert model.head.weight is model.embedding.weight
    with pytest.raises(ValueError, match="embedding is 3 and hidden 4"):
        RecurrentLM(5, embedding=3, hidden=4, tied=True)


def test_dropout_is_of_outputs_while_training() -> None:
    model, x = small(dropout=0.5, layers=1).train(), drawn(2, 30)
    (one, a), (two, b) = model(x), model(x)
    assert not torch.allclose(one, two)
    assert torch.equal(a.h, b.h)  # what is carried on is whole
    model.eval()
    assert torch.equal(model(x)[0], model(x)[0])


@pytest.mark.parametrize(("cell", "parameters"), [("rnn", 103_041), ("lstm", 349_569), ("gru", 267_649)])
def test_number_of_parameters(cell: Any, parameters: int) -> None:
    """RN-X9: 350,593 of the LSTM with H = 256 over 65 characters have torch's second bias, 1,024 numbers."""
    assert RecurrentLM(65, cell).num_parameters == parameters


def test_it_learns_a_batch_by_heart() -> None:
    """RN-O27: below .01 nats per token."""
    torch.manual_seed(0)
    model, x = RecurrentLM(5, embedding=8, hidden=32), drawn(4, 13)
    x[:, 0] = torch.arange(4)  # what begins alike could not be told apart
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(150):
        optimizer.zero_grad()
        loss = model.step((x[:, :-1], x[:, 1:]), "train")
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.01


def test_a_checkpoint_keeps_the_state_of_every_stream_for_its_process() -> None:
    model, x = small("gru"), drawn(4, 9)
    model.step(chunks(x, 4)[0], "train")
    checkpoint: dict[str, Any] = {}
    model.on_save_checkpoint(checkpoint)
    for rank in (0, 1):
        other = small("gru")
        other._trainer = SimpleNamespace(global_rank=rank, world_size=2)  # type: ignore[assignment]
        other.on_load_checkpoint(checkpoint)
        assert torch.equal(other.carried["train"].h, model.carried["train"].h[rank::2])
    fresh: dict[str, Any] = {}
    small().on_save_checkpoint(fresh)
    small().on_load_checkpoint(fresh)  # of data that carry nothing
    assert not fresh


@pytest.mark.parametrize("corpus", ["shakespeare", "pydocs"])
def test_the_lstm_that_ships_is_not_above_the_counts(corpus: str) -> None:
    lstm, counts = (weights.read_card(ZOO / f"{kind}-{corpus}")["metrics"] for kind in ("lstm", "ngram"))
    assert all(lstm[f"{split}/nll"] <= counts[f"{split}/nll"] for split in ("val", "test"))


def test_the_lstm_that_ships_is_at_150_hundredths_of_a_nat_on_the_last_tenth() -> None:
    """Validation and test are the two halves of what nanoGPT validates on."""
    metrics = weights.read_card(ZOO / "lstm-shakespeare")["metrics"]
    assert (metrics["val/nll"] + metrics["test/nll"]) / 2 <= 1.50
