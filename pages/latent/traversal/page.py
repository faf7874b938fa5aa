"""Traversal: one dimension of a code at a time."""

from lab import ui
from lab.figures import basic, latents, sheets
from lab.lenses import latent, vaes
from lab.ui.models import shelves
from modules.latent.bounds import gaussian_kl
from modules.latent.vae import VAE
from pages.latent.traversal.room import ROOM

COLUMNS = [-3.0, -2.25, -1.5, -0.75, 0.0, 0.75, 1.5, 2.25, 3.0]
VALUES = [i / 4 for i in range(-12, 13)]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "The busiest dimension": ui.scene("The dimension with most KL: play it, and see what it holds.",
                                          model="vae-mnist"),
        "Twelve dimensions": ui.scene("A row a dimension, those with most KL first: see what each holds.",
                                      model="vae-mnist", rows=12, row=3),
        "Two dimensions": ui.scene("Only two numbers: each of them carries a lot.", row=2),
        "A silent one": ui.scene("The last of sixteen by its KL: it moves the picture less.",
                                 model="vae-mnist", rows=16, row=16),
        "A box": ui.scene("The encoder's answer for what is no digit.", model="vae-mnist", a="box"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment("Model", family="latent", key="model", default=vaes.START, only=vaes.fits)
    model = ui.load(name)
    k = model.latent_dim
    rows = ui.slider(
        "Dimensions shown", 1, min(k, 16), min(k, 8), key="rows", help="Those with most KL first."
    )
    row = ui.slider("Dimension, by its KL", 1, rows, 1, key="row", help="Or click a picture of its row.") - 1
    shelf = shelves.shelf(name)
    a = shelves.digit("a", name, shelf)
result, side = shelf.overview, shelf.side
dims = result.order[:rows]
d = dims[row]
film = ui.film(
    len(VALUES), key="value", values=VALUES, default=3.0, label=f"{vaes.dimension(d)} =", seconds=0.12
)
codes = latent.traverse(a.code, VALUES, [d])[0]  # (25, K)
pictures = latent.decoded(model, codes)
plain = latent.decoded(model, a.code[None])[0]
changes = pictures - plain
names = [vaes.dimension(i) for i in dims]
parts = latent.bound(model, a.x, latent.normal_noise(1, k, 0))

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        sheet = sheets.contact_sheet(
            latent.decoded(model, latent.traverse(a.code, COLUMNS, dims)), names,
            [f"{v:g}" if v % 1.5 == 0 else "" for v in COLUMNS], clickable=True,
        )  # fmt: skip
        pitch = side + sheets.gap_of(side)
        ui.button_figure(
            sheets.frame(sheet, side, (film.value + 3) / 0.75, row, rows), key="sheet", share=1.0, film=film,
            frames=sheets.frame_moves(side, [(v + 3) / 0.75 for v in VALUES]), whole=False,
            on_press=lambda x, y: {"row": int(y / pitch) + 1, "value": COLUMNS[int(x / pitch)]},
            alt=f"Digit A decoded with one dimension changed at a time; a row each for {', '.join(names)}",
        )  # fmt: skip
    with right:
        now, moved = ui.columns(2)
        with now:
            ui.figure(
                basic.image(pictures[film.at], title="decoded"), key="decoded", share=0.5, film=film,
                frames={"data.0.z": pictures}, alt=f"Digit A decoded with {names[row]} changed",
            )  # fmt: skip
        with moved:
            reach = max(float(changes.abs().max()), 1e-3)
            ui.figure(
                basic.image(changes[film.at], "minus A", "diverging", zmin=-reach, zmax=reach), key="change",
                share=0.5, film=film, frames={"data.0.z": changes},
                alt="What the change adds to the picture, blue, and takes from it, orange",
            )  # fmt: skip
        ui.figure(
            latents.dimensions(parts.kl, result.kl, result.order[:rows], row), key="kl", share=0.5,
            alt="KL in nats of each latent dimension, for digit A and on average over the examples",
            data={"dimension": [i + 1 for i in result.order], "A": parts.kl[result.order],
                  "mean": result.kl[result.order]},
        )  # fmt: skip
m, log_var, variance = parts.mean[d].item(), parts.log_var[d].item(), parts.log_var.exp()[d].item()
with stage.foot:
    film.bar(
        captions=[
            f"{names[row]} goes from {a.code[d].item():.2f} to {v:+.2f}: the ink of "
            f"{int((change.abs() > 0.1).sum())} of {side * side} pixels moves by more than a tenth."
            for v, change in zip(VALUES, changes, strict=True)
        ]
    )
stage.equation(
    rf"\mathrm{{KL}}_{{{d + 1}}}=\tfrac12(\sigma^2+\mu^2-1-\log\sigma^2)"
    rf"=\tfrac12({variance:.4f}+{m * m:.4f}-1-({log_var:.4f}))={parts.kl[d].item():.4f}",
)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    ui.notice(
        f"The equation is what the encoder's answer for A says in {names[row]}, in nats. "
        f"{result.active} of {k} dimensions are active: their mean moves with the digit. "
        + (
            "The others stay at the prior, and the decoder has learned to ignore them. "
            if result.active < k
            else ""
        )
        + "No dimension was told what to mean; slant, width or loops appear because they pay."
    )
    options = sorted({result.active, max(1, k // 2), k, max(0, result.active - 1 - k // 5)})
    ui.check(
        "How many dimensions have a mean that varies by more than 0.01 over the examples?",
        options if len(options) > 1 else [*options, k + 1],
        result.active,
        f"The largest mean KL is {result.kl.max().item():.2f} nats, the smallest "
        f"{result.kl.min().item():.4f}.",
        wrong={
            n: f"Not {n}: "
            + (
                "what tells nothing is left at the prior, whatever room there is."
                if n > result.active
                else "more dimensions than that pay for what they tell."
            )
            for n in [*options, k + 1]
        },
        veils=("picture",),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import latent
        from lab.ui.controls import drawing
        from modules.latent.bounds import gaussian_kl

        model = weights.load({ui.spelled(name)})
        x = {a.program}
        mean, log_var = model.encode_parameters(x)
        result = gaussian_kl(mean, log_var)[0, {d}].item()
        """,
        shows=parts.kl[d].item(),
    )
    ui.source(
        VAE.encode_parameters, gaussian_kl, latent.traverse, latent.active_units, references=ROOM.references
    )
