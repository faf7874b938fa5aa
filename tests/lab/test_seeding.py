"""Chance among many readers: nobody sets or uses a global generator but the builder of networks."""

import ast
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import nn

from lab import experiments, weights
from lab.seeding import seeded

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(p for top in ("lab", "modules", "datamodules", "pages") for p in (ROOT / top).rglob("*.py"))
# The builder, and commands that own their process.
OWNERS = ("lab/seeding.py", "lab/training/", "lab/sizes.py", "lab/bench/")

SETS = re.compile(
    r"torch(\.cuda|\.mps|\.random)?\.(manual_seed\w*|seed\w*|set_rng_state\w*|fork_rng|default_generator)(\..+)?"
    r"|numpy\.random\.(?!Generator|RandomState|SeedSequence|default_rng)\w+"
    r"|random\.(?!Random)\w+"
    r"|.+\.seed_everything"
)
DRAWS = re.compile(
    r"torch\.(rand|randn|randint|randperm|multinomial|bernoulli|normal|poisson|(rand|randn|randint)_like)"
    r"|torch\.nn\.functional\.gumbel_softmax|modules\.noise\.uniform"
    r"|torch\.nn\.init\.(\w*normal_|\w*uniform_|orthogonal_|sparse_)"
)
IN_PLACE = re.compile(r"(bernoulli|normal|uniform|random|exponential|geometric|cauchy|log_normal)_")
# Weights at birth, which `seeded` puts in order; and what a model draws in the training that a command owns.
BIRTH = {
    "__init__",
    "reset_parameters",
    "initialise",
    "initialize_he",
    "draw_weights",
    "log_uniform",
}
TRAINING = {
    ("modules/language/word2vec.py", "torch.multinomial(self.noise, len(targets) * self.negatives"),
    ("modules/flow/iresnet.py", "torch.empty(()).geometric_(self.stop)"),
    ("modules/latent/iwae.py", "torch.rand_like(log_w[0])"),
    ("modules/convolution/random_blocks.py", "torch.rand(()"),
    ("modules/convolution/random_blocks.py", "torch.rand(2, len(h)"),
    ("modules/diffusion/flow_matching.py", "torch.randint(len(start), (len(x1),))"),
}


def imported(tree: ast.AST) -> dict[str, str]:
    """Names of a file -> what they were imported as, dotted."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0]
                      for a in node.names}  # fmt: skip
        elif isinstance(node, ast.ImportFrom):
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """`np.random.seed` -> "numpy.random.seed"; "" of what is no imported name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    root = names.get(node.id, "") if isinstance(node, ast.Name) else ""
    return ".".join([root, *reversed(parts)]) if root else ""


def draws(call: ast.Call, names: dict[str, str]) -> bool:
    """Whether a call takes from the global generator."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if not DRAWS.fullmatch(dotted(call.func, names)) and not IN_PLACE.fullmatch(method):
        return False
    return not any(keyword.arg == "generator" for keyword in call.keywords)


def wrong(path: Path, text: str) -> Iterator[str]:
    """Places of a file that set or use a global generator."""
    place, tree = path.relative_to(ROOT).as_posix(), ast.parse(text)
    names = imported(tree)
    born = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name in BIRTH
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and SETS.fullmatch(dotted(node, names)):
            yield f"{place}:{node.lineno}: {ast.unparse(node)} is a global generator, or sets it"
        elif isinstance(node, ast.Call) and draws(node, names) and id(node) not in born:
            code = ast.unparse(node)
            if not any(place == file and code.startswith(start) for file, start in TRAINING):
                yield f"{place}:{node.lineno}: {code} draws from the global generator"


def test_nothing_sets_or_uses_a_global_generator() -> None:
    results = [
        line
        for path in SOURCES
        if not path.relative_to(ROOT).as_posix().startswith(OWNERS)
        for line in wrong(path, path.read_text(encoding="utf-8"))
    ]
    assert not results, "\n".join(results)


@pytest.mark.parametrize(
    "line",
    ["torch.manual_seed(0)", "torch.random.fork_rng()", "torch.default_generator.seed()", "np.random.seed(1)",
     "np.random.rand(3)", "random.shuffle(x)", "choice(x)", "L.seed_everything(1)", "torch.rand(3)",
     "torch.rand_like(x)", "torch.multinomial(p, 1)", "x.normal_()", "nn.init.normal_(x)", "manual_seed(2)"],
)  # fmt: skip
def test_the_reader_of_sources_sees_it(line: str) -> None:
    head = """
import random
import lightning as L
import numpy as np
import torch
from random import choice
from torch import manual_seed, nn
"""
    assert list(wrong(ROOT / "lab" / "x.py", f"{head}def f(x, p):\n    {line}\n"))
    fine = f"{head}def f(x, p, random, g):\n    torch.rand(3, generator=g)\n    random.Random(1).choice(x)\n"
    fine += "    x.normal_(generator=g)\n    nn.init.zeros_(x)\n    np.random.default_rng(1).random()\n"
    assert not list(wrong(ROOT / "lab" / "x.py", fine.replace(", random,", ",")))


def numbers(seed: int) -> torch.Tensor:
    """Weights of a network of several layers, so that the builders of other threads come in between."""
    network = seeded(lambda: nn.Sequential(*(nn.Linear(8, 8) for _ in range(8))), seed)
    return torch.cat([p.detach().flatten() for p in network.parameters()])


def test_networks_are_the_same_alone_and_among_eight_threads() -> None:
    """Also while others load trained weights, whose networks are drawn too before they are filled."""
    folder = experiments.find("made-digits").weights
    before = torch.get_rng_state()
    alone = [numbers(seed) for seed in range(8)]
    ready = threading.Barrier(8)

    def reader(seed: int) -> list[torch.Tensor]:
        ready.wait()
        return [numbers(seed) if turn % 2 else (weights.load(folder), numbers(seed))[1] for turn in range(6)]

    with ThreadPoolExecutor(8) as threads:
        for seed, drawn in enumerate(threads.map(reader, range(8))):
            assert all(torch.equal(one, alone[seed]) for one in drawn)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_builder_may_use_another_and_failures_leave_the_generator() -> None:
    before = torch.get_rng_state()
    inner, outer = seeded(lambda: (numbers(3), nn.Linear(2, 2)), 5)
    assert torch.equal(inner, numbers(3))
    assert torch.equal(outer.weight, seeded(lambda: nn.Linear(2, 2), 5).weight)
    assert not torch.equal(outer.weight, seeded(lambda: nn.Linear(2, 2), 6).weight)
    with pytest.raises(ZeroDivisionError):
        seeded(lambda: 1 / 0)
    assert torch.equal(torch.get_rng_state(), before)
