"""Fewer bytes for a weight: what they buy (formats) and what they cost (rounding)."""
