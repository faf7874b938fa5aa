"""Trained models on a page: picked, loaded once per process, and fed with the reader's own input."""
