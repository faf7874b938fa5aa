"""Inside the U-Net of a diffusion model: feature maps, skips, attention, and what a pixel reads, by noise."""

from lab import ui
from lab.figures import sheets
from lab.lenses.diffusion import SAID, digits
from lab.ui.drawing import inked
from modules.convolution.unet import UNet
from modules.diffusion.ddpm import TimedUNet
from pages.diffusion.unet_inside import figures, lens
from pages.diffusion.unet_inside.room import ROOM

MODEL = "ddpm-digits"
VIEWS = ("Maps", "Skips", "Attention", "Reads")

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Feature maps": ui.scene("Play: sixteen maps of the first block, from the digit to pure noise."),
        "The middle": ui.scene("In the middle 64 maps of 4 by 4 are left.", layer="middle 1"),
        "First skip off": ui.scene("Without the first skip the guess is far worse under much noise.",
                                   view=VIEWS[1], off="first", t=700),
        "Little noise": ui.scene("At t = 100 the same skip is hardly missed.", view=VIEWS[1],
                                 off="first", t=100),
        "All skips off": ui.scene("Without any skip all that reaches the end has been through 4 by 4.",
                                  view=VIEWS[1], off="all", t=500),
        "Attention": ui.scene("Every place of the 4 by 4 looks at all sixteen, each head its own way.",
                              view=VIEWS[2], t=500),
        "Late: local": ui.scene("At t = 1 the guess of a pixel reads little but its neighbours.",
                                view=VIEWS[3], t=1),
        "Early: global": ui.scene("Under heavy noise it reads the whole picture.", view=VIEWS[3], t=900),
    }
)  # fmt: skip


@ui.cached
def looked(picture, layer: str, seed: int) -> lens.Inside:
    return lens.look(ui.load(MODEL), picture, layer, seed)


@ui.cached
def cut_of(picture, off: tuple[str, ...], seed: int) -> lens.Cut:
    return lens.cut(ui.load(MODEL), picture, off, seed)


@ui.cached
def weights_of(picture, seed: int):
    return lens.attention(ui.load(MODEL), picture, seed)


@ui.cached
def read(picture, row: int, column: int, seed: int):
    return lens.reads(ui.load(MODEL), picture, row, column, seed)


with stage.rail:
    view = ui.choice("Show", VIEWS, key="view", as_list=True)
    if view == "Maps":
        layer = ui.choice("After", lens.LAYERS, key="layer", default="down 1", as_list=True)
    elif view == "Skips":
        off = ui.choice("Set to zero", [*lens.SKIPS, "all"], key="off", as_list=True)
    elif view == "Attention":
        head = ui.choice("Head", [1, 2, 3, 4], key="head") - 1
        row, column = (ui.slider(name, 1, 4, 2, key=key) - 1
                       for name, key in (("Row", "r4"), ("Column", "c4")))  # fmt: skip
    else:
        row, column = (ui.slider(name, 1, 8, 4, key=key) - 1
                       for name, key in (("Row", "row"), ("Column", "column")))  # fmt: skip
    picture = ui.draw("Your digit", key="digit", size=8, examples=digits())
    seed = ui.number("Seed", 0, 9999, 0, key="seed")
film = ui.film(len(lens.TIMES), key="t", values=lens.TIMES, default=500, label="t =", seconds=0.5)
at, t = film.at, lens.TIMES[film.at]
base = looked(picture, layer if view == "Maps" else "first", seed)
program = f"""
        from lab import weights
        from lab.ui import drawing
        from pages.diffusion.unet_inside import lens

        model = weights.load({MODEL!r})
        picture = {inked(picture)}
"""


def pictures(column, frames, key: str, title: str, alt: str) -> None:
    """A picture (F, 8, 8) of the film in a column."""
    with column:
        ui.figure(figures.picture(frames[at], title), key=key, share=1.0, film=film, alt=alt,
                  frames={"data.0.z": frames})  # fmt: skip


def ends(shows, result: str, *code) -> None:
    """The program, with its last line, and the sources."""
    ui.program(program + f"        result = {result}\n", shows=shows)
    ui.source(*code, references=ROOM.references)


def draw_maps() -> None:
    films = sheets.frames(lens.scaled(base.maps))
    with stage.picture:
        left, middle, right = ui.columns([2, 4, 2])
        pictures(left, base.x, "x", "xₜ", "The digit under noise")
        with middle:
            ui.figure(figures.maps(films[at], f"{lens.MAPS} of {base.channels} maps"), key="maps", share=1.0,
                      film=film, frames={"data.0.z": films}, alt="Feature maps of the layer")  # fmt: skip
        pictures(right, base.guess, "guess", "guess of x₀", "What the network makes of it")
    h, w = base.maps.shape[2:]
    with stage.foot:
        film.bar(captions=[f"t = {t}: {base.channels} maps of {h} by {w} after {layer!r}; the largest value "
                           "of each time is 1." for t in lens.TIMES])  # fmt: skip
    with stage.below:
        ui.notice(
            "On the way down the grid is halved once, from 8 by 8 to 4 by 4, and on the way up doubled; what "
            "was on each grid is joined again by skips. The network is told t, so the same weights do other "
            f"things under much noise than under little. {SAID}"
        )
        ui.check("How many positions has each of these maps?", [16, 64], h * w, f"{h} by {w}.",
                 wrong={
                     16: "That is the halved grid of the middle, 4 by 4: this layer works on 8 by 8.",
                     64: "Those are the pixels of the digit: this layer works on the halved grid.",
                 },
                 veils=("picture", "equation"),
        )  # fmt: skip
        ends(float(base.maps[at].mean()),
             f"float(lens.look(model, picture, {layer!r}, {seed}).maps[{at}].mean())",
             UNet.forward, TimedUNet)  # fmt: skip


def draw_skips() -> None:
    chosen = tuple(lens.SKIPS) if off == "all" else (off,)
    found = cut_of(picture, chosen, seed)
    lines = {"all skips": found.error, "without": found.error_cut}
    fig, moves = figures.by_time(lens.TIMES, lines, at, "error a pixel", 0.7)
    with stage.picture:
        left, middle, right = ui.columns([2, 2, 3])
        pictures(left, found.whole, "whole", "all skips", "The guess with all skips")
        pictures(middle, found.cut, "cut", "without", "The guess without these skips")
        with right:
            ui.figure(fig, key="errors", share=1.0, film=film, frames=moves, data={"t": lens.TIMES, **lines},
                      alt="Error of the guess against t, with and without the skips")  # fmt: skip
    with stage.foot:
        film.bar(captions=lens.skip_captions(found))
    with stage.below:
        ui.notice(
            "Nothing is trained anew: the network learned with its skips and is asked without. “First” joins "
            "the input's own features to the last layer, “fine” those of 8 by 8, “coarse” those of 4 by 4. "
            f"Errors are means over {lens.DRAWS} noises. {SAID}"
        )
        ui.check(f"At t = {t}, which guess is worse?", lens.WORSE, lens.worse(found, at),
                 f"{float(found.error[at]):.3f} with, {float(found.error_cut[at]):.3f} without.",
                 wrong=(
                     "The network learned with its skips: they do not harm the guess at this t.",
                     "These skips carry detail, and at this t the guess does without it.",
                     "The two errors differ by over 0.01: at this t the guess uses what these skips carry.",
                 ),
                 veils=("picture", "equation"),
        )  # fmt: skip
        ends(float(found.error_cut[at]),
             f"float(lens.cut(model, picture, {chosen!r}, {seed}).error_cut[{at}])",
             UNet.forward, lens.cut)  # fmt: skip


def draw_attention() -> None:
    found = weights_of(picture, seed)
    own = lens.looked_at(found, head, row, column)
    spread = lens.entropy(found)
    with stage.picture:
        left, right = ui.columns(2)
        pictures(left, base.x, "x", "xₜ", "The digit under noise")
        with right:
            ui.figure(figures.looks(own[at], row, column), key="looks", share=1.0, film=film,
                      frames={"data.0.z": own}, alt="Where the framed place looks, on the 4 by 4 grid",
                      data={"weight": own[at].flatten()})  # fmt: skip
    with stage.foot:
        film.bar(captions=[f"t = {t}: head {head + 1} spreads over {float(e.exp()):.1f} of 16 places."
                           for t, e in zip(lens.TIMES, spread[:, head], strict=True)])  # fmt: skip
    top = lens.top(own[at])
    with stage.below:
        ui.notice(
            "A place stands for 2 by 2 pixels and what convolutions brought there. Weights of a place sum "
            f"to 1; here the largest is {float(own[at].max()):.2f}. e to the entropy is how many places a "
            f"head looks at. {SAID}"
        )
        ui.check("At which place does the framed one look most?", lens.PLACES, top,
                 f"Its weight is {float(own[at].max()):.3f}.",
                 wrong={
                     place: f"“{place}” has the weight {float(w):.3f}: likeness of query and key decides, "
                     "not nearness."
                     for place, w in zip(lens.PLACES, own[at].flatten(), strict=True)
                 },
                 veils=("picture", "equation"),
        )  # fmt: skip
        ends(float(own[at].max()),
             f"float(lens.attention(model, picture, {seed})[{at}, {head}, {4 * row + column}].max())",
             UNet.forward, lens.attention)  # fmt: skip


def draw_reads() -> None:
    found = read(picture, row, column, seed)
    share, scaled = lens.near(found, row, column), lens.relative(found)
    fig, moves = figures.by_time(lens.TIMES, {"share": share}, at, "share within one pixel", 1.05)
    with stage.picture:
        left, middle, right = ui.columns([2, 3, 3])
        pictures(left, base.guess, "guess", "guess of x₀", "What the network makes of the digit")
        with middle:
            ui.figure(figures.reads(scaled[at], row, column), key="reads", share=1.0, film=film,
                      frames={"data.0.z": scaled}, alt="What the framed pixel of the guess reads",
                      data={"share": found[at].flatten()})  # fmt: skip
        with right:
            ui.figure(fig, key="near", share=1.0, film=film, frames=moves,
                      alt="Share of what is read within one pixel, against t",
                      data={"t": lens.TIMES, "share": share})  # fmt: skip
    with stage.foot:
        film.bar(captions=[f"t = {t}: {float(s):.0%} of what the pixel reads is within one pixel of it."
                           for t, s in zip(lens.TIMES, share, strict=True)])  # fmt: skip
    with stage.below:
        ui.notice(
            "Shown is the size of the guess's derivative by every pixel of xₜ, the mean over "
            f"{lens.DRAWS} noises, relative to the largest. Attention in the middle joins all places, so "
            "every pixel can be read at every t; how much of it is, t decides. " + SAID
        )
        ui.check(f"At t = {t}, what share is read within one pixel?", lens.NEARER,
                 lens.nearer(float(share[at])), f"{float(share[at]):.0%}.",
                 wrong=(
                     "Under so much noise a pixel says little of itself: the guess is gathered from far.",
                     "How far the guess reads goes with the noise: at this t it is nearer to an end.",
                     "Under little noise a pixel tells most of itself: the guess needs few others.",
                 ),
                 veils=("picture", "equation"),
        )  # fmt: skip
        ends(float(share[at]),
             f"float(lens.near(lens.reads(model, picture, {row}, {column}, {seed}), {row}, {column})[{at}])",
             UNet.forward, lens.reads)  # fmt: skip


{"Maps": draw_maps, "Skips": draw_skips, "Attention": draw_attention, "Reads": draw_reads}[view]()
