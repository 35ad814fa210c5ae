"""Constrained decoding: a reader's format, its masks, its index over tokens."""
