"""Score field: arrows uphill on log p, particles that follow them, and why noise helps."""

from lab import ui
from lab.lenses.diffusion import SAID
from modules.diffusion import langevin, score_matching
from pages.diffusion.score_field import figures, lens
from pages.diffusion.score_field.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Stuck": ui.scene("At one small noise each particle climbs the nearer hill: about half, not 4 to 1.",
                          step=30),
        "Annealed": ui.scene("Down a ladder of noise the hills meet first: the shares come out near 4 to 1.",
                             way="annealed", step=30),
        "Much noise": ui.scene("Under much noise there is one hill, and every arrow points to it.",
                               way="annealed", step=2),
        "Between": ui.scene("Midway between the hills the arrows turn round; none tells which is higher.",
                            step=0),
        "Denoising": ui.scene("A network that has learned to take noise away leads to all eight.",
                              source="denoising", way="annealed", step=30),
        "Sliced": ui.scene("Fitted by slopes along random directions, no noise to name: the same field.",
                           source="sliced", way="annealed", step=30),
        "Hasty": ui.scene("Few steps a level: the particles don't settle before the noise falls.",
                          way="annealed", steps=3, step=30),
    }
)  # fmt: skip


@ui.cached
def found(name: str, share: float, annealed: bool, steps: int, size: float, seed: int):
    model = ui.load(lens.NETWORKS[name]) if name in lens.NETWORKS else None
    score, law = lens.score_of(name, share, model), lens.truth(name, share)
    run = lens.run(score, law, annealed, steps, size, seed)
    error = lens.score_error(score, law, lens.LAST)
    return run, lens.density(law, run.levels), lens.arrows(score, run.levels), error


with stage.rail:
    name = ui.choice("Score", lens.SOURCES, key="source", as_list=True)
    share = ui.slider("Left hill's weight", 0.1, 0.9, 0.8, key="share", step=0.1,
                      disabled=name != "two modes")  # fmt: skip
    way = ui.choice("Noise", ["one level", "annealed"], key="way")
    steps = ui.slider("Steps a level", 3, 60, 30, key="steps", step=3)
    size = ui.slider("Step size", 0.02, 0.3, 0.1, key="size", step=0.02)
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
law = lens.truth(name, share)
run, density, (feet, tips), error = found(name, share, way == "annealed", steps, size, seed)
film = ui.film(lens.FRAMES, key="step", values=range(lens.FRAMES), default=30, label="Frame", seconds=0.15)
weights = law.log_weights.exp()
fig, moves = figures.field(density, feet, tips, run.cloud, lens.REACH, film.at)
bars, grow = figures.shares(run.shares, weights, film.at)

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(fig, alt="Density with noise, arrows of its score, and the particles", key="field",
                  share=1.0, film=film, frames=moves)  # fmt: skip
    with right:
        ui.figure(bars, alt="Share of the particles nearest to each mode, and the modes' weights",
                  key="shares", share=1.0, film=film, frames=grow,
                  data={"mode": range(1, len(weights) + 1), "weight": weights, "share": run.shares[-1]},
                  )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(run, law))
stage.equation(r"x \leftarrow x + \eta\, \nabla \log p_\sigma(x) + \sqrt{2\eta}\, z")
off = float(lens.off_shares(run, law)[-1])
stage.metrics(
    {
        "Shares off by, at the end": f"{off:.3f}",
        "Near a mode": f"{float(run.near[-1]):.3f}",
        "Error of the score": f"{error:.4f}",
    }
)
with stage.below:
    ui.notice(
        "The score needs no normaliser: it is the slope of log p. Each particle goes uphill and shakes. "
        f"At the end the shares are off by {off:.3f} (half the sum of the differences to the weights). "
        "Arrows show the direction of the score, longer where σ times it is larger. The error is "
        "σ²‖s − ∇ log p‖² a coordinate at the least noise; an exact score has none. " + SAID
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
    model = f"weights.load({lens.NETWORKS[name]!r})" if name in lens.NETWORKS else "None"
    ui.program(
        f"""
        from lab import weights
        from pages.diffusion.score_field import lens

        law = lens.truth({name!r}, {share})
        score = lens.score_of({name!r}, {share}, {model})
        run = lens.run(score, law, {way == "annealed"}, {steps}, {size}, {seed})
        result = [float(lens.off_shares(run, law)[-1]), float(run.near[-1])]
        """,
        shows=[off, float(run.near[-1])],
    )
    ui.source(
        langevin.langevin,
        langevin.annealed_langevin,
        score_matching.denoising,
        score_matching.sliced,
        references=ROOM.references,
    )
