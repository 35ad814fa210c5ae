"""Batches: who shares a step with whom, slot by slot and step by step."""
