"""Where latency comes from, and what a client measures."""
