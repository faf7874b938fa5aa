"""Distillation: a flow that samples in one pass learns from one that scores in one."""

from lab import ui
from modules.flow import distillation, reverse_kl
from pages.flow.distillation import figures, lens
from pages.flow.distillation.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Learned": ui.scene("The student's samples lie where the teacher's density is, ends included."),
        "Untaught": ui.scene("Before the first step: noise, and a KL off the scale.", step=0),
        "Wide first": ui.scene("On the bridge: log q counts for a part, so that no end is given up.",
                               step=300),
        "At once": ui.scene("Without the bridge one of two moons is given up: KL is −log of what it covers.",
                            teacher="moons", start="nothing"),
        "No log-det": ui.scene("Without ladj nothing holds the samples apart: they run to the peak.",
                               ladj=False, start="nothing"),
        "Two moons": ui.scene("Harder: two pieces. Even on the bridge it stays above a tenth of a nat.",
                              teacher="moons"),
        "Samples first": ui.scene("Shown the teacher's samples first, it comes closer.",
                                  teacher="moons", start="samples"),
        "Layer by layer": ui.scene("Each layer first copies the teacher's: eight hills, well below a tenth.",
                                   teacher="eight", start="layers"),
    }
)  # fmt: skip


@ui.cached
def map_of(name: str):
    return lens.density(ui.load(name))


@ui.cached
def calls_of(dims: int) -> tuple[int, int]:
    return lens.asked(dims)


with stage.rail:
    shape = ui.choice("Teacher", list(lens.TEACHERS), key="teacher")
    start = ui.choice("Begin with", list(lens.BEGINNINGS), key="start", as_list=True)
    with_ladj = ui.toggle("With ladj", True, key="ladj")
    seed = ui.number("Seed", 0, 99, 0, key="seed")
name = lens.TEACHERS[shape]
teacher, known = ui.load(name), map_of(name)
drawn = lens.teacher_samples(teacher)


def so_far(course: lens.Course) -> None:
    ui.figure(figures.cloud(known, drawn, course.samples[-1]), key="so-far", share=0.8,
              alt="The teacher's density, and samples of the student so far")  # fmt: skip


with stage.picture:
    result = ui.result(
        "Distil", lambda: lens.distil(teacher, start, with_ladj, seed), key="distil",
        of=(name, start, with_ladj, seed), quick=False, show=so_far,
        says="The student's samples over its training, when it has learned.",
    )  # fmt: skip
film = ui.film(len(result.steps), key="step", values=result.steps, default=result.steps[-1], label="Step",
               seconds=0.25)  # fmt: skip
now = result.samples[film.at]
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.cloud(known, drawn, now), key="cloud", share=1.0, film=film,
            frames={"data.2.x": result.samples[..., 0], "data.2.y": result.samples[..., 1]},
            alt="The teacher's density and samples, and samples of the student",
            data={"x1": now[:, 0], "x2": now[:, 1]},
        )  # fmt: skip
    with right:
        ui.figure(
            figures.course(result.steps, result.kl, lens.GOAL, film.value),
            key="course", share=1.0, film=film,
            frames={f"layout.shapes.0.x{end}": result.steps for end in (0, 1)},
            alt="KL(student ‖ teacher) over the steps", data={"step": result.steps, "KL": result.kl},
        )  # fmt: skip
with stage.foot:
    film.bar(
        captions=lens.captions(result),
        equations=[
            rf"\mathrm{{KL}}(p\|q)=E_z[\log p_Z(z)-\mathrm{{ladj}}(z)-\log q(f(z))]={kl:.4f}\pm{error:.4f}"
            for kl, error in zip(result.kl, result.error, strict=True)
        ],
    )
student_calls, teacher_calls = lens.LAYERS * calls_of(2)[1], distillation.network_calls(teacher)
stage.metrics({"Calls a sample, teacher": str(teacher_calls), "Calls a sample, student": str(student_calls)})
with stage.below:
    ui.notice(
        f"After the last step the student is {result.kl[-1]:.3f} ± {result.error[-1]:.3f} nats from its "
        f"teacher where it samples. Of the teacher's samples it finds {result.covered:.0%} no less likely "
        "than all but a hundredth of its own: 99 % if both were one distribution. The KL is taken where the "
        "student is: a student that copies a part of mass m and leaves the rest has −log m, here "
        f"{lens.least(result.covered):.3f} from the mass covered alone. {lens.met(start)}"
    )
    rows = [calls_of(d) for d in lens.SIZES]
    ui.table(
        {"D": lens.SIZES, "teacher": [a for a, _ in rows], "student": [b for _, b in rows],
         "ratio": [a // b for a, b in rows]},
        alt="Calls of a layer's network for one sample, counted, by dimension",
    )  # fmt: skip
    ui.check(
        "In 256 dimensions, how many calls of its network does a layer of the teacher need for a sample?",
        [1, 16, 256], calls_of(256)[0], "Each number waits for those before it; the student asks once.",
        wrong={
            1: "That is the student, which knows all its inputs beforehand and asks once.",
            16: "Nothing can be asked in blocks here: each number needs the one before it.",
        },
        veils=("numbers",),
    )  # fmt: skip
    ui.program(
        f"""
        from lab import experiments, weights
        from modules.flow import distillation

        result = distillation.network_calls(weights.load({ui.spelled(name)}))
        """,
        shows=teacher_calls,
    )
    ui.source(
        distillation.distil,
        distillation.layerwise_loss,
        reverse_kl.reverse_kl,
        distillation.divergence,
        distillation.coverage,
        references=ROOM.references,
    )
