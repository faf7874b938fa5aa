"""Every example once, the same global batch on any number of processes, the same order after a resume."""

import importlib
import inspect
import pkgutil
from types import SimpleNamespace
from typing import Any

import lightning as L
import pytest
import torch
from torch import nn
from torch_geometric.data import Data

import datamodules
from datamodules.base import Batches, BatchShard, DataModule, TensorSplit
from datamodules.cooccurrence import Cooccurrence
from datamodules.digits import Digits
from datamodules.signals import Signals
from modules.base import Mean, Module
from modules.language.word2vec import SkipGram
from modules.latent.mixture import GaussianMixture


def own(batch: Any) -> list[int]:
    """The positions that count."""
    if isinstance(batch, BatchShard):
        return batch.batch.tolist() if batch.weight else []
    return batch.tolist()


def collect(shuffle: bool, world: int, epoch: int = 0, **knobs: Any) -> list[list[list[int]]]:
    """The positions of each batch of each rank."""
    ranks = []
    for rank in range(world):
        batches = Batches(shuffle=shuffle, rank=rank, world=world, **knobs)
        batches.set_epoch(epoch)
        ranks.append([own(batch) for batch in batches])
        assert len(ranks[-1]) == len(batches)
    return ranks


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("world", [1, 2, 3, 4, 5])
def test_the_average_over_processes_is_the_mean_over_the_batch(world: int, shuffle: bool) -> None:
    """In the average of the processes' weighted means each example of a batch has the weight 1/B, for every
    size, batch and number of processes; and all have equally many batches, as they wait for each other."""
    for length in range(1, 51):
        for batch_size in range(1, 13):
            knobs = {"length": length, "batch_size": batch_size, "shuffle": shuffle, "seed": length}
            whole = list(Batches(**knobs))  # type: ignore[arg-type]
            ranks = [Batches(**knobs, rank=rank, world=world) for rank in range(world)]  # type: ignore[arg-type]
            assert {len(batches) for batches in ranks} == {len(whole)}
            for batch, *shares in zip(whole, *ranks, strict=True):
                results: list[int] = []
                for share in shares:
                    there, weight = share if isinstance(share, BatchShard) else (share, 1.0)
                    assert len(there)  # a process without an example would have no gradient to give
                    if weight:
                        results += there.tolist()
                        assert abs(weight / len(there) / world - 1 / len(batch)) < 1e-15
                assert sorted(results) == sorted(batch.tolist())  # type: ignore[union-attr]
            if not shuffle:
                assert torch.cat(whole).tolist() == list(range(length))  # type: ignore[arg-type]


def test_a_mean_counts_values_by_their_weight() -> None:
    mean = Mean()
    mean.update(torch.tensor([1.0, 1.0]), 0.5)
    mean.update(torch.tensor([4.0]))
    assert float(mean.compute()) == 2.5


class Line(Module):
    """y = w x, squared error."""

    def __init__(self) -> None:
        super().__init__(metrics={"error": Mean()})
        self.w = nn.Parameter(torch.tensor(0.5, dtype=torch.float64))

    def step(self, batch: Any, split: Any) -> torch.Tensor:
        (x,) = batch
        error = (self.w * x - x**2) ** 2
        self.log_metric(split, "error", error.detach())
        return error.mean()


@pytest.mark.parametrize(("length", "batch_size", "world"), [(5, 8, 2), (3, 8, 5), (7, 7, 3), (8, 4, 2)])
def test_processes_together_take_the_step_of_one(length: int, batch_size: int, world: int) -> None:
    """Gradient and metric, through the loader and the model's own hooks."""

    def run(rank: int, of: int) -> Line:
        data = DataModule(batch_size)
        data.train_set = data.test_set = TensorSplit(torch.arange(1.0, length + 1, dtype=torch.float64))
        model = Line()
        model.log = lambda *args, **knobs: None  # type: ignore[method-assign]
        for i, batch in enumerate(shared(data, rank, of).train_dataloader()):
            model.training_step(batch, i).backward()
        for i, batch in enumerate(data.test_dataloader()):
            model.test_step(batch, i)
        return model

    alone, together = run(0, 1), [run(rank, world) for rank in range(world)]
    mean = sum(float(model.w.grad) for model in together) / world  # type: ignore[arg-type]
    assert mean == pytest.approx(float(alone.w.grad), rel=1e-12)  # type: ignore[arg-type]
    for meter in ("train_error", "test_error"):
        total = sum(float(model.meters[meter].total) for model in together)  # type: ignore[arg-type]
        assert total == pytest.approx(float(alone.meters[meter].total), rel=1e-12)  # type: ignore[arg-type]
        assert sum(int(model.meters[meter].count) for model in together) == length  # type: ignore[arg-type]


@pytest.mark.parametrize("world", [2, 3, 5])
def test_each_pair_of_words_counts_once_over_all_processes(
    world: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples have unequally many pairs: the gradient is the mean over the pairs of the whole batch, and the
    words to be predicted are noted from all processes."""
    centres = torch.tensor([0, 1, 2, 0])
    contexts = torch.tensor([[1, 2, 3, 1], [-1, -1, 2, -1], [3, -1, 0, 0], [-1, 1, -1, -1]])

    def run(rank: int, of: int) -> SkipGram:
        data = DataModule(batch_size=4)
        data.train_set = TensorSplit(centres, contexts)
        model = SkipGram(vocab_size=4, dim=3).double()
        model.load_state_dict(state)
        model.log = lambda *args, **knobs: None  # type: ignore[method-assign]
        model._trainer = SimpleNamespace(world_size=of, is_last_batch=True)  # type: ignore[assignment]
        (batch,) = shared(data, rank, of).train_dataloader()
        model.training_step(batch, 0).backward()
        there = batch.batch[1] if isinstance(batch, BatchShard) else batch[1]
        model.count_targets(there[there >= 0])
        return model

    generator = torch.Generator().manual_seed(0)
    sums = {(): (contexts >= 0).sum(), (4,): torch.bincount(contexts[contexts >= 0], minlength=4)}
    monkeypatch.setattr("modules.base.all_reduce_sum", lambda x: sums[tuple(x.shape)])
    state = SkipGram(vocab_size=4, dim=3).double().state_dict() | {
        "u": torch.randn(4, 3, generator=generator).double()
    }
    alone, together = run(0, 1), [run(rank, world) for rank in range(world)]
    for name in ("v", "u"):
        mean = sum(getattr(model, name).grad for model in together) / world
        assert torch.allclose(mean, getattr(alone, name).grad, atol=1e-8)  # shares are float32
    assert all(torch.allclose(model.target_frequency, alone.target_frequency) for model in together)


def test_what_another_process_predicts_is_left_out() -> None:
    class Sum(Module):
        def log_prob(self, x: torch.Tensor) -> torch.Tensor:
            return x.sum(1)

    predictions = []
    for rank in range(3):
        data = DataModule(batch_size=4)
        data.test_set = TensorSplit(torch.arange(5.0)[:, None])
        loader = shared(data, rank, 3).predict_dataloader()
        predictions += [p for i, batch in enumerate(loader) for p in Sum().predict_step(batch, i).tolist()]
    assert sorted(predictions) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("limit", [None, 50])
@pytest.mark.parametrize("world", [2, 4])
def test_ranks_together_are_the_global_batch(world: int, limit: int | None) -> None:
    knobs = {"length": 101, "batch_size": 8, "seed": 3, "limit": limit}
    (alone,) = collect(True, 1, epoch=5, **knobs)
    ranks = collect(True, world, epoch=5, **knobs)
    assert {len(rank) for rank in ranks} == {len(alone)} == {(limit or 101) // 8}
    for step, batch in enumerate(alone):
        shares = [rank[step] for rank in ranks]
        assert {len(share) for share in shares} == {8 // world}
        assert sorted(p for share in shares for p in share) == sorted(batch)


def test_order_depends_on_seed_and_epoch_alone() -> None:
    def order(seed: int, epoch: int) -> list[int]:
        (rank,) = collect(True, 1, epoch, length=64, batch_size=8, seed=seed)
        return [p for batch in rank for p in batch]

    orders = [order(seed, epoch) for seed in range(3) for epoch in range(3)]
    assert len({tuple(o) for o in orders}) == 9  # (0, 1) and (1, 0) differ too
    assert all(sorted(o) == list(range(64)) for o in orders)
    assert order(2, 1) == orders[7]


def test_limit_draws_anew_each_epoch() -> None:
    first, second = (
        {p for batch in collect(True, 1, e, length=1000, batch_size=10, limit=100)[0] for p in batch}
        for e in range(2)
    )
    assert len(first) == len(second) == 100
    assert len(first & second) < 30  # 10 expected


def test_sequences_of_like_length_come_in_one_batch() -> None:
    """Each once an epoch, in another order the next epoch; one in 20 places is padding, else a third."""
    lengths = torch.randint(1, 41, (1000,), generator=torch.Generator().manual_seed(0))

    def padding(batches: list[list[int]]) -> float:
        rows = [lengths[torch.tensor(batch)] for batch in batches]
        return 1 - float(sum(row.sum() for row in rows) / sum(row.max() * len(row) for row in rows))

    knobs: dict[str, Any] = {"length": 1000, "batch_size": 10}
    (first,), (second,) = (collect(True, 1, epoch, lengths=lengths, **knobs) for epoch in (0, 1))
    for batches in (first, second):
        assert sorted(p for batch in batches for p in batch) == list(range(1000))
        assert padding(batches) < 0.05
    assert first != second
    assert padding(collect(True, 1, **knobs)[0]) > 0.3
    longest = [int(lengths[torch.tensor(batch)].max()) for batch in first]
    assert longest != sorted(longest)  # short and long ones come mixed
    assert collect(False, 1, lengths=lengths, **knobs) == collect(False, 1, **knobs)
    ranks = collect(True, 2, lengths=lengths, **knobs)  # two processes share the batches of one
    assert [sorted(a + b) for a, b in zip(*ranks, strict=True)] == [sorted(batch) for batch in first]


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="empty"):
        Batches(0, 8, shuffle=False)
    with pytest.raises(ValueError, match="at least 1"):
        DataModule(batch_size=0)


def shared(data: DataModule, rank: int, world: int) -> DataModule:
    """`data` as process `rank` of `world` sees it."""
    data.trainer = SimpleNamespace(global_rank=rank, world_size=world)  # type: ignore[assignment]
    return data


@pytest.mark.parametrize("binarize", ["none", "dynamic"])
def test_processes_together_see_the_images_of_one(binarize: Any) -> None:
    """Dynamic draws included: they belong to the example, not to the process."""
    loaders = []
    for rank, world in ((0, 1), (0, 2), (1, 2)):
        data = Digits(binarize, batch_size=100, seed=1)
        data.setup()
        loaders.append(shared(data, rank, world).train_dataloader())
    for epoch in (0, 1, 4):
        for loader in loaders:
            loader.sampler.set_epoch(epoch)  # type: ignore[attr-defined]
        for (x, y), (x0, y0), (x1, y1) in zip(*loaders, strict=True):
            assert torch.equal(x[0::2], x0) and torch.equal(x[1::2], x1)
            assert torch.equal(y[0::2], y0) and torch.equal(y[1::2], y1)


class Recorder(L.LightningModule):
    """Remembers what each split showed."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.seen: dict[str, list[torch.Tensor]] = {"train": [], "val": [], "test": []}

    def training_step(self, batch: Any, batch_idx: int) -> torch.Tensor:
        self.seen["train"].append(batch[0])
        return self.weight.sum()

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        self.seen["val"].append(batch[0])

    def test_step(self, batch: Any, batch_idx: int) -> None:
        self.seen["test"].append(batch[0])

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), 0.1)


def run(epochs: int, path: Any, resume: Any = None) -> Recorder:
    model = Recorder()
    trainer = L.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_progress_bar=False, barebones=False,
        enable_model_summary=False, num_sanity_val_steps=0, enable_checkpointing=False,
    )  # fmt: skip
    trainer.fit(model, Digits("dynamic", batch_size=400), ckpt_path=resume)
    trainer.save_checkpoint(path)
    return model


@pytest.mark.filterwarnings("ignore")
def test_the_trainer_tells_each_epoch_and_a_resumed_run_sees_the_same(tmp_path: Any) -> None:
    whole = run(3, tmp_path / "whole.ckpt")
    run(1, tmp_path / "first.ckpt")
    rest = run(3, tmp_path / "rest.ckpt", resume=tmp_path / "first.ckpt")
    epochs = [torch.cat(whole.seen["train"][i : i + 3]) for i in range(0, 9, 3)]
    assert not torch.equal(epochs[0], epochs[1]) and not torch.equal(epochs[1], epochs[2])
    assert torch.equal(torch.cat(rest.seen["train"]), torch.cat(epochs[1:]))  # order and draws
    val = [torch.cat(whole.seen["val"][i : i + 1]) for i in range(3)]
    assert torch.equal(val[0], val[1]) and torch.equal(val[1], val[2])  # validation stays


def test_tensor_split() -> None:
    split = TensorSplit(torch.arange(5.0), torch.arange(5) * 2)
    x, y = split[torch.tensor([3, 1])]
    assert len(split) == 5 and x.tolist() == [3.0, 1.0] and y.tolist() == [6, 2]


MODULES = [
    importlib.import_module(f"datamodules.{m.name}") for m in pkgutil.iter_modules(datamodules.__path__)
]
CLASSES = [
    c for m in MODULES for c in vars(m).values()
    if isinstance(c, type) and issubclass(c, DataModule) and c.__module__ == m.__name__
]  # fmt: skip
ABSTRACT = ("DataModule", "Drawn", "Labelled", "OneGraph", "ImageData", "Pairs")
WHOLE = {  # what reads a number, where it is not read without
    ("Text", "bpe_vocab_size"): {"tokenizer": "bpe"}, ("Contexts", "bpe_vocab_size"): {"tokenizer": "bpe"},
    ("StreamedText", "bpe_vocab_size"): {"tokenizer": "bpe"}, ("BinaryImages", "shift"): {"kind": "stripes"},
}  # fmt: skip
NUMBERS = [
    (c, name)
    for c in CLASSES
    if c.__name__ not in ABSTRACT
    for name, parameter in inspect.signature(c.__init__).parameters.items()
    if "int" in str(parameter.annotation) and name != "batch_size"  # more than there are is all of them
]


@pytest.mark.parametrize("number", [10**12, 10**30, -1])
@pytest.mark.parametrize(("kind", "name"), NUMBERS, ids=lambda v: v if isinstance(v, str) else v.__name__)
def test_every_number_that_a_datamodule_takes_is_bounded(kind: type, name: str, number: int) -> None:
    """Refused by the constructor with one sentence: nothing is made first, and no memory taken."""
    value = (number,) if "tuple" in str(inspect.signature(kind).parameters[name].annotation) else number
    with pytest.raises(ValueError, match=name) as refused:
        kind(**{name: value}, **WHOLE.get((kind.__name__, name), {}))
    assert len(str(refused.value)) < 200 and "\n" not in str(refused.value)


SMALL: dict[str, dict[str, Any]] = {  # what needs no file, and is soon made
    "Contexts": {"corpus": "pydocs", "windows_per_epoch": 100},
    "Text": {"corpus": "pydocs", "windows_per_epoch": 100},
    "Cooccurrence": {"num_sentences": 20}, "Letters": {"num_train": 20}, "Lines": {"corpus": "pydocs"},
    "Spanish": {"num_train": 20}, "Copying": {"num_train": 20},
    "Scenes": {"num_train": 20}, "Attributes": {"num_train": 20}, "ScatteredDigits": {"num_train": 20},
    "TexturedShapes": {"num_train": 20},
    "StickFigures": {"num_train": 20, "num_val": 10, "num_test": 10},
    "Bonds": {"num_train": 20, "num_val": 2, "num_test": 2},
}  # fmt: skip
BATCHED = [
    c
    for c in CLASSES
    if c.__name__
    not in (*ABSTRACT, "MNIST", "MNISTPairs", "ScatteredMNIST", "Multi30k")  # which differ in where they read
    and c.__name__ != "Translation"  # of Multi30k too
    and c.__name__ != "StreamedText"  # which has streams side by side, and no examples
    and "batch_size" in inspect.signature(c.__init__).parameters
]


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("kind", BATCHED, ids=lambda kind: kind.__name__)
def test_a_batch_larger_than_the_data_is_all_of_them(kind: type) -> None:
    """Nothing is made by its size: one batch has every example of an epoch once."""
    data = kind(batch_size=10**30, **SMALL.get(kind.__name__, {}))
    data.setup("fit")
    loader = data.train_dataloader()
    (positions,) = loader.sampler
    assert sorted(set(positions.tolist())) == sorted(positions.tolist())
    limits = [getattr(data, name, None) for name in ("windows_per_epoch", "per_epoch")]
    assert len(positions) == min([len(data.train_set), *(limit for limit in limits if limit)])
    (batch,) = loader
    assert (len(batch.ptr) - 1 if isinstance(batch, Data) else len(batch[0])) == len(positions)


def test_where_a_batch_is_all_there_is_no_size_of_it() -> None:
    with pytest.raises(ValueError, match="leave it out"):
        Cooccurrence(examples="matrix", batch_size=64)


@pytest.mark.usefixtures("little_memory")
def test_a_drawn_data_set_has_as_many_numbers_as_fit() -> None:
    with pytest.raises(ValueError, match="num_val is 100000: it must be at least 1 and at most 26,843"):
        Signals(length=10_000, num_val=100_000)


def test_counting_takes_one_process() -> None:
    model = GaussianMixture(event_shape=(2,), components=2)
    model._trainer = SimpleNamespace(world_size=2)  # type: ignore[assignment]
    model.setup("validate")
    with pytest.raises(ValueError, match="Counting is done by one process"):
        model.setup("fit")
