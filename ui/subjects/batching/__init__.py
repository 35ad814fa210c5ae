"""Batches: who shares a step with whom, slot by slot and step by step.

nine            the requests of home and of chapter 5
frames          a run as frames of the player: slots, a timeline of requests, shared steps
race            the same requests under two policies, in a loop: the figure of home
pictures        what a shared step looks like, where the slots' time goes
chunk_pictures  chunked prefill: what a budget goes to, whom it makes wait
stall_notes     who shares a step with a prefill, in words
"""
