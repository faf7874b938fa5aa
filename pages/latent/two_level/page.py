"""Two levels: draw the top code anew, or the bottom one, and see what each decides."""

from lab import ui
from lab.figures import basic, sheets, theme
from lab.lenses import latent, stock
from lab.ui.models import shelves
from modules.latent.ladder import LadderVAE, merge
from pages.latent.two_level import lens
from pages.latent.two_level.room import ROOM

KINDS = ("bottom redrawn", "top redrawn")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Two rows": ui.scene("Above: the top stays, the bottom is drawn anew. Below: the other way round."),
        "Walking": ui.scene("Play: the noise walks from draw to draw, in one layer a row.", step=12),
        "An eight": ui.scene("The same for another digit.", digit="8"),
        "Nothing above": ui.scene("The free bits left out: the top has collapsed, and moves next to nothing.",
                                  model="ladder-digits"),
        "Another draw": ui.scene("Other draws of the same two layers.", seed=4),
        "No digit": ui.scene("A box has codes too; the layers that stay are its own.", digit="box"),
    }
)  # fmt: skip


@ui.cached
def measured(name: str) -> tuple[list[lens.Change], float, list[float]]:
    model, (x, _) = ui.load(name), stock.bits()
    distortion, kl = lens.layers(model, x)
    return lens.changes(model, ui.load("cnn-digits"), x, 0), distortion, kl.tolist()


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment(
        "Model", family="latent", key="model", default="ladder-freebits-digits", only=lens.fits
    )
    own = shelves.small_digit("digit", first=3)
    seed = ui.number("Seed of the draws", 0, 999, 0, key="seed")
model: LadderVAE = ui.load(name)
film = ui.film(lens.STEPS, key="step", label="Step", seconds=0.12)

# --- Pictures -----------------------------------------------------------------------------------

code = latent.codes(model, own.x)
noise = lens.noise_of(model, code)[0]
rebuilt = latent.decoded(model, code)[0]
rows = [lens.walked(model, noise, level, seed) for level in range(2)]  # (25, 5, 8, 8) each
change, distortion, kl = measured(name)
ui.prefetch(measured, *((each,) for each in ui.trained("latent", lens.fits)))
with stage.picture:
    left, right = ui.columns([1, 3])
    with left:
        ui.figure(basic.image(own.x.reshape(8, 8), title="x"), key="x", share=0.5, alt="Your digit, as bits")
        ui.figure(basic.image(rebuilt, title="rebuilt"), key="rebuilt", share=0.5,
                  alt="Your digit, rebuilt from its own codes")  # fmt: skip
    with right:
        for kind, row in zip(KINDS, rows, strict=True):
            ui.figure(
                basic.images(row[film.at], columns=lens.COUNT, title=kind), key=kind, share=0.5, film=film,
                frames={"data.0.z": sheets.frames(row, lens.COUNT, 1)},
                alt=f"{lens.COUNT} pictures from your digit's codes with the {kind}",
            )  # fmt: skip
moved = [[float((p - rebuilt).abs().mean()) for p in row] for row in rows]
with stage.foot:
    film.bar(
        captions=[
            f"Against the rebuilt digit a pixel has moved by {low:.3f} with the bottom redrawn, "
            f"by {high:.3f} with the top redrawn."
            for low, high in zip(*moved, strict=True)
        ]
    )
stage.equation(
    rf"-\mathrm{{ELBO}}={distortion:.2f}+\underbrace{{{kl[0]:.2f}}}_{{\mathrm{{KL}}(z_1)}}"
    rf"+\underbrace{{{kl[1]:.2f}}}_{{\mathrm{{KL}}(z_2)}}={distortion + sum(kl):.2f}",
    "Test digits, nats.",
)

# --- Words --------------------------------------------------------------------------------------

more = max(KINDS, key=lambda kind: change[KINDS.index(kind)].pixels)
with stage.below:
    fig = basic.bars(["bottom, z₁", "top, z₂"], kl, color=theme.ATTENTION, title="KL of each layer, nats")
    ui.figure(
        fig,
        alt="KL of each layer over the test digits",
        key="kl",
        data={"layer": ["bottom", "top"], "nats": kl},
    )
    ui.notice(
        f"The picture is made by z₁ ({model.latent_dims[0]} numbers) alone, and z₁ by z₂ "
        f"({model.latent_dims[1]} numbers) and noise of its own. Over {len(stock.bits()[0])} test "
        "digits "
        f"a pixel moves by {change[0].pixels:.3f} with the bottom redrawn and {change[0].kept:.0%} keep the "
        f"class that cnn-digits reads; with the top redrawn by {change[1].pixels:.3f}, and "
        f"{change[1].kept:.0%} "
        f"keep it. The {'top' if kl[1] > kl[0] else 'bottom'} layer has more of the KL: "
        f"{max(kl):.2f} of {sum(kl):.2f} nats."
    )
    ui.check(
        "Over many digits, which redrawn layer changes the picture more?",
        KINDS,
        more,
        f"A pixel moves by {change[0].pixels:.3f} with the bottom redrawn, by {change[1].pixels:.3f} with "
        "the "
        "top redrawn.",
        wrong=(
            "The bottom layer redraws detail: what the digit is the top layer decides.",
            "A top layer that tells little leaves the picture to the bottom one.",
        ),
        veils=("picture", "equation", "kl"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.ui.controls import drawing
        from pages.latent.two_level import lens

        model = weights.load({ui.spelled(name)})
        x = {own.program}
        noise = lens.noise_of(model, model.encode(x))[0]
        rows = [lens.walked(model, noise, level, {seed}) for level in range(2)]
        result = [row[{film.at}].sum().item() for row in rows]
        """,
        shows=[float(row[film.at].sum()) for row in rows],
    )
    ui.source(
        LadderVAE.from_noise, LadderVAE.sample_posterior, merge, lens.walked, references=ROOM.references
    )
