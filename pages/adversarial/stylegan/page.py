"""StyleGAN: styles of two draws at different layers, noise at every layer, styles cut off at their mean."""

from lab import ui
from lab.figures import sheets
from modules.adversarial import stylegan
from pages.adversarial.stylegan import figures, lens, truncation
from pages.adversarial.stylegan.room import MIXING, NOISE, ROOM, TRUNCATION

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
model = ui.load(now.model)
of_style, paths = ui.compute(lens.by_style, now), ui.compute(lens.path_lengths, now)

# --- Mixing -------------------------------------------------------------------------------------

if now.show == MIXING:
    seen, said = ui.compute(lens.mixing, now), ui.compute(lens.explained, now)
    film = ui.film_of(now, len(seen), values=range(len(seen)))
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.mixing(seen), key="mixing", share=1.0, film=film,
                alt="Pictures with the styles of the first column up to a layer, of the first row from it on",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.shares(said), key="shares", share=1.0, film=film,
                alt="Share of the variance that row and column explain, by the layer of the crossing",
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.mixing_captions(said), equations=lens.mixing_equations(said))

# --- Noise --------------------------------------------------------------------------------------

elif now.show == NOISE:
    seen = ui.compute(lens.noises, now)
    film, maps = ui.film_of(now, len(seen)), lens.spread(seen)
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(sheets.film(seen[:, :12], 4, zmin=0, zmax=1), key="redraws", share=1.0, film=film,
                      alt="One style, twelve draws of the noise")  # fmt: skip
        with right:
            ui.figure(
                figures.spread(maps), key="spread", share=1.0, film=film,
                alt="Where the noise shows: standard deviation of each pixel as a share of the largest",
            )  # fmt: skip
    with stage.foot:
        names = lens.layers(model)
        film.bar(captions=lens.noise_captions(names, seen), equations=lens.noise_equations(seen, of_style))

# --- Truncation ---------------------------------------------------------------------------------

elif now.show == TRUNCATION:
    seen, certain, spreads = ui.compute(truncation.cuts, now)
    film = ui.film_of(now, len(seen))
    pairs = [(a, b / spreads[-1]) for a, b in zip(certain, spreads, strict=True)]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(sheets.film(seen, 8, zmin=0, zmax=1), key="sheet", share=1.0, film=film,
                      alt="Forty pictures of styles cut off at ψ")  # fmt: skip
        with right:
            ui.figure(figures.against(pairs), key="curves", share=1.0, film=film,
                      alt="Certainty of a reader and spread of the pictures against ψ")  # fmt: skip
    with stage.foot:
        film.bar(
            captions=truncation.cut_captions(now.reader, certain, spreads),
            equations=truncation.cut_equations(spreads),
        )

# --- Layers -------------------------------------------------------------------------------------

else:
    h, style = lens.looked(model, now.seed, now.maps - 1)
    with stage.picture:
        ui.figure(
            figures.maps(h),
            key="maps",
            share=1.0,
            alt=f"The {len(h)} maps of layer {now.maps}, each on a scale of its own",
        )
    stage.equation(lens.layer_equation(h, style), f"layer {now.maps}: {' × '.join(map(str, h.shape))}, map 1")

# --- Words --------------------------------------------------------------------------------------

shows: object
with stage.below:
    ui.notice(lens.notice(model, now.model, of_style, paths))
    if now.show == MIXING:
        ui.check(
            "Which alone explains more than half of what differs between such pictures?", lens.OPTIONS,
            lens.decides(said[film.at]),
            f"The row alone explains {said[film.at][0]:.0%}, the column alone {said[film.at][1]:.0%}.",
            wrong=(
                f"The row's style reaches only some layers: alone it explains {said[film.at][0]:.0%}.",
                f"The column's style reaches only some layers: alone it explains {said[film.at][1]:.0%}.",
                "Layers are not equally strong: those of one of the two decide most of what is seen.",
            ),
            veils=("picture", "equation"),
        )  # fmt: skip
        program, shows = f"lens.explained(model, {now.seed})[{film.at}]", list(said[film.at])
    elif now.show == NOISE:
        ui.check(
            "Do the redraws differ less than a tenth as much as draws of the style do?", ["yes", "no"],
            "yes" if float(maps[film.at].mean()) < 0.1 * of_style else "no",
            f"A pixel's standard deviation is {float(maps[film.at].mean()):.4f}, over styles {of_style:.4f}.",
            wrong={
                "yes": "Noise does not stop at grain: where its learned scale is large it moves strokes too.",
                "no": "Noise is left with what the style does not set: small details of chance.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        program = f"float(lens.spread(lens.noises(model, {now.seed})[{film.at}]).mean())"
        shows = float(maps[film.at].mean())
    elif now.show == TRUNCATION:
        ui.check(
            "Do these pictures spread more than half as far as those of ψ = 1?", ["yes", "no"],
            "yes" if pairs[film.at][1] > 0.5 else "no", f"{pairs[film.at][1]:.0%} as far.",
            wrong={
                "yes": "So small a ψ draws every w to the mean, and the pictures with it.",
                "no": "ψ shrinks w and not the picture: a good part of the spread survives.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        program = f"float(lens.spread(truncation.cut(model, {now.seed}, {film.value!r})).mean())"
        shows = spreads[film.at]
    else:
        ui.check(
            "How many numbers does w set at this layer?", lens.counts(h), str(2 * len(h)),
            f"{len(h)} maps, for each a scale and a shift.",
            wrong={
                len(h): "That is a scale for each map: it has a shift as well.",
                h.numel(): "A style is the same at every place of a map: it sets no single pixel.",
            },
            veils=(),
        )  # fmt: skip
        program = f"[float(v) for v in lens.looked(model, {now.seed}, {now.maps - 1})[1][:, 0]]"
        shows = [float(v) for v in style[:, 0]]
    ui.program(
        f"""
        from lab import weights
        from pages.adversarial.stylegan import lens, truncation

        model = weights.load({now.model!r})
        result = {program}
        """,
        shows=shows,
    )
    ui.source(stylegan.adain, stylegan.StyledLayer, stylegan.StyleGAN.styles, references=ROOM.references)
