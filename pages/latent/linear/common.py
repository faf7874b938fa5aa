"""Parts that both views share: the reader's table, and which of its columns."""

from typing import Any

from torch import Tensor

from lab import ui
from lab.lenses import tables
from pages.latent.linear import lens

OWN = "Own table"
TYPED = "height, arm, shoe\n171, 72, 42\n180, 78, 44\n165, 68, 39\n192, 84, 46\n176, 75, 41\n158, 66, 38"


def table(stage: Any) -> tuple[list[str], Tensor, str]:
    """Names of the columns, the rows (N, D), and a program's words for them."""
    with stage.rail:
        data = ui.choice("Data", [*lens.DATA, OWN], key="data", as_list=True)
        if data != OWN:
            names, rows = lens.DATA[data]
            return names, rows(), f"lens.DATA[{data!r}][1]()"
        typed = ui.text("Rows of numbers", TYPED, key="table", max_chars=8000, area=True)
        ui.upload("CSV", into="table")
    try:
        names, x, left_out = tables.typed_table(typed)
    except ValueError as error:
        ui.stop(str(error))
    if left_out:
        with stage.rail:
            ui.caption(left_out)
    return names, x, f"torch.tensor({x.tolist()})"


def tables_of() -> list[Tensor]:
    """Every table that a reader may choose, as it stands at first."""
    return [*(rows() for _, rows in lens.DATA.values()), tables.typed_table(TYPED)[1]]


def column_and_factors(names: list[str]) -> tuple[int, int]:
    """The column that matters, from 0, and k."""
    column = ui.slider("Column", 1, len(names), len(names), key="column", help=", ".join(names)) - 1
    return column, ui.slider("Factors k", 1, len(names) - 1, 1, key="k")
