"""Likelihood of a GAN: chains annealed from the prior to a point, beside brute force."""

from lab import ui
from modules.adversarial import ais
from pages.adversarial.ais import figures, lens
from pages.adversarial.ais.room import ROOM

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
result = ui.compute(lens.run, now)
film = ui.film_of(now, len(result.betas), names=[f"{beta:.3f}" for beta in result.betas])

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.plane(ui.compute(lens.density, now), result, now.x, now.y),
            key="plane",
            share=1.0,
            film=film,
            alt="The generator's density with output noise, the point x, and the samples of the chains",
        )
    with right:
        ui.figure(figures.ladder(result), key="ladder", share=1.0, film=film,
                  alt="log Z over β, by annealed importance sampling and by brute force")  # fmt: skip
with stage.foot:
    ui.machine(now.model, film=film, lit=[["z", "G", "made"]] * film.count, says=lens.numbers(result))
    film.bar(captions=lens.captions(result), equations=lens.equations(result))
stage.metrics(
    {
        "log p(x) by AIS": f"{result.log_z[-1]:.2f} ± {result.error[-1]:.2f}",
        "brute force": f"{result.brute[-1]:.2f} ± {result.brute_error[-1]:.2f}",
    }
)
with stage.below:
    ui.notice(lens.notice(result, now.chains, now.sd))
    ui.check(
        "Does the estimate of AIS lie within two standard errors of brute force?",
        ["yes", "no"],
        lens.verdict(result),
        f"{result.log_z[-1]:.2f} ± {result.error[-1]:.2f} beside {result.brute[-1]:.2f}.",
        wrong={
            "yes": "The standard error reflects only the chains that ran, not a mode that all of them "
            "missed.",
            "no": "Two estimates are never equal: they agree if they differ by less than twice their joint "
            "error.",
        },
        veils=("ladder", "numbers", "equation"),
    )
    ui.program(
        f"""
        from lab import weights
        from pages.adversarial.ais import lens

        model = weights.load({now.model!r})
        run = lens.run(model, {now.x!r}, {now.y!r}, {now.sd!r}, {now.chains}, {now.count}, {now.seed})
        result = [run.log_z[-1], run.error[-1], run.brute[-1]]
        """,
        shows=[result.log_z[-1], result.error[-1], result.brute[-1]],
    )
    ui.source(ais.anneal, ais.hmc_step, ais.estimate, references=ROOM.references)
