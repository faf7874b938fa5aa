"""Score field: arrows uphill on log p, particles that follow them, and why noise helps."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import langevin, score_matching
from pages.diffusion.score_field import figures, lens
from pages.diffusion.score_field.room import ROOM

stage = ui.stage(ROOM)


with stage.rail:
    now = ui.read(ROOM)
mixture, result = lens.truth(now.source, now.share), ui.compute(lens.led, now)
run = result.run
film = ui.film_of(now, lens.FRAMES, names=[f"{s:.2f}" for s in run.levels])

with stage.picture:
    left, right = ui.columns([2, 1])
    with left:
        ui.figure(
            figures.field(result.density, result.feet, result.tips, run.cloud, lens.REACH), key="field",
            share=1.0, film=film, alt="Density with noise, arrows of its score, and the particles",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.shares(run.shares, mixture.log_weights.exp()), key="shares", share=1.0, film=film,
            alt="Share of the particles nearest to each mode, and the modes' weights",
        )  # fmt: skip
with stage.foot:
    if now.model:
        lit = ["xt", *[["net", "said", "next"]] * (film.count - 1)]
        says = [{"xt": f"σ = {s:.2f}"} for s in run.levels]
        ui.machine(now.model, film=film, lit=lit, says=says)
    film.bar(captions=lens.captions(run, mixture))
stage.equation(r"x \leftarrow x + \eta\, \nabla \log p_\sigma(x) + \sqrt{2\eta}\, z")
off = float(lens.off_shares(run, mixture)[-1])
if not now.model:
    stage.metrics(
        {"Shares off by, at the end": f"{off:.3f}", "Near a mode, at the end": f"{float(run.near[-1]):.3f}"}
    )
with stage.below:
    ui.notice(
        "The score is the gradient of log p and needs no normaliser. Each particle moves along it, with "
        f"noise added (Langevin dynamics). At the end the shares are off by {off:.3f} (half the sum of the "
        "differences to the weights). "
        "Arrows show the direction of the score, longer where σ times it is larger. The error of this score, "
        f"σ²‖s − ∇ log p‖² a coordinate at the least noise, is {result.error:.4f}; an exact score has none. "
        + SAID
    )
    ui.check(
        "Are the shares at the end within 0.1 of the weights?",
        ["yes", "no"],
        "yes" if off <= 0.1 else "no",
        f"They are off by {off:.3f}.",
        wrong={
            "yes": "Particles climb to the mode that is near: they hardly cross the empty plane, so shares "
            "stay as begun.",
            "no": "Where the start or much noise lets particles reach every mode, they share as the "
            "weights say.",
        },
        veils=("shares", "numbers", "equation"),
    )
    network = f"weights.load({now.model!r})" if now.model else None
    ui.program(
        f"""
        from lab import weights
        from pages.diffusion.score_field import lens

        mixture = lens.truth({now.source!r}, {now.share})
        score = lens.score_of({now.source!r}, {now.share}, {network})
        run = lens.run(score, mixture, {now.annealed}, {now.steps}, {now.size}, {now.seed})
        result = [float(lens.off_shares(run, mixture)[-1]), float(run.near[-1])]
        """,
        shows=[off, float(run.near[-1])],
    )
    ui.source(langevin.langevin, langevin.annealed_langevin, score_matching.denoising,
              score_matching.sliced, references=ROOM.references)  # fmt: skip
