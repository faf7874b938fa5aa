"""The server: routes, who is answered, what is sent again, and tabs that return."""
