"""Between Python and the browser: components of our own, the wire format, and the modules of JavaScript."""
