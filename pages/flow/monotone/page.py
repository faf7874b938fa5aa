"""Monotone maps: rises, slopes and the mirror image that is the inverse."""

from lab import ui
from lab.errors import UserError
from lab.lenses import typed
from modules.flow import bins, spline
from pages.flow.monotone import figures, lens
from pages.flow.monotone.room import ROOM

FIVE = "0.1 0.2 0.5 0.1 0.1"
LEVELS = [round(0.05 * i, 2) for i in range(1, 19)]  # that a click can give a bar
AT = [round(float(h), 4) for h in lens.places(lens.FRAMES)]

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Five bins": ui.scene("Five rises; f ends at 1. The way there and back returns h."),
        "Steep bin": ui.scene("Bin 3 rises by 0.5 over a width of 0.2: the slope is 5 · 0.5 = 2.5.", h=0.5),
        "As printed": ui.scene("With the printed index f stays 0 over the first bin and ends at 0.9.",
                               printed=True, h=0.1),
        "Square roots": ui.scene("Onto [0, 2.10], not [0, 1]; the slope is infinite where a bin begins.",
                                 kind="√ bins", h=0.5),
        "Rational quadratic": ui.scene("The same knots, no corners: the slope is continuous.",
                                       kind="rational quadratic", h=0.5),
        "Cubic": ui.scene("Knot slopes between those of the neighbours: the cubic rises too.", kind="cubic",
                          h=0.5),
        "Forbidden": ui.scene("Knot slopes 4 and 4: the cubic falls in the middle, and has no inverse.",
                              kind="cubic", phi="0.5 0.5", d="4 4 4", h=0.2),
        "Still allowed": ui.scene("The same knot slopes: the rational quadratic bends, and rises.",
                                  kind="rational quadratic", phi="0.5 0.5", d="4 4 4", h=0.2),
    }
)  # fmt: skip

# --- Controls -----------------------------------------------------------------------------------

with stage.rail:
    kind = ui.choice("Pieces are", lens.KINDS, key="kind", as_list=True)
    text = ui.text(
        "Bars φ", FIVE, key="phi", max_chars=100, examples={"even": "1 1 1 1", "steep": "1 1 1 9 1 1"}
    )
    ui.caption("Or click in the bars: the others make room.")
    try:
        rises, texts = typed.distribution(text, lens.MOST)
    except UserError as error:
        ui.stop(str(error))
    rises, flat = lens.steep(rises)
    if texts or flat:
        ui.warning(f"{texts} {flat}".strip())
    if len(rises) < 2:
        ui.stop("Give at least two bars above 0.")
    K = len(rises)
    factor = 1.0
    slopes: list[float] = []
    if kind in ("cubic", "rational quadratic"):
        own = ui.text("Knot slopes d", "", key="d", max_chars=100,
                      help=f"{K + 1} numbers; if empty, means of the neighbouring bins' slopes.")  # fmt: skip
        slopes, texts = typed.named(own, K + 1, 0.01, 12.0)
        if own.strip() and (texts or len(slopes) != K + 1):
            ui.warning(texts or f"{K + 1} knots need {K + 1} slopes, not {len(slopes)}.")
            slopes = slopes if len(slopes) == K + 1 else []
        if not slopes:
            factor = ui.slider("Knot slopes, times the mean", 0.1, 4.0, 1.0, key="times", step=0.1)
    else:
        printed = ui.toggle("As printed, ⌊Kh⌋", False, key="printed")

chosen = lens.build(kind, rises, factor, slopes)
film = ui.film(lens.FRAMES, key="h", values=AT, default=0.3, label="h =", seconds=0.12)

# --- Picture ------------------------------------------------------------------------------------

fine, h = lens.places(601), lens.places(lens.FRAMES)
curve, steep = chosen.of(fine)
x, slope = chosen.of(h)
back, forbidden = chosen.back(x), chosen.forbidden()
knots = lens.places(K + 1)
wrong = chosen.printed(fine)
shown = wrong if kind in lens.KINDS[:2] and printed else None
with stage.picture:
    left, right = ui.columns([3, 2])
    with left:
        ui.figure(
            figures.both(fine, curve, (knots, chosen.of(knots)[0]), shown, forbidden, chosen.top,
                         (float(h[film.at]), float(x[film.at]))),
            alt="The map, its mirror image, and a point on its way there and back", key="map", share=1.0,
            film=film, frames=figures.way(h, x), data={"h": h, "f": x, "slope": slope},
        )  # fmt: skip
    with right:
        ui.button_figure(
            figures.rises(chosen.phi, fine, steep, forbidden, (float(h[film.at]), float(slope[film.at])),
                          LEVELS),
            alt="The bars φ, one a bin, and below the slope of the map", key="bars", share=1.0, film=film,
            frames={"data.0.x": h[:, None], "data.0.y": slope.clamp(max=50)[:, None]}, whole=False,
            on_press=lambda bin, rise: {"phi": lens.with_rise(rises, round(bin) - 1, rise)},
        )  # fmt: skip
with stage.foot:
    film.bar(captions=lens.captions(chosen, h, x, slope, back), equations=lens.equations(chosen, h, x))
numbers = {"f(1)": f"{chosen.top:.6f}", "Δf/Δh here": f"{lens.difference(chosen, float(h[film.at])):.3f}"}
if wrong is not None:
    numbers["f(1) as printed"] = f"{float(wrong[-1]):.6f}"
k = int(chosen.place(h)[0][film.at])
numbers["K·φ of the bin"] = f"{K * rises[k]:.3f}"
if back is not None:
    numbers["|f⁻¹(f(h)) − h|"] = f"{float((back - h).abs().max()):.0e}"
stage.metrics(numbers)

# --- Words --------------------------------------------------------------------------------------

with stage.below:
    if forbidden:
        ui.notice(
            f"The slope is negative in {len(forbidden)} of the pieces: there two h have one f(h), the mirror "
            "image is no function, and no density could be told. A cubic is safe with knot slopes up to 3 "
            "times the bin's."
        )
    else:
        ui.notice(
            f"A bar is a rise, and its bin is 1/{K} wide: the mean slope in it is {K} times the bar. All "
            f"rises together make f(1) = {chosen.top:.3f}. The inverse is the mirror image at the diagonal, "
            "its slope 1/f′."
        )
    rising = not forbidden
    ui.check("Does this map have an inverse?", ["yes", "no"], "yes" if rising else "no",
             "It rises everywhere." if rising else "It falls somewhere: two h have one f(h).",
             wrong={
                 "yes": "An inverse takes a map that rises all the way: between two knots this one falls.",
                 "no": "Nearly flat is not falling: as long as it rises there is one h for each value.",
             },
             veils=("picture", "equation", "numbers"),
    )  # fmt: skip
    ui.program(
        f"""
        import torch
        from pages.flow.monotone import lens

        chosen = lens.build({kind!r}, {rises}, {factor}, {slopes})
        x, slope = chosen.of(torch.tensor([{AT[film.at]}], dtype=torch.float64))
        result = float(x)
        """,
        shows=float(x[film.at]),
    )
    ui.source(
        bins.PiecewiseLinear,
        bins.SquareRootBins,
        spline.cubic,
        spline.rational_quadratic,
        lens.Map,
        references=ROOM.references,
    )
