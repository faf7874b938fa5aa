"""Contiguous streams: chunks in order, shared among processes, gone on with inside an epoch."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import lightning as L
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint

from datamodules.base import BatchShard
from datamodules.streams import StreamedText
from modules.recurrent.language_model import RecurrentLM


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "own.txt"
    path.write_text("".join(chr(97 + i * i % 26) + (" " if i % 5 == 0 else "") for i in range(753)))
    return str(path)


def ready(**knobs: Any) -> StreamedText:
    data = StreamedText(**knobs)
    data.setup()
    return data


def test_a_pass_reads_every_stream_from_its_start_to_its_end(own: str) -> None:
    data = ready(corpus=own, context=16, batch_size=3)
    ids = torch.tensor(data.tokenizer.encode(data.split_text("train")))
    length = (len(ids) - 1) // 3
    chunks = list(data.train_dataloader())
    assert len(chunks) == len(data.train_dataloader()) == -(-length // 16)
    assert [goes_on for _, _, goes_on in chunks] == [False] + [True] * (len(chunks) - 1)
    assert all(tokens.shape == targets.shape == (3, 16) for tokens, targets, _ in chunks[:-1])
    tokens, targets = (torch.cat([chunk[i] for chunk in chunks], 1) for i in (0, 1))
    assert tokens.dtype == targets.dtype == torch.int64
    assert torch.equal(tokens, ids[: 3 * length].view(3, length))
    assert torch.equal(targets, ids[1 : 3 * length + 1].view(3, length))


def test_evaluation_is_one_stream_that_predicts_every_token_once(own: str) -> None:
    data = ready(corpus=own, context=7, batch_size=3)
    for split, loader in (("val", data.val_dataloader()), ("test", data.test_dataloader())):
        ids = data.tokenizer.encode(data.split_text(split))  # type: ignore[arg-type]
        chunks = list(loader)
        assert torch.cat([tokens[0] for tokens, _, _ in chunks]).tolist() == ids[:-1]
        assert torch.cat([targets[0] for _, targets, _ in chunks]).tolist() == ids[1:]


def test_processes_share_the_streams_and_the_first_evaluates(own: str) -> None:
    def of(rank: int, loader: str, **knobs: Any) -> list[Any]:
        data = ready(corpus=own, context=16, **knobs)
        data.trainer = SimpleNamespace(global_rank=rank, world_size=2)
        return list(getattr(data, loader)())

    whole = list(ready(corpus=own, context=16, batch_size=4).train_dataloader())
    for every, first, second in zip(
        whole, of(0, "train_dataloader", batch_size=4), of(1, "train_dataloader", batch_size=4), strict=True
    ):
        assert torch.equal(torch.stack([first[0], second[0]], 1).flatten(0, 1), every[0])
        assert first[2] == second[2] == every[2]
    for rank in (0, 1):
        parts = of(rank, "val_dataloader")
        assert all(isinstance(part, BatchShard) and part.weight == (rank == 0) for part in parts)
    with pytest.raises(ValueError, match="2 processes cannot share 3 streams evenly"):
        of(0, "train_dataloader", batch_size=3)


def test_a_text_shorter_than_its_streams_is_refused(own: str) -> None:
    with pytest.raises(ValueError, match=r"The train split has \d+ tokens, too few for 900 streams"):
        ready(corpus=own, context=2, batch_size=900)


def test_a_look_at_a_loader_does_not_move_it(own: str) -> None:
    loader = ready(corpus=own, context=8).train_dataloader()
    first = next(iter(loader))
    assert torch.equal(next(iter(loader))[0], first[0])


@pytest.mark.parametrize("after", [2, 5])
def test_a_resume_inside_an_epoch_goes_on_with_the_state(own: str, tmp_path: Path, after: int) -> None:
    def fit(steps: int, resume: Path | None = None) -> RecurrentLM:
        torch.manual_seed(0)
        data = StreamedText(own, context=8, batch_size=32)  # 4 chunks an epoch
        model = RecurrentLM(data.sizes["vocab_size"], "gru", embedding=3, hidden=4)
        keep = ModelCheckpoint(tmp_path, "{step}", every_n_train_steps=after, save_top_k=-1)
        trainer = L.Trainer(
            accelerator="cpu", max_steps=steps, callbacks=[keep], logger=False, enable_progress_bar=False,
            enable_model_summary=False, limit_val_batches=0,
        )  # fmt: skip
        trainer.fit(model, data, ckpt_path=resume, weights_only=resume and True)
        return model

    whole = fit(10)
    resumed = fit(10, tmp_path / f"step={after}.ckpt")
    for (name, a), b in zip(whole.state_dict().items(), resumed.state_dict().values(), strict=True):
        if not name.startswith("meters"):
            assert torch.equal(a, b), name
