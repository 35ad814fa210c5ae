"""Speculative decoding: rounds of draft and target, and what they are worth."""
