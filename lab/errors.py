"""The one kind of error that is the user's to mend: it carries one sentence that says how."""


class UserError(Exception):
    """Shown as one sentence by the command line (exit code 2) and by the dashboard."""
