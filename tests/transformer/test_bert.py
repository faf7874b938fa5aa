"""BERT against Hugging Face's own, against counts by hand, and against what its tasks must do."""

from typing import Any

import contracts
import pytest
import torch
import transformers
from torch import Tensor

from lab.hugging_face import bert_tensors
from modules.transformer.bert import BERT
from modules.transformer.bert_heads import SentenceClassifier
from modules.transformer.encoder import Encoder

SMALL: dict[str, Any] = {"vocab_size": 23, "length": 12, "layers": 2, "heads": 2, "width": 8}
ROWS = torch.tensor([[0, 7, 3, 9, 1, 12, 5, 1], [0, 8, 1, 6, 1, 4, 4, 4]])


def from_hugging_face(state: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Weights of a `BertForPreTraining` under the names of `BERT`, as `lab import` takes them over."""
    sources = bert_tensors(state, layers, ("masked", "next"))
    left = state.keys() - {name for source in sources.values() for name in source.names}
    assert left <= {f"cls.predictions.decoder.{kind}" for kind in ("weight", "bias")} | {
        "bert.embeddings.position_ids"
    }
    return {own: torch.cat([state[name] for name in source.names]) for own, source in sources.items()}


def test_it_computes_what_hugging_face_computes_from_the_same_weights() -> None:
    config = transformers.BertConfig(
        vocab_size=23, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=12, layer_norm_eps=1e-12,
    )  # fmt: skip
    theirs = contracts.exact(transformers.BertForPreTraining(config))
    model = BERT(**SMALL).double().eval()
    model.load_state_dict(from_hugging_face(theirs.state_dict(), 2), strict=False)
    segments = torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]])
    seen = ROWS != 4
    given = {"input_ids": ROWS, "token_type_ids": segments, "attention_mask": seen.long()}
    expected, hidden = theirs(**given), theirs.bert(**given)
    # segments and padding are those of the tokens themselves
    assert torch.equal(model.encoder.second(ROWS)[seen], segments[seen])
    ours = model(ROWS)
    assert (ours - hidden.last_hidden_state)[seen].abs().max() < 1e-9
    assert model.pooler is not None
    assert (model.pooler(ours) - hidden.pooler_output).abs().max() < 1e-9
    assert (model.predict(ROWS) - expected.prediction_logits)[seen].abs().max() < 1e-9
    assert (model.pair_logits(ours) - expected.seq_relationship_logits).abs().max() < 1e-9
    other = model(ROWS, segments=1 - segments)
    assert (other - ours).abs().max() > 1e-3, "segments are read"


def test_counts_of_bert_large() -> None:
    """TF-O22; the text says roughly 340 million."""
    with torch.device("meta"):
        model = BERT(30_000, length=512, layers=24, heads=16, width=1024)
    count = {name: sum(p.numel() for p in part.parameters()) for name, part in model.named_children()}
    encoder = model.encoder
    block = sum(p.numel() for p in encoder.stack.blocks[0].parameters())
    d, f = 1024, 4096
    assert block == 4 * (d * d + d) + 2 * d * f + f + d + 4 * d == 12_596_224
    stack = sum(p.numel() for p in encoder.stack.parameters())
    assert stack == 302_309_376
    assert stack + encoder.embedding.weight.numel() + encoder.positions.table.numel() == 333_553_664
    assert count["encoder"] + count["pooler"] == 334_607_360
    assert model.num_parameters == 335_691_058


def test_seven_tokens_with_two_hidden_give_two_terms_of_loss() -> None:
    """TF-O27: other targets and other logits do not matter."""
    model = contracts.exact(BERT(**SMALL, tasks=["masked"]))
    tokens = torch.tensor([[0, 7, 3, 9, 3, 12, 1]])
    targets = torch.tensor([[-100, -100, 8, -100, 10, -100, -100]])
    nothing = torch.full((1,), -100), torch.full((1, 7), -100)
    logits = model.predict(tokens)
    expected = -(logits[0, 2].log_softmax(-1)[8] + logits[0, 4].log_softmax(-1)[10]) / 2
    assert torch.allclose(model.step((tokens, targets, *nothing), "train"), expected, atol=1e-12)
    assert int((targets != -100).sum()) == 2
    # no gradient from what is not hidden
    captured: list[Tensor] = []

    def keep(module: Any, given: Any, output: Tensor) -> None:
        output.retain_grad()
        captured.append(output)

    model.encoder.register_forward_hook(keep)
    model.step((tokens, targets, *nothing), "train").backward()
    grad = captured[0].grad
    assert grad is not None and grad[0, [2, 4]].abs().sum(-1).min() > 0
    assert grad[0, [0, 1, 3, 5, 6]].abs().max() == 0
    none = model.step((tokens, torch.full_like(targets, -100), *nothing), "train")
    assert none == 0 and none.isfinite()


def test_a_hidden_word_is_predicted_from_both_sides() -> None:
    model = contracts.exact(BERT(**SMALL, tasks=["masked"]))
    before = model.predict(torch.tensor([[0, 7, 3, 9, 1]]))[0, 2]
    for at in (1, 3):
        tokens = torch.tensor([[0, 7, 3, 9, 1]])
        tokens[0, at] = 15
        assert (model.predict(tokens)[0, 2] - before).abs().max() > 1e-6


def test_padding_changes_nothing_and_a_batch_is_its_rows() -> None:
    model = contracts.exact(BERT(**SMALL))
    alone = model(ROWS[1:, :5])
    assert torch.allclose(model(ROWS)[1:, :5], alone, atol=1e-10)
    assert torch.allclose(model.pair_logits(model(ROWS))[1:], model.pair_logits(alone), atol=1e-10)
    assert model(torch.zeros(0, 3, dtype=torch.long)).shape == (0, 3, 8)
    assert model(torch.tensor([[5]])).shape == (1, 1, 8)


@pytest.mark.parametrize("task", ["next", "order", "replaced"])
def test_a_contrastive_task_is_the_cross_entropy_of_two_classes(task: Any) -> None:
    model = contracts.exact(BERT(**SMALL, tasks=[task]))
    pair, replaced = torch.tensor([1, 0]), torch.tensor([[-100, 1, 0, 0, -100, 1, 0, -100]] * 2)
    hidden = model(ROWS)
    if task == "replaced":
        assert model.replaced is not None
        log = model.replaced(hidden)[..., 0]
        sign = torch.where(replaced == 1, 1.0, -1.0)
        expected = torch.nn.functional.softplus(-sign * log)[replaced != -100].mean()
    else:
        logits = model.pair_logits(hidden)
        expected = (logits.exp().sum(1).log() - logits.gather(1, pair[:, None])[:, 0]).mean()
    loss = model.step((ROWS, torch.full_like(ROWS, -100), pair, replaced), "train")
    assert torch.allclose(loss, expected, atol=1e-12)
    with pytest.raises(ValueError, match="predicts no words"):
        model.predict(ROWS)


def test_bad_input_gets_a_sentence() -> None:
    for tasks in ([], ["next", "order"], ["masking"], "masked"):
        with pytest.raises(ValueError, match="tasks"):
            BERT(**SMALL, tasks=tasks)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="padding is 23"):
        Encoder(23, padding=23)
    model = BERT(**SMALL, tasks=["masked"])
    with pytest.raises(ValueError, match="give \\(B, T\\)"):
        model(torch.zeros(3, dtype=torch.long))
    with pytest.raises(ValueError, match="judges no pairs"):
        model.pair_logits(model(ROWS))
    with pytest.raises(ValueError, match="position"):
        model(torch.zeros(1, 13, dtype=torch.long))


def test_a_frozen_encoder_stays_as_it_is() -> None:
    model = SentenceClassifier(**SMALL, frozen=True, dropout=0.5, optimizer=torch.optim.SGD)
    assert not model.train().encoder.training and model.head.training
    trained = [p for group in model.parameter_groups() for p in group["params"]]
    assert sum(p.numel() for p in trained) == 9
    model.step((ROWS, torch.tensor([0, 1])), "train").backward()
    assert all(p.grad is None for p in model.encoder.parameters()) and model.head.weight.grad is not None
    whole = SentenceClassifier(**SMALL, dropout=0.5).train()
    assert whole.encoder.training
