"""A student that learns to sample as its teacher scores: what it draws, how far it is off, what either asks.

    teacher   MAF   sampling: D calls a layer    scoring: 1
    student   IAF   sampling: 1, and the score of its own sample with it

Shapes: samples (F, N, 2), a frame every EVERY steps.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lab.lenses import plane
from lab.seeding import seeded
from modules.flow import distillation
from modules.flow.flow import Flow
from modules.flow.maf import IAF, MAF

TEACHERS = {"wave": "maf-sine", "moons": "maf-moons", "eight": "maf-eight"}
LAYERS, WIDTHS = 5, (64, 64)  # of the student, and of the teachers that ship
STEPS, EVERY, OFTEN = 1500, 50, 10  # a frame every so many steps; progress every so many
# what comes first, and for which share of the steps; what copies layers ends at a small rate
BEGINNINGS = {"bridge": 2 / 3, "samples": 2 / 3, "layers": 5 / 6, "nothing": 0.0}
WORDS = {
    "bridge": "bridge",
    "samples": "sample_steps",
    "layers": "layerwise_steps",
}  # as `distillation.distil` has them
SHOWN = 600  # samples that are drawn
SIZES = (2, 16, 64, 256)  # D of the table
GOAL = 0.1  # nats
REACH, CELLS = 4.5, 56  # of the window shown


@dataclass(frozen=True)
class Course:
    """A student on its way.

    Attributes:
        steps: done at each of F frames.
        samples: (F, SHOWN, 2) from the same noise throughout.
        kl, error: KL(student ‖ teacher) on the student's samples, nats, and its standard error.
        covered: share of the teacher's samples that the student finds likely enough; of the last frame.
    """

    steps: list[int]
    samples: Tensor
    kl: list[float]
    error: list[float]
    covered: float = float("nan")


def distil(
    teacher: Flow, start: str, with_ladj: bool, seed: int, steps: int = STEPS
) -> Iterator[tuple[float, Course]]:
    """Train a student that begins in one of BEGINNINGS; yields the share done and its course so far."""
    student = seeded(lambda: IAF((2,), LAYERS, WIDTHS), seed)
    noise = student.noise(SHOWN, generator=torch.Generator().manual_seed(7))
    result = look(Course([], torch.empty(0, SHOWN, 2), [], []), student, teacher, noise, 0)
    first = {"bridge": 0} | ({WORDS[start]: round(BEGINNINGS[start] * steps)} if start in WORDS else {})
    way = distillation.distil(student, teacher, steps, with_ladj=with_ladj, seed=seed, **first)
    yield 0.0, result
    for done, _ in enumerate(way, start=1):
        if done % EVERY == 0 or done == steps:
            result = look(result, student, teacher, noise, done)
        if done == steps:
            result = replace(result, covered=distillation.coverage(student, teacher))
        if done % OFTEN == 0 or done == steps:
            yield done / steps, result


@torch.no_grad()
def look(before: Course, student: Flow, teacher: Flow, noise: Tensor, done: int) -> Course:
    """The course with one more frame."""
    kl, error = distillation.divergence(student, teacher, 4000)
    drawn = student.decode(noise)[None]
    return Course([*before.steps, done], torch.cat([before.samples, drawn]), [*before.kl, kl],
                  [*before.error, error])  # fmt: skip


def teacher_samples(teacher: Flow) -> Tensor:
    """Samples of the teacher to be drawn, (SHOWN, 2)."""
    return teacher.sample(SHOWN, generator=torch.Generator().manual_seed(3))


@torch.no_grad()
def density(teacher: Flow) -> Tensor:
    """log q over the window as 0 to 255, (CELLS, CELLS)."""
    window = plane.middles(REACH, CELLS, torch.float32).flatten(0, 1)
    return torch.as_tensor(plane.levels(teacher.log_prob(window).view(CELLS, CELLS)))


def asked(dims: int) -> tuple[int, int]:
    """Calls of the networks of one layer for a sample in D dimensions, of a MAF and of an IAF: counted."""
    teacher, student = seeded(lambda: (MAF((dims,), 1, (8,)), IAF((dims,), 1, (8,))))
    return distillation.network_calls(teacher), distillation.network_calls(student)


def captions(course: Course) -> list[str]:
    """A sentence for every frame."""
    return [
        f"After {step:,} steps: KL(student ‖ teacher) {kl:.3f} ± {error:.3f} nats on the student's samples; "
        f"spread {float(drawn.std(0)[0]):.2f} by {float(drawn.std(0)[1]):.2f}."
        for step, kl, error, drawn in zip(course.steps, course.kl, course.error, course.samples, strict=True)
    ]


def met(start: str) -> str:
    """Sentence on what the student was given beside its own samples."""
    return {
        "samples": f"It has seen {distillation.TEACHER_SAMPLES:,} samples of its teacher, and no data.",
        "layers": "Its layers have been shown what the teacher's make of noise: D calls of each a sample.",
    }.get(start, "It has seen no data.")


def least(covered: float) -> float:
    """−log m of the mass m that is covered, nats; what is not is counted beyond the hundredth that is due."""
    return -math.log(min(1.0, max(covered, 1e-6) / 0.99))
