"""The pure-Python twin of the C core: the specification as code, written to be read."""
