"""models."""

from lab import ui

ui.header("Models", "Soon.")
