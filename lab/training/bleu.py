"""BLEU of translators, measured where their other metrics are: at the test, once.

References: Papineni et al. 2002, BLEU; Post 2018, arXiv:1804.08771 (signatures); Wu et al. 2016,
arXiv:1609.08144 §7 (length normalization).
"""

from typing import Any

import lightning as L
import torch
from torch import Tensor
from torchmetrics.text import SacreBLEUScore

from datamodules.tokenizer import Tokenizer
from lab.errors import UserError
from modules.base import BatchShard, require
from modules.language.beam import batched_beam_search
from modules.language.translation import IGNORED, TranslationModel

OFFSET = 5.0  # of ((5 + n) / 6)^α
LENGTH = 80  # the most tokens of a translation
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:none"


def texts(tokens: Tensor, eos: int, coder: Tokenizer) -> list[str]:
    """Texts of targets or translations (B, T), up to their ends."""
    return [coder.decode([t for t in row if t not in (eos, IGNORED)]) for row in tokens.tolist()]


def best_of_beam(
    model: TranslationModel, source: Tensor, lengths: Tensor, coder: Tokenizer, width: int, alpha: float
) -> tuple[list[str], list[float]]:
    """Translations of sources (B, S) that a beam finds, as texts, and their log p in nats."""
    padding = torch.arange(source.shape[1], device=source.device) >= lengths[:, None]
    found = batched_beam_search(model, source, LENGTH, width, model.eos, alpha, OFFSET, padding=padding)
    lines = [coder.decode([t for t in best.tokens if t != model.eos]) for best, *_ in found]
    return lines, [best.log_prob for best, *_ in found]


class CorpusBLEU(L.Callback):
    """BLEU of the test split in per cent: `test/bleu` of greedy translations, `test/bleu_beam` of a beam.

        trainer:
          callbacks:
            - class_path: lab.training.bleu.CorpusBLEU

    The data have one target for each source, and a `tokenizer`; texts are compared as they are written. What
    does not fit is refused before the training, not at the test behind it.

    Args:
        signature: how BLEU is counted, as sacreBLEU spells it: `tok` is its tokenization, `case` "mixed" or
            "lc"; one reference, no effective order, no smoothing.
        width: of the beam. alpha: its translations are compared by log p / ((5 + n) / 6)^α.

    Raises:
        UserError: the signature is of another kind, or the model is no translator.
        ValueError: width is below 1.
    """

    def __init__(self, signature: str = SIGNATURE, width: int = 5, alpha: float = 0.6) -> None:
        said = dict(part.partition(":")[::2] for part in signature.split("|"))
        fixed = {"nrefs": "1", "eff": "no", "smooth": "none"}
        if said.keys() != {*fixed, "case", "tok"} or any(said[key] != fixed[key] for key in fixed):
            raise UserError(f"signature is {signature!r}: it must be of the form {SIGNATURE}.")
        if said["case"] not in ("mixed", "lc"):
            raise UserError(f"signature is {signature!r}: its case must be mixed or lc.")
        require(1, width=width)
        options: dict[str, Any] = {"tokenize": said["tok"], "lowercase": said["case"] == "lc"}
        self.width, self.alpha = width, alpha
        try:
            self.scores = {name: SacreBLEUScore(**options) for name in ("bleu", "bleu_beam")}
        except (
            ValueError,
            ModuleNotFoundError,
        ) as error:  # an unknown tok, or one of a package that is not here
            raise UserError(f"signature is {signature!r}: {error}") from None

    def setup(self, trainer: L.Trainer, pl_module: L.LightningModule, stage: str) -> None:
        if not isinstance(pl_module, TranslationModel):
            raise UserError(f"{type(pl_module).__name__} translates nothing: leave CorpusBLEU out.")

    def on_test_start(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        for score in self.scores.values():
            score.to(pl_module.device).reset()

    def on_test_batch_end(
        self, trainer: L.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:  # fmt: skip
        if isinstance(batch, BatchShard):
            if not batch.weight:  # another process counts it
                return
            batch = batch.batch
        source, lengths, _, target = batch
        coder = trainer.datamodule.tokenizer  # type: ignore[attr-defined]
        references = [[line] for line in texts(target, pl_module.eos, coder)]
        greedy = texts(pl_module.translate(source, lengths, LENGTH), pl_module.eos, coder)
        beam, _ = best_of_beam(pl_module, source, lengths, coder, self.width, self.alpha)
        for score, lines in zip(self.scores.values(), (greedy, beam), strict=True):
            score.update(lines, references)

    def on_test_epoch_end(self, trainer: L.Trainer, pl_module: L.LightningModule) -> None:
        for name, score in self.scores.items():
            pl_module.log(f"test/{name}", 100 * score.compute())
