"""BLEU as the callback measures it: sacreBLEU's of the same texts, in one process or several, on the card."""

from typing import Any

import lightning as L
import pytest
import sacrebleu
import torch

from datamodules.spanish import Spanish
from lab import weights
from lab.errors import UserError
from lab.experiments import ZOO, find
from lab.training.bleu import SIGNATURE, CorpusBLEU, best_of_beam, texts
from modules.recurrent.seq2seq import Seq2Seq


def measured(callback: CorpusBLEU, model: Any, data: Any) -> dict[str, float]:
    quiet = dict.fromkeys(("logger", "enable_checkpointing", "enable_progress_bar"), False)
    trainer = L.Trainer(accelerator="cpu", devices=1, callbacks=[callback], **quiet)
    trainer.test(model, datamodule=data, verbose=False)
    return {name: float(value) for name, value in trainer.callback_metrics.items()}


@pytest.fixture(scope="module")
def model() -> Seq2Seq:
    model = weights.load("fixed-spanish").eval()
    assert isinstance(model, Seq2Seq)
    return model


@pytest.mark.parametrize("case", ["mixed", "lc"])
def test_it_is_sacrebleus(model: Seq2Seq, case: str) -> None:
    """Over two batches of unequal size, greedy and by a beam of 3."""
    data = Spanish(num_test=15, batch_size=8)
    metrics = measured(CorpusBLEU(SIGNATURE.replace("mixed", case), width=3, alpha=0.0), model, data)
    source, lengths, _, target = data.test_set[torch.arange(15)]
    references = texts(target, model.eos, data.tokenizer)
    with torch.no_grad():
        greedy = texts(model.translate(source, lengths, 80), model.eos, data.tokenizer)
        beam, _ = best_of_beam(model, source, lengths, data.tokenizer, 3, 0.0)
    for name, lines in (("bleu", greedy), ("bleu_beam", beam)):
        score = sacrebleu.corpus_bleu(lines, [references], lowercase=case == "lc", tokenize="13a").score
        assert 0 < score < 100 and metrics[f"test/{name}"] == pytest.approx(score, abs=1e-3)
    assert "test/nll" in metrics  # the model's own stay


def test_case_counts_or_not() -> None:
    for case, least, most in (("mixed", 0, 90), ("lc", 99.9, 100.1)):
        score = CorpusBLEU(SIGNATURE.replace("mixed", case)).scores["bleu"]
        score.update(["A Cat sat on the mat today ."], [["a cat sat on the mat today ."]])
        assert least < 100 * float(score.compute()) < most


def test_a_second_test_counts_anew(model: Seq2Seq) -> None:
    callback, few = CorpusBLEU(width=1), Spanish(num_test=6)
    first = measured(callback, model, Spanish(num_test=15))
    again = measured(callback, model, few)
    assert again == measured(CorpusBLEU(width=1), model, few) != first


@pytest.mark.parametrize(
    "signature",
    ["", "nrefs:2|case:mixed|eff:no|tok:13a|smooth:none", "tok:13a", SIGNATURE.replace("mixed", "x"),
     SIGNATURE.replace("13a", "other")],
)  # fmt: skip
def test_other_signatures_are_refused(signature: str) -> None:
    with pytest.raises(UserError, match="signature is"):
        CorpusBLEU(signature)


def test_what_does_not_fit_is_refused_before_the_training() -> None:
    trainer = L.Trainer(accelerator="cpu", devices=1, max_epochs=1, callbacks=[CorpusBLEU()], logger=False,
                        enable_checkpointing=False, enable_progress_bar=False)  # fmt: skip
    model = weights.load("tagger-homographs")
    model.training_step = lambda *_: pytest.fail("trained")  # type: ignore[method-assign]
    with pytest.raises(UserError, match="translates nothing"):
        trainer.fit(model, datamodule=Spanish(num_train=64, num_val=4))
    with pytest.raises(ValueError, match="width is 0"):
        CorpusBLEU(width=0)


def test_cards_of_the_translators_say_it_and_how_it_is_counted() -> None:
    """At least 30 BLEU, and ten more than through a fixed context, greedy and by a beam of five."""
    cards = [weights.read_card(ZOO / f"{name}-multi30k-de-en") for name in ("attention", "fixed")]
    for card in cards:
        (callback,) = card["config"]["trainer"]["callbacks"]
        assert callback == find(card["experiment"]).config["trainer"]["callbacks"][0]
        assert callback["init_args"] == {"signature": SIGNATURE, "width": 5, "alpha": 0.6}
    attention, fixed = (card["metrics"] for card in cards)
    for name in ("test/bleu", "test/bleu_beam"):
        assert attention[name] >= 30 and attention[name] - fixed[name] >= 9.9
    assert attention["test/bleu_beam"] - fixed["test/bleu_beam"] >= 10
