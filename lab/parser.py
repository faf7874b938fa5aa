"""The parser of the `lab` commands: wrong arguments raise one sentence."""

import argparse
import re
from typing import Any

from lab.errors import UserError


class Parser(argparse.ArgumentParser):
    """Wrong arguments raise one sentence instead of a usage dump."""

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        if arg_strings == ["--"] and action.option_strings:  # of `--seed=--` Python makes an empty list
            self.error(f"argument {action.option_strings[-1]}: expected one argument")
        return super()._get_values(action, arg_strings)  # type: ignore[misc]

    def error(self, message: str) -> None:  # type: ignore[override]
        message = re.sub(r"invalid int value: (.*)", r"\1 is no whole number", message)
        raise UserError(f"{self.prog}: {message}; `{self.prog} --help` shows the options.")
