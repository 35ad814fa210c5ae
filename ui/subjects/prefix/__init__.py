"""What prompts share: hash chain, radix tree, what a hit saves, and on which of several servers."""
