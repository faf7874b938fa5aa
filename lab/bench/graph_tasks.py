"""Tasks that ask a graph network for one thing each: degrees, far leaves, bonds; and the memory of inference.

degree is the label, degree is noise   which aggregate can (`degree_tasks`)
leaves                                 what gets through a tree of so many levels (`squashing`)
bonds, bonds and atoms                 what data of edges are for (`bond_tasks`)
memory                                 of a pass, whole and layer by layer (`graph_memory`)

Three seeds, of data and first weights. Where a training is looked at, the step with the smallest loss on
validation is tested, once.

A run is a line of `results/graph-tasks-runs.jsonl`: delete it to run it again.

References: [UDL] §13.7.1, §13.8, §13.9; Alon & Yahav 2021, arXiv:2006.05205.
"""

import datetime
import statistics
import time
from dataclasses import dataclass

from lab.bench import bond_tasks, degree_tasks, graph_memory, runs_file, squashing
from lab.bench.timing import Row, spread

KEPT = runs_file.RESULTS / "graph-tasks-runs.jsonl"
SEEDS, LEAVES, WIDTH = 3, "leaves", 32
# network, depth and width of each training on trees
TREES = [(network, depth, WIDTH) for network in squashing.LAYERS for depth in (2, 3, 4)]
TREES += [("GCN", 4, width) for width in (8, 128)]


def of_tree(network: str, depth: int, width: int) -> str:
    """Name of a training on trees."""
    return f"{network}, {2**depth} leaves, width {width}"


CASES = {of_tree(*case): case for case in TREES}


@dataclass(frozen=True)
class Run:
    """One training: `steps` as chosen, accuracy on test data; `beside` it on training data, or of leaves a
    leaf's share of the influence on the root before training."""

    task: str
    case: str
    seed: int
    steps: int
    seconds: float
    date: str
    acc: float
    beside: float


def plan() -> list[tuple[str, str, int]]:
    """Task, case and seed of all trainings."""
    cases: list[tuple[str, str]] = [
        (task, network) for task in degree_tasks.TASKS for network in degree_tasks.NETWORKS
    ]
    cases += [(LEAVES, case) for case in CASES]
    cases += [(task, way) for task in bond_tasks.TASKS for way in bond_tasks.WAYS]
    return [(*case, seed) for case in cases for seed in range(SEEDS)]


def train(task: str, case: str, seed: int, steps: int | None = None) -> Run:
    """Train once, of so many steps or those of the plan, and test once."""
    start = time.process_time()
    if task == LEAVES:
        taken, acc, beside = squashing.fit(*CASES[case], seed, steps or squashing.STEPS)
    elif task in bond_tasks.TASKS:
        taken, acc, beside = bond_tasks.fit(task, case, seed, steps or bond_tasks.STEPS)  # type: ignore[arg-type]
    else:
        taken, acc, beside = degree_tasks.fit(task, case, seed, steps or degree_tasks.EPOCHS)  # type: ignore[arg-type]
    seconds, today = round(time.process_time() - start, 1), datetime.date.today().isoformat()
    return Run(task, case, seed, taken, seconds, today, round(acc, 5), round(beside, 6))


def rows(runs: list[Run]) -> list[Row]:
    """Accuracy on test data by task and case, mean over the seeds, in the order of the plan."""
    cases: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        cases.setdefault((run.task, run.case), []).append(run)
    found = []
    for (task, case), mine in cases.items():
        beside = statistics.mean(run.beside for run in mine)
        said = f"a leaf has {beside:.4f} of the influence" if task == LEAVES else f"{beside:.3f} in training"
        note = f"{spread([run.acc for run in mine], 3)}; {said}"
        right = statistics.mean(run.acc for run in mine)
        found.append(Row("graph-tasks", f"{task}: {case}", right, note=note, unit="right"))
    return found


def measure(quick: bool = False) -> list[Row]:
    """Accuracy and memory; what is missing is trained first, six minutes in all."""
    if quick:
        first = {task: (task, case, 0) for task, case, _ in reversed(plan())}
        return rows([train(*each, steps=2) for each in first.values()]) + graph_memory.rows(quick)
    for each in runs_file.missing(plan(), KEPT, Run):
        runs_file.append(train(*each), KEPT)
    return rows(runs_file.kept(plan(), KEPT, Run)) + graph_memory.rows()
