"""Prefill and decode: two shapes of work, on paper and measured on this machine."""
