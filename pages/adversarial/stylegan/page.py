"""StyleGAN: styles of two draws at different layers, noise at every layer, styles cut off at their mean."""

from lab import ui
from lab.figures import basic, sheets
from modules.adversarial import stylegan
from pages.adversarial.stylegan import figures, lens, truncation
from pages.adversarial.stylegan.room import ROOM

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Which digit, which pen": ui.scene("The row gives four layers, and with them the digit; the column "
                                           "the last two, and with them the pen.", crossing=4),
        "Half and half": ui.scene("Only the 4 × 4 layers are the row's: neither has its way.", crossing=2),
        "One column": ui.scene("All layers are the column's: rows do not differ.", crossing=0),
        "Noise": ui.scene("Noise in all layers: hardly anything of a digit is left to chance.", show="Noise"),
        "Fine noise": ui.scene("The last layer's noise alone, on a scale of its own: single pixels.",
                               show="Noise", layer=5),
        "Cut off in W": ui.scene("At ψ = 0.5 pictures are more alike, and the reader about as sure.",
                                 show="Truncation", psi=0.5),
        "The mean": ui.scene("At ψ = 0 all have the mean style: one picture, but for the noise.",
                             show="Truncation", psi=0.0),
        "The layers": ui.scene("From 4 × 4 to 16 × 16; each map has the mean and the spread that w sets.",
                               show="Layers"),
    }
)  # fmt: skip


@ui.cached
def mixed(seed: int):
    model = ui.load(lens.NAME)
    return lens.mixing(model, seed), lens.explained(model, seed)


@ui.cached
def noised(seed: int):
    return lens.noises(ui.load(lens.NAME), seed)


@ui.cached
def cut(seed: int):
    return truncation.cuts(ui.load(lens.NAME), ui.load(truncation.READER), seed)


@ui.cached
def facts():
    model = ui.load(lens.NAME)
    return lens.by_style(model, 0), lens.path_lengths(model)


# --- Controls -----------------------------------------------------------------------------------

model = ui.load(lens.NAME)
names = lens.layers(model)
with stage.rail:
    show = ui.choice("Show", ["Mixing", "Noise", "Truncation", "Layers"], key="show", as_list=True)
    seed = ui.number("Seed", 0, 999, 0, key="seed")
    at = ui.slider("Layer", 1, len(names), len(names), key="layer") if show == "Layers" else 1
ui.ahead(facts, ())
for view, function in {"Mixing": mixed, "Noise": noised, "Truncation": cut}.items():
    ui.ahead(function, (seed,) if view != show else (min(999, seed + 1),))

# --- Mixing -------------------------------------------------------------------------------------

if show == "Mixing":
    seen, said = mixed(seed)
    film = ui.film(len(seen), key="crossing", default=4, label="Layers of the row", seconds=0.8,
                   values=list(range(len(seen))))  # fmt: skip
    with stage.picture:
        left, right = ui.columns([3, 2])
        with left:
            ui.figure(
                figures.mixing(seen[film.at]), key="mixing", share=1.0, film=film,
                frames={"data.0.z": figures.mixings(seen)},
                alt="Pictures with the styles of the first column up to a layer, of the first row from it on",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.shares(said, film.at), key="shares", share=1.0, film=film,
                frames=figures.points(said),
                alt="Share of the variance that row and column explain, by the layer of the crossing",
                data={"crossing": range(len(said)), "row": [a for a, _ in said],
                      "column": [b for _, b in said]},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.mixing_captions(said), equations=lens.mixing_equations(said))

# --- Noise --------------------------------------------------------------------------------------

elif show == "Noise":
    seen, of_style = noised(seed), facts()[0]
    film = ui.film(len(seen), key="layer", default=len(seen) - 1, label="Noise in layer", seconds=0.8)
    maps = [lens.spread(pictures) for pictures in seen]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                basic.images(seen[film.at][:12], 4, zmin=0, zmax=1), key="redraws", share=1.0, film=film,
                frames={"data.0.z": sheets.frames([some[:12] for some in seen], 4)},
                alt="One style, twelve draws of the noise",
            )  # fmt: skip
        with right:
            scaled = [m / m.max().clamp(min=1e-9) for m in maps]
            ui.figure(
                figures.spread(scaled[film.at], 1.0), key="spread", share=1.0, film=film,
                frames={"data.0.z": lens.stacked(scaled)},
                alt="Where the noise shows: standard deviation of each pixel as a share of the largest",
                data={"row": [r for r in range(16) for _ in range(16)], "column": [*range(16)] * 16,
                      "sd": maps[film.at].flatten()},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.noise_captions(names, seen), equations=lens.noise_equations(seen, of_style))

# --- Truncation ---------------------------------------------------------------------------------

elif show == "Truncation":
    seen, certain, spreads = cut(seed)
    film = ui.film(len(seen), key="psi", values=truncation.CUTS, default=1.0, label="ψ", seconds=0.6)
    pairs = [(a, b / spreads[-1]) for a, b in zip(certain, spreads, strict=True)]
    with stage.picture:
        left, right = ui.columns(2)
        with left:
            ui.figure(
                basic.images(seen[film.at], 8, zmin=0, zmax=1), key="sheet", share=1.0, film=film,
                frames={"data.0.z": sheets.frames(seen, 8)}, alt="Forty pictures of styles cut off at ψ",
            )  # fmt: skip
        with right:
            ui.figure(
                figures.against(certain, spreads, film.at), key="curves", share=1.0, film=film,
                frames=figures.points(pairs),
                alt="Certainty of a reader and spread of the pictures against ψ",
                data={"psi": truncation.CUTS, "certainty": certain, "spread": spreads},
            )  # fmt: skip
    with stage.foot:
        film.bar(captions=truncation.cut_captions(certain, spreads),
                 equations=truncation.cut_equations(spreads))  # fmt: skip

# --- Layers -------------------------------------------------------------------------------------

else:
    h, style = lens.looked(model, seed, at - 1)
    with stage.picture:
        ui.figure(
            figures.maps(h),
            key="maps",
            share=1.0,
            alt=f"The {len(h)} maps of layer {at}, each on a scale of its own",
        )
    stage.equation(lens.layer_equation(h, style), f"layer {at}: {' × '.join(map(str, h.shape))}, map 1")

# --- Words --------------------------------------------------------------------------------------

shows: object
with stage.below:
    ui.notice(lens.notice(model, names, *facts()))
    if show == "Mixing":
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
        program, shows = f"lens.explained(model, {seed})[{film.at}]", list(said[film.at])
    elif show == "Noise":
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
        program = f"float(lens.spread(lens.noises(model, {seed})[{film.at}]).mean())"
        shows = float(maps[film.at].mean())
    elif show == "Truncation":
        ui.check(
            "Do these pictures spread more than half as far as those of ψ = 1?", ["yes", "no"],
            "yes" if pairs[film.at][1] > 0.5 else "no", f"{pairs[film.at][1]:.0%} as far.",
            wrong={
                "yes": "So small a ψ draws every w to the mean, and the pictures with it.",
                "no": "ψ shrinks w and not the picture: a good part of the spread survives.",
            },
            veils=("picture", "equation"),
        )  # fmt: skip
        program = f"float(lens.spread(truncation.cut(model, {seed}, {film.value!r})).mean())"
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
        program = f"[float(v) for v in lens.looked(model, {seed}, {at - 1})[1][:, 0]]"
        shows = [float(v) for v in style[:, 0]]
    ui.program(
        f"""
        from lab import weights
        from pages.adversarial.stylegan import lens, truncation

        model = weights.load({lens.NAME!r})
        result = {program}
        """,
        shows=shows,
    )
    ui.source(stylegan.adain, stylegan.StyledLayer, stylegan.StyleGAN.styles, references=ROOM.references)
