"""Scaling: GPTs of many sizes on a language of known entropy, one pass over fresh tokens, and on Shakespeare.

    tuning        rates for each width, judged on validation after `TUNED` tokens
    size          L against N at `AMPLE` tokens; the two largest are left out of the fit and predicted, the
                  three smallest are drawn beside it: below a width of 12 the curve bends
    data          L against D at one size
    isoflop       four budgets C = 6ND, six sizes each
    repeated      tiny Shakespeare: the loss of validation while few characters are read again and again
    shape         layers against width at equal N = 12 L d²

N counts the weights of the blocks, without embeddings and head, as Kaplan et al. do. The excess L − E of the
language is the mean KL divergence from its known law, over the held-out lines, which has far less noise than
−log p of the tokens that came; ± is its standard error over the lines.

Each run is a line of `results/scaling.jsonl`, appended when it ends; a run that is there is not repeated:
a plan that is broken off goes on where it was. `python -m lab.bench.scaling` trains what is missing, in the
order of the plan.

References: Kaplan et al. 2020, arXiv:2001.08361; Hoffmann et al. 2022, arXiv:2203.15556; [LLM] part 5.
"""

import json
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from datamodules.markov import V, language
from datamodules.text import Text, Windows
from lab.bench.record import HERE, RESULTS
from lab.bench.timing import Row, spread
from modules.transformer.gpt import GPT
from modules.transformer.scaling_laws import fit_chinchilla, fit_line, flops, parabola

FILE = HERE / RESULTS / "scaling.jsonl"
CONTEXT, HELD_OUT = 32, 8192  # tokens of a line that are predicted; lines that judge
SMALL = (6, 8, 10)  # too narrow for a straight line: their exponents are .36 to .55, those above near 1
WIDTHS = (12, 14, 16, 20, 24, 28)  # of the fit
LARGER = (32, 48)  # left out of the fit, and predicted
AMPLE, TUNED = 800, 1_000_000  # tokens for each weight; the most tokens of a tuning
FACTORS = (1.0, 2.0, 4.0)  # of 10⁻² √(16/d), the rates that are tried
SEEDS = 3
FIXED = (16, 48)  # widths whose loss is drawn against D
DATA = (50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000, 3_200_000)
BUDGETS = {
    1e9: (4, 6, 8, 12, 16, 24),
    4e9: (6, 8, 12, 16, 24, 32),
    1.6e10: (8, 12, 16, 24, 32, 48),
    6.4e10: (12, 16, 24, 32, 48, 64),
}
SHAPES = ((48, 1), (24, 4), (12, 16))  # width, layers: 27,648 weights each
UNIQUE, READ = (10_000, 30_000, 100_000, 300_000, 1_000_000), 1_000_000  # characters, and how many are read
TEXT_SIZES = ((16, 2), (32, 2), (64, 2))


@dataclass(frozen=True)
class Run:
    """One training, by what decides it.

    Attributes:
        group: see above. D: tokens that are read. factor: of the rate; None is the best of the tuning.
        unique: characters that are read again and again; 0 is the language, where nothing is read twice.
    """

    group: str
    width: int
    D: int
    seed: int = 0
    layers: int = 1
    factor: float | None = None
    unique: int = 0

    @property
    def N(self) -> int:
        """Weights of the blocks' matrices."""
        return 12 * self.layers * self.width**2

    @property
    def heads(self) -> int:
        """One for the language, where the token before is all that must be found; four for text."""
        return 4 if self.unique else 1


def plan() -> list[Run]:
    """All runs, the most telling first: the sizes, then one seed of everything, then the others."""
    tried = (*SMALL, *WIDTHS)
    runs = [Run("tuning", w, min(TUNED, AMPLE * 12 * w * w), factor=f) for w in tried for f in FACTORS]
    for seed in range(SEEDS):
        runs += [Run("size", w, AMPLE * 12 * w * w, seed) for w in (*tried, LARGER[0])]
    for seed in range(SEEDS):
        runs += [
            Run("isoflop", w, round(c / (72 * w * w)), seed) for c, widths in BUDGETS.items() for w in widths
        ]
        runs += [Run("repeated", 64, READ, seed, 2, unique=unique) for unique in UNIQUE]
        runs += [Run("data", w, d, seed) for w in FIXED for d in DATA]
        runs += [Run("size", LARGER[1], AMPLE * 12 * LARGER[1] ** 2, seed)]
        runs += [Run("shape", w, 2_000_000, seed, layers) for w, layers in SHAPES]
    runs += [Run("repeated", w, READ, 0, layers, unique=u) for w, layers in TEXT_SIZES[:2] for u in UNIQUE]
    return runs


# --- One training ------------------------------------------------------------------------------------


def fresh(batch: int, seed: int) -> Iterator[Tensor]:
    """Batches of lines (batch, CONTEXT + 2) that are drawn anew, without end."""
    generator = torch.Generator().manual_seed(1_000_003 * (seed + 1))
    while True:
        yield from language().draw(32 * batch, CONTEXT + 2, generator).split(batch)


def repeated(text: Tensor, batch: int, seed: int) -> Iterator[Tensor]:
    """Windows (batch, 65) at random places of a text, without end."""
    generator = torch.Generator().manual_seed(1_000_003 * (seed + 1))
    while True:
        starts = torch.randint(len(text) - 64, (batch, 1), generator=generator)
        yield text[starts + torch.arange(65)]


@cache
def shakespeare() -> tuple[Tensor, Tensor, int]:
    """Characters of training and of validation, and how many kinds there are."""
    data = Text(context=None)
    data.prepare_data()
    data.setup("fit")
    train_set, val_set = cast(Windows, data.train_set), cast(Windows, data.val_set)
    return train_set.ids.long(), val_set.ids.long(), data.sizes["vocab_size"]


@cache
def lines(split: str) -> Tensor:
    """Held-out lines of the language, (HELD_OUT, CONTEXT + 2)."""
    seed = {"val": 11, "test": 12}[split]
    return language().draw(HELD_OUT, CONTEXT + 2, torch.Generator().manual_seed(seed))


@torch.no_grad()
def excess(model: GPT, split: str, most: int = HELD_OUT) -> tuple[float, float]:
    """Mean KL divergence of the model's next token from the language's, and its standard error."""
    found = []
    for part in lines(split)[:most].split(256):
        p = language().probs(part)  # (B, T, V)
        q = model(part[:, :-1])[:, 1:].double().log_softmax(-1)
        found.append((p * (p.log() - q)).sum(-1).mean(1))
    each = torch.cat(found)
    return float(each.mean()), float(each.std() / math.sqrt(len(each)))


@torch.no_grad()
def nats(model: GPT, text: Tensor, most: int = 1024) -> tuple[float, float]:
    """Mean nats per character of the first windows of a text, and its standard error over them."""
    windows = text[: (len(text) - 1) // 64 * 64 + 1].unfold(0, 65, 64)[:most]
    each = torch.cat(
        [
            F.cross_entropy(model(part[:, :-1]).mT, part[:, 1:], reduction="none").mean(1)
            for part in windows.split(128)
        ]
    )
    return float(each.mean()), float(each.std() / math.sqrt(len(each)))


def train(run: Run, rate: float, most: int = HELD_OUT) -> dict[str, Any]:
    """Train once: what is kept of it."""
    start, of_text = time.process_time(), run.unique > 0
    train_text, val_text, kinds = shakespeare() if of_text else (torch.empty(0), torch.empty(0), V)
    context = 64 if of_text else CONTEXT
    # about 1,500 steps or more, of 4 to 16 lines
    batch = 2 ** round(math.log2(min(16, max(4, run.D / context / 1_500))))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(run.seed)
        model = GPT(kinds, context + 1, run.layers, run.heads, run.width, positions="rotary")
    batches = repeated(train_text[: run.unique], batch, run.seed) if of_text else fresh(batch, run.seed)
    optimizer = torch.optim.Adam(model.parameters(), rate, (0.9, 0.98), fused=True)
    steps = max(1, round(run.D / (batch * context)))
    looks = {max(1, round(steps * part)) for part in (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0)}
    curve = []
    for step in range(1, steps + 1):
        falling = 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * step / steps))
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, step / (0.05 * steps)) * falling
        x = next(batches)
        # of the language the first target sees one token, and is not counted
        first = 0 if of_text else 1
        logits = model(x[:, :-1])[:, first:]
        loss = F.cross_entropy(logits.flatten(0, 1), x[:, 1 + first :].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if of_text and step in looks:
            curve.append([step * batch * context, *nats(model, val_text), float(loss.detach())])
    kept: dict[str, Any] = asdict(run) | {
        "N": run.N, "C": float(flops(run.N, run.D)), "rate": rate, "batch": batch, "steps": steps,
        "parameters": sum(p.numel() for p in model.parameters()),
    }  # fmt: skip
    if of_text:
        best = min(curve, key=lambda point: point[1])
        kept |= {"loss": best[1], "se": best[2], "last": curve[-1][1], "curve": curve}
    else:
        more, error = excess(model, "val" if run.group == "tuning" else "test", most)
        kept |= {"excess": more, "se": error, "loss": language().entropy_rate + more}
    return kept | {"seconds": time.process_time() - start}


# --- The file ----------------------------------------------------------------------------------------


def kept(path: Path = FILE) -> list[dict[str, Any]]:
    """What the runs left, in the order in which they ended."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def same(run: Run, result: dict[str, Any]) -> bool:
    """Whether a line is of this run."""
    return all(result.get(key) == value for key, value in asdict(run).items())


def tuned(width: int, results: Sequence[dict[str, Any]]) -> float:
    """The factor of the rate that was best on validation; of a width that was not tried, the median one.

    Raises:
        ValueError: nothing has been tuned.
    """
    tried = [result for result in results if result["group"] == "tuning"]
    if not tried:
        raise ValueError("No rate has been tuned: train the group tuning first.")
    best = {}
    for w in {result["width"] for result in tried}:
        best[w] = min((r for r in tried if r["width"] == w), key=lambda r: r["excess"])["factor"]
    return float(best.get(width, statistics.median_high(best.values())))


def go_on(runs: Sequence[Run], path: Path = FILE, most: int = HELD_OUT, minutes: float = math.inf) -> None:
    """Train the runs that are not in the file, and append each when it ends; none begins after `minutes`."""
    start = time.monotonic()
    for number, run in enumerate(runs):
        if time.monotonic() - start > 60 * minutes:
            return
        results = kept(path)
        if any(same(run, result) for result in results):
            continue
        factor = tuned(run.width, results) if run.factor is None else run.factor
        result = train(run, factor * 1e-2 * math.sqrt(16 / run.width), most)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({key: rounded(value) for key, value in result.items()}) + "\n")
        shown = result.get("excess", result["loss"])
        print(f"{number + 1}/{len(runs)} {run} {shown:.4f} ± {result['se']:.4f}, {result['seconds']:.0f} s",
              flush=True)  # fmt: skip


def rounded(value: Any) -> Any:
    """Numbers to six figures."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


# --- What the runs say -------------------------------------------------------------------------------


def of_group(results: Sequence[dict[str, Any]], group: str) -> list[dict[str, Any]]:
    """Runs of one group, by size and then tokens."""
    return sorted((r for r in results if r["group"] == group), key=lambda r: (r["N"], r["D"], r["seed"]))


def means(results: Sequence[dict[str, Any]], of: str = "excess") -> dict[tuple[int, int], float]:
    """(N, D) -> mean over the seeds, of logarithms."""
    places = sorted({(r["N"], r["D"]) for r in results})
    return {
        place: statistics.geometric_mean(r[of] for r in results if (r["N"], r["D"]) == place)
        for place in places
    }


def rows(results: Sequence[dict[str, Any]]) -> list[Row]:
    """What can be said of the runs that are there."""
    found = []

    def say(case: str, value: float, note: str, unit: str = "") -> None:
        found.append(Row("scaling", case, value, unit=unit, note=note))

    E, sizes = language().entropy_rate, means(of_group(results, "size"))
    least, most = 12 * min(WIDTHS) ** 2, 12 * max(WIDTHS) ** 2
    fitted = {N: y for (N, _), y in sizes.items() if least <= N <= most}
    if len(fitted) >= 3:
        line = fit_line(list(fitted), list(fitted.values()))
        seeds = len({r["seed"] for r in of_group(results, "size")})
        which = f"{len(fitted)} sizes of {min(fitted):,} to {max(fitted):,}, {AMPLE} tokens a weight"
        say("L − E against N: exponent", line.law.exponent,
            f"{which}, {seeds} seeds; R² {line.r2:.4f}; E = {E:.4f}")  # fmt: skip
        for (N, _), y in sizes.items():
            if most < N:
                said, low, high = line.predict(N)
                say(f"held out, N = {N:,}: L − E through the prediction", y / said,
                    f"{y:.4f}; predicted {said:.4f}, 90 % {low:.4f} to {high:.4f}")  # fmt: skip
    places = means([r for r in results if r["group"] in ("size", "data", "isoflop")])
    if len(places) >= 8 and len({D for _, D in places}) > 1:
        Ns, Ds = zip(*places, strict=True)
        law = fit_chinchilla(Ns, Ds, [E + y for y in places.values()], floor=E)
        say("N* against C: exponent of the law of all runs", law.exponents[0],
            f"L = E + {law.A:.4g}/N^{law.alpha:.3f} + {law.B:.4g}/D^{law.beta:.3f}")  # fmt: skip
        for C in BUDGETS:
            curve = isoflop(results, C)
            if len(curve) >= 4:
                note = f"by the law {law.optimum(C)[0]:,.0f}; {len(curve)} sizes"
                try:
                    lowest = parabola(list(curve), list(curve.values()))
                except ValueError:
                    lowest, note = math.nan, f"{note}; no minimum within"
                say(f"isoFLOP, C = {C:g}: N* by a parabola", lowest, note)
    for (unique, N), losses in of_text(results).items():
        say(f"Shakespeare, {unique:,} characters, N = {N:,}", statistics.mean(losses),
            f"least of validation, {spread(losses)}", "nats")  # fmt: skip
    for (width, layers), losses in of_shape(results).items():
        say(f"shape: {layers} layers of width {width}: L − E", statistics.mean(losses),
            spread(losses, 4), "nats")  # fmt: skip
    return found


def isoflop(results: Sequence[dict[str, Any]], C: float) -> dict[int, float]:
    """N -> excess of the runs of one budget, mean over the seeds."""
    mine = [r for r in of_group(results, "isoflop") if abs(r["C"] / C - 1) < 0.01]
    return {N: y for (N, _), y in means(mine).items()}


def of_text(results: Sequence[dict[str, Any]]) -> dict[tuple[int, int], list[float]]:
    """(characters, N) -> least loss of validation, of each seed."""
    found: dict[tuple[int, int], list[float]] = {}
    for r in of_group(results, "repeated"):
        found.setdefault((r["unique"], r["N"]), []).append(r["loss"])
    return dict(sorted(found.items()))


def of_shape(results: Sequence[dict[str, Any]]) -> dict[tuple[int, int], list[float]]:
    """(width, layers) -> excess of each seed."""
    found: dict[tuple[int, int], list[float]] = {}
    for r in of_group(results, "shape"):
        found.setdefault((r["width"], r["layers"]), []).append(r["excess"])
    return found


def measure(quick: bool = False, minutes: float = math.inf) -> list[Row]:
    """Train what is missing of the plan, for so many minutes, and say what all runs say."""
    if not quick:
        go_on(plan(), minutes=minutes)
        return rows(kept())
    with tempfile.TemporaryDirectory() as folder:
        path, few = Path(folder) / "scaling.jsonl", 20_000
        runs = [Run("tuning", 12, few, factor=f) for f in FACTORS[:2]]
        runs += [Run("size", w, few * n) for n, w in enumerate((12, 16, 20), 1)] + [Run("size", 32, few)]
        runs += [Run("isoflop", w, round(2e8 / (72 * w * w))) for w in BUDGETS[1e9][1:]]
        runs += [Run("shape", 8, few)]
        go_on(runs, path, most=64)
        return rows(kept(path))


if __name__ == "__main__":
    torch.set_num_threads(1)
    go_on(plan(), Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
