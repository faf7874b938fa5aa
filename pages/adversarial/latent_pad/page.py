"""Latent pad: the plane through two draws of a generator, the ways between them, and draws cut off at τ."""

from lab import ui
from lab.figures import basic, latents, sheets, theme
from lab.lenses import latent, verdicts
from lab.ui.plane import plane as map_of_plane
from modules.adversarial import truncation
from pages.adversarial.latent_pad import figures, lens
from pages.adversarial.latent_pad.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Point": ui.scene("Point anywhere: the direction decides the picture. Draws lie near the circle."),
        "Chord and arc": ui.scene("Halfway the line is shorter than nearly all draws, the arc is not.",
                                  model="dcgan-digits", a=2, b=3),
        "A short way": ui.scene("A quarter of the way: eleven pictures that hardly differ.", reach=0.25),
        "Beyond": ui.scene("The line leaves all draws and hardly changes; the arc goes on to other digits.",
                           reach=3.0, step=10),
        "Cut at 2": ui.scene("Without the outermost numbers precision rises a little, recall falls a little.",
                             view="Truncation", tau=2.0),
        "Cut at a half": ui.scene("Few kinds are left, and not better ones: here no draw of training lay.",
                                  view="Truncation", tau=0.5),
        "Cut at nothing": ui.scene("Forty times the same, which is no digit: both numbers are 0.",
                                   view="Truncation", tau=0.04),
    }
)  # fmt: skip


@ui.cached
def tiles(name: str, a: int, b: int):
    model = ui.load(name)
    return lens.tiles(model, lens.plane_of(model, a, b))


@ui.cached
def judged():
    """Training digits as the judge knows them, and its verdict on held-out ones."""
    network = ui.load(verdicts.NETWORK)
    known = verdicts.known(network, verdicts.digits("train"))
    return known, verdicts.judge(network, known, verdicts.digits("held out"), 3)


def cuts(seed: int):
    """What the film depends on, and how it begins."""
    return seed, lambda: lens.cuts(ui.load(lens.JUDGED), ui.load(verdicts.NETWORK), judged()[0], seed)


def draw_cuts(seen, at: int, film=None) -> None:
    """The pictures at one τ, and what the judge says of all."""
    left, right = ui.columns(2)
    with left:
        ui.figure(
            basic.images(seen[at].pictures, 8), key="sheet", share=1.0, film=film,
            frames={"data.0.z": sheets.frames([one.pictures for one in seen], 8)} if film else None,
            alt="Forty pictures of draws cut off at τ",
        )  # fmt: skip
    with right:
        ui.figure(
            figures.curves(seen, at, judged()[1]), key="curves", share=1.0, film=film,
            frames=figures.marks(seen) if film else None,
            alt="Precision and recall against τ; dotted: of held-out digits",
            data={"tau": [c.tau for c in seen], **{m: [getattr(c.verdict, m) for c in seen]
                                                   for m in ("precision", "recall", "frechet")}},
        )  # fmt: skip


# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    view = ui.choice("Show", ["Pad", "Truncation"], key="view")
    if view == "Pad":
        name = ui.choice("Model", lens.MODELS, key="model", as_list=True)
        a = ui.number("Draw A, by its seed", 0, 999, 0, key="a")
        b = ui.number("Draw B, by its seed", 0, 999, 1, key="b")
        ui.found_ahead("cuts", cuts(0))
        reach = ui.slider("Walk as far as t =", 0.25, 3.0, 1.0, step=0.25, key="reach")
    else:
        seed = ui.number("Seed", 0, 999, 0, key="seed")

# --- Pad ----------------------------------------------------------------------------------------

if view == "Pad":
    model = ui.load(name)
    k, plane = model.latent_dim, lens.plane_of(model, a, b)
    z_a, z_b = lens.ends(model, a, b)
    codes, ts, omega = lens.walks(z_a, z_b, reach), lens.times(reach), latent.angle(z_a, z_b)
    lengths, pictures = codes.norm(dim=2), latent.decoded(model, codes)
    side, ends = pictures.shape[-1], ["the line", "the arc"]
    film = ui.film(lens.STEPS, key="step", default=lens.STEPS // 2, label="Step", seconds=0.25)
    with stage.picture:
        map_of_plane(
            tiles(name, a, b), key="z", extent=lens.EXTENT, names=plane.names, share=0.74,
            alt=f"Pictures of {name} over the plane through draws A and B, with line, arc and circle",
            marks=[
                {"line": lens.circle(k), "color": theme.HIDDEN},
                *({"line": lens.place(plane, codes[i]), "color": latents.WALKS[kind]}
                  for i, kind in enumerate(latents.WALKS)),
                {"name": "A", "at": lens.place(plane, z_a), "color": theme.BLUE},
                {"name": "B", "at": lens.place(plane, z_b), "color": theme.VERMILLION},
            ],
        )  # fmt: skip
        ui.figure(
            sheets.frame(
                sheets.contact_sheet(pictures, ends, [f"{t:.2g}" for t in ts]),
                side, film.at, None, 2,
            ),
            key="walks", share=0.26, film=film, frames=sheets.frame_moves(side, range(lens.STEPS)),
            alt=f"{lens.STEPS} pictures on the line and on the arc; this step is framed",
        )  # fmt: skip
    with stage.foot:
        film.bar(
            captions=lens.walk_captions(ts, lengths, k), equations=lens.walk_equations(ts, lengths, omega)
        )

# --- Truncation ---------------------------------------------------------------------------------

else:
    of, start = cuts(seed)
    with stage.picture:
        seen = ui.found(
            "Cut", start, key="cuts", of=of, quick=True, show=lambda found: draw_cuts(found, -1),
            says="The film is there when all are judged.", soon=[cuts(min(999, seed + 1))],
        )  # fmt: skip
    film = ui.film(len(seen), key="tau", values=lens.TAUS, default=2.0, label="τ", seconds=0.6)
    now, k = seen[film.at], ui.load(lens.JUDGED).latent_dim
    with stage.picture:
        draw_cuts(seen, film.at, film)
    with stage.foot:
        film.bar(captions=lens.cut_captions(seen, k), equations=lens.cut_equations(k))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if view == "Pad":
        typical, middle = latent.typical_length(k), lengths[:, lens.STEPS // 2].tolist()
        ui.notice(
            f"A draw of {k} numbers has length {typical:.2f} on average, the grey circle; {omega:.2f} "
            f"radians lie between A and B. In the middle of this walk the line's code has length "
            f"{middle[0]:.2f}, the arc's {middle[1]:.2f}. The plane goes through the origin: no draw "
            "of training lay near it, so what stands there need be no digit."
        )
        ui.check(
            "Along which walk do the pictures change more in all, as distances from step to step add up?",
            lens.OPTIONS, lens.changed_more(pictures),
            "The line adds up to {:.2f}, the arc to {:.2f}.".format(*lens.changes(pictures).sum(1).tolist()),
            wrong=(
                "The line cuts through codes shorter than any draw, and how fast pictures change there G "
                "decides.",
                "The arc is the longer way in z, but lengths in z are not lengths in pictures.",
                "They share their ends only: added up along the way they differ by over 5 %.",
            ),
            veils=("walks",),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import weights
            from pages.adversarial.latent_pad import lens

            model = weights.load({name!r})
            codes = lens.walks(*lens.ends(model, {a}, {b}), {reach!r})
            result = codes.norm(dim=2)[:, {film.at}].tolist()
            """,
            shows=lengths[:, film.at].tolist(),
        )
        ui.source(latent.lerp, latent.slerp, lens.plane_of, references=ROOM.references)
    else:
        ui.notice(
            f"{verdicts.DRAWN} pictures of {lens.JUDGED} a value of τ, black and white, judged as in the "
            f"room of judges by features of {verdicts.NETWORK}; dotted: held-out digits. At 6 nothing is cut "
            "off. The text rejects whole samples beyond τ; number by number, as here, it always ends. Below "
            "about 1 this generator gets worse as well as less varied: draws so near to the origin did not "
            "occur when it learned. BigGAN pays for weights near orthogonal so that cutting off stays safe."
        )
        ui.check(
            "What does precision do at the next smaller τ?" if film.at else
            "What did precision do from the τ above to this one?",
            lens.MOVES, lens.move(seen, film.at),
            f"It is {now.verdict.precision:.3f} here.",
            wrong=(
                "A smaller τ trades variety for quality only as long as it cuts off draws that are worse.",
                "What must fall as codes come nearer to 0 is recall: variety is lost first.",
                "The cut is not idle here: it takes enough draws to move precision by over 0.02.",
            ),
            veils=("curves",),
        )  # fmt: skip
        ui.program(
            f"""
            from lab import weights
            from lab.lenses import verdicts
            from pages.adversarial.latent_pad import lens

            model, network = weights.load({lens.JUDGED!r}), weights.load({verdicts.NETWORK!r})
            cut = lens.cut(model, network, verdicts.digits("train"), {film.value!r}, {seed})
            result = [cut.verdict.precision, cut.verdict.recall, cut.drawn]
            """,
            shows=[now.verdict.precision, now.verdict.recall, now.drawn],
        )
        ui.source(truncation.truncated, truncation.remaining_sd, references=ROOM.references)
