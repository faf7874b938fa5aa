"""A sheet of digits that a film turns."""

from typing import Any

from lab.figures import basic
from lab.figures.moving import turning


def sheet(greys: Any, title: str) -> dict[str, Any]:
    """Greys from 0 to 255, (F, H, W)."""
    return turning(basic.image(greys[0], title=title, zmin=0, zmax=255), z=greys)
