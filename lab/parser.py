"""The parser of the `lab` commands: wrong arguments raise one sentence."""

import argparse

from lab.errors import UserError


class Parser(argparse.ArgumentParser):
    """Wrong arguments raise one sentence instead of a usage dump."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise UserError(f"{self.prog}: {message}; `{self.prog} --help` shows the options.")
