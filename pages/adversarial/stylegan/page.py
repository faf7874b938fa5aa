"""StyleGAN: styles of two draws at different layers, noise at every layer, styles cut off at their mean."""

from lab import ui
from lab.figures import sheets
from modules.adversarial import stylegan
from pages.adversarial.stylegan import figures, lens, truncation
from pages.adversarial.stylegan.room import CUTS, MIXING, NOISE, ROOM, TRUNCATION

stage = ui.stage(ROOM)
with stage.rail:
    now = ui.read(ROOM)
model = ui.load(now.model)
of_style, paths = ui.compute(lens.by_style, now), ui.compute(lens.path_lengths, now)

# --- Mixing -------------------------------------------------------------------------------------

if now.show == MIXING:
    noises, text = ui.compute(lens.mixing, now), ui.compute(lens.explained, now)
    film = ui.film_of(now, len(noises), values=range(len(noises)))
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(
                figures.mixing(noises), key="mixing", share=1.0, film=film,
                alt="Samples with the style of their row up to a layer, then that of their column",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.shares(text), key="shares", share=1.0, film=film,
                alt="Share of the variance that row and column explain, by the number of layers of the row",
            )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=["G"] * len(text), says=lens.mixed_layers(len(text)))
        film.bar(captions=lens.mixing_captions(text), equations=lens.mixing_equations(text))

# --- Noise --------------------------------------------------------------------------------------

elif now.show == NOISE:
    noises = ui.compute(lens.noises, now)
    names, maps = [*lens.layers(model), "all"], lens.spread(noises)
    film = ui.film_of(now, len(noises), names=[f"layer {n}" if n != "all" else "all layers" for n in names])
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(sheets.film(noises[:, :12], 4, zmin=0, zmax=1), key="redraws", share=1.0, film=film,
                      alt="Twelve samples of one style, with other noise")  # fmt: skip
        with right:
            ui.figure(
                figures.spread(maps), key="spread", share=1.0, film=film,
                alt="Standard deviation of each pixel over draws of the noise, as a share of the largest",
            )  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=["G"] * len(noises), says=[{"z": f"noise: {n}"} for n in names])
        film.bar(
            captions=lens.noise_captions(names[:-1], noises), equations=lens.noise_equations(noises, of_style)
        )

# --- Truncation ---------------------------------------------------------------------------------

elif now.show == TRUNCATION:
    noises, certain, spreads = ui.compute(truncation.cuts, now)
    film = ui.film_of(now, len(noises))
    pairs = [(a, b / spreads[-1]) for a, b in zip(certain, spreads, strict=True)]
    with stage.picture:
        left, right = ui.columns([2, 1])
        with left:
            ui.figure(sheets.film(noises, 8, zmin=0, zmax=1), key="sheet", share=1.0, film=film,
                      alt="Forty samples of styles that are truncated by ψ")  # fmt: skip
        with right:
            ui.figure(figures.against(pairs), key="curves", share=1.0, film=film,
                      alt="Certainty of a classifier and spread of the samples against ψ")  # fmt: skip
    with stage.foot:
        ui.machine(now.model, film=film, lit=["z"] * len(noises), says=[{"z": f"ψ = {c:g}"} for c in CUTS])
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
    with stage.foot:
        ui.machine(model, lit=["G"], says=[{"G": f"layer {now.maps}"}])
    stage.equation(lens.layer_equation(h, style), f"layer {now.maps}: {' × '.join(map(str, h.shape))}, map 1")

# --- Words --------------------------------------------------------------------------------------

shows: object
with stage.below:
    ui.notice(lens.notice(model, now.model, of_style, paths))
    if now.show == MIXING:
        ui.check(
            "Which style alone explains more than half of the variance of these pictures?",
            lens.OPTIONS,
            lens.decides(text[film.at]),
            f"The row alone explains {text[film.at][0]:.0%}, the column alone {text[film.at][1]:.0%}.",
            wrong=(
                f"The row's style reaches only some layers: alone it explains {text[film.at][0]:.0%}.",
                f"The column's style reaches only some layers: alone it explains {text[film.at][1]:.0%}.",
                "Layers differ in effect: those with one of the two styles explain most of it.",
            ),
            veils=("picture", "equation"),
        )
        program, shows = f"lens.explained(model, {now.seed})[{film.at}]", list(text[film.at])
    elif now.show == NOISE:
        ui.check(
            "Is the spread over noise less than a tenth of the spread over styles?",
            ["yes", "no"],
            "yes" if float(maps[film.at].mean()) < 0.1 * of_style else "no",
            f"A pixel's standard deviation is {float(maps[film.at].mean()):.4f}, over styles {of_style:.4f}.",
            wrong={
                "yes": "Noise is more than grain: where its learned scale is large it moves strokes too.",
                "no": "Noise adds only what the style does not set: small details.",
            },
            veils=("picture", "equation"),
        )
        program = f"float(lens.spread(lens.noises(model, {now.seed})[{film.at}]).mean())"
        shows = float(maps[film.at].mean())
    elif now.show == TRUNCATION:
        ui.check(
            "Is the spread of these samples more than half of that at ψ = 1?",
            ["yes", "no"],
            "yes" if pairs[film.at][1] > 0.5 else "no",
            f"{pairs[film.at][1]:.0%} as far.",
            wrong={
                "yes": "So small a ψ moves every w close to the mean style, and the samples become alike.",
                "no": "ψ scales w and not the picture: a good part of the spread remains.",
            },
            veils=("picture", "equation"),
        )
        program = f"float(lens.spread(truncation.cut(model, {now.seed}, {film.value!r})).mean())"
        shows = spreads[film.at]
    else:
        ui.check(
            "How many numbers does w set at this layer?",
            lens.counts(h),
            str(2 * len(h)),
            f"{len(h)} maps, for each a scale and a shift.",
            wrong={
                len(h): "That is a scale for each map: it has a shift as well.",
                h.numel(): "A style is the same at every place of a map: it sets no single pixel.",
            },
            veils=(),
        )
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
