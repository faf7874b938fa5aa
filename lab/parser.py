"""The parser of the `lab` commands: wrong arguments raise one sentence."""

import argparse
import re

from lab.errors import UserError


class Parser(argparse.ArgumentParser):
    """Wrong arguments raise one sentence instead of a usage dump."""

    def error(self, message: str) -> None:  # type: ignore[override]
        message = re.sub(r"invalid int value: (.*)", r"\1 is no whole number", message)
        raise UserError(f"{self.prog}: {message}; `{self.prog} --help` shows the options.")
