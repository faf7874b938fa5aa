"""home."""

from lab import ui

ui.header("Home", "Soon.")
