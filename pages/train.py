"""train."""

from lab import ui

ui.header("Train", "Soon.")
