"""Autoregressive inspector: one picture, any member of the family: what a conditional is, reads and costs."""

from lab import ui
from pages.autoregressive.inspector import colours, comparison, completion, conditional, pixels, running
from pages.autoregressive.inspector.room import ROOM

VIEWS = {
    "Conditional": conditional.view,
    "Pixels": pixels.view,
    "Completion": completion.view,
    "Running state": running.view,
    "Two models": comparison.view,
    "Colours": colours.view,
}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "NADE": ui.scene("A pixel sees what comes before it, through one running sum for all pixels."),
        "FVSBN": ui.scene("Linear: one row of weights for each pixel, drawn on the picture.",
                          model="fvsbn-digits"),
        "Colours": ui.scene("Where the disc begins: red is a surprise, green less of one, blue is certain.",
                            show="Colours", kind="disc", colour=10),
        "Classes": ui.scene("Given a class, pixels are surer; turned round, the picture tells its class.",
                            model="gatedpixelcnn-digits"),
        "Draw": ui.scene("Play: pixel by pixel, each drawn from its conditional, each paying its surprisal.",
                         show="Pixels", step=0),
        "Alien order": ui.scene("Drawn in an order that it has never met: still a density, but a poor one.",
                                show="Pixels", visit="random", step=63),
        "Complete": ui.scene("Given the bottom, raster order can only clamp; fresh orders draw exactly.",
                             show="Completion", given="bottom half"),
        "State": ui.scene("NADE's sum: a pixel with ink adds its column, a white one nothing.",
                          show="Running state"),
        "Duel": ui.scene("Two models on one picture: where each pays.", show="Two models"),
    }
)  # fmt: skip
with stage.rail:
    view = ui.choice("Show", list(VIEWS), key="show", as_list=True)
VIEWS[view](stage)
