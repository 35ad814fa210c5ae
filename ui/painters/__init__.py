"""Kinds of pictures a step player can show; each has a module of its name in `assets/player`."""
