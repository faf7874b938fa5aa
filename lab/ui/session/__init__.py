"""What a reader's tab has: its state, which is its link, and what its reader may do."""
