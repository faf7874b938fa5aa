"""Latent pad: the plane through two draws of a generator, the ways between them, and draws cut off at τ."""

from lab import ui
from lab.figures import latents, theme
from lab.lenses import latent, verdicts
from lab.ui.figures.plane import plane as map_of_plane
from modules.adversarial import truncation
from pages.adversarial.latent_pad import figures, lens
from pages.adversarial.latent_pad.room import PAD, PLACE, ROOM, STEPS, TAUS, TRUNCATION

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)

# --- Walks ----------------------------------------------------------------------------------------

if now.view != TRUNCATION:
    model = ui.load(now.model)
    k, plane = model.latent_dim, lens.plane_of(model, now.a, now.b)
    z_a, z_b = lens.ends(model, now.a, now.b)
    codes, ts, omega = lens.walks(z_a, z_b, now.reach), lens.times(now.reach), latent.angle(z_a, z_b)
    lengths, pictures = codes.norm(dim=2), latent.decoded(model, codes)
    film = ui.film_of(now, STEPS, names=[f"{t:.2g}" for t in ts])
    with stage.picture:
        if now.view == PAD:
            map_of_plane(
                ui.compute(lens.tiles, now), key=PLACE, extent=lens.EXTENT, names=plane.names, share=0.74,
                every=2,
                alt=f"Pictures of {now.model} over the plane through z_A and z_B, with line, arc and circle",
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
        else:
            ui.figure(
                figures.walk_and_lengths(pictures, lengths, ts, lens.typical(k)),
                key="walks",
                share=1.0,
                film=film,
                alt="Pictures on the line and on the arc, and below them the lengths of their codes beside "
                "those of draws",
            )
    with stage.foot:
        ui.machine(now.model, film=film, lit=["G"] * STEPS, says=lens.z_labels("t", ts))
        film.bar(
            captions=lens.walk_captions(ts, lengths, k), equations=lens.walk_equations(ts, lengths, omega)
        )

# --- Truncation ---------------------------------------------------------------------------------

else:
    floor = ui.compute(lens.floor, now)

    def draw(result: list[lens.Cut], film: ui.Film | None = None) -> None:
        """The pictures where the film stands, and the metrics of all."""
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(figures.sheet(result), key="sheet", share=1.0, film=film,
                      alt="Forty samples of z truncated at τ")  # fmt: skip
        with right:
            ui.figure(figures.curves(result, floor), key="curves", share=1.0, film=film,
                      alt="Precision and recall against τ; dotted lines: of held-out digits")  # fmt: skip

    with stage.picture:
        says = "Precision and recall at every τ, when all are measured."
        cuts = ui.compute(lens.cuts, now, says=says, label="Truncate", show=draw)
        film = ui.film_of(now, len(cuts))
        draw(cuts, film)
    cut, k = cuts[film.at], ui.load(now.judged).latent_dim
    with stage.foot:
        ui.machine(now.judged, film=film, lit=[lens.NOISE] * len(cuts), says=lens.z_labels("τ", TAUS))
        film.bar(captions=lens.cut_captions(cuts, k), equations=lens.cut_equations(k))

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if now.view != TRUNCATION:
        typical, middle = latent.typical_length(k), lengths[:, STEPS // 2].tolist()
        ui.notice(
            f"A draw of {k} numbers has length {typical:.2f} on average: the grey circle. The angle between "
            f"z_A and z_B is {omega:.2f} radians. In the middle of the interpolation z has length "
            f"{middle[0]:.2f} on the line and {middle[1]:.2f} on the arc. The plane contains the origin: no "
            "draw of the training lay near it, so that the picture there need be no digit."
        )
        ui.check(
            "On which path do the pictures change more in all, as a sum of distances from step to step?",
            lens.OPTIONS,
            lens.changed_more(pictures),
            "It is {:.2f} on the line, {:.2f} on the arc.".format(*lens.changes(pictures).sum(1).tolist()),
            wrong=(
                "The line passes through shorter z than any draw; how fast pictures change there depends on "
                "G.",
                "The arc is the longer way in z, but lengths in z are not lengths in pictures.",
                "They share their ends only: the sums differ by more than 5 %.",
            ),
            veils=("walks",),
        )
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
            f"Precision and recall of {verdicts.DRAWN} samples of {now.judged} for each τ, in black and "
            f"white, by features of {now.network}; the dotted lines are held-out digits. At τ = 6 nothing is "
            "truncated. The text rejects whole vectors beyond τ; redrawing single numbers, as here, always "
            "ends. Below about τ = 1 the samples of this generator are worse as well as less varied: so "
            "short a z did not occur in training. BigGAN regularizes its weights to be nearly orthogonal, "
            "which keeps truncation safe."
        )
        ui.check(
            "What does precision do at the next smaller τ?"
            if film.at
            else "What did precision do from the τ above to this one?",
            lens.MOVES,
            lens.move(cuts, film.at),
            f"It is {cut.verdict.precision:.3f} here.",
            wrong=(
                "A smaller τ trades variety for quality only as long as it removes worse samples.",
                "Recall must fall as z comes nearer to 0; precision need not.",
                "This truncation removes enough samples to change precision by more than 0.02.",
            ),
            veils=("curves",),
        )
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
        ui.source(truncation.truncated_normal, truncation.truncated_sd, references=ROOM.references)
