"""Recurrent networks: our cells against torch's, our loop against the kernel, time against length, and what a
small training costs beside its bare steps."""

import contextlib
import logging
import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from datamodules.homographs import Homographs
from lab.bench.timing import Row, interleaved, paired_row
from lab.experiments import find
from modules.recurrent.labelling import Tagger
from modules.recurrent.language_model import RecurrentLM
from modules.recurrent.stack import Recurrent
from modules.transformer.attention import Attention


def measure(quick: bool = False) -> list[Row]:
    """Training step of the language model, the price of the loop, and one pass over longer sequences."""
    return [*training(quick), *loops(quick), *lengths(quick), whole(quick)]


class TorchLM(nn.Module):
    """The language model as one writes it on `nn.LSTM`, with the weights of ours."""

    def __init__(self, model: RecurrentLM) -> None:
        super().__init__()
        embedding, hidden = model.embedding.embedding_dim, model.recurrent.hidden
        self.embedding = nn.Embedding(model.vocab_size, embedding)
        self.lstm = lstm = nn.LSTM(embedding, hidden, batch_first=True)
        self.head = nn.Linear(hidden, model.vocab_size)
        cell: Any = model.recurrent.cells[0]
        with torch.no_grad():
            self.embedding.load_state_dict(model.embedding.state_dict())
            self.head.load_state_dict(model.head.state_dict())
            weights = cell.weight_x, cell.weight_h, cell.bias, torch.zeros_like(cell.bias)
            for theirs, value in zip(lstm.parameters(), weights, strict=True):
                theirs.copy_(value)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Any]:
        outputs, state = self.lstm(self.embedding(tokens))
        return self.head(outputs), state


def training(quick: bool) -> list[Row]:
    """A step of Adam with clipping, of characters."""
    hidden, batch, length, repeats = (16, 2, 8, 3) if quick else (256, 32, 128, 20)
    model = RecurrentLM(vocab_size=65, embedding=min(hidden, 64), hidden=hidden)
    peer = TorchLM(model)
    tokens = torch.randint(65, (batch, length), generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(model(tokens)[0], peer(tokens)[0], rtol=1e-3, atol=1e-4)

    def trainer(network: nn.Module) -> Callable[[], None]:
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)

        def step() -> None:
            optimizer.zero_grad(set_to_none=True)
            F.cross_entropy(network(tokens)[0].flatten(0, 1), tokens.flatten()).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()

        return step

    pairs = interleaved(trainer(model), trainer(peer), repeats)
    case = f"LSTM language model, training step, {batch} × {length} tokens"
    return [paired_row("recurrent", case, pairs, "≤ 1.05", "peer: nn.LSTM")]


def loops(quick: bool) -> list[Row]:
    """What our loop over time costs, which is run where somebody looks in, or torch has no kernel."""
    hidden, batch, length, repeats = (16, 2, 8, 3) if quick else (256, 32, 128, 10)
    rows = []
    for cell in ("rnn", "lstm", "gru"):
        network = Recurrent(cell, 64, hidden)  # type: ignore[arg-type]
        x = torch.randn(batch, length, 64, generator=torch.Generator().manual_seed(0))
        torch.testing.assert_close(network(x)[0], network.unroll(x)[0], rtol=1e-3, atol=1e-4)

        def run(read: Callable[..., Any], network: nn.Module = network, x: Tensor = x) -> None:
            network.zero_grad()
            read(x)[0].sum().backward()

        pairs = interleaved(partial(run, network.unroll), partial(run, network), repeats)
        case = f"{cell} by our loop, forward and backward, {batch} × {length} steps"
        rows.append(paired_row("recurrent", case, pairs, note="peer: the kernel of torch"))
    return rows


@torch.no_grad()
def lengths(quick: bool) -> list[Row]:
    """One pass over T steps of one sequence, a GRU against a layer of self-attention of the same width."""
    width, repeats = (16, 3) if quick else (64, 20)
    gru = Recurrent("gru", width, width)
    attention = Attention(width, heads=4)
    rows = []
    for steps in (4, 8) if quick else (16, 64, 256, 1024):
        x = torch.randn(1, steps, width, generator=torch.Generator().manual_seed(0))
        pairs = interleaved(partial(gru, x), partial(attention, x, causal=True), repeats)
        case = f"GRU over {steps} steps"
        rows.append(paired_row("recurrent", case, pairs, note="peer: causal self-attention over as many"))
    return rows


def whole(quick: bool) -> Row:
    """`lab fit tagger-homographs` to its end, with validation, test, metrics, checkpoints and card, against
    the same steps in a plain loop."""
    from lab.training.run import run

    logging.getLogger("lightning.fabric.utilities.seed").setLevel(logging.WARNING)
    experiment = find("tagger-homographs")
    config = experiment.config
    epochs, repeats = (1, 1) if quick else (config["trainer"]["max_epochs"], 3)

    def ours() -> None:
        before = os.environ.get("LECTERN_RUNS")
        with tempfile.TemporaryDirectory() as runs, open(os.devnull, "w") as nowhere:
            os.environ["LECTERN_RUNS"] = runs
            try:
                with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                    run("fit", experiment, [f"--trainer.max_epochs={epochs}"])
            finally:
                os.environ.pop("LECTERN_RUNS")
                if before is not None:
                    os.environ["LECTERN_RUNS"] = before

    def bare() -> None:
        data = Homographs(**config["data"]["init_args"])
        data.setup("fit")
        settings = {key: value for key, value in config["model"]["init_args"].items() if key != "optimizer"}
        model = Tagger(**data.sizes, **settings)
        optimizer = torch.optim.Adam(
            model.parameters(), **config["model"]["init_args"]["optimizer"]["init_args"]
        )
        for _ in range(epochs):
            for x, y in data.train_dataloader():
                optimizer.zero_grad()
                F.cross_entropy(model(x).flatten(0, 1), y.flatten()).backward()
                optimizer.step()

    pairs = interleaved(ours, bare, repeats, warmup=1)
    return paired_row(
        "recurrent", f"lab fit of a tagger, {epochs} epochs", pairs, "≤ 2", "peer: its steps alone"
    )
