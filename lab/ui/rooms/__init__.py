"""A declared room on its page, and the views that several rooms share."""
