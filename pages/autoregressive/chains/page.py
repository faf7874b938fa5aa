"""Chains and neighbours: counted models of pictures, and a picture of a chain that is no chain."""

from lab import ui
from pages.autoregressive.chains import memory, neighbourhood, order
from pages.autoregressive.chains.room import ROOM

VIEWS = {"pictures": neighbourhood.view, "order k": order.view, "memory": memory.view}
ORDER, MEMORY = {"show": "order k"}, {"show": "memory"}

stage = ui.stage(ROOM)
stage.scenes(
    {
        "Four neighbours": ui.scene("Four neighbours, a table for each place: counted, not trained."),
        "Independent": ui.scene("Without parents the samples are dust.", template="none"),
        "Raster chain": ui.scene("A row a pixel, a column for what stood before: ink follows ink.", **ORDER),
        "Order 8": ui.scene("256 columns a pixel: most of them were never met, and stay empty.",
                            **ORDER, k=8),
        "One table": ui.scene("The same eight bits back, but one table for all places: cheaper, and worse.",
                              **ORDER, k=8, shared=True, pixel=36),
        "By hand": ui.scene(
            "Five painted parents: click a cell to add one or take it away.", template="own",
            own="0 -1; -1 -1; -1 0; -1 1; -2 0", shared=True,
        ),
        "Memory": ui.scene("The bars change with the fourth symbol back: no chain of order 3.", **MEMORY),
        "1 then 2": ui.scene("After 2, one in three is 1; after 1 then 2, none.", history="1 2", **MEMORY),
        "All seen": ui.scene(
            "Where every state shows, one symbol is enough.", matrix="0.9 0.1; 0.5 0.5", symbols="1 2",
            **MEMORY,
        ),
    }
)  # fmt: skip
with stage.rail:
    view = ui.choice("View", list(VIEWS), key="show", default="pictures", as_list=True)
VIEWS[view](stage)
