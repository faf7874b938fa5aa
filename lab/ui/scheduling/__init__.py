"""Decide when the server computes: ahead of what readers ask for, and in turns for all of them."""
