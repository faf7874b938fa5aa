"""Guidance: a denoiser leaned towards a class, where the exact answer is known."""

from lab import ui
from lab.lenses.diffusion import BEYOND, SAID
from modules.diffusion import guidance
from pages.diffusion.guidance import figures, lens

REFERENCES = [
    "Ho & Salimans 2022, arXiv:2207.12598 (their s is 1 + w)",
    "Dhariwal & Nichol 2021, arXiv:2105.05233",
    "Bradley & Nakkiran 2024, arXiv:2408.09000",
    BEYOND,
]

stage = ui.stage("Guidance", "Leaning towards a class trades spread for faith.",
                 lenses=("sampling",))  # fmt: skip
stage.scenes(
    {
        "Leaning": ui.scene("At w = 1 the sampled bell is narrower, and further out, than the tilted one."),
        "Conditional": ui.scene("At w = 0 guidance does nothing: both bells are the class itself.",
                                w=0.0),
        "Unconditional": ui.scene("At w = −1 the class is forgotten: all data come back.", w=-1.0),
        "Too much": ui.scene("At w = 3 hardly any spread is left: all samples are alike.", w=3.0),
        "Few steps": ui.scene("Five steps have an error of their own: even w = 0 misses the class.", steps=5,
                              w=0.0),
        "Wide class": ui.scene("A wide class is told from all data by its mean alone.", s=0.9, w=2.0),
    }
)  # fmt: skip


@ui.cached
def solved(m: float, s: float, steps: int) -> lens.Laws:
    return lens.laws(m, s, steps)


with stage.rail:
    m = ui.slider("Mean of the class", 0.2, 2.0, 1.0, key="m", step=0.1)
    s = ui.slider("Spread of the class", 0.3, 0.9, 0.5, key="s", step=0.1)
    steps = ui.choice("Steps of the solver", [5, 20, 200], key="steps", default=200)
found = solved(m, s, steps)
film = ui.film(len(lens.WEIGHTS), key="w", values=lens.WEIGHTS, default=1.0, label="w =", seconds=0.3)
every = lens.bells(found.mean[:1] * 0, (found.sd[:1] * 0 + 1 + s**2).sqrt())[0]
fig, moves = figures.toy(lens.grid(), lens.bells(found.mean, found.sd.clamp(min=1e-3)),
                         lens.bells(found.tilted_mean, found.tilted_sd), every, film.at)  # fmt: skip

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(fig, alt="Densities: all data, the tilted law, and what guided sampling reaches", key="toy",
                  share=1.0, film=film, frames=moves)  # fmt: skip
    with right:
        for key, mine, theirs, label in (
            ("mean", found.mean, found.tilted_mean, "mean"), ("sd", found.sd, found.tilted_sd, "sd"),
        ):  # fmt: skip
            side, moved = figures.against(lens.WEIGHTS, mine, theirs, film.at, label)
            ui.figure(side, alt=f"{label} of both laws against the weight", key=key, share=0.5, film=film,
                      frames=moved, data={"w": lens.WEIGHTS, "sampled": mine, "tilted": theirs})  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(found), equations=lens.equations())
at, w = film.at, lens.WEIGHTS[film.at]
gap = float(found.tilted_sd[at] - found.sd[at])
stage.metrics(
    {
        "Sampled mean": f"{float(found.mean[at]):.4f}",
        "Sampled sd": f"{float(found.sd[at]):.4f}",
        "Tilted mean": f"{float(found.tilted_mean[at]):.4f}",
        "Tilted sd": f"{float(found.tilted_sd[at]):.4f}",
    }
)
answer = "the same" if abs(gap) < 0.02 else "narrower" if gap > 0 else "wider"
with stage.below:
    ui.notice(
        "At one noise level the leaned denoiser belongs to p(x|y)^(1+w) p(x)^(−w) of that level, but these "
        "laws are no diffusion of one another, so the samples follow another. Here its sd is "
        f"{float(found.sd[at]):.3f} where the tilted density has {float(found.tilted_sd[at]):.3f}. {SAID}"
    )
    ui.check(
        f"At w = {w:g}, how is the sampled bell against the tilted one?",
        ["narrower", "the same", "wider"],
        answer,
        f"Its sd is {float(found.sd[at]):.3f}, the tilted one's {float(found.tilted_sd[at]):.3f}.",
        veils=("picture", "equation", "numbers", "notice"),
    )
    ui.program(
        f"""
        from pages.diffusion.guidance import lens

        found = lens.laws({m}, {s}, {steps})
        result = [float(found.mean[{at}]), float(found.sd[{at}]), float(found.tilted_sd[{at}])]
        """,
        shows=[float(found.mean[at]), float(found.sd[at]), float(found.tilted_sd[at])],
    )
    ui.source(guidance.classifier_free, guidance.by_classifier, lens.laws, references=REFERENCES)
