"""The batch of a row of the members table as data that a recipe names: `lab fit … --trust member_data.py`."""

import inspect
from typing import Any

from datamodules.base import DataModule
from tests.members import MEMBERS, class_of


class Same:
    """A split of two batches, which are one and the same, whatever is asked for."""

    def __init__(self, batch: Any) -> None:
        self.batch = batch

    def __len__(self) -> int:
        return 2

    def __getitem__(self, positions: Any) -> Any:
        return self.batch


class MemberData(DataModule):
    """What the small model of a row trains on.

    Args:
        member: its class, and `number` its row.
    """

    embedded = True

    def __init__(self, member: str, number: int = 0) -> None:
        super().__init__(batch_size=1)
        self.row, self.cls = MEMBERS[member][number], class_of(member)

    def _split(self, split: str) -> Same:
        return Same(self.row.batch)

    @property
    def sizes(self) -> dict[str, Any]:
        """What its row gives, or its class by itself: a size that is not said would be none."""
        given: dict[str, Any] = {}
        for cls in reversed(self.cls.__mro__):
            own = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
            given |= {p.name: p.default for p in own if p.default is not p.empty}
        return given | self.row.settings
