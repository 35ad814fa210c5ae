"""One text through every station of a server, computed by the real tiny model."""
