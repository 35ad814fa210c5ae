"""KV memory: what it takes, who owns which block, what is lost of it."""
