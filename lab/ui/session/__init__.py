"""The session of a reader's tab: its state, which is its link, and what its reader may do."""
