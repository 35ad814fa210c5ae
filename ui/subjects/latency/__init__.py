"""Where latency comes from, and what a client measures.

journeys       one request station by station, a stream message by message
latency_notes  a sentence for each station and each message
pictures       queue and prefill under load, gaps, the arithmetic of several tools
"""
