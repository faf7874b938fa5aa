"""Latent pad: the plane through two draws of a generator, the ways between them, and draws cut off at τ."""

from lab import ui
from lab.figures import latents, theme
from lab.lenses import latent, verdicts
from lab.ui.plane import plane as map_of_plane
from modules.adversarial import truncation
from pages.adversarial.latent_pad import figures, lens
from pages.adversarial.latent_pad.room import PAD, PLACE, ROOM, STEPS

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

# --- Pad ----------------------------------------------------------------------------------------

if now.view == PAD:
    model = ui.load(now.model)
    k, plane = model.latent_dim, lens.plane_of(model, now.a, now.b)
    z_a, z_b = lens.ends(model, now.a, now.b)
    codes, ts, omega = lens.walks(z_a, z_b, now.reach), lens.times(now.reach), latent.angle(z_a, z_b)
    lengths, pictures = codes.norm(dim=2), latent.decoded(model, codes)
    film = ui.film_of(now, STEPS)
    with stage.picture:
        map_of_plane(
            ui.compute(lens.tiles, now), key=PLACE, extent=lens.EXTENT, names=plane.names, share=0.74,
            alt=f"Pictures of {now.model} over the plane through draws A and B, with line, arc and circle",
            marks=[
                {"line": lens.circle(k), "color": theme.HIDDEN},
                *({"line": lens.place(plane, codes[i]), "color": latents.WALKS[kind]}
                  for i, kind in enumerate(latents.WALKS)),
                {"name": "A", "at": lens.place(plane, z_a), "color": theme.BLUE},
                {"name": "B", "at": lens.place(plane, z_b), "color": theme.VERMILLION},
            ],
        )  # fmt: skip
        ui.figure(figures.walks(pictures, ts), key="walks", share=0.26, film=film,
                  alt=f"{STEPS} pictures on the line and on the arc; this step is framed")  # fmt: skip
    with stage.foot:
        film.bar(
            captions=lens.walk_captions(ts, lengths, k), equations=lens.walk_equations(ts, lengths, omega)
        )

# --- Truncation ---------------------------------------------------------------------------------

else:
    floor = ui.compute(lens.floor, now)

    def draw(seen: list[lens.Cut], film: ui.Film | None = None) -> None:
        """The pictures where the film stands, and what the judge says of all."""
        left, right = ui.columns(2)
        with left:
            ui.figure(figures.sheet(seen), key="sheet", share=1.0, film=film,
                      alt="Forty pictures of draws cut off at τ")  # fmt: skip
        with right:
            ui.figure(figures.curves(seen, floor), key="curves", share=1.0, film=film,
                      alt="Precision and recall against τ; dotted: of held-out digits")  # fmt: skip

    with stage.picture:
        says = "The film is there when all are judged."
        seen = ui.compute(lens.cuts, now, says=says, label="Cut", show=draw)
        film = ui.film_of(now, len(seen))
        draw(seen, film)
    cut, k = seen[film.at], ui.load(now.judged).latent_dim
    with stage.foot:
        film.bar(captions=lens.cut_captions(seen, k), equations=lens.cut_equations(k))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if now.view == PAD:
        typical, middle = latent.typical_length(k), lengths[:, STEPS // 2].tolist()
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

            model = weights.load({now.model!r})
            codes = lens.walks(*lens.ends(model, {now.a}, {now.b}), {now.reach!r})
            result = codes.norm(dim=2)[:, {film.at}].tolist()
            """,
            shows=lengths[:, film.at].tolist(),
        )
        ui.source(latent.lerp, latent.slerp, lens.plane_of, references=ROOM.references)
    else:
        ui.notice(
            f"{verdicts.DRAWN} pictures of {now.judged} a value of τ, black and white, judged as in the "
            f"room of judges by features of {now.network}; dotted: held-out digits. At 6 nothing is cut "
            "off. The text rejects whole samples beyond τ; number by number, as here, it always ends. Below "
            "about 1 this generator gets worse as well as less varied: draws so near to the origin did not "
            "occur when it learned. BigGAN pays for weights near orthogonal so that cutting off stays safe."
        )
        ui.check(
            "What does precision do at the next smaller τ?" if film.at else
            "What did precision do from the τ above to this one?",
            lens.MOVES, lens.move(seen, film.at),
            f"It is {cut.verdict.precision:.3f} here.",
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

            model, network = weights.load({now.judged!r}), weights.load({now.network!r})
            cut = lens.cut(model, network, verdicts.digits("train"), {film.value!r}, {now.seed})
            result = [cut.verdict.precision, cut.verdict.recall, cut.drawn]
            """,
            shows=[cut.verdict.precision, cut.verdict.recall, cut.drawn],
        )
        ui.source(truncation.truncated, truncation.remaining_sd, references=ROOM.references)
