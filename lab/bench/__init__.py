"""`lab bench`: ours beside a peer, in one run, so that a ratio means something on any machine.

Each bench is a module of this folder with `measure(quick) -> list[Row]`. Two sides of a ratio are
timed in turns (A B, B A, …) and the median of the paired ratios is shown: what else the machine does
hits both sides alike.
"""

import argparse
import importlib
import inspect
import json
import math
import platform
import sys
from typing import Any

from lab.bench import record
from lab.bench.timing import Row, amount, use_cpu_time
from lab.errors import UserError
from lab.parser import Parser

# name -> (module, what it measures)
BENCHES = {
    "generation": ("lab.bench.generation", "GPT generation: KV cache against full recomputation"),
    "recording": ("lab.bench.recording", "attention that can be recorded, nobody recording, against none"),
    "gpt": (
        "lab.bench.gpt",
        "GPT: a training step and generation against GPT-2 of transformers and a plain loop",
    ),
    "made": ("lab.bench.made", "MADE: log_prob of 10,000 digits against the unmasked autoencoder"),
    "pixelcnn": ("lab.bench.pixelcnn", "PixelCNN sampling: activations kept against full passes"),
    "bpe": ("lab.bench.bpe", "byte pair encoding: training, and encoding of 1 MB, against tokenizers"),
    "ngram": ("lab.bench.ngram", "n-grams: counting and scoring a corpus against dictionaries"),
    "nade": ("lab.bench.nade", "NADE: sampling against recomputing, log_prob against MADE"),
    "flow": ("lab.bench.flow", "flows: log_prob, sampling and a training step against zuko and normflows"),
    "gcn": ("lab.bench.gcn", "GCN: an epoch on Cora against plain PyTorch Geometric"),
    "recurrent": (
        "lab.bench.recurrent",
        "recurrent networks: a training step against torch's LSTM, the loop's price, time against length",
    ),
    "recall": (
        "lab.bench.recall",
        "long-lag recall: cells and their starts by the steps over which they keep a symbol, five seeds each",
    ),
    "efficient": (
        "lab.bench.efficient_attention",
        "efficient attention: recall, error of random features, slopes of time and memory, reach of windows",
    ),
    "experts": (
        "lab.bench.experts",
        "mixture of experts: two languages with and without balance, beside dense twins, three seeds each",
    ),
    "moe": ("lab.bench.moe", "experts, 2 of 8 active, and one dense feed-forward layer, by tokens"),
    "scan": ("lab.bench.scan", "scans of a linear recurrence: loop, doubling, chunks, by length and width"),
    "norms": (
        "lab.bench.norms",
        "norms: gradients at initialisation by layer, pre-norm, post-norm, none and ReZero, up to 48 layers",
    ),
    "blocks": (
        "lab.bench.blocks",
        "blocks: activations, norms, heads, mixers and skips of small GPTs at equal steps, three seeds each",
    ),
    "pretraining": (
        "lab.bench.pretraining",
        "pre-training: three tasks from 50, 200 and 1,000 labels, with and without bert-gazette, three seeds",
    ),
    "objectives": (
        "lab.bench.objectives",
        "masked words against next words: what frozen networks know after the same steps, three seeds each",
    ),
    "vision": (
        "lab.bench.vision",
        "vision transformers: beside a CNN on few pictures, and windows that shift or not, three seeds each",
    ),
    "molecules": (
        "lab.bench.molecules",
        "graphs classified: GIN, GCN and nodes without edges on molecules, proteins, enzymes, ten folds each",
    ),
    "explanations": (
        "lab.bench.explanations",
        "explanations of graph networks: planted edges ranked by masks, gradients and chance, three seeds",
    ),
    "cora": (
        "lab.bench.cora",
        "papers by citations: graph layers, few labels, unseen papers, Cora and Citeseer, 10 to 20 seeds",
    ),
    "deep-graphs": (
        "lab.bench.deep_graphs",
        "depth of graph networks on Cora: plain, residual, PairNorm, jump, dropped edges, three seeds each",
    ),
    "graph-batches": (
        "lab.bench.graph_batches",
        "batches of a graph: whole, parts, samples, by accuracy on Cora; noise and bias of their gradients",
    ),
    "graph-tasks": (
        "lab.bench.graph_tasks",
        "tasks of graph networks: degrees, far leaves, data of edges, three seeds each; memory of inference",
    ),
    "graph-speed": (
        "lab.bench.graph_speed",
        "graph networks: an epoch of GAT, GIN, SAGE against PyTorch Geometric, sampling against a loop",
    ),
    "cnn-speed": (
        "lab.bench.cnn_speed",
        "convolution: a step of ResNet-18 against transformers, of a U-Net against a plain loop, fields",
    ),
    "mnist1d": (
        "lab.bench.mnist1d",
        "MNIST-1D: CNN against the dense network, positions in order and shuffled, by two published recipes",
    ),
    "segmentation": (
        "lab.bench.segmentation",
        "rendered cells: U-Nets with skips and without, mean IoU of five seeds and a vote of all five",
    ),
    "dissection": (
        "lab.bench.dissection",
        "concepts of units: textures and shapes by layer, three seeds of a network on textured shapes",
    ),
    "depth": (
        "lab.bench.depth",
        "depth: plain and residual networks by number of blocks, norm and scale; deleted blocks, three seeds",
    ),
    "loss-surface": (
        "lab.bench.loss_surface",
        "loss surface: filter-normalised slices around plain and residual networks, two or three seeds",
    ),
    "positions": (
        "lab.bench.positions",
        "position schemes: GPTs of five schemes trained at 64 characters, read up to 512, three seeds each",
    ),
    "universality": (
        "lab.bench.universality",
        "universality: networks of tokens, attention and positions on four targets, floors, three seeds each",
    ),
    "translation": (
        "lab.bench.translation",
        "translators: BLEU and exact sentences, greedy and by a beam of 5; nats, forced and free",
    ),
    "seq2seq": (
        "lab.bench.seq2seq",
        "sequence to sequence: scores of attention, poolings, orders of the source, three seeds each",
    ),
    "characters": (
        "lab.bench.characters",
        "language models of characters: RNN, GRU and LSTM at equal parameters and time, three seeds each",
    ),
    "scaling": (
        "lab.bench.scaling",
        "scaling laws: L − E against N, D and C on a language of known entropy; Shakespeare read again",
    ),
    "captions": (
        "lab.bench.captions",
        "captioners: the variance of gradients by the score function, with and without a baseline",
    ),
    "addition": (
        "lab.bench.addition",
        "emergence: GPTs of eleven sizes learn sums of three digits, by exact match and other metrics",
    ),
    "hmm": ("lab.bench.hmm", "HMM: forward–backward against hmmlearn's scaling implementation"),
    "mixture": ("lab.bench.mixture", "Gaussian mixtures: EM on 100,000 points against scikit-learn"),
    "games": ("lab.bench.games", "games of small modes: modes reached and quality by loss, five seeds each"),
    "claims": (
        "lab.bench.claims",
        "GANs: recipe, truncation, noise, birthdays, tricks, losses, codes, measured",
    ),
    "gan": ("lab.bench.gan", "GAN: a turn of each network against a plain torch loop"),
    "diffusion": (
        "lab.bench.diffusion",
        "diffusion: likelihood by the ODE against torchdiffeq, DDIM against diffusers",
    ),
    "latents": ("lab.bench.latents", "latent variables on MNIST: the specification's numbers beside ours"),
    "variational": (
        "lab.bench.variational",
        "small digits and known posteriors: clusters, estimators, proposals, black box, two modes",
    ),
    "denoising": ("lab.bench.denoising", "diffusion in the plane: targets, schedules, lines, at one budget"),
    "mnist": (
        "lab.bench.mnist_diffusion",
        "diffusion on MNIST: steps and noise, guidance, schedules at one budget",
    ),
    "mnist-games": (
        "lab.bench.mnist_games",
        "games on MNIST: a G without convolutions, classes that are obeyed, digits enlarged",
    ),
    "densities": (
        "lab.bench.densities",
        "flows: couplings by depth, tables beside a Gaussian, scales and noise of small pictures",
    ),
    "parts": ("lab.bench.denoiser_parts", "a denoiser of digits without average, attention, skips"),
    "dashboard": ("lab.bench.dashboard", "dashboard: picture, answer and film of every page in a browser"),
    "server": ("lab.bench.server", "server: many readers without browsers: answers, errors, memory"),
    "jobs": ("lab.bench.jobs", "server: an answer beside 20 tabs with heavy work, and when that ends"),
}

# of the options that are numbers
BOUNDS = {"minutes": (0.01, 1440), "processes": (1, 64), "rest": (0, 60), "readers": (1, 676)}


def run(argv: list[str]) -> int:
    """The command: a table, or with --json one object with `machine` and `rows`.

    Raises:
        UserError: for an unknown bench or option.
    """
    listing = "\n".join(f"  {name:<12}{what}" for name, (_, what) in BENCHES.items())
    parser = Parser(
        prog="lab bench",
        description="Side-by-side measurements.",
        epilog=f"names (default: all):\n{listing}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", help="which benches")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats: to see that it runs")
    parser.add_argument(
        "--busy", action="store_true", help="count CPU time on one thread, not time on the wall"
    )
    parser.add_argument(
        "--write", action="store_true", help="keep the results in lab/bench/results, and rebuild its README"
    )
    parser.add_argument("--only", metavar="TEXT", help="dashboard: pages with this in their address")
    parser.add_argument("--minutes", type=float, help="server: how long (10); scaling: when to stop")
    parser.add_argument("--readers", type=int, help="server: how many read at the same time (20)")
    parser.add_argument("--processes", type=int, help="server: served by so many (1)")
    parser.add_argument(
        "--experiments",
        action="store_true",
        help="what the specifications number: how it is repeated, and what came out; names are then families",
    )
    parser.add_argument("--rest", type=float, help="server: seconds between two actions of a reader (3)")
    options = parser.parse_args(argv)
    if options.busy:
        use_cpu_time()
    if options.experiments:
        return show_experiments(options.names, options.json)
    if unknown := [name for name in options.names if name not in BENCHES]:
        raise UserError(f"There is no bench {unknown[0]!r}: choose from {', '.join(BENCHES)}.")

    for name, (least, most) in BOUNDS.items():
        value = getattr(options, name)
        if value is not None and not least <= value <= most:
            raise UserError(f"--{name} is {value:g}: it must be from {least:g} to {most:,}.")

    if options.write and (options.quick or options.only):
        raise UserError("--write keeps whole results: leave out --quick and --only.")

    measures = {name: importlib.import_module(BENCHES[name][0]).measure for name in options.names or BENCHES}
    taken = {option for measure in measures.values() for option in inspect.signature(measure).parameters}
    for name in ("only", *BOUNDS):
        if getattr(options, name) is not None and name not in taken:
            raise UserError(f"--{name} says nothing to {', '.join(measures)}: leave it out.")

    rows: list[Row] = []
    for name, measure in measures.items():
        if not options.json:
            print(f"{name} …", file=sys.stderr, flush=True)
        takes = inspect.signature(measure).parameters
        chosen = {k: v for k, v in vars(options).items() if k in takes and v is not None and v is not False}
        result = list(measure(**chosen))
        rows += result
        if options.write:
            text = [f"--{key} {value:g}" for key, value in chosen.items()] + ["--busy"] * options.busy
            record.save(name, result, " ".join(["lab bench", name, *text]), machine())
    if options.write:
        record.rebuild(about())
    if options.json:
        plain = [record.plain(row) | {"met": row.met} for row in rows]
        settings = {"quick": options.quick, "busy": options.busy}
        print(json.dumps({"machine": machine(), **settings, "rows": plain}, indent=2))
    else:
        show(rows)
    return 0


def about() -> dict[str, str]:
    """Bench -> what it measures."""
    return {name: what for name, (_, what) in BENCHES.items()}


def show_experiments(families: list[str], as_json: bool) -> int:
    """The table of experiments, of some families or of all.

    Raises:
        UserError: for an unknown family.
    """
    from lab.bench.experiments import experiments

    known = list(dict.fromkeys(row.family for row in experiments()))
    if unknown := [name for name in families if name not in known]:
        raise UserError(f"There are no experiments of {unknown[0]!r}: choose from {', '.join(known)}.")
    rows = [row for row in experiments() if not families or row.family in families]
    if as_json:
        print(
            json.dumps(
                [
                    {"family": row.family, "id": row.id, "what": row.what, "run": row.commands,
                     "seeds": row.seeds, "found": row.outcome(), "numbers": row.numbers()}
                    for row in rows
                ],
                indent=2,
            )
        )  # fmt: skip
        return 0
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("family", "id", "experiment", "again", "seeds", "found", box=None)
    for row in rows:
        table.add_row(
            row.family,
            row.id,
            row.what,
            "\n".join(row.commands),
            str(row.seeds or "–"),
            escape(row.outcome()),
        )
    Console(width=None if sys.stdout.isatty() else 200).print(table)
    return 0


def machine() -> dict[str, Any]:
    """Processor, threads and versions that the numbers depend on."""
    import os

    import torch

    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": str(torch.__version__),
    }


def show(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table("bench", "case", "ours", "95 %", "peer", "ratio", "target", "", box=None)
    for row in rows:
        remark = ": ".join(
            part for part in ({True: "met", False: "missed", None: ""}[row.met], row.note) if part
        )
        table.add_row(
            row.bench,
            row.case,
            amount(row.ours, row.unit),
            amount(row.p95, row.unit),
            amount(row.peer, row.unit),
            "–" if math.isnan(row.ratio) else f"{row.ratio:.3g}×",
            row.target or "–",
            escape(remark),  # rich would take [peers] for a colour
        )
    Console(width=None if sys.stdout.isatty() else 160).print(table)
    print("; ".join(f"{key} {value}" for key, value in machine().items()))
