"""Figures on a page, and the films that turn them."""
