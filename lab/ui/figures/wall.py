"""A wall of moving pictures, each a way into the page that explains it, at the moment that is shown.

`js/wall.js` draws them on canvases: six turn together in a few milliseconds, and Home needs no Plotly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlencode

from lab.figures import theme
from lab.lenses import generators
from lab.lenses.generators import Reel
from lab.ui.browser import wire
from lab.ui.browser.components import component
from lab.ui.figures.films import Film
from lab.ui.models.loading import cached, card, load
from lab.ui.scheduling.prefetch import prefetch

HTML = '<div class="lectern-wall"></div>'
mount = component("wall", HTML)

Kind = Literal["pictures", "plane", "tour", "text", "maps"]
SCALES: dict[Kind, theme.Scale] = {"maps": "violet"}  # all others are ink on paper


@dataclass(frozen=True)
class Tile:
    """One picture of a wall.

    Attributes:
        says: a few words beside the title. kind: how `reel.shows` is drawn.
        alt: what is shown, for readers who cannot see it.
        page: where a click leads, with what `reel.links` says at this moment.
    """

    title: str
    says: str
    kind: Kind
    alt: str
    page: str
    reel: Reel


@cached
def reel(name: str) -> Reel:
    """The film of one of `generators.SIX`."""
    one = generators.SIX[name]
    return one.reel(load(one.model), card(one.model))


def prepare() -> None:
    """Compute all films while nobody asks."""
    prefetch(reel, *((name,) for name in generators.SIX))


def wall(tiles: Sequence[Tile], film: Film, *, key: str) -> None:
    """Draw tiles that turn with a film."""
    arrays: dict[str, Any] = {}
    sent = []
    for number, tile in enumerate(tiles):
        plain = {name: value for name, value in tile.reel.shows.items() if isinstance(value, list | int)}
        arrays |= {f"{number}.{name}": v for name, v in tile.reel.shows.items() if name not in plain}
        sent.append(
            {
                "title": tile.title, "says": tile.says, "alt": tile.alt, "kind": tile.kind,
                "links": [f"{tile.page}?{urlencode(link)}" for link in tile.reel.links],
                "colors": [color for _, color in theme.scale(SCALES.get(tile.kind, "grey"))],
                **plain,
            }
        )  # fmt: skip
    header = {
        "tiles": sent, "film": film.channel, "at": film.at, "count": film.count,
        "ink": theme.text(), "soft": theme.soft(), "hidden": theme.HIDDEN, "output": theme.OUTPUT,
        "paper": theme.paper(), "reach": generators.REACH * generators.SHORTS,
    }  # fmt: skip
    mount(key=key, data=wire.pack(header, arrays))
