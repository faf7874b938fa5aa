"""Interpolation: from one digit's code to another's, straight or on an arc."""

from lab import ui
from lab.figures import latents, sheets
from lab.lenses import latent, vaes
from lab.ui.models import shelves
from modules.latent.vae import VAE
from pages.latent.interpolation.room import ROOM

STEPS = 11

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Halfway": ui.scene("Between two codes stands a digit that nobody drew."),
        "From a 1 to an 8": ui.scene("Pick any two ends: each walk decodes to another row.", a="1", b="8"),
        "Forty dimensions": ui.scene("The line dips: its middle is shorter than nearly all draws from p(z).",
                                     model="vae-mnist", a="3", b="8"),
        "The same twice": ui.scene("No way to go: both walks stand still.", a="3", b="3"),
        "From a digit to a box": ui.scene("One end is no digit: its code is a place all the same.", b="box"),
        "Small digits": ui.scene("Ten dimensions, 8 by 8 pixels: the same walk in another model.",
                                 model="vae-digits", a="4", b="9"),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    name = ui.experiment("Model", family="latent", key="model", default=vaes.START, only=vaes.fits)
    shelf = shelves.shelf(name)
    a = shelves.digit("a", name, shelf)
    b = shelves.digit("b", name, shelf)
model, k, side = ui.load(name), len(a.code), shelf.side
walks = latent.interpolations(a.code, b.code, STEPS)
pictures = latent.decoded(model, walks.codes)  # (2, steps, side, side)
ts = [i / (STEPS - 1) for i in range(STEPS)]
film = ui.film(STEPS, key="step", default=STEPS // 2, label="Step", seconds=0.25)
lengths = {kind: v.tolist() for kind, v in walks.lengths.items()}
typical = latent.typical_length(k)

# --- Pictures -----------------------------------------------------------------------------------

with stage.picture:
    left, right = ui.columns(2)
    with left:
        pair = pictures.transpose(0, 1)  # (steps, 2, side, side)
        ui.figure(
            sheets.labelled(list(pair[film.at]), list(lengths), columns=2),
            key="pair", share=0.55, film=film,
            frames={"data.0.z": sheets.frames(pair, 2, sheets.label_gap(side))},
            alt="The digit at this step of the straight walk, and of the walk on an arc",
        )  # fmt: skip
    with right:
        ui.figure(
            latents.norms(ts, lengths, typical, ts[film.at]), key="norms", share=0.55, film=film,
            frames={"layout.shapes.0.x0": ts, "layout.shapes.0.x1": ts},
            alt="Length of the code along both walks, against the typical length of a draw from the prior",
            data={"t": ts, **lengths},
        )  # fmt: skip
    fig = sheets.contact_sheet(pictures, list(lengths), [f"{t:.1f}" for t in ts], xlabel="t")
    ui.figure(
        sheets.frame(fig, side, film.at, None, 2), key="walks", share=0.45, film=film,
        frames=sheets.frame_moves(side, range(STEPS)),
        alt=f"{STEPS} digits on the way from A to B, in a straight line and on an arc; this step is framed",
    )  # fmt: skip
w = walks.omega
shorter = [{kind: latent.share_shorter(v[i], k) for kind, v in lengths.items()} for i in range(STEPS)]
with stage.foot:
    film.bar(
        captions=[
            f"t = {t:.1f}: of draws from the prior {text['linear']:.1%} are shorter than the line's code, "
            f"{text['spherical']:.1%} than the arc's."
            for t, text in zip(ts, shorter, strict=True)
        ],
        equations=[
            rf"\left\|{1 - t:.1f}\,z_A+{t:.1f}\,z_B\right\|={lengths['linear'][i]:.3f},\qquad"
            rf"\left\|\tfrac{{\sin({1 - t:.1f}\cdot{w:.3f})}}{{\sin {w:.3f}}}\,z_A"
            rf"+\tfrac{{\sin({t:.1f}\cdot{w:.3f})}}{{\sin {w:.3f}}}\,z_B\right\|"
            rf"={lengths['spherical'][i]:.3f}"
            if walks.spherical
            else rf"\left\|{1 - t:.1f}\,z_A+{t:.1f}\,z_B\right\|={lengths['linear'][i]:.3f}"
            for i, t in enumerate(ts)
        ],
    )

# --- Words --------------------------------------------------------------------------------------

middle = {kind: v[STEPS // 2] for kind, v in lengths.items()}
half = shorter[STEPS // 2]
with stage.below:
    ui.caption(
        f"ω = {w:.3f} is the angle between z_A, of length {lengths['linear'][0]:.3f}, and z_B, of length "
        f"{lengths['linear'][-1]:.3f}, both answered by the encoder for the two digits."
        + ("" if walks.spherical else " They point the same or opposite ways, so both walks are the line.")
    )
    ui.notice(
        "Both ends are your own digits as the model rebuilds them. "
        f"In {k} dimensions a draw from the prior has length {typical:.2f} on average. The middle of the "
        f"line has {middle['linear']:.2f}, and {half['linear']:.1%} of the draws are shorter; the middle of "
        f"the arc has {middle['spherical']:.2f}, and {half['spherical']:.1%} are shorter."
    )
    longer = max(middle, key=lambda kind: middle[kind])
    ui.check(
        "Halfway, at t = 0.5, which walk's code is longer?",
        ["linear", "spherical", "neither"],
        longer if abs(middle["spherical"] - middle["linear"]) > 5e-4 else "neither",
        f"Linear {middle['linear']:.3f}, spherical {middle['spherical']:.3f}.",
        wrong={
            "linear": "The straight walk cuts the corner: halfway it is the nearer one to the origin.",
            "spherical": "The arc turns and does not lengthen: here the line's middle is as long, or longer.",
            "neither": "The ends point in different directions, and only one walk keeps their length on "
            "the way.",
        },
        veils=("norms", "equation"),
    )
    ui.program(
        f"""
        from lab import experiments, weights
        from lab.lenses import latent
        from lab.ui.controls import drawing

        model = weights.load({ui.spelled(name)})
        a = {a.program}
        b = {b.program}
        walks = latent.interpolations(latent.codes(model, a)[0], latent.codes(model, b)[0], {STEPS})
        result = [lengths[{film.at}].item() for lengths in walks.lengths.values()]
        """,
        shows=[v[film.at] for v in lengths.values()],
    )
    ui.source(
        VAE.encode_parameters, VAE.decode, latent.lerp, latent.slerp, latent.share_shorter,
        references=ROOM.references,
    )  # fmt: skip
